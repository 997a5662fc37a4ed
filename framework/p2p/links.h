#pragma once
#include <cstdint>

#include "framework/p2p/config.h"
#include "framework/p2p/operation.h"
#include "framework/progress/peer.h"

/// What both halves do with a link: open it, send answers over it, end what waits for its peer.
namespace ashlar::p2p {

inline constexpr std::int32_t kBudget = 64;  // messages between two looks of the slow path: Link::budget

/// The size from which a receiver may read from a sender's memory.
inline std::uint64_t smallest_read(const Config& config, const ashlar_endpoint& endpoint) {
  return config.get_min != 0 ? config.get_min : endpoint.get_from;
}
/// The size from which a receive may be posted in shared memory, and a message written so: for all peers, and for one
/// whose transport can.
MPI_Count smallest_shared_post(const Config& config);
inline std::uint64_t smallest_shared_post(const Config& config, const ashlar_endpoint& endpoint) {
  return config.shared_post_min != 0 ? config.shared_post_min : smallest_read(config, endpoint);
}

/// Something is about to go over `link`: if that leads to this process itself, the lane has something to take in, and
/// threads that sleep for it are woken, because the caller may leave without a round of progress.
inline void about_to_use(Lane& lane, const Link& link) ASHLAR_REQUIRES(lane.lock) {
  if (!link.is_self) [[likely]]
    return;
  lane.self_busy = true;
  progress::raise_armed(lane);
}
/// Sends an answer, or queues it when there is no room.
void send_control(Lane& lane, Link& link, Id id, std::uint64_t h0, std::uint64_t h1, const void* data = nullptr,
                  std::size_t length = 0) ASHLAR_REQUIRES(lane.lock);
/// The link to `rank`, connected, with its limits decided.
Status open_link(Lane& lane, Comm& comm, Rank rank, Link** out) ASHLAR_REQUIRES(lane.lock);
/// The same to the process that sent `am`.
Status open_link(Lane& lane, PeerId peer, Link** out) ASHLAR_REQUIRES(lane.lock);
Status transport_failure(ashlar_result result, const Operation& operation);
/// The failure of an operation whose other side, rank `peer` of its communicator and `process` of the lane, has failed.
Status fail_gone(Lane& lane, const Operation& operation, Rank peer, PeerId process);
void fail_peer(Lane& lane, PeerId peer) ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p
