#include <algorithm>
#include <cstring>
#include <utility>

#include "components/transport/common/interface.h"
#include "components/transport/common/striped_reads.h"
#include "framework/base/clock.h"

// Rails: large reads of peers' memory over further fabrics, and memory of this process that peers read so.
namespace ashlar::network {

Fabric& Interface::fabric(std::uint8_t rail) { return rail == 0 ? *fabric_ : rails_.fabric(rail); }
Registrations& Interface::memory(std::uint8_t rail) { return rail == 0 ? memory_ : rails_.memory(rail); }

/// False: it goes over the first fabric as a whole.
bool Interface::read_striped(Endpoint& peer, void* to, const Key& key, std::uint64_t offset, std::uint64_t length,
                             ashlar_completion* done) {
  if (peer.striped == nullptr) peer.striped = std::make_unique<StripedReads>(*this, peer);
  if (!peer.striped->read(to, key, offset, length, done)) return false;
  counters.gets.add();
  pace_.expect();
  return true;
}

void Interface::post_later(Transfer& transfer) {
  Endpoint& peer = *transfer.peer;
  peer.transfers_waiting.push_back(&transfer);
  flush_later(peer);
}

/// A peer reads memory of this process, and would do that over rails as well. They are opened, and know the memory,
/// when the first peer asks.
void Interface::rails_wanted(Endpoint& peer, const std::byte* bytes, std::size_t length) {
  RailsWanted wanted;
  if (length != sizeof wanted) return counters.refused.add();
  std::memcpy(&wanted, bytes, sizeof wanted);
  Exposed* const exposed = find_exposed(wanted.key);
  // What is exposed no more has been read; without a session of its own the peer reads over the first fabric.
  if (exposed == nullptr || peer.way != Endpoint::Way::kOpen) return;
  const std::uint64_t now = now_ns();
  struct {
    RailsOffered head;
    RailOffer offers[kMostRails - 1];
  } answer = {.head = {.read = wanted.read, .rails = rails_.last(), .count = 0}, .offers = {}};
  for (std::uint8_t rail = 1; rail <= rails_.last(); ++rail) {
    if (!rails_.open(rail, now)) continue;
    Region*& region = exposed->on_rails[rail - 1u];
    if (region == nullptr) {
      region = rails_.memory(rail).take(exposed->address, exposed->bytes, Fabric::kRead);
      if (region == nullptr) continue;
      rails_.exposed(true);
    }
    if (rails_.offer(rail, *region, exposed->address, &answer.offers[answer.head.count])) ++answer.head.count;
  }
  if (answer.head.count != 0) rails_.expect(now);
  pace_.heat();
  control(peer, Kind::kRailsOffered, &answer,
          static_cast<std::uint32_t>(sizeof answer.head + answer.head.count * sizeof(RailOffer)));
}

void Interface::rails_offered(Endpoint& peer, const std::byte* bytes, std::size_t length) {
  RailsOffered head = {};
  std::array<RailOffer, kMostRails - 1> offers;
  if (length >= sizeof head) std::memcpy(&head, bytes, sizeof head);
  if (head.count > offers.size() || length != sizeof head + head.count * sizeof(RailOffer))
    return counters.refused.add();
  std::memcpy(offers.data(), bytes + sizeof head, head.count * sizeof(RailOffer));
  if (peer.striped != nullptr) peer.striped->offered(head, {offers.data(), head.count});
}

/// Where a peer's key leads; nullptr: it is exposed no more.
Interface::Exposed* Interface::find_exposed(const Key& key) {
  const auto [first, last] = exposed_.equal_range(std::to_array(key.remote.bytes));
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    return entry.second.bytes == key.length && entry.second.base == key.remote.base;
  });
  return key.owner == record_.nonce && found != last ? &found->second : nullptr;
}

void Interface::leave_rail(std::uint8_t rail, Exposed& exposed) {
  Region* const region = std::exchange(exposed.on_rails[rail - 1u], nullptr);
  if (region == nullptr) return;
  rails_.memory(rail).give_back(*region, exposed.bytes);
  rails_.exposed(false);
}

/// What the clock brings.
void Interface::tick_rails() {
  const std::uint64_t now = pace_.clock();
  (void)rails_.look(now);
  rails_.give_up_freed();
  std::vector<Endpoint*> readers;
  for (auto& [nonce, peer] : peers_) {
    if (peer->striped == nullptr) continue;
    peer->striped->tick(now);
    readers.push_back(peer.get());
  }
  // The kernel may meet new peers, and take leave of others.
  for (Endpoint* peer : readers) StripedReads::tell_ended(*peer);
}

void Interface::tell_rails(const Endpoint& peer, const std::string& which, const std::string& because) {
  if (host_.record == nullptr || context_.lane != 0) return;
  const std::string subject = "rails to peer " + std::to_string(peer.peer);
  host_.record("transport", subject.c_str(), which.c_str(), because.c_str(), fabric_->others().c_str(),
               (std::string("transport.") + traits_.component + ".rails").c_str());
}

}  // namespace ashlar::network
