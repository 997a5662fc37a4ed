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

/// What memory the program may pass to calls on `comm`, or on what is made of it such as a window: into `info`, under
/// mpi_memory_alloc_kinds, and what the program has promised of that (mpi_assert_memory_alloc_kinds).
Status write_memory_kinds(const Comm& comm, Info& info);
/// Takes over that promise alone, for the communicator that a window has for itself.
void promise_memory_kinds(Comm& comm, const Info& info);

/// The end of a constructor that takes an info object: what `info` says goes to the communicator that was `made`, if
/// there is one. A value that cannot be makes the whole call fail.
Status with_info(Status made, Info* info, Comm** comm);

}  // namespace comm
}  // namespace ashlar
