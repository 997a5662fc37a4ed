#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "components/transport/tcp/interface.h"
#include "framework/base/clock.h"

// A process that connects is a stranger until it has proved that it knows the secret.
namespace ashlar::tcp {

bool Interface::on_allowed_address(int socket) const {
  if (wanted_.automatic()) return true;
  const SocketAddress at = SocketAddress::of_own(socket);
  return std::any_of(own_.begin(), own_.end(), [&](const OwnAddress& own) {
    return own.candidate.family == at.family() &&
           std::memcmp(own.candidate.bytes, at.bytes(), at.family() == 4 ? 4 : 16) == 0;
  });
}

void Interface::accept_guests() {
  for (;;) {
    if (counters.strangers.now.get() >= config_.strangers) return set_door(false);
    Descriptor socket(accept4(door_->fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno != EMFILE && errno != ENFILE) return;
      close_idle();
      // Whoever waits there is taken when a connection has been closed; meanwhile the door must not wake sleepers.
      return set_door(false);
    }
    if (!on_allowed_address(socket.get())) {
      counters.refused.add();
      continue;
    }
    prepare(socket.get(), config_);
    guests_.push_back(std::make_unique<Guest>(*this, std::move(socket), now_ns()));
  }
}

void Interface::take_visitors() {
  for (Visitor& visitor : inbox_.take()) {
    guests_.push_back(std::make_unique<Guest>(*this, std::move(visitor.socket), now_ns()));
    guests_.back()->greet(visitor.hello);
  }
}

bool Interface::pass_on(Guest& guest, const Hello& hello) {
  unwatch(guest);
  const bool passed = door_->pass({.socket = guest.release(), .hello = hello});
  if (passed) dismiss(guest);
  return passed;
}

void Interface::dismiss(Guest& guest) {
  const auto at = std::find_if(guests_.begin(), guests_.end(), [&](const auto& g) { return g.get() == &guest; });
  if (at == guests_.end()) return;
  bury(std::move(*at));
  guests_.erase(at);
  room_for_strangers();
}

void Interface::room_for_strangers() { set_door(true); }

bool Interface::chosen(Guest& guest, const Hello& hello, const Standing& theirs) {
  if (hello.call == Call::kRail) return rail_chosen(guest, hello);
  // One that the kernel does not know any more is heard out, too: it waits until what it has sent has arrived.
  const Caller caller = {.job = {hello.job[0], hello.job[1]}, .rank = hello.rank};
  const std::uint32_t number = number_of(caller);
  Endpoint& peer = endpoint_of(hello.sender, number);
  peer.peer = number;
  peer.caller = caller;
  peer.port = hello.port;
  unwatch(guest);
  Descriptor socket = guest.release();
  dismiss(guest);
  // One that was on its way while another was made is late.
  if (peer.way == Endpoint::Way::kFailed || theirs.epoch <= peer.epoch) return false;
  tell_path(peer, socket.get(), 0, 0, "");
  adopt(peer, std::move(socket), false, theirs);
  return false;
}

}  // namespace ashlar::tcp
