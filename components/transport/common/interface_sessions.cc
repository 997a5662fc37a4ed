#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "components/transport/common/interface.h"
#include "components/transport/common/striped_reads.h"
#include "framework/base/clock.h"
#include "framework/base/shared_file.h"
#include "framework/plugin/transport_identity.h"

// Who is who: the process's peers, and how the sessions with them begin and end.
namespace ashlar::network {
namespace {

constexpr std::uint64_t kGreetAgain = 1'000'000'000;

std::span<const std::uint8_t> bytes_of(const std::byte* from, std::size_t count) {
  return {reinterpret_cast<const std::uint8_t*>(from), count};
}

}  // namespace

Endpoint& Interface::endpoint_of(std::uint64_t of, std::uint32_t number) {
  std::unique_ptr<Endpoint>& entry = peers_[of];
  if (entry != nullptr) return *entry;
  entry = std::make_unique<Endpoint>();
  counters.peers.raise();
  Endpoint& peer = *entry;
  peer.ops = &kEndpointOps;
  if (fabric_->reads()) peer.capabilities |= ASHLAR_CAP_GET;
  if (fabric_->puts()) peer.capabilities |= ASHLAR_CAP_PUT;
  if (wake_) peer.capabilities |= ASHLAR_CAP_WAKE_FD;
  if (record_.alive.family != 0) peer.capabilities |= ASHLAR_CAP_FAILURE;
  peer.max_bcopy = fabric_->frame_bytes() - static_cast<std::uint32_t>(sizeof(Frame));
  peer.max_short = std::min<std::uint32_t>(kMaxShort, peer.max_bcopy);
  peer.peer = number;
  peer.latency_ns = traits_.latency_ns;
  peer.bandwidth_copy = traits_.bandwidth_copy;
  peer.bandwidth_get = fabric_->reads() ? traits_.bandwidth_get : 0;
  peer.get_from = static_cast<std::uint32_t>(std::min<std::uint64_t>(config_.get_from, UINT32_MAX));
  peer.iface = this;
  peer.nonce = of;
  if (record_.tag_bits != 0 && fabric_->senders_in_tags()) {
    peer.tag_proof_in = tag_proof(record_.secret, of);
    tag_senders_[peer.tag_proof_in] = &peer;
  }
  return peer;
}

ashlar_result Interface::connect(std::uint32_t number, const void* bytes, std::uint32_t length, ashlar_endpoint** out) {
  Record record;
  if (const ashlar_result read = parse(host_, number, bytes, length, &record); read != ASHLAR_OK) return read;
  if (record.nonce == record_.nonce) {
    const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = number},
                                 {.name = "library", .text = traits_.library, .number = 0},
                                 {.name = "component", .text = traits_.component, .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.itself", facts, std::size(facts));
  }
  if (record.name != record_.name) {
    const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = number},
                                 {.name = "library", .text = traits_.library, .number = 0},
                                 {.name = "settings", .text = traits_.settings, .number = 0},
                                 {.name = "theirs", .text = record.name.c_str(), .number = 0},
                                 {.name = "own", .text = record_.name.c_str(), .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.other", facts, std::size(facts));
  }
  Endpoint& peer = endpoint_of(record.nonce, number);
  peer.peer = number;
  peer.alive = record.alive;
  peer.max_bcopy = std::min(peer.max_bcopy, record.frame_bytes - static_cast<std::uint32_t>(sizeof(Frame)));
  const bool alike = record.tag_bits == record_.tag_bits && record.frame_bytes == record_.frame_bytes;
  peer.max_short = std::min(peer.max_short, peer.max_bcopy);
  const bool named = !fabric_->senders_in_tags() || number < context_.job_size;
  if (record_.tag_bits != 0 && alike && named) {
    peer.capabilities |= ASHLAR_CAP_TAG;
    peer.tag_proof = tag_proof(record.secret, record_.nonce);
  }
  if (peer.at == kNoPath) peer.at = fabric_->insert(record.address, &peer);
  // On one host the system says at once that a process has ended.
  if (peer.at != kNoPath && peer.way == Endpoint::Way::kDown && !liveness_.asking()) {
    counters.questions.add();
    const Liveness::Answer answer = liveness_.ask(peer.alive);
    if (answer == Liveness::Answer::kPending) asked_ = peer.nonce, asked_at_ = now_ns();
    if (answer == Liveness::Answer::kThere) peer.was_there = true;
    if (answer == Liveness::Answer::kRefused) peer.failure = "the process has ended: " + liveness_.reason();
  }
  if (peer.at == kNoPath || !peer.failure.empty()) {
    const ashlar_fact facts[] = {
        {.name = "peer", .text = nullptr, .number = number},
        {.name = "library", .text = traits_.library, .number = 0},
        {.name = "settings", .text = traits_.settings, .number = 0},
        {.name = "reasons",
         .text = peer.failure.empty() ? "the library does not take its address" : peer.failure.c_str(),
         .number = 0}};
    const ashlar_result failed =
        ashlar_fail_with(&host_, ASHLAR_ERR_PROC_ABORTED, "network.unreachable", facts, std::size(facts));
    if (peer.way == Endpoint::Way::kDown) peer.failure.clear();
    return failed;
  }
  peer.record = std::move(record);
  if (peer.way == Endpoint::Way::kDown) {
    if (!greet(peer)) return ashlar_fail_no_memory(&host_, "a first message", record_.frame_bytes);
  } else if (!peer.held && peer.way != Endpoint::Way::kFailed) {
    control(peer, Kind::kWake);  // behind the Bye of disconnect(), which has not left, or may not have arrived
  }
  peer.held = true;
  *out = &peer;
  return ASHLAR_OK;
}

/// The first time, or again with the same words: the library may have lost them with a connection. False: there is no
/// memory.
bool Interface::greet(Endpoint& peer) {
  Buffer* const buffer = large_->take();
  if (buffer == nullptr) return false;
  if (peer.way == Endpoint::Way::kDown) {
    peer.way = Endpoint::Way::kGreeting;
    peer.session = random_nonce();
    peer.number = 0;
    peer.greeted_at = now_ns();
  }
  peer.greet_again_at = now_ns() + kGreetAgain;
  Hello hello = {};
  hello.magic = kMagic;
  hello.version = kWireVersion;
  hello.address_bytes = static_cast<std::uint16_t>(record_.address.size());
  hello.target = peer.nonce;
  hello.sender = record_.nonce;
  plugin::job_of(context_, hello.job);
  hello.session = peer.session;
  hello.rank = context_.self;
  hello.alive = record_.alive;
  const std::size_t words = sizeof hello + record_.address.size();
  buffer->what = Operation::What::kSend;
  buffer->peer = &peer;
  buffer->end_at(framed(words + sizeof(Digest)));
  buffer->frame() = {.token = 0, .h0 = 0, .h1 = 0, .number = 0, .kind = Kind::kHello, .id = 0, .length = 0};
  std::memcpy(buffer->payload(), &hello, sizeof hello);
  std::memcpy(buffer->payload() + sizeof hello, record_.address.data(), record_.address.size());
  peer.keys = keys_of(peer.record.secret, bytes_of(buffer->payload(), words));
  std::memcpy(buffer->payload() + words, peer.keys.proof.data(), peer.keys.proof.size());
  count(peer, *buffer);
  peer.first.push(*buffer);
  flush_later(peer);
  pace_.heat();
  return true;
}

/// A Hello has arrived.
void Interface::greeted(const std::byte* frame, std::size_t bytes) {
  const std::byte* const payload = frame + sizeof(Frame);
  const std::size_t room = bytes - sizeof(Frame);
  Hello hello = {};
  if (room >= sizeof hello) std::memcpy(&hello, payload, sizeof hello);
  const std::size_t words = sizeof hello + hello.address_bytes;
  if (hello.magic != kMagic || hello.version != kWireVersion || hello.target != record_.nonce ||
      bytes != framed(words + sizeof(Digest))) {
    counters.refused.add();
    return;
  }
  const SessionKeys keys = keys_of(record_.secret, bytes_of(payload, words));
  Digest proof;
  std::memcpy(proof.data(), payload + words, proof.size());
  if (!same(proof, keys.proof)) {
    counters.refused.add();
    return;
  }
  Endpoint& peer = endpoint_of(hello.sender, plugin::number_of(context_, hello.job, hello.rank));
  if (peer.way == Endpoint::Way::kFailed) return;
  if (peer.at == kNoPath) {
    const auto* const address = reinterpret_cast<const std::uint8_t*>(payload) + sizeof hello;
    peer.at = fabric_->insert({address, address + hello.address_bytes}, &peer);
    if (peer.at == kNoPath) return;
  }
  if (peer.session_in != hello.session) {
    if (peer.token_in != 0) sessions_.erase(peer.token_in);
    peer.session_in = hello.session;
    peer.token_in = keys.token;
    peer.number_in = 0;
    drop_out_of_order(peer);
    peer.left = false;
    peer.job[0] = hello.job[0];
    peer.job[1] = hello.job[1];
    peer.rank = hello.rank;
    peer.alive = hello.alive;
    sessions_[keys.token] = &peer;
    forget_last_sender();
    counters.greeted.add();
    next_tick_ = 0;  // its host is asked at once: a later refusal counts of a process that was there before
  }
  Buffer* const answer = small_->take();
  if (answer == nullptr) return;  // it greets again
  const Welcome welcome = {.sender = record_.nonce, .session = hello.session, .proof = keys.answer};
  answer->what = Operation::What::kSend;
  answer->peer = &peer;
  answer->end_at(sizeof(Frame) + sizeof welcome);
  answer->frame() = {.token = 0, .h0 = 0, .h1 = 0, .number = 0, .kind = Kind::kWelcome, .id = 0, .length = 0};
  std::memcpy(answer->payload(), &welcome, sizeof welcome);
  count(peer, *answer);
  peer.first.push(*answer);
  flush_later(peer);
}

/// The answer to a Hello has arrived.
void Interface::welcomed(const std::byte* frame, std::size_t bytes) {
  Welcome welcome = {};
  if (bytes == sizeof(Frame) + sizeof welcome) std::memcpy(&welcome, frame + sizeof(Frame), sizeof welcome);
  const auto known = peers_.find(welcome.sender);
  if (known == peers_.end() || known->second->session != welcome.session ||
      !same(welcome.proof, known->second->keys.answer)) {
    counters.refused.add();
    return;
  }
  Endpoint& peer = *known->second;
  if (peer.way != Endpoint::Way::kGreeting) return;
  peer.way = Endpoint::Way::kOpen;
  peer.round_trip = std::min(peer.round_trip, now_ns() - peer.greeted_at);
  tell_path(peer);
  flush_later(peer);
}

void Interface::tell_path(Endpoint& peer) {
  if (host_.record == nullptr || context_.lane != 0) return;
  char subject[48], because[120];
  std::snprintf(subject, sizeof subject, "path to peer %u", peer.peer);
  std::snprintf(because, sizeof because, "the peer proved the secret over it, in %.1f ms",
                static_cast<double>(now_ns() - peer.greeted_at) / 1e6);
  host_.record("transport", subject, (fabric_->name() + " over " + fabric_->device()).c_str(), because,
               fabric_->others().c_str(), traits_.settings);
}

void Interface::drop_waiting(Endpoint& peer) {
  close_batch(peer);
  for (BufferQueue* queue : {&peer.first, &peer.waiting})
    while (Buffer* const buffer = queue->pop()) drop(peer, *buffer);
}

void Interface::drop_out_of_order(Endpoint& peer) {
  std::vector<OutOfOrder> dropped;
  dropped.swap(peer.out_of_order);
  for (const OutOfOrder& one : dropped) fabric_->reuse(*one.in);
}

/// The next frame's token is looked up.
void Interface::forget_last_sender() {
  last_token_ = 0;
  last_sender_ = nullptr;
}

void Interface::fail(Endpoint& peer, const std::string& reason, Gone gone) {
  if (peer.way == Endpoint::Way::kFailed) return;
  const bool hears = peer.way == Endpoint::Way::kOpen && gone == Gone::kPerhaps && !closing_;
  peer.way = Endpoint::Way::kFailed;
  peer.failure = reason;
  drop_waiting(peer);
  drop_out_of_order(peer);
  if (hears) say_given_up(peer);
  if (peer.token_in != 0) sessions_.erase(peer.token_in);
  peer.token_in = 0;
  forget_last_sender();
  if (peer.peer != ASHLAR_NOBODY) context_.failed(context_.lane_context, peer.peer, reason.c_str());
  if (peer.striped != nullptr) peer.striped->stop(lost(peer));
  std::vector<Transfer*> waiting = rails_.take_waiting(peer);
  waiting.insert(waiting.end(), peer.transfers_waiting.begin(), peer.transfers_waiting.end());
  peer.transfers_waiting.clear();
  for (Transfer* transfer : waiting) {
    ashlar_completion* const done = transfer->done;
    const std::shared_ptr<const void> keeps = transfer->keeps;
    dispose(*transfer);
    if (done != nullptr) done->done(done, lost(peer));
  }
  StripedReads::tell_ended(peer);
  end_transfers(peer, gone == Gone::kYes);
  if (!peer.transfers.empty() && gone == Gone::kPerhaps) peer.give_up_at = now_ns() + config_.handshake_timeout;
  give_up_cancelled(peer);
}

/// A process that is given up, but may be there, has to know that nothing will come.
void Interface::say_given_up(Endpoint& peer) {
  Buffer* const buffer = frame_to(peer, Kind::kGivenUp, nullptr, 0);
  if (buffer == nullptr) return;
  count(peer, *buffer);
  const Posted posted = post(peer, *buffer);
  if (posted != Posted::kDone && posted != Posted::kYes) drop(peer, *buffer);
}

ashlar_result Interface::lost(const Endpoint& peer) {
  const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = peer.peer},
                               {.name = "lower", .text = peer.failure.c_str(), .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_PROC_ABORTED, "network.get", facts, std::size(facts));
}

