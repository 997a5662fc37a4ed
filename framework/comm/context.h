#pragma once
#include <cstdint>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Group;
}  // namespace ashlar
namespace ashlar::comm {

/// The next id for a child of `comm`. Collective over `comm`.
Status take_id(Comm& comm, std::uint32_t* context);
/// The same without waiting: false when an agreement is due first (and nothing was taken).
bool take_agreed_id(Comm& comm, std::uint32_t* context);
/// How many ids the next agreement of `comm` is about, as a distance: twice what the last one was.
std::int64_t next_range(const Comm& comm);

/// Agrees on one id over `group`, a subset of `comm`'s members, with messages of `comm` under `tag`.
Status agree(Comm& comm, Group& group, int tag, std::uint32_t* context);

}  // namespace ashlar::comm
