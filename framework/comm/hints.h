#pragma once
#include <string>
#include <utility>
#include <vector>

namespace ashlar {
class Comm;
class Info;

/// What the user asked for with info objects, of the keys that this library knows.
struct CommHints {
  std::vector<std::pair<std::string, std::string>> known;
};

namespace comm {

/// Takes over the hints of `info` (nullptr: none) that this library knows; others are left alone, as the standard asks.
void set_hints(Comm& comm, Info* info);

}  // namespace comm
}  // namespace ashlar
