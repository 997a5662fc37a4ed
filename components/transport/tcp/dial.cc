#include "components/transport/tcp/dial.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "components/transport/tcp/interface.h"
#include "framework/base/clock.h"
#include "framework/base/stream_socket.h"

namespace ashlar::tcp {
namespace {

constexpr std::size_t kMostAttempts = 16;
constexpr std::uint64_t kFirstPause = 10'000'000, kLongestPause = 1'000'000'000;
constexpr unsigned kRefusals = 4;                      // rounds in which every address refuses: the process is gone
constexpr std::uint64_t kConnectTime = 5'000'000'000;  // one address, until the next round
constexpr std::uint64_t kGuessTime = 500'000'000;      // the same of a guess, when all others have refused

/// A link-local address is tried over every link, of which one may lead there: of the others nothing is learnt.
bool is_guess(const SocketAddress& to) { return to.any.sa_family == AF_INET6 && to.v6.sin6_scope_id != 0; }
constexpr std::uint64_t kConnectAgainTime = 1'000'000'000;
// Where the address of a broken connection refuses, the others have so long to show that the process is there.
constexpr std::uint64_t kGrace = 200'000'000;

SocketAddress port_of_host(const SocketAddress& at, std::uint16_t port) {
  const std::uint32_t scope = at.any.sa_family == AF_INET6 ? at.v6.sin6_scope_id : 0;
  return {at.family(), at.bytes(), port, scope};
}

}  // namespace

// --- Attempt ---

bool Attempt::lost(const std::string& reason) {
  dial_.lost(*this, reason, false);
  return false;
}

unsigned Attempt::ready(std::uint32_t events) { return step(events); }

unsigned Attempt::step(std::uint32_t) {
  if (stage_ == Stage::kConnecting) {
    int error = 0;
    socklen_t length = sizeof error;
    (void)getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error == 0) {
      pollfd writable = {.fd = fd(), .events = POLLOUT, .revents = 0};
      if (poll(&writable, 1, 0) == 0) return 0;
    }
    if (error != 0) {
      dial_.lost(*this, std::strerror(error), error == ECONNREFUSED);
      return 1;
    }
    if (!dial_.answered(*this) || !say_hello()) return 1;
  }
  if (!out_.empty() && !write_out()) return 1;
  if (stage_ == Stage::kChallenge && collect(sizeof(Challenge)) && !on_challenge()) return 1;
  if (!closed && stage_ == Stage::kWelcome && collect(sizeof(Welcome)) && !on_welcome()) return 1;
  if (!closed && stage_ == Stage::kExchange) {
    while (to_drop_ > 0) {
      std::vector<std::byte>& scratch = dial_.iface().scratch(64 << 10);
      const ssize_t got = recv(fd(), scratch.data(), std::min<std::uint64_t>(to_drop_, 64 << 10), 0);
      if (is_later(got)) return 1;
      if (got <= 0) {
        lost("the path broke in the full exchange");
        return 1;
      }
      to_drop_ -= static_cast<std::uint64_t>(got);
    }
    dial_.won(*this);
  }
  return 1;
}

bool Attempt::say_hello() {
  Interface& iface = dial_.iface();
  hello_ = iface.hello_to(dial_.peer().nonce);
  hello_.exchange = iface.exchange_with(to_);
  hello_.call = dial_.call();
  if (!draw(hello_.nonce.data(), hello_.nonce.size())) return lost("the system gives no random bytes");
  out_.append(&hello_, sizeof hello_);
  stage_ = Stage::kChallenge;
  return write_out();
}

bool Attempt::write_out() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(fd(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (is_later(sent)) break;
    if (sent < 0) return lost(std::strerror(errno));
    out_.consume(static_cast<std::size_t>(sent));
  }
  dial_.iface().watch(*this, EPOLLIN | (out_.empty() ? 0u : static_cast<std::uint32_t>(EPOLLOUT)));
  return true;
}

bool Attempt::collect(std::size_t bytes) {
  while (in_.size() < bytes) {
    std::byte buffer[64];
    const ssize_t got = recv(fd(), buffer, std::min(sizeof buffer, bytes - in_.size()), 0);
    if (is_later(got)) return false;
    if (got <= 0) return lost(got == 0 ? "what answers there closed the connection" : std::strerror(errno));
    in_.insert(in_.end(), buffer, buffer + got);
  }
  return true;
}

