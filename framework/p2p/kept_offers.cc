#include "framework/p2p/kept_offers.h"

#include <utility>

#include "framework/p2p/lane_state.h"

namespace ashlar::p2p {
namespace {

void drop(LaneState& state, KeptOffer& entry) {
  state.unpaired.offers.remove(entry);
  (entry.counts_only ? state.refused_offers : state.kept_offers).put(&entry);
}

/// Counts an offer that is refused behind those of its envelope that are here. Where not even that is possible, the
/// order of all envelopes without an entry is lost, and nothing is paired in it any more.
void count_refused(LaneState& state, const match::Key& key) {
  Unpaired& unpaired = state.unpaired;
  const auto any = [](const match::Entry&) { return true; };
  auto* last = static_cast<KeptOffer*>(unpaired.offers.find_last_if(key, any));
  if (last == nullptr) {
    last = unpaired.order_lost ? nullptr : state.refused_offers.take();
    if (last == nullptr) {
      unpaired.order_lost = true;
      return;
    }
    last->key = key;
    last->there = false;
    last->counts_only = true;
    unpaired.offers.insert(*last);
  }
  ++last->refused;
}

}  // namespace

KeptOffer::KeptOffer() = default;
KeptOffer::~KeptOffer() = default;

bool keep_offer(LaneState& state, const match::Key& key, PeerId peer, std::uint32_t name, const PartOffer& offer,
                std::unique_ptr<SentSignature> sent_signature) {
  KeptOffer* const kept = state.unpaired.order_lost ? nullptr : state.kept_offers.take();
  if (kept == nullptr) {
    count_refused(state, key);
    return false;
  }
  kept->key = key;
  kept->peer = peer;
  kept->name = name;
  kept->offer = offer;
  kept->sent_signature = std::move(sent_signature);
  state.unpaired.offers.insert(*kept);
  return true;
}

NextOffer next_offer(LaneState& state, const match::Key& key) {
  auto* const oldest = static_cast<KeptOffer*>(state.unpaired.offers.find(key));
  if (oldest == nullptr)
    return {.is = state.unpaired.order_lost ? NextOffer::Is::kUnknown : NextOffer::Is::kToCome, .kept = nullptr};
  return {.is = oldest->there ? NextOffer::Is::kKept : NextOffer::Is::kRefused, .kept = oldest};
}

void pass(LaneState& state, const NextOffer& next) {
  KeptOffer* const entry = next.kept;
  if (entry == nullptr) return;
  if (entry->there) {
    entry->there = false;
    entry->sent_signature.reset();
  } else {
    --entry->refused;
  }
  if (entry->refused == 0) drop(state, *entry);
}

void drop_kept_offers(LaneState& state, const Comm* comm) {
  state.unpaired.offers.each([&](match::Entry& entry) {
    if (comm == nullptr || entry.key.context() == comm->context) drop(state, static_cast<KeptOffer&>(entry));
  });
}

}  // namespace ashlar::p2p
