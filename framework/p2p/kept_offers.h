#pragma once
#include <cstdint>
#include <memory>

#include "framework/object/comm.h"
#include "framework/p2p/partitioned.h"

/// The offers of partitioned sends that came before their receiving requests, in the order in which they are paired. An
/// offer that there was no room for is refused, and its place in the order is kept: the receiving request that it
/// belongs to fails, and later ones pair with later offers.
namespace ashlar::p2p {

struct LaneState;
struct SentSignature;

struct KeptOffer : match::Entry {
  KeptOffer();
  ~KeptOffer();

  PeerId peer = 0;
  std::uint32_t name = 0;
  PartOffer offer = {};
  std::unique_ptr<SentSignature> sent_signature;
  bool there = true;          // no request has taken it; without it, the entry counts `refused` alone,
  bool counts_only = false;   // as some do from the beginning, which are of refused_offers
  std::uint64_t refused = 0;  // offers of the same envelope that came next, and were refused
};

/// What the next receiving request of an envelope pairs with.
struct NextOffer {
  enum class Is { kToCome, kKept, kRefused, kUnknown };
  Is is = Is::kToCome;
  KeptOffer* kept = nullptr;
};

/// Keeps `offer`; false when it is to be refused. The lane's lock guards them all.
bool keep_offer(LaneState& state, const match::Key& key, PeerId peer, std::uint32_t name, const PartOffer& offer,
                std::unique_ptr<SentSignature> sent_signature);
NextOffer next_offer(LaneState& state, const match::Key& key);
/// The request has what `next` is: the one behind it is the next.
void pass(LaneState& state, const NextOffer& next);
/// Forgets those of a communicator that is going away; nullptr: all of them.
void drop_kept_offers(LaneState& state, const Comm* comm);

}  // namespace ashlar::p2p
