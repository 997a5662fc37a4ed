#include "components/transport/tcp/guest.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "components/transport/tcp/interface.h"
#include "framework/base/stream_socket.h"

namespace ashlar::tcp {
namespace {

constexpr std::uint32_t kLongestExchange = 16 << 20;

}  // namespace

Guest::Guest(Interface& iface, Descriptor socket, std::uint64_t now)
    : Watched(std::move(socket)), iface_(iface), began_(now) {
  iface_.counters.strangers.raise();
  iface_.watch(*this, EPOLLIN);
}

Guest::~Guest() {
  if (stranger_) iface_.counters.strangers.lower();
}

bool Guest::leave(bool stranger) {
  if (stranger) iface_.counters.refused.add();
  iface_.dismiss(*this);
  return false;
}

bool Guest::in_time(std::uint64_t now) {
  return !stranger_ || now < began_ + iface_.config().handshake_timeout || leave(true);
}

unsigned Guest::ready(std::uint32_t) {
  step();
  return 1;
}

void Guest::step() {
  if (!out_.empty() && !write_out()) return;
  if (stage_ == Stage::kHello) {
    if (!collect(sizeof(Hello))) return;
    std::memcpy(&hello_, in_.data(), sizeof hello_);
    in_.clear();
    if (!on_hello()) return;
  }
  if (stage_ == Stage::kProof && (!collect(sizeof(Digest)) || !on_proof())) return;
  if (stage_ == Stage::kExchange && !on_exchange()) return;
  if (stage_ == Stage::kChosen && collect(sizeof(Chosen))) on_chosen();
}

bool Guest::collect(std::size_t bytes) {
  while (in_.size() < bytes) {
    std::byte buffer[64];
    const ssize_t got = recv(fd(), buffer, std::min(sizeof buffer, bytes - in_.size()), 0);
    if (is_later(got)) return false;
    // A peer that chose another of its connections closes this one.
    if (got <= 0) return leave(stranger_);
    in_.insert(in_.end(), buffer, buffer + got);
  }
  return true;
}

void Guest::greet(const Hello& hello) {
  hello_ = hello;
  if (on_hello()) step();
}

bool Guest::on_hello() {
  if (hello_.magic != kMagic || hello_.version != kWireVersion || hello_.exchange > kLongestExchange ||
      hello_.call > Call::kRail)
    return leave(true);
  if (hello_.target != iface_.nonce()) return iface_.pass_on(*this, hello_) ? false : leave(true);
  if (hello_.sender == iface_.nonce()) return leave(true);
  if (!draw(nonce_.data(), nonce_.size())) return leave(false);
  const Verdict verdict = hello_.call == Call::kRail ? iface_.verdict_on_rail(hello_) : iface_.verdict_on(hello_);
  Challenge challenge = {.magic = kMagic, .version = kWireVersion, .verdict = verdict, .nonce = nonce_, .proof = {}};
  challenge.proof = proof_of(Side::kListening, iface_.secret(), hello_, nonce_);
  out_.append(&challenge, sizeof challenge);
  stage_ = Stage::kProof;
  if (!write_out()) return false;
  return verdict == Verdict::kGoOn || leave(false);
}

bool Guest::on_proof() {
  Digest proof;
  std::memcpy(proof.data(), in_.data(), proof.size());
  in_.clear();
  if (!same(proof, proof_of(Side::kDialling, iface_.secret(), hello_, nonce_))) return leave(true);
  to_drop_ = hello_.exchange;
  stage_ = Stage::kExchange;
  return true;
}

bool Guest::on_exchange() {
  while (to_drop_ > 0) {
    std::vector<std::byte>& scratch = iface_.scratch(64 << 10);
    const ssize_t got = recv(fd(), scratch.data(), std::min<std::uint64_t>(to_drop_, 64 << 10), 0);
    if (is_later(got)) return false;
    if (got <= 0) return leave(false);
    to_drop_ -= static_cast<std::uint64_t>(got);
  }
  stranger_ = false;
  iface_.counters.strangers.lower();
  iface_.room_for_strangers();
  const Standing own = iface_.standing_with(hello_.sender);
  const Welcome welcome = {.magic = kMagic, .exchange = hello_.exchange, .epoch = own.epoch, .received = own.received};
  out_.append(&welcome, sizeof welcome);
  if (welcome.exchange != 0) std::memset(out_.append(welcome.exchange), 0, welcome.exchange);
  stage_ = Stage::kChosen;
  return write_out();
}

bool Guest::on_chosen() {
  Chosen chosen;
  std::memcpy(&chosen, in_.data(), sizeof chosen);
  if (chosen.frame.kind != Kind::kChosen || chosen.frame.length != sizeof chosen.epoch) return leave(true);
  iface_.counters.accepted.add();
  return iface_.chosen(*this, hello_, {.epoch = chosen.epoch, .received = chosen.frame.h0, .next = chosen.frame.h1});
}

bool Guest::write_out() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(fd(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (is_later(sent)) break;
    if (sent < 0) return leave(false);
    out_.consume(static_cast<std::size_t>(sent));
  }
  iface_.watch(*this, EPOLLIN | (out_.empty() ? 0u : static_cast<std::uint32_t>(EPOLLOUT)));
  return true;
}

}  // namespace ashlar::tcp
