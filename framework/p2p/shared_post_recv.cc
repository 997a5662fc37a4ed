#include <limits>

#include "framework/p2p/config.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/shared_post.h"

namespace ashlar::p2p {
namespace {

// More receives of one key than this before one that could be posted, and it is not worth counting them.
constexpr std::size_t kMostAhead = 64;

// No transport copies less than this in one piece with profit.
constexpr std::uint64_t kNeverBelow = 4096;

}  // namespace

MPI_Count smallest_shared_post(const Config& config) {
  // With check.datatypes a receive may turn out to get nothing of its message.
  if (!config.shared_posts || !config.single_copy || config.check_datatypes)
    return std::numeric_limits<MPI_Count>::max();
  return static_cast<MPI_Count>(config.shared_post_min != 0 ? config.shared_post_min : kNeverBelow);
}

SharedPosts::SharedPosts(Lane& lane, const Config& config, match::PostedQueue& posted)
    : lane_(lane), config_(config), posted_(posted), smallest_(smallest_shared_post(config)) {}

/// How many receives of the key of `r`, the last one posted, are posted before it. Windows of receives follow on each
/// other: then only one was posted and none taken since the last time.
std::size_t SharedPosts::ahead_of(const RecvRequest& r) {
  match::Table& table = posted_.table();
  const bool follows = r.key == last_.key && r.stamp == last_.stamp + 1 && table.count() == last_.posted + 1;
  const std::size_t ahead = follows ? last_.ahead + 1 : table.ahead_of(r, kMostAhead);
  last_ = {.key = r.key, .stamp = r.stamp, .posted = table.count(), .ahead = ahead};
  return ahead;
}

void SharedPosts::post(RecvRequest& r) ASHLAR_NO_THREAD_SAFETY {
  if (!r.filed() || !r.data.dense() || match::is_wild(r.key)) return;
  Peer* const peer = progress::peer_of(*r.comm, r.key.source());
  if (peer == nullptr || peer->id == lane_.peers.self() || peer->one_lane.load(std::memory_order_relaxed)) return;
  Link* link = nullptr;
  if (!progress::connect(lane_, *peer, &link).ok()) return;
  ashlar_endpoint* const endpoint = link->endpoint;
  if ((endpoint->capabilities & ASHLAR_CAP_POST) == 0) return;
  if (static_cast<std::uint64_t>(r.size) < smallest_shared_post(config_, *endpoint)) return;
  if (posted_.has_rival(r.key)) return;
  const std::size_t before = ahead_of(r);
  if (before >= kMostAhead) return;
  const ashlar_posted what{.h0 = r.key.where,
                           .h1 = tag_word(r.key.tag, 0),
                           .before = before,
                           .address = r.data.data,
                           .length = static_cast<std::uint64_t>(r.size),
                           .token = std::uint64_t{r.name()}};
  if (endpoint->ops->posts->post(endpoint, &what, &r.post) != ASHLAR_OK) {
    r.post = 0;
    return;
  }
  r.link = link;
  level_.add();
  total_.add();
}

/// False: the sender writes at this moment.
bool SharedPosts::withdraw(RecvRequest& r) {
  ashlar_endpoint* const endpoint = r.link->endpoint;
  if (endpoint->ops->posts->withdraw(endpoint, r.post, &r.received) == ASHLAR_PENDING) return false;
  r.post = 0;
  level_.subtract();
  return true;
}

void SharedPosts::matched(RecvRequest& r, bool by_rts) {
  if (by_rts) {
    static_cast<void>(withdraw(r));
  } else {
    drop(r);
  }
}

void SharedPosts::drop(RecvRequest& r) {
  if (withdraw(r)) return;
  // The sender has failed while it wrote, for otherwise the receive would not be over. The transport keeps the place.
  r.post = 0;
  level_.subtract();
}

bool SharedPosts::committed(RecvRequest& r) {
  if (total_ == 0) return false;
  const auto begun = [this](RecvRequest& receive) {
    return (receive.post != 0 && !withdraw(receive)) || receive.received != 0;
  };
  bool found = begun(r);
  posted_.table().each_behind(r, [&](match::Entry& entry) { found |= begun(static_cast<RecvRequest&>(entry)); });
  return found;
}

bool SharedPosts::stopped(RecvRequest& r, std::uint32_t number) {
  return r.post != 0 && r.post == number && withdraw(r);
}

void on_stopped(Lane& lane, const ashlar_am& am) {
  RecvRequest* const r = named<RecvRequest>(high_word(am.h0), kRecvOps);
  if (r == nullptr || !lane.p2p->posts.stopped(*r, low_word(am.h1))) return;
  if (r->awaits()) go_on_reading(lane, *r, low_word(am.h0));
}

}  // namespace ashlar::p2p