/// Ends what a peer that is given up has under way: what the library lets go of, or `all`. It may never end the others;
/// their memory is not written any more, as the peer is gone, or nothing has come of it for as long as is waited.
void Interface::end_transfers(Endpoint& peer, bool all) {
  const std::set<Transfer*> under_way = peer.transfers;
  for (Transfer* transfer : under_way) {
    if (!peer.transfers.contains(transfer)) continue;  // by what one before it has told
    ashlar_completion* const done = std::exchange(transfer->done, nullptr);
    const std::shared_ptr<const void> keeps = transfer->keeps;
    const bool abandoned = fabric(transfer->rail).abandon(*transfer);
    if (abandoned)
      finish(*transfer, -ASHLAR_ERR_OTHER);
    else if (!all)
      transfer->done = done;
    if (done != nullptr && (abandoned || all)) done->done(done, lost(peer));
  }
  peer.give_up_at = 0;
}

/// Forgets the large reads from a peer, and returns their completions. What the library has of them it keeps.
std::vector<ashlar_completion*> Interface::give_up_striped(Endpoint& peer) {
  const std::unique_ptr<StripedReads> striped = std::move(peer.striped);
  if (striped == nullptr) return {};
  std::vector<ashlar_completion*> users = striped->give_up();
  for (Transfer* transfer : rails_.take_waiting(peer)) dispose(*transfer);
  return users;
}

