#include "framework/rma/wire.h"

#include <algorithm>
#include <new>
#include <optional>
#include <unordered_map>

#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/coll/api.h"
#include "framework/match/table.h"
#include "framework/p2p/links.h"
#include "framework/p2p/window_hooks.h"
#include "framework/p2p/wire.h"
#include "framework/progress/user_call.h"
#include "framework/progress/waiting.h"
#include "framework/rma/component.h"
#include "framework/rma/target_waker.h"
#include "framework/rma/window.h"

// Callbacks run under the lane's lock, which the analysis cannot see through them.
namespace ashlar::rma {

/// The windows of one lane, by the contexts of their communicators. Exists while there are any.
struct LaneWindows {
  explicit LaneWindows(Lane& of) : lane(of) {
    hooks = {.deliver = deliver, .peer_failed = peer_failed, .windows = this};
  }

  static void deliver(void* windows, const ashlar_am& am) {
    auto& self = *static_cast<LaneWindows*>(windows);
    const auto found = self.windows.find(static_cast<std::uint32_t>(am.h0 >> 32));
    if (found == self.windows.end()) return;
    RmaWindow& window = *found->second;
    if (const Status opened = WindowWire::open(window); !opened.ok()) {
      ASHLAR_LOG(error, "rma", "a message on window '%s' is lost: %s", window.label(), opened.text());
      return;
    }
    window.wire->deliver({.from = static_cast<Rank>(static_cast<std::uint32_t>(am.h0)),
                          .word = am.h1,
                          .data = {static_cast<const std::byte*>(am.data), am.length}});
  }

  static void peer_failed(void* windows, PeerId peer) {
    for (auto& [context, window] : static_cast<LaneWindows*>(windows)->windows) {
      const Rank rank = window->wire != nullptr ? window->comm->local_group->rank_of(peer) : -1;
      if (rank >= 0) window->wire->receiver_->peer_failed(rank);
    }
  }

  /// Of `lane`, made if `make`.
  static LaneWindows* of(Lane& lane, bool make) ASHLAR_REQUIRES(lane.lock);

