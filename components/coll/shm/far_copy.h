#pragma once
#include <cstddef>

namespace ashlar::coll::shm {

/// memcpy for blocks that are in no cache of this core: both sides are asked for some lines ahead, across pages, which
/// the processor by itself does not do. In the core's own cache memcpy is faster.
void far_copy(void* to, const void* from, std::size_t bytes);

}  // namespace ashlar::coll::shm