bool Attempt::on_challenge() {
  Challenge challenge;
  std::memcpy(&challenge, in_.data(), sizeof challenge);
  in_.clear();
  const Secret& secret = dial_.peer().address.secret;
  if (challenge.magic != kMagic || challenge.version != kWireVersion ||
      !same(challenge.proof, proof_of(Side::kListening, secret, hello_, challenge.nonce)))
    return lost("what answers there is not the peer");
  if (challenge.verdict == Verdict::kWait) {
    dial_.told_to_wait(*this);
    return false;
  }
  const Digest proof = proof_of(Side::kDialling, secret, hello_, challenge.nonce);
  out_.append(&proof, sizeof proof);
  if (hello_.exchange != 0) std::memset(out_.append(hello_.exchange), 0, hello_.exchange);
  stage_ = Stage::kWelcome;
  return write_out();
}

bool Attempt::on_welcome() {
  Welcome welcome;
  std::memcpy(&welcome, in_.data(), sizeof welcome);
  if (welcome.magic != kMagic || welcome.exchange != hello_.exchange) return lost("it answered what is no welcome");
  theirs_ = {.epoch = welcome.epoch, .received = welcome.received};
  to_drop_ = welcome.exchange;
  stage_ = Stage::kExchange;
  return true;
}

// --- Dial ---

Dialler::Dialler(Interface& iface, Endpoint& peer) : iface_(iface), peer_(peer) {}

Dialler::~Dialler() {
  while (!attempts_.empty()) drop(*attempts_.back());
}

int Dialler::try_address(const SocketAddress& to) {
  Descriptor socket = make_socket(to.family());
  if (!socket) {
    const int error = errno;
    note(to, std::strerror(error));
    return error;
  }
  prepare(socket.get(), iface_.config());
  const int error = connect(socket.get(), &to.any, to.length) == 0 ? 0 : errno;
  attempts_.push_back(std::make_unique<Attempt>(*this, std::move(socket), to));
  Attempt& attempt = *attempts_.back();
  if (error != 0 && error != EINPROGRESS)
    lost(attempt, std::strerror(error), error == ECONNREFUSED);
  else
    iface_.watch(attempt, EPOLLIN | EPOLLOUT);
  return 0;
}

void Dialler::note(const SocketAddress& to, const std::string& reason) {
  reasons_ += (reasons_.empty() ? "" : "; ") + to.text() + ": " + reason;
}

void Dialler::drop(Attempt& attempt) { iface_.bury(take(attempt)); }

std::unique_ptr<Attempt> Dialler::take(Attempt& attempt) {
  const auto at = std::find_if(attempts_.begin(), attempts_.end(), [&](const auto& a) { return a.get() == &attempt; });
  std::unique_ptr<Attempt> taken = std::move(*at);
  attempts_.erase(at);
  return taken;
}

Dial::Dial(Interface& iface, Endpoint& peer) : Dialler(iface, peer), asking_(!peer.known), began_(now_ns()) {}

void Dial::add(const SocketAddress& to) {
  if (attempts_.size() == kMostAttempts) return;
  const int error = try_address(to);
  if (error == 0) {
    ++tried_;
    return;
  }
  if (error == EMFILE || error == ENFILE) iface_.close_idle();
  round_refused_ = false;
}

void Dial::start_round() {
  peer_.way = Endpoint::Way::kDialling;
  round_began_ = now_ns();
  next_round_ = 0;
  reasons_.clear();
  tried_ = refusals_ = 0;
  round_refused_ = true;
  refused_at_break_ = false;
  starting_ = true;
  if (asking_)
    add(port_of_host(peer_.broken.at, peer_.port));
  else
    for (const SocketAddress& to : iface_.ways_to(peer_.address)) add(to);
  starting_ = false;
  if (tried_ == 0) {
    round_refused_ = false;
    if (reasons_.empty()) reasons_ = "it has published no address that this process can use";
  }
  if (attempts_.empty()) round_over(now_ns());
}

void Dial::look() {
  for (std::size_t i = attempts_.size(); i-- > 0;) {
    pollfd ready = {.fd = attempts_[i]->fd(), .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, 0) == 1 && (ready.revents & (POLLERR | POLLHUP)) != 0) attempts_[i]->ready(EPOLLERR);
  }
}

