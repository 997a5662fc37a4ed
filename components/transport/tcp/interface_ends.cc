#include <algorithm>

#include "components/transport/tcp/interface.h"

// How connections end: closed to make room, said good-bye to, broken; and what a broken one means for its peer.
namespace ashlar::tcp {

/// Nothing more is sent over it, and what the peer still sends is read.
void Interface::retire(Connection& connection) {
  Endpoint& peer = connection.peer();
  if (peer.connection == &connection) {
    peer.connection = nullptr;
    peer.way = Endpoint::Way::kDown;
    peer.endings.push_back(&connection);
  }
  connection.say_bye();
}

void Interface::ended(Connection& connection, const std::string& reason) {
  if (connection.closed) return;
  Endpoint& peer = connection.peer();
  const bool orderly = connection.heard_bye();
  if (peer.connection == &connection) {
    peer.connection = nullptr;
    if (peer.way == Endpoint::Way::kUp) peer.way = Endpoint::Way::kDown;
  }
  std::erase(peer.endings, &connection);
  std::erase(to_flush_, &connection);
  const std::string at = connection.at();
  peer.left = orderly;
  const auto owner =
      std::find_if(connections_.begin(), connections_.end(), [&](const auto& c) { return c.get() == &connection; });
  if (owner != connections_.end()) {
    bury(std::move(*owner));
    connections_.erase(owner);
  }
  set_door(true);
  if (!orderly) return fail(peer, "the process has ended, or cannot be reached any more: " + reason + " (" + at + ")");
  if (peer.endings.empty() && peer.connection != nullptr) peer.connection->park(false);
  if (peer.needs_connection()) need_connection(peer);
}

void Interface::give_up(Endpoint& peer, bool refused) {
  if (peer.left && !peer.needs_connection()) {
    // It was only to be woken, and has left.
    peer.dial.reset();
    peer.way = Endpoint::Way::kDown;
    return;
  }
  const std::string reasons = peer.dial->reasons();
  fail(peer, (refused ? "the process has ended: " : "no address of it answers: ") + reasons);
}

void Interface::fail(Endpoint& peer, const std::string& reason) {
  if (peer.way == Endpoint::Way::kFailed) return;
  peer.way = Endpoint::Way::kFailed;
  peer.failure = reason;
  peer.dial.reset();
  counters.buffered.lower(peer.pending.size());
  peer.pending.clear();
  peer.serving.clear();
  if (peer.connection != nullptr) {
    Connection& other = *peer.connection;
    peer.connection = nullptr;
    ended(other, reason);
  }
  if (peer.peer != ASHLAR_NOBODY) context_.failed(context_.lane_context, peer.peer, reason.c_str());
  while (!peer.gets.empty()) end_get(peer, peer.gets.begin()->first, false);
}

void Interface::close_idle() {
  Connection* oldest = nullptr;
  for (const auto& connection : connections_) {
    const Endpoint& peer = connection->peer();
    if (peer.connection != connection.get() || !peer.endings.empty() || !connection->quiet()) continue;
    if (oldest == nullptr || connection->last_used() < oldest->last_used()) oldest = connection.get();
  }
  if (oldest == nullptr) return;
  counters.closed_idle.add();
  retire(*oldest);
}

}  // namespace ashlar::tcp