  Lane& lane;
  p2p::WindowHooks hooks;
  std::unordered_map<std::uint32_t, RmaWindow*> windows;
};

LaneWindows* LaneWindows::of(Lane& lane, bool make) {
  if (const p2p::WindowHooks* const hooks = p2p::window_hooks(lane)) return static_cast<LaneWindows*>(hooks->windows);
  if (!make) return nullptr;
  auto* const made = new (std::nothrow) LaneWindows(lane);
  if (made != nullptr) p2p::hook_windows(lane, &made->hooks);
  return made;
}

Stream::~Stream() {
  if (linked()) List<Pending>::remove(this);
}

WindowWire::WindowWire(RmaWindow& window, std::unique_ptr<WindowReceiver> receiver)
    : window_(window), lane_(*window.comm->lane), receiver_(std::move(receiver)) {}

Status WindowWire::listen(RmaWindow& window) {
  const LaneGuard guard(window.lane().lock);
  LaneWindows* const windows = LaneWindows::of(window.lane(), true);
  if (windows != nullptr && windows->windows.emplace(window.comm->context, &window).second) return {};
  return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the messages of a window"}});
}

void WindowWire::unlisten(RmaWindow& window) {
  const LaneGuard guard(window.lane().lock);
  LaneWindows* const windows = LaneWindows::of(window.lane(), false);
  if (windows == nullptr) return;
  windows->windows.erase(window.comm->context);
  if (!windows->windows.empty()) return;
  p2p::hook_windows(window.lane(), nullptr);
  delete windows;
}

Status WindowWire::open(RmaWindow& window) {
  if (window.wire != nullptr) [[likely]]
    return {};
  Status made = fail(MPI_ERR_OTHER, "rma.no_messages", {{"window", window.label()}});
  for (const Component* component : window.components)
    if (component->listen != nullptr && window.wire == nullptr) made = component->listen(window);
  return made;
}

Status WindowWire::attach(RmaWindow& window, std::unique_ptr<WindowReceiver> receiver) {
  window.lane().lock.held_by_caller();
  window.wire.reset(new (std::nothrow) WindowWire(window, std::move(receiver)));
  if (window.wire == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the messages of a window"}});
  window.wire->started_ = window.made;
  return {};
}

WindowWire::~WindowWire() {
  const LaneGuard guard(lane_.lock);
  receiver_.reset();  // takes its streams off the links
}

void WindowWire::start() {
  lane_.lock.held_by_caller();
  started_ = true;
  for (const Kept& kept : kept_) receiver_->deliver({.from = kept.from, .word = kept.word, .data = kept.data});
  kept_ = {};
}

void WindowWire::deliver(const WindowMessage& message) {
  if (started_) [[likely]]
    return receiver_->deliver(message);
  kept_.push_back({.from = message.from, .word = message.word, .data = {message.data.begin(), message.data.end()}});
}

/// Gives one message to the endpoint; `*any`: whether there was one.
ashlar_result WindowWire::push_one(Stream& stream, Link& link, bool* any) {
  ashlar_endpoint& endpoint = *link.endpoint;
  StreamMessage message;
  *any = stream.next(std::max<std::size_t>(endpoint.max_bcopy, endpoint.max_short), &message);
  if (!*any) return ASHLAR_OK;
  const Comm& comm = *stream.wire_->window_.comm;
  const std::uint64_t where = match::Key::place(comm.context, comm.rank);
  ashlar_result result;
  std::byte small[kLeastRoom];
  if (message.length <= std::min<std::size_t>(endpoint.max_short, sizeof small)) {
    stream.fill(small);
    result = endpoint.ops->am_short(&endpoint, p2p::kRma, where, message.word, small, message.length);
  } else {
    const auto fill = [](void* of, void* to, std::size_t room) {
      static_cast<Stream*>(of)->fill(static_cast<std::byte*>(to));
      return room;
    };
    result = endpoint.ops->am_bcopy(&endpoint, p2p::kRma, where, message.word, fill, &stream, message.length);
  }
  // An error means a dead peer, which the transport reports by itself: then everything to it ends.
  if (result == ASHLAR_OK) stream.sent();
  return result;
}

/// One piece in a turn, beside other bulk work of the link.
ashlar_result WindowWire::push(Pending& work, Link& link) {
  auto& stream = static_cast<Stream&>(work);
  bool any = false;
  stream.pushing_ = true;
  const ashlar_result result = push_one(stream, link, &any);
  stream.pushing_ = false;
  return result == ASHLAR_OK && any ? ASHLAR_PENDING : result;
}

Status WindowWire::kick(Stream& stream) {
  lane_.lock.held_by_caller();
  if (stream.linked() || stream.pushing_) return {};  // gets its turn
  if (stream.link_ == nullptr) [[unlikely]] {
    stream.wire_ = this;
    static_cast<Pending&>(stream).push = push;
    stream.abandon = [](Pending&, Link&) {};  // WindowReceiver::peer_failed() ends what it has
    ASHLAR_TRY(p2p::open_link(lane_, *window_.comm, stream.to(), &stream.link_));
  }
  Link& link = *stream.link_;
  if (link.peer->failed.load(std::memory_order_relaxed)) [[unlikely]]
    return fail_gone(stream.to());
  p2p::about_to_use(lane_, link);
  bool any = true;
  ashlar_result result = ASHLAR_OK;
  stream.pushing_ = true;
  const bool free = link.pending.empty() && link.bulk.empty();
  while (free && any && result == ASHLAR_OK) result = push_one(stream, link, &any);
  stream.pushing_ = false;
  if (!free || result == ASHLAR_AGAIN) progress::enqueue(lane_, link, stream, /*bulk=*/true);
  return {};
}

namespace {

void tell_wait(const void* what, Lane&, plugin::AccountWriter& account) {
  static_cast<const WindowWait*>(what)->tell(account);
}

}  // namespace

Status WindowWire::wait(WindowWait& wait, const char* call) {
  lane_.lock.held_by_caller();
  std::optional<progress::UserCall> user_call;
  if (call != nullptr) user_call.emplace(call, &window_);
  const Rank rank = lane_.config.dormant ? wait.asked() : -1;
  if (rank < 0 || rank == window_.me || wait.over()) [[likely]]
    return wait_for(wait);
  const TargetWaker waker(window_, rank);
  return wait_for(wait);
}

Status WindowWire::wait_for(WindowWait& wait) {
  lane_.lock.held_by_caller();
  Status alive;
  std::uint32_t failures = 0;
  const auto over = [&]() ASHLAR_NO_THREAD_SAFETY {
    if (wait.over()) return true;
    if (failures == lane_.peers.failures()) [[likely]]
      return false;
    failures = lane_.peers.failures();
    alive = can_go_on(wait);
    return !alive.ok();
  };
  progress::wait(lane_, over, {.tell = tell_wait, .what = &wait});
  return alive;
}

Status WindowWire::can_go_on(const WindowWait& wait) {
  for (Rank rank = 0; rank < window_.comm->size; ++rank)
    if (gone(rank) && wait.needs(rank)) return fail_gone(rank);
  return {};
}

bool WindowWire::gone(Rank rank) const {
  const Peer* const peer = lane_.peers.find(process_of(rank));
  return peer != nullptr && peer->failed.load(std::memory_order_relaxed);
}

std::uint32_t WindowWire::process_of(Rank rank) const { return (*window_.comm->local_group)[rank]; }

Status WindowWire::fail_gone(Rank rank) const {
  return fail(MPI_ERR_PROC_ABORTED, "rma.peer_gone",
              {{"peer", rank}, {"window", window_.label()}, {"lower", lane_.peers.failure_reason(process_of(rank))}});
}

Status WindowWire::barrier(const char* call) {
  const progress::UserCall user_call(call, &window_);
  return coll::barrier(*window_.comm);
}

}  // namespace ashlar::rma
