#pragma once
#include "framework/p2p/wire.h"
#include "framework/progress/lane.h"

namespace ashlar::p2p {

/// Handlers of the wire's messages (AmHandler); those of partitioned communication are in partitioned.h.
void on_message(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
/// In place of on_message() on a lane with a communicator whose messages a tool counts.
void on_message_counted(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_message_checked(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_signature(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_matched(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_cts(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_data(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_throttle(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_cancel(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_cancelled(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_recall(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_delivered(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_unreceived(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_ready_message(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_unready(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_collective_notice(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_stopped(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_tagged_first(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
/// Of a peer whose tagged messages are not received here: on_tagged_first() has given it up.
void on_tagged_nothing(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
/// In place of on_cancel() and on_recall() where a network matches messages.
void on_cancel_native(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_end(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_goodbye(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p
