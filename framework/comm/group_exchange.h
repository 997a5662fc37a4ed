#pragma once
#include <cstdint>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Group;
}  // namespace ashlar
namespace ashlar::comm {

/// Replaces `values` by the largest of each over the members of `group`, a subset of `comm`'s members. Only the group
/// takes part; binomial tree to its rank 0 and back, on `comm`'s collective context with a tag no collective uses.
Status group_max(Comm& comm, Group& group, int tag, std::int64_t* values, int count);

}  // namespace ashlar::comm