void Interface::disconnect(Endpoint& peer) {
  peer.held = false;
  (void)give_up_striped(peer);
  for (Transfer* transfer : peer.transfers_waiting) dispose(*transfer);
  peer.transfers_waiting.clear();
  const std::set<Transfer*> under_way = peer.transfers;
  for (Transfer* transfer : under_way) {
    transfer->done = nullptr;
    if (fabric(transfer->rail).abandon(*transfer)) finish(*transfer, -ASHLAR_ERR_OTHER);
  }
  if (peer.way == Endpoint::Way::kGreeting && peer.waiting.empty() && peer.batch == nullptr) {
    drop_waiting(peer);  // the peer has heard of no session
    peer.way = Endpoint::Way::kDown;
  } else if (peer.way == Endpoint::Way::kGreeting || peer.way == Endpoint::Way::kOpen) {
    control(peer, Kind::kBye);  // behind messages that have been taken, and wait
    leave(peer);
  }
}

/// Another session begins with the next connect(), if the library has all of this one.
void Interface::leave(Endpoint& peer) {
  if (peer.held || peer.way != Endpoint::Way::kOpen || !peer.waiting.empty() || peer.batch != nullptr) return;
  peer.way = Endpoint::Way::kDown;
}

void Interface::forget(std::uint32_t number) {
  for (auto& [nonce, peer] : peers_) {
    if (peer->peer != number) continue;
    disconnect(*peer);
    peer->peer = ASHLAR_NOBODY;
    peer->parted_at = pace_.clock();
  }
}

}  // namespace ashlar::network
