#include <algorithm>
#include <cstdio>

#include "components/transport/tcp/interface.h"
#include "framework/base/clock.h"

// How connections end: closed to make room, said good-bye to, broken; and what a broken one means for its peer.
namespace ashlar::tcp {
namespace {

constexpr double kSecond = 1e9;

std::string seconds(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / kSecond);
  return text;
}

}  // namespace

/// The peer ends its direction, and this process ends its own.
void Interface::take_leave(Connection& connection, bool for_good) {
  Endpoint& peer = connection.peer();
  peer.left = true;
  // Where the kernel has given the peer up as well, what it has sent since then is for the peer that it met again.
  if (for_good && !connection.leaving_for_good()) peer.unwanted_before = peer.out.next();
  connection.say_bye(false);
}

/// Without a word to the peer.
void Interface::discard(Endpoint& peer) {
  Connection* const connection = peer.connection;
  if (connection == nullptr) return;
  if (peer.rails != nullptr) peer.rails->first_lost();
  peer.connection = nullptr;
  remove(*connection);
  peer.out.rewind(peer.count());
}

void Interface::remove(Connection& connection) {
  std::erase(to_flush_, &connection);
  std::erase(owing_, &connection);
  const auto owner =
      std::find_if(connections_.begin(), connections_.end(), [&](const auto& c) { return c.get() == &connection; });
  bury(std::move(*owner));
  connections_.erase(owner);
  set_door(true);
}

void Interface::ended(Connection& connection, const std::string& reason) {
  if (connection.closed) return;
  Endpoint& peer = connection.peer();
  if (connection.rail()) {
    if (peer.rails != nullptr) peer.rails->lost(connection, reason);
    return remove(connection);
  }
  const bool orderly = connection.heard_bye(), was_left = connection.leaving_for_good();
  const SocketAddress at = connection.at();
  discard(peer);
  if (peer.way == Endpoint::Way::kUp) peer.way = Endpoint::Way::kDown;
  if (peer.way == Endpoint::Way::kFailed) return;
  if (peer.rails != nullptr) peer.rails->go_on();
  peer.out.forget_before(peer.unwanted_before);
  // Nothing is awaited of a process that the kernel does not know.
  if (!orderly && !was_left && peer.peer != ASHLAR_NOBODY) return broke(peer, at, reason);
  if (peer.needs_connection()) need_connection(peer);
}

/// Nothing is lost yet: the peer may be called again, or call. Whether its process has ended shows in that, too.
void Interface::broke(Endpoint& peer, const SocketAddress& at, const std::string& reason) {
  counters.broken.add();
  peer.broken = {.since = now_ns(), .at = at, .reason = reason};
  need_connection(peer);
  if (peer.way == Endpoint::Way::kDown) fail(peer, "its connection broke: " + reason + " (" + at.text() + ")");
}

void Interface::give_up(Endpoint& peer, bool refused) {
  if (peer.left && !peer.needs_connection()) {
    // It was only to be woken, and has left.
    peer.dial.reset();
    peer.way = Endpoint::Way::kDown;
    return;
  }
  const std::string reasons = peer.dial->reasons();
  if (peer.broken.since == 0)
    return fail(peer, (refused ? "the process has ended: " : "no address of it answers: ") + reasons);
  const std::string what = peer.broken.reason + " (" + peer.broken.at.text() + ")";
  if (refused) return fail(peer, "the process has ended: " + what + "; " + reasons);
  const std::uint64_t now = now_ns();
  fail(peer, "its connection broke: " + what + ", and was not made again within " + seconds(config_.patience) +
                 " (transport.tcp.patience); the last that came from it is message " + std::to_string(peer.received) +
                 " or a part of one, " + seconds(now - peer.last_heard) + " ago; " + reasons);
}

/// The two sides do not agree on what has been sent: going on would lose messages.
void Interface::disagree(Connection& connection) {
  std::string reason = kOtherCount;
  reason += " (" + connection.at().text() + ")";
  fail(connection.peer(), reason);
}

void Interface::fail(Endpoint& peer, const std::string& reason) {
  if (peer.way == Endpoint::Way::kFailed) return;
  peer.way = Endpoint::Way::kFailed;
  peer.failure = reason;
  peer.dial.reset();
  discard(peer);
  close_rails(peer);
  peer.out.forget();
  if (peer.peer != ASHLAR_NOBODY) context_.failed(context_.lane_context, peer.peer, reason.c_str());
  if (peer.rails != nullptr) peer.rails->end(true);
  while (!peer.gets.empty()) end_get(peer, peer.gets.begin()->first, false);
}

void Interface::close_idle() {
  Connection* oldest = nullptr;
  for (const auto& connection : connections_)
    if (connection->quiet() && (oldest == nullptr || connection->last_used() < oldest->last_used()))
      oldest = connection.get();
  if (oldest == nullptr) return;
  counters.closed_idle.add();
  if (oldest->rail()) return ended(*oldest, "");
  oldest->say_bye(false);
}

void Interface::tell_resumed(Endpoint& peer, int socket) {
  counters.resumed.add();
  const std::uint64_t ns = now_ns() - peer.broken.since;
  if (host_.record == nullptr) return;
  char subject[64], because[256];
  std::snprintf(subject, sizeof subject, "path to peer %u, again", peer.peer);
  std::snprintf(because, sizeof because,
                "its connection at %s broke (%s) and was resumed after %.1f ms; %zu bytes of messages follow",
                peer.broken.at.text().c_str(), peer.broken.reason.c_str(), static_cast<double>(ns) / 1e6,
                peer.out.waiting());
  const std::string over = interface_of(SocketAddress::of_own(socket));
  host_.record("transport", subject, (SocketAddress::of_peer(socket).text() + " over " + over).c_str(), because, "",
               "transport.tcp.patience, transport.tcp.user_timeout, transport.tcp.keepalive");
}

}  // namespace ashlar::tcp
