#pragma once
#include <mpi.h>

#include <cstring>

#include "framework/datatype/data_view.h"
#include "framework/object/comm.h"
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
bool send_packed(Link& link, std::uint64_t h0, std::uint64_t h1, const void* buf, MPI_Count count, Datatype& type);

/// The short path of sending: gives the message to the endpoint when nothing is in the way. False: it has not left, for
/// whatever reason; the slow path finds out which. Makes no request.
inline bool send_now(Lane& lane, Comm& comm, std::uint32_t context, const void* buf, MPI_Count count, Datatype& type,
                     Rank to, Tag tag) {
  Peer* const peer = __atomic_load_n(&comm.peers[to], __ATOMIC_ACQUIRE);
  if (peer == nullptr) [[unlikely]]
    return false;
  Link& link = peer->link(lane);
  if (--link.budget < 0) [[unlikely]]
    return false;
  ashlar_endpoint* const endpoint = link.endpoint;
  const auto bytes = static_cast<std::uint64_t>(count * type.size());
  const std::uint64_t h0 = match::Key::place(context, comm.rank);
  const std::uint64_t h1 = tag_word(tag, 0);
  if (bytes > endpoint->max_short || !type.dense()) [[unlikely]]
    return send_packed(link, h0, h1, buf, count, type);
  return endpoint->ops->am_short(endpoint, kEager, h0, h1, buf, static_cast<std::uint32_t>(bytes)) == ASHLAR_OK;
}

}  // namespace ashlar::p2p
