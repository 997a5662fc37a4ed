#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::catalogue {

/// What the code knows: {"host", name}. A message's text has "{host}" where it goes.
struct Fact {
  const char* name;
  std::string_view value;
};

/// A message of config/messages.yaml with its facts filled in.
struct Message {
  const char* id = "";
  std::string says;                // one sentence: what happened
  std::string because;             // why, or ""
  std::vector<std::string> tries;  // what to do about it
  /// The paragraph for people.
  std::string paragraph() const;
  /// says and because in one line.
  std::string line() const;
};

/// The message `id`. Texts are compiled in: no file is needed when something fails. An id that does not exist, or a
/// fact that the text asks for and does not get, is found by the test tests/gen/check_messages.py; here it stays
/// visible as it is.
Message message(const char* id, std::initializer_list<Fact> facts);

/// A failed Status whose sentence is the message's line.
Status fail(int mpi_class, const char* id, std::initializer_list<Fact> facts);

/// A row of the compiled table (generated/messages.inc).
struct Row {
  const char* id;
  const char* says;
  const char* because;
  const char* const* tries;  // ended by nullptr
};

}  // namespace ashlar::catalogue
