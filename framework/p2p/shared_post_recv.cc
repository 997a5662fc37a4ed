#include "framework/p2p/offered.h"
#include "framework/p2p/state.h"

namespace ashlar::p2p {
namespace {

// More receives of one key than this before an offered one, and it is not worth counting them.
constexpr std::size_t kMostAhead = 64;

/// How many receives of the key of `r`, the last one posted, are posted before it. Windows of receives follow on each
/// other: then only one was posted and none taken since the last offer.
std::size_t ahead_of(LaneState& state, const RecvRequest& r) {
  match::Table& table = state.posted.table();
  LastOffer& last = state.last_offer;
  const bool follows = r.key == last.key && r.stamp == last.stamp + 1 && table.count() == last.posted + 1;
  const std::size_t ahead = follows ? last.ahead + 1 : table.ahead_of(r, kMostAhead);
  last = {r.key, r.stamp, table.count(), ahead};
  return ahead;
}

}  // namespace

void offer(Lane& lane, LaneState& state, RecvRequest& r) {
  if (!r.filed() || !r.data.dense() || match::is_wild(r.key)) return;
  Peer* const peer = progress::peer_of(*r.comm, r.key.source());
  if (peer == nullptr || peer->id == lane.peers.self() || peer->one_lane.load(std::memory_order_relaxed)) return;
  Link* link = nullptr;
  if (!progress::connect(lane, *peer, &link).ok()) return;
  ashlar_endpoint* const endpoint = link->endpoint;
  if ((endpoint->capabilities & ASHLAR_CAP_OFFER) == 0) return;
  if (static_cast<std::uint64_t>(r.size) < smallest_offer(state.config, *endpoint)) return;
  if (state.posted.has_rival(r.key)) return;
  const std::size_t before = ahead_of(state, r);
  if (before >= kMostAhead) return;
  const ashlar_offer what{r.key.where,
                          tag_word(r.key.tag, 0),
                          before,
                          r.data.data,
                          static_cast<std::uint64_t>(r.size),
                          std::uint64_t{r.name()}};
  if (endpoint->ops->offer(endpoint, &what, &r.offer) != ASHLAR_OK) {
    r.offer = 0;
    return;
  }
  r.link = link;
  ++state.levels.offered;
  ++state.levels.offers;
}

bool take_back(LaneState& state, RecvRequest& r) {
  ashlar_endpoint* const endpoint = r.link->endpoint;
  if (endpoint->ops->withdraw(endpoint, r.offer, &r.received) == ASHLAR_PENDING) return false;
  r.offer = 0;
  --state.levels.offered;
  return true;
}

void end_offer(LaneState& state, RecvRequest& r) {
  if (take_back(state, r)) return;
  // Its sender has failed in the middle, for otherwise the receive would not be over. The place stays taken.
  r.offer = 0;
  --state.levels.offered;
}

bool spoken_for(LaneState& state, RecvRequest& r) {
  if (state.levels.offers == 0) return false;
  const auto begun = [&state](RecvRequest& receive) {
    return (receive.offer != 0 && !take_back(state, receive)) || receive.received != 0;
  };
  bool spoken = begun(r);
  state.posted.table().each_behind(r, [&](match::Entry& entry) { spoken |= begun(static_cast<RecvRequest&>(entry)); });
  return spoken;
}

void on_stopped(Lane& lane, const ashlar_am& am) {
  RecvRequest* const r = named<RecvRequest>(high_word(am.h0), kRecvOps);
  if (r == nullptr || r->offer == 0 || r->offer != low_word(am.h1)) return;
  if (!take_back(*lane.p2p, *r)) return;
  if (r->awaits()) go_on_reading(lane, *r, low_word(am.h0));
}

}  // namespace ashlar::p2p
