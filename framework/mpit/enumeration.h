#pragma once
#include <string>
#include <utility>
#include <vector>

#include "framework/mpit/handles.h"

namespace ashlar::mpit {

/// The words for the values of a variable or of fields of an event. Made once and never freed; two with the same words
/// are one.
struct Enumeration : Tagged {
  Enumeration(std::string its_name, std::vector<std::string> its_words)
      : Tagged(Tag::kEnum), name(std::move(its_name)), words(std::move(its_words)) {}
  MPI_T_enum handle() { return reinterpret_cast<MPI_T_enum>(this); }

  const std::string name;                // unique
  const std::vector<std::string> words;  // item i has the value i
};

/// The enumeration of these words, ended by nullptr. `name` is that of the variable that has it first. nullptr: without
/// memory. Any thread.
Enumeration* enumeration(const std::string& name, const char* const* words);
/// {false, true}.
Enumeration* truth();

}  // namespace ashlar::mpit
