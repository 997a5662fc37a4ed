#include "components/transport/tcp/rail_dial.h"

#include "components/transport/tcp/interface.h"
#include "framework/base/clock.h"

namespace ashlar::tcp {
namespace {

constexpr std::size_t kMostAttempts = 8;
constexpr std::uint64_t kTime = 5'000'000'000;  // for connecting, proof and full exchange

}  // namespace

RailDial::RailDial(Interface& iface, Endpoint& peer, Rails& rails) : Dialler(iface, peer), rails_(rails) {}

bool RailDial::start() {
  began_ = now_ns();
  starting_ = true;
  for (const SocketAddress& to : iface_.ways_to(peer_.address)) {
    const Candidate* const at = peer_.address.find(to);
    if (at == nullptr || at->reach != ip::kNetwork || at->card == 0 || rails_.uses_peer_card(at->card)) continue;
    if (attempts_.size() < kMostAttempts) (void)try_address(to);
  }
  starting_ = false;
  return !attempts_.empty();
}

void RailDial::over_if_empty() {
  if (!starting_ && attempts_.empty()) rails_.dial_over(reasons_);  // ends this object
}

void RailDial::lost(Attempt& attempt, const std::string& reason, bool) {
  note(attempt.to(), reason);
  drop(attempt);
  over_if_empty();
}

void RailDial::told_to_wait(Attempt& attempt) { lost(attempt, "the peer takes no further connection", false); }

void RailDial::won(Attempt& attempt) {
  std::unique_ptr<Attempt> kept = take(attempt);
  iface_.path_proved(kept->to());
  iface_.unwatch(*kept);
  const std::uint8_t card = peer_.address.find(kept->to())->card;
  const std::string reason = rails_.reason_against(kept->fd(), card);
  if (reason.empty()) {
    made_ = true;
    rails_.add(kept->release(), card);
    // The other addresses of that interface are not needed any more.
    for (std::size_t i = attempts_.size(); i-- > 0;)
      if (peer_.address.find(attempts_[i]->to())->card == card) drop(*attempts_[i]);
  } else {
    note(kept->to(), reason);
  }
  iface_.bury(std::move(kept));
  over_if_empty();
}

void RailDial::tick(std::uint64_t now) {
  if (now < began_ + kTime) return;
  starting_ = true;
  while (!attempts_.empty()) lost(*attempts_.back(), "no answer", false);
  starting_ = false;
  over_if_empty();
}

}  // namespace ashlar::tcp
