#pragma once
#include <string>
#include <utility>
#include <vector>

#include "framework/base/status.h"

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
/// The same for a communicator that has just been made, with the choices of algorithms among them (coll::prefer). When
/// one of them is not possible, it is released again, *made is nullptr, and that is returned; all members pass the
/// same.
Status set_hints_of_new(Comm** made, Info* info);

}  // namespace comm
}  // namespace ashlar
