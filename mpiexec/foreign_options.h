#pragma once
#include <string_view>

namespace ashlar::mpiexec {

/// An option of another implementation's mpiexec that ours does not have under any name.
struct ForeignOption {
  const char* names;    // separated by spaces
  int values;           // how many words follow it
  const char* instead;  // what to do instead, a sentence; nullptr: the option makes no difference here
};

/// nullptr: none has that name.
const ForeignOption* find_foreign(std::string_view name);

}  // namespace ashlar::mpiexec
