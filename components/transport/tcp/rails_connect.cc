#include <algorithm>

#include "components/transport/tcp/interface.h"
#include "components/transport/tcp/rails.h"
#include "framework/base/clock.h"

// Which connections to a peer are rails: how they are made, how they end, and what --explain tells of them.
namespace ashlar::tcp {
namespace {

constexpr std::uint64_t kFirstPause = 100'000'000;
constexpr unsigned kMostDoublings = 5;

}  // namespace

Rails::Rails(Interface& iface, Endpoint& peer) : iface_(iface), peer_(peer), rails_(1) { note_first(); }

Rails::~Rails() = default;

void Rails::note_first() {
  Rail& first = rails_.front();
  first.connection = peer_.connection;
  if (first.connection == nullptr) return;
  first.own_card = iface_.card_of(SocketAddress::of_own(first.connection->fd()));
  const Candidate* const at = peer_.address.find(first.connection->at());
  first.peer_card = at != nullptr ? at->card : 0;
}

/// A rail that goes the way of the new first connection is none.
void Rails::first_back() {
  note_first();
  const Rail first = rails_.front();
  for (std::size_t i = rails_.size(); i-- > 1;) {
    if (rails_[i].own_card != first.own_card && rails_[i].peer_card != first.peer_card) continue;
    Connection& over = *rails_[i].connection;
    drop(i);
    iface_.remove(over);
  }
  told_ = false;
  pump();
}

bool Rails::uses_peer_card(std::uint8_t card) const {
  return std::any_of(rails_.begin(), rails_.end(), [&](const Rail& rail) { return rail.peer_card == card; });
}

void Rails::call_if_due(std::uint64_t now) {
  const Rail& first = rails_.front();
  if (dial_ != nullptr || now < next_call_ || rails_.size() >= iface_.config().rails) return;
  if (first.connection == nullptr || first.connection->leaving()) return;
  std::string reason;
  if (first.connection->at().loopback())
    reason = "the peer is on this host";
  else if (first.own_card == 0 || first.peer_card == 0)
    reason = "the first connection goes by an address that no interface of the two processes has";
  else if (!iface_.has_room_for_rail())
    reason = "all of transport.tcp.connections are in use";
  if (!reason.empty()) return dial_over(reason);
  dial_ = std::make_unique<RailDial>(iface_, peer_, *this);
  if (dial_->start()) return;
  reason = dial_->reasons();
  dial_over(reason);
}

void Rails::dial_over(const std::string& reasons) {
  const bool some = dial_ != nullptr && dial_->made();
  calls_in_vain_ = some ? 0 : std::min(calls_in_vain_ + 1, kMostDoublings);
  next_call_ = now_ns() + (kFirstPause << calls_in_vain_);
  if (reasons_ != reasons) {
    reasons_ = reasons;
    if (rails_.size() == 1 && !reasons_.empty()) tell("no other pair of interfaces of the two hosts can be used");
  }
  dial_.reset();
  pump();
}

std::string Rails::reason_against(int socket, std::uint8_t peer_card) const {
  const SocketAddress own = SocketAddress::of_own(socket);
  const std::uint8_t own_card = iface_.card_of(own);
  if (own_card == 0) return "it leaves over " + own.text(false) + ", which transport.tcp.interfaces does not name";
  if (uses_peer_card(peer_card)) return "there is a rail to that interface";
  if (rails_.size() >= iface_.config().rails) return "there are transport.tcp.rails";
  const bool taken =
      std::any_of(rails_.begin(), rails_.end(), [&](const Rail& rail) { return rail.own_card == own_card; });
  return taken ? "it leaves over " + iface_.interface_of(own) + ", as another one does" : "";
}

void Rails::add(Descriptor socket, std::uint8_t peer_card) {
  const std::uint8_t own_card = iface_.card_of(SocketAddress::of_own(socket.get()));
  std::uint8_t number = 1;
  while (std::any_of(rails_.begin(), rails_.end(), [&](const Rail& rail) { return rail.number == number; })) ++number;
  Rail rail;
  rail.connection = &iface_.add_rail(peer_, std::move(socket), true);
  rail.own_card = own_card;
  rail.peer_card = peer_card;
  rail.number = number;
  rails_.push_back(rail);
  told_ = false;
  pump();
}

void Rails::drop(std::size_t index) {
  put_back(rails_[index]);
  rails_.erase(rails_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Rails::lost(Connection& over, const std::string& reason) {
  Rail* const rail = rail_of(&over);
  if (rail == nullptr) return;
  const bool in_use = rail->meter.due() != 0 || !reason.empty();
  if (in_use) {
    iface_.counters.rails_lost.add();
    tell_loss(*rail, "broke (" + (reason.empty() ? "it was closed" : reason) + ")");
  }
  drop(static_cast<std::size_t>(rail - rails_.data()));
  next_call_ = now_ns() + kFirstPause;
  told_ = false;
  pump();
}

void Rails::close() {
  dial_.reset();
  while (rails_.size() > 1) {
    Connection& over = *rails_.back().connection;
    drop(rails_.size() - 1);
    iface_.remove(over);
  }
}

std::string Rails::describe(const Rail& rail) const {
  if (rail.connection == nullptr) return "none";
  return rail.connection->at().text() + " over " + iface_.interface_of(SocketAddress::of_own(rail.connection->fd()));
}

void Rails::tell(const std::string& because) {
  if (iface_.host().record == nullptr) return;
  std::string all = std::to_string(rails_.size()) + ": ";
  for (const Rail& rail : rails_) all += (&rail == &rails_.front() ? "" : ", ") + describe(rail);
  const std::string subject = "rails to peer " + std::to_string(peer_.peer);
  iface_.host().record("transport", subject.c_str(), all.c_str(), because.c_str(), reasons_.c_str(),
                       "transport.tcp.rails, transport.tcp.stripe_from, transport.tcp.interfaces");
}

void Rails::tell_loss(const Rail& rail, const std::string& what) {
  tell("the one at " + describe(rail) + " " + what + "; what was due over it is asked for over the others");
}

/// Once all rails have been measured.
void Rails::tell_shares() {
  if (told_ || rails_.size() == 1 || iface_.host().record == nullptr) return;
  std::vector<const plugin::RailMeter*> meters;
  for (const Rail& rail : rails_) meters.push_back(&rail.meter);
  const std::string shares = plugin::shares_of(meters);
  if (shares.empty()) return;
  told_ = true;
  tell("distinct interfaces of both hosts, which proved the secret and carried the full exchange; " + shares);
}

}  // namespace ashlar::tcp
