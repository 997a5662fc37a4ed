#pragma once
#include "tests/unit/p2p/loop_transport.h"

/// Messages of the loop transport that it matches itself, with claims and cancellations that last.
namespace ashlar::test {

extern const ashlar_tag_ops kLoopTagOps;

/// A tagged message has arrived: the oldest receive that it fits takes it, or it waits for one.
void deliver_tagged(LoopIface& iface, LoopTagged&& message);
/// In a round of progress: claims and cancellations that were put off.
unsigned advance_tags(LoopIface& iface);

}  // namespace ashlar::test
