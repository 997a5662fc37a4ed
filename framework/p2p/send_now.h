#pragma once
#include <mpi.h>

#include <cstring>

#include "framework/base/lane_lock.h"
#include "framework/datatype/data_view.h"
#include "framework/object/comm.h"
#include "framework/p2p/eager_limit.h"
#include "framework/p2p/wire.h"
#include "framework/progress/peer.h"

namespace ashlar::p2p {

/// Writes a piece of a message into the wire buffer: the fill function of am_bcopy.
struct Piece {
  const DataView* data;
  std::size_t first;  // packed offset
  static std::size_t fill(void* argument, void* to, std::size_t room) {
    const auto* const piece = static_cast<const Piece*>(argument);
    if (piece->data->dense()) {
      std::memcpy(to, static_cast<const std::byte*>(piece->data->data) + piece->first, room);
      return room;
    }
    return datatype::pack(*piece->data, piece->first, to, room);
  }
};

/// The rest of send_now: a message that is packed into the wire buffer.
bool send_packed(Link& link, const Comm& comm, std::uint64_t h0, std::uint64_t h1, const void* buf, MPI_Count count,
                 Datatype& type);

/// The record of a rank if there is one. Communicators on other lanes may share the table.
inline Peer* known_peer(const Comm& comm, Rank rank) { return __atomic_load_n(&comm.peers[rank], __ATOMIC_ACQUIRE); }

/// The short path of sending: gives the message to the endpoint when nothing is in the way. False: it has not left, for
/// whatever reason; the slow path finds out which. Makes no request; `name` is that of the one by which the message may
/// be recalled.
inline bool send_on(Link& link, Comm& comm, std::uint32_t context, const void* buf, MPI_Count count, Datatype& type,
                    Tag tag, std::uint32_t name = 0) {
  if (--link.budget < 0) [[unlikely]]
    return false;
  ashlar_endpoint* const endpoint = link.endpoint;
  const auto bytes = static_cast<std::uint64_t>(count * type.size());
  const std::uint64_t h0 = match::Key::place(context, comm.rank);
  const std::uint64_t h1 = tag_word(tag, name);
  if (bytes > endpoint->max_short || !type.dense()) [[unlikely]]
    return send_packed(link, comm, h0, h1, buf, count, type);
  return endpoint->ops->am_short(endpoint, kEager, h0, h1, buf, static_cast<std::uint32_t>(bytes)) == ASHLAR_OK;
}

inline bool send_now(Lane& lane, Comm& comm, std::uint32_t context, const void* buf, MPI_Count count, Datatype& type,
                     Rank to, Tag tag, std::uint32_t name = 0) {
  Peer* const peer = known_peer(comm, to);
  if (peer == nullptr || LaneLock::counts()) [[unlikely]]
    return false;
  return send_on(peer->link(lane), comm, context, buf, count, type, tag, name);
}

}  // namespace ashlar::p2p
