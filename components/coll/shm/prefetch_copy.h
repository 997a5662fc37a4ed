#pragma once
#include <cstddef>

namespace ashlar::coll::shm {

/// memcpy for blocks that are in no cache of this core (Choices::prefetch_from): both sides are prefetched some lines
/// ahead, across pages, which the processor's own prefetchers do not do. In the core's own cache memcpy is faster.
void prefetch_copy(void* to, const void* from, std::size_t bytes);

}  // namespace ashlar::coll::shm
