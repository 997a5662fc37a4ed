#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "components/transport/common/interface.h"
#include "framework/plugin/transport_identity.h"

// What the clock brings: first messages that are repeated, and questions whether a silent peer is there.
namespace ashlar::network {
namespace {

constexpr std::uint64_t kTickEvery = 10'000'000;
constexpr std::uint64_t kDoubtEvery = 200'000'000;   // between questions about a peer that has not answered
constexpr std::uint64_t kSilent = 3'000'000'000;     // a question that has no answer by then has none
constexpr std::uint64_t kLastMessages = 50'000'000;  // for what a process sent before it ended

bool on_one_host(const HostAddress& one, const HostAddress& other) {
  return one.family == other.family && one.scope == other.scope &&
         std::memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0;
}

}  // namespace

void Interface::tick() {
  next_tick_ = pace_.clock() + kTickEvery;
  if (proving_ || closing_) return;
  read_timer();
  liveness_.let_go();
  for (auto entry = peers_.begin(); entry != peers_.end();) {
    Endpoint& peer = *entry->second;
    if (peer.way == Endpoint::Way::kGreeting && peer.first.empty() && peer.under_way == 0 &&
        pace_.clock() >= peer.greet_again_at)
      (void)greet(peer);
    entry = is_unknown(peer) && remove_paths(peer) ? erase(entry) : std::next(entry);
  }
  memory_.give_up_freed();
  if (rails_.last() != 0) tick_rails();
  ask_hosts();
  for (auto& [nonce, entry] : peers_) {
    Endpoint& peer = *entry;
    if (!peer.out_of_order.empty() && pace_.clock() - peer.out_of_order_since >= config_.handshake_timeout)
      return fail_missing(peer);
    if (peer.give_up_at != 0 && pace_.clock() >= peer.give_up_at) return end_transfers(peer, true);
    if (peer.refused_at == 0 || pace_.clock() - peer.refused_at < kLastMessages) continue;
    peer.refused_at = 0;
    if (peer.left && peer.way != Endpoint::Way::kGreeting) continue;
    if (const std::string silent = peer.failure; !silent.empty())
      fail(peer, silent, Gone::kPerhaps);
    else
      fail(peer, "the process has ended: its host refuses connections to it", Gone::kYes);
    return;  // the kernel may have taken leave of peers
  }
}

/// Whether the peer is of another job that the kernel has parted from, and has left or ended, so that nothing of it is
/// under way or can come any more. One that connects again before its leave has left goes on in the same session
/// (connect()); the kernel knows it before that. One that has not talked yet may do so to part, over the way that it
/// has for its Welcome: for a time that is not closed.
bool Interface::is_unknown(const Endpoint& peer) {
  using Way = Endpoint::Way;
  if (peer.peer != ASHLAR_NOBODY || peer.held || !(peer.way == Way::kDown || peer.way == Way::kFailed)) return false;
  if (peer.token_in != 0 && (!peer.left || plugin::number_of(context_, peer.job, peer.rank) != ASHLAR_NOBODY))
    return false;
  if (peer.token_in == 0 && peer.way == Way::kDown && pace_.clock() - peer.parted_at < config_.handshake_timeout)
    return false;
  if (peer.under_way != 0 || !peer.first.empty() || !peer.waiting.empty() || peer.batch != nullptr || peer.to_flush ||
      !peer.out_of_order.empty() || !peer.transfers.empty() || !peer.transfers_waiting.empty() ||
      peer.striped != nullptr || peer.refused_at != 0)
    return false;
  for (const TagReceive& receive : tags_)
    if (receive.peer == &peer || std::ranges::find(receive.others, &peer) != receive.others.end()) return false;
  return true;
}

bool Interface::remove_paths(Endpoint& peer) {
  for (; !peer.rail_paths.empty(); peer.rail_paths.pop_back()) {
    const auto [rail, at] = peer.rail_paths.back();
    if (rails_.is_open(rail) && !fabric(rail).remove(at)) return false;
  }
  return peer.at == kNoPath || fabric_->remove(peer.at);
}

/// Returns the next one.
Interface::Peers::iterator Interface::erase(Peers::iterator entry) {
  const Endpoint& peer = *entry->second;
  if (peer.token_in != 0) sessions_.erase(peer.token_in);
  if (peer.tag_proof_in != 0) tag_senders_.erase(peer.tag_proof_in);
  if (last_sender_ == &peer) forget_last_sender();
  counters.peers.lower();
  return peers_.erase(entry);
}

void Interface::settle(Endpoint& peer, Liveness::Answer answer) {
  const bool greeting = peer.way == Endpoint::Way::kGreeting;
  switch (answer) {
    case Liveness::Answer::kThere:
      peer.was_there = true;
      peer.silent_since = 0;
      if (liveness_.round_trip() != 0) peer.round_trip = std::min(peer.round_trip, liveness_.round_trip());
      break;
    case Liveness::Answer::kRefused:
      // A firewall refuses, too: it counts from who was there before, or has not answered otherwise either.
      if (peer.refused_at == 0 && (greeting || (peer.was_there && !peer.left))) peer.refused_at = pace_.clock();
      break;
    case Liveness::Answer::kSilent:
      if (peer.silent_since == 0) peer.silent_since = pace_.clock();
      if ((peer.was_there || greeting) && pace_.clock() - peer.silent_since >= config_.handshake_timeout) {
        peer.failure = "its host does not answer: " + liveness_.reason();
        peer.refused_at = pace_.clock() - kLastMessages;
      }
      break;
    default:
      break;
  }
}

/// One question at a time: to the peer that has not been asked for longest.
void Interface::ask_hosts() {
  const std::uint64_t now = pace_.clock();
  if (liveness_.asking()) {
    const Liveness::Answer answer = liveness_.look(now - asked_at_ > kSilent);
    if (answer == Liveness::Answer::kPending) return;
    if (const auto whom = peers_.find(asked_); whom != peers_.end()) settle_all(*whom->second, answer);
  }
  Endpoint* next = nullptr;
  for (auto& [nonce, entry] : peers_) {
    const std::uint64_t apart = asked_apart(*entry);
    if (apart == 0 || now - entry->asked_at < apart) continue;
    if (next == nullptr || entry->asked_at < next->asked_at) next = entry.get();
  }
  if (next == nullptr) return;
  next->asked_at = now;
  asked_ = next->nonce;
  asked_at_ = now;
  counters.questions.add();
  const Liveness::Answer answer = liveness_.ask(next->alive);
  if (answer != Liveness::Answer::kPending) settle_all(*next, answer);
}

/// ns between two questions for the peer; 0: there is none.
std::uint64_t Interface::asked_apart(const Endpoint& peer) const {
  const bool greeting = peer.way == Endpoint::Way::kGreeting;
  const bool knows = peer.way == Endpoint::Way::kOpen || (peer.token_in != 0 && !peer.left);
  if (peer.alive.family == 0 || peer.way == Endpoint::Way::kFailed || peer.refused_at != 0 || !(greeting || knows))
    return 0;
  return greeting || !peer.was_there ? kDoubtEvery : config_.liveness_interval;
}

/// Silence is the host's: all its processes are silent then, and need no question of their own, which would last as
/// long.
void Interface::settle_all(Endpoint& asked, Liveness::Answer answer) {
  settle(asked, answer);
  if (answer != Liveness::Answer::kSilent) return;
  for (auto& [nonce, entry] : peers_) {
    Endpoint& peer = *entry;
    if (&peer == &asked || asked_apart(peer) == 0 || !on_one_host(peer.alive, asked.alive)) continue;
    peer.asked_at = pace_.clock();
    settle(peer, answer);
  }
}

}  // namespace ashlar::network
