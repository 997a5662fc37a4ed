#include <algorithm>
#include <cstring>
#include <set>

#include "components/transport/tcp/interface.h"

// Further connections to a peer, over which large messages are read in stripes.
namespace ashlar::tcp {

bool Interface::may_have_rails(const Address& address) const {
  if (config_.rails < 2 || address.host == address_.host) return false;
  std::set<std::uint8_t> mine, theirs;
  for (const OwnAddress& own : own_)
    if (own.candidate.reach == ip::kNetwork) mine.insert(own.candidate.card);
  for (const Candidate& candidate : address.candidates)
    if (candidate.reach == ip::kNetwork) theirs.insert(candidate.card);
  return mine.size() > 1 && theirs.size() > 1;
}

Rails& Interface::rails_to(Endpoint& peer) {
  if (peer.rails == nullptr) peer.rails = std::make_unique<Rails>(*this, peer);
  return *peer.rails;
}

std::uint8_t Interface::card_of(const SocketAddress& at) const {
  for (const OwnAddress& own : own_)
    if (own.candidate.family == at.family() &&
        std::memcmp(own.candidate.bytes, at.bytes(), at.family() == 4 ? 4 : 16) == 0)
      return own.candidate.card;
  return 0;
}

Verdict Interface::verdict_on_rail(const Hello& hello) {
  const Endpoint* const peer = find(hello.sender);
  const bool wanted = peer != nullptr && peer->may_read() && has_room_for_rail();
  return wanted ? Verdict::kGoOn : Verdict::kWait;
}

bool Interface::rail_chosen(Guest& guest, const Hello& hello) {
  unwatch(guest);
  Descriptor socket = guest.release();
  dismiss(guest);
  Endpoint* const peer = find(hello.sender);
  const std::uint64_t to_peer =
      peer == nullptr ? 0
                      : static_cast<std::uint64_t>(
                            std::count_if(connections_.begin(), connections_.end(), [&](const auto& connection) {
                              return &connection->peer() == peer && connection->rail() && !connection->dialled();
                            }));
  // What the peer has made before, and has given up without this process knowing it yet, counts as well.
  if (peer != nullptr && peer->may_read() && has_room_for_rail() && to_peer < 2 * kMostRails)
    (void)add_rail(*peer, std::move(socket), false);
  return false;
}

Connection& Interface::add_rail(Endpoint& peer, Descriptor socket, bool dialled) {
  connections_.push_back(std::make_unique<Connection>(*this, peer, std::move(socket), dialled, Connection::Use::kRail));
  Connection& rail = *connections_.back();
  if (dialled) {
    counters.dialled.add();
    rail.begin_rail();
  }
  return rail;
}

/// Those that this process reads over, and those that the peer does.
void Interface::close_rails(Endpoint& peer) {
  if (peer.rails != nullptr) peer.rails->close();
  for (std::size_t i = connections_.size(); i-- > 0;)
    if (&connections_[i]->peer() == &peer && connections_[i]->rail()) remove(*connections_[i]);
}

}  // namespace ashlar::tcp