/// Whether these alone may still answer, and the other addresses say that there is no such process.
bool Dial::guesses_are_left() const {
  return round_refused_ && refusals_ > 0 && std::all_of(attempts_.begin(), attempts_.end(), [](const auto& attempt) {
           return attempt->connecting() && is_guess(attempt->to());
         });
}

void Dial::lost(Attempt& attempt, const std::string& reason, bool refused) {
  note(attempt.to(), reason);
  if (refused) ++refusals_;
  round_refused_ = round_refused_ && (refused || is_guess(attempt.to()));
  if (refused && is_at_break(attempt.to())) {
    refused_at_break_ = true;
    iface_.tick_soon();
  }
  drop(attempt);
  if (attempts_.empty() && !starting_) round_over(now_ns());
}

void Dial::round_over(std::uint64_t now) {
  ++rounds_lost_;
  round_refused_ = round_refused_ && refusals_ > 0;
  rounds_refused_ = round_refused_ ? rounds_refused_ + 1 : 0;
  const std::uint64_t pause = std::min(kFirstPause << std::min(rounds_lost_, 10u), kLongestPause);
  next_round_ = now + spread(pause);
}

/// Many processes that call one do not call again together, nor do two that have called each other.
std::uint64_t Dial::spread(std::uint64_t pause) const { return pause / 2 + (now_ns() ^ iface_.nonce()) % (pause / 2); }

bool Dial::answered(Attempt& attempt) {
  answered_ = now_ns();
  if (!asking_) return true;
  drop(attempt);
  round_over(answered_);
  return false;
}

bool Dial::is_at_break(const SocketAddress& to) const {
  return peer_.broken.since != 0 && to.text(false) == peer_.broken.at.text(false);
}

/// The host that the peer was last reached at says that no process listens on its port.
bool Dial::process_has_ended(std::uint64_t now) const {
  if (!refused_at_break_) return false;
  const bool other_may_answer =
      std::any_of(attempts_.begin(), attempts_.end(), [](const auto& attempt) { return !attempt->connecting(); });
  return attempts_.empty() || (!other_may_answer && now - round_began_ > kGrace);
}

std::uint64_t Dial::connect_time() const {
  if (guesses_are_left()) return kGuessTime;
  return peer_.broken.since != 0 ? kConnectAgainTime : kConnectTime;
}

void Dial::tick(std::uint64_t now) {
  if (iface_.has_guest_of(peer_.nonce)) return;
  if (peer_.way == Endpoint::Way::kExpecting) {
    if (now >= next_round_) start_round();
    return;
  }
  if (process_has_ended(now)) return iface_.give_up(peer_, true);
  for (std::size_t i = attempts_.size(); i-- > 0 && now - round_began_ > connect_time();)
    if (attempts_[i]->connecting()) lost(*attempts_[i], "no answer", false);
  if (!attempts_.empty() || now < next_round_) return;
  if (peer_.broken.since != 0) {
    // While the peer's host answers, the process is there and computes.
    if (now - std::max(began_, answered_) > iface_.config().patience) return iface_.give_up(peer_, false);
  } else {
    if (rounds_refused_ >= kRefusals) return iface_.give_up(peer_, true);
    if (now - began_ > iface_.config().connect_timeout) return iface_.give_up(peer_, false);
  }
  iface_.counters.retries.add();
  start_round();
}

void Dial::wait() {
  while (!attempts_.empty()) drop(*attempts_.back());
  peer_.way = Endpoint::Way::kExpecting;
  next_round_ = now_ns() + spread(kLongestPause);
}

void Dial::won(Attempt& attempt) {
  std::unique_ptr<Attempt> kept = take(attempt);
  for (const auto& other : attempts_) note(other->to(), "slower");
  iface_.counters.dialled.add();
  iface_.unwatch(*kept);
  Descriptor socket = kept->release();
  Interface& iface = iface_;
  Endpoint& peer = peer_;
  iface.tell_path(peer, socket.get(), tried_, now_ns() - round_began_, reasons_);
  iface.path_proved(kept->to());
  const Standing theirs = kept->theirs();
  iface.bury(std::move(kept));
  iface.adopt(peer, std::move(socket), true, theirs);  // ends this object
}

}  // namespace ashlar::tcp
