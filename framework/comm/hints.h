#pragma once
#include <string>
#include <utility>
#include <vector>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Info;

/// The hints of info objects whose keys this library knows.
struct CommHints {
  std::vector<std::pair<std::string, std::string>> known;
};

namespace comm {

/// Takes over the hints of `info` (nullptr: none) that this library knows; others are left alone, as the standard asks.
void set_hints(Comm& comm, Info* info);

/// The end of a constructor that takes an info object: what `info` says goes to the communicator that was `made`, if
/// there is one. A value that cannot be makes the whole call fail.
Status with_info(Status made, Info* info, Comm** comm);

}  // namespace comm
}  // namespace ashlar
