#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/fact.h"

// The messages of config/messages.yaml, compiled in: no file is needed when something fails.
namespace ashlar::catalogue {

/// A message as it stands in the file, with "{name}" where the fact of that name goes.
struct Row {
  const char* id;
  const char* says;          // one sentence: what happened
  const char* because;       // why, or ""
  const char* const* tries;  // what to do about it; ended by nullptr
};

/// The message `id`, or nullptr. tests/gen/check_messages.py finds ids of the code that do not exist.
const Row* find(std::string_view id) noexcept;
/// All messages, by id, for tools that list them.
const Row* begin() noexcept;
const Row* end() noexcept;

/// A message with its facts filled in, for what is no failure: notices and warnings.
struct Message {
  const char* id = "";
  std::string says;
  std::string because;
  std::vector<std::string> tries;
  /// The paragraph for people.
  std::string paragraph() const;
};
Message message(const char* id, std::initializer_list<Fact> facts);

/// Gives `take` the pieces of `pattern`, with lookup(name) in place of "{name}". A name that is not known (a view
/// without data) stays as it is: a visible hole is better than a lost message. Returns whether every fact was known and
/// not empty; a sentence of because or try for which that is false is left out.
template <class Lookup, class Take>
bool fill(const char* pattern, Lookup lookup, Take take) {
  bool complete = true;
  std::string_view rest = pattern;
  for (;;) {
    const std::size_t open = rest.find('{');
    const std::size_t close = open == rest.npos ? rest.npos : rest.find('}', open);
    if (close == rest.npos) {
      take(rest);
      return complete;
    }
    take(rest.substr(0, open));
    const std::string_view value = lookup(rest.substr(open + 1, close - open - 1));
    complete = complete && !value.empty();
    take(value.data() ? value : rest.substr(open, close - open + 1));
    rest.remove_prefix(close + 1);
  }
}

}  // namespace ashlar::catalogue
