#pragma once

namespace ashlar::shm {

struct SegmentHeader;
class WakeSocket;

/// Wakes the owner of `header` when it sleeps, for descriptors by `socket`. Message path only when it does.
void raise(SegmentHeader& header, WakeSocket& socket);

/// Makes the owner look again, whether it sleeps or is about to.
void raise_always(SegmentHeader& header, WakeSocket& socket);

}  // namespace ashlar::shm
