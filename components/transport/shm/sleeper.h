#pragma once

namespace ashlar::shm {

struct SegmentHeader;

/// Wakes the owner of `header` when it sleeps. Message path only when it does.
void raise(SegmentHeader& header);

/// Makes the owner look again, whether it sleeps or is about to.
void raise_always(SegmentHeader& header);

}  // namespace ashlar::shm
