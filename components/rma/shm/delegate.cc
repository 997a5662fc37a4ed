// The origin's side of operations that their target may carry out.
#include "components/rma/shm/delegate.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include "components/rma/shm/offers.h"
#include "framework/base/clock.h"
#include "framework/datatype/layout.h"
#include "framework/rma/patience.h"

namespace ashlar::rma::shm {
namespace {

constexpr std::uint64_t kPatienceNs = 60'000;  // a target that sleeps in a wait is awake by then
constexpr int kPollsOfLook = 32;               // between two looks at the clock

using Kind = Work::Kind;

/// An operation on packed bytes of `place`, whose elements have `each` bytes.
struct Operation {
  RmaWindow& window;
  const Target& target;
  const Place& place;
  const DataView& from;
  const DataView& result;  // type nullptr: none
  std::size_t each;
  Work work;                      // without its bytes
  const void* compare = nullptr;  // kSwapIfEqual
  bool is_short = false;
};

/// Of a long update: where the next piece is, and where it goes.
void fill_long(const Operation& o, std::size_t first, Delegated* out) {
  const std::size_t left = static_cast<std::size_t>(o.from.bytes()) - first;
  out->work.bytes = std::min(left, Delegated::kLongBytes / o.each * o.each);
  out->origin = reinterpret_cast<std::uintptr_t>(o.from.data) + first;
  out->rows = 1;
  out->row[0] = {.offset = o.place.offset + static_cast<std::int64_t>(first), .block = out->work.bytes, .count = 1};
}

/// Rows and data of the next piece; no bytes: there is none.
void fill(const Operation& o, std::size_t first, Delegated* out) {
  out->work = o.work;
  if (o.work.kind == Kind::kLongUpdate) return fill_long(o, first, out);
  std::size_t bytes = 0;
  std::size_t most = Delegated::kBytes / o.each * o.each;
  out->rows = list_rows(o.place, first, most, out->row, &bytes);
  if (bytes % o.each != 0) {  // the rows end within an element that has holes
    most = bytes / o.each * o.each;
    out->rows = list_rows(o.place, first, most, out->row, &bytes);
  }
  out->work.bytes = bytes;
  if (o.work.reads_origin) datatype::pack(o.from, first, out->in, bytes);
  if (o.compare != nullptr) std::memcpy(out->compare, o.compare, bytes);
}

enum class Outcome : std::uint8_t { kDone, kNotTaken, kBusy };  // kBusy: another process offers something

/// `take` gets what the target has fetched.
template <class Take>
Outcome await_and_free(const Operation& o, Mailbox& box, Take take) {
  if (!await(box, o.window.lane().config.oversubscribed)) return Outcome::kNotTaken;
  take();
  box.state.store(Mailbox::kFree, std::memory_order_release);
  return Outcome::kDone;
}

/// Packed bytes from `first` on, as `piece` has them.
Outcome hand_over(const Operation& o, std::size_t first, Mailbox& box, const Delegated& piece) {
  if (!place_offer(o.window, o.target, box, piece)) return Outcome::kBusy;
  return await_and_free(o, box, [&] {
    if (o.result.type != nullptr) datatype::unpack(o.result, first, piece.out, piece.work.bytes);
  });
}

/// All of it, with data and place in the mailbox.
Outcome hand_over_in_mailbox(const Operation& o, std::size_t bytes, Mailbox& box) {
  if (!claim(box)) return Outcome::kBusy;
  box.work = o.work;
  box.work.in_mailbox = true;
  box.work.bytes = bytes;
  box.at = static_cast<std::uint64_t>(o.place.offset);
  const MailboxData data(box);
  if (o.work.reads_origin) datatype::pack(o.from, 0, data.in, bytes);
  if (o.compare != nullptr) std::memcpy(data.compare, o.compare, bytes);
  offer(o.window, o.target.rank, box);
  return await_and_free(o, box, [&] {
    if (o.result.type != nullptr) datatype::unpack(o.result, 0, data.out, bytes);
  });
}

bool fits_mailbox(const Operation& o, std::size_t bytes) {
  return o.place.type->dense() && bytes_in_mailbox(o.work, bytes) <= Mailbox::kBytes &&
         o.work.kind != Kind::kLongUpdate;
}

/// Whether the layout has so many runs that an offer may pay.
bool may_pay(const Place& place) {
  const std::uint64_t from = delegate_from();
  if (from == 0 || place.type->dense()) return false;
  return static_cast<std::uint64_t>(place.count) * place.type->layout().runs >= from;
}

constexpr std::uint64_t kShort = 4096;  // bytes

/// A short update is two calls of the system, which read and write, however few runs it has. A target that shares its
/// core with the origin would have to be scheduled first.
bool update_may_pay(const Update& u) {
  if (may_pay(u.place)) return true;
  const auto bytes = static_cast<std::uint64_t>(u.place.count) * static_cast<std::uint64_t>(u.place.type->size());
  return delegate_from() != 0 && bytes <= kShort && !u.window.lane().config.oversubscribed;
}

/// From here on an offer in vain takes little of the time of an update.
constexpr MPI_Count kLongUpdate = 64 * 1024;

/// A long one of a row of aligned elements that fetches nothing. What replaces is one copy either way.
bool is_long_update(const Update& u) {
  using Code = ReduceOp::Code;
  if (!u.reads_origin() || static_cast<std::uint64_t>(u.origin.bytes()) <= kShort || u.fetches()) return false;
  if (delegate_from() == 0 || u.window.lane().config.oversubscribed) return false;
  if (u.compare != nullptr || u.op.code() == Code::kReplace || !u.origin.dense() || !u.place.type->dense())
    return false;
  const std::uint64_t at = u.window.areas[u.target.rank].address + static_cast<std::uint64_t>(u.place.offset);
  return at % static_cast<std::uint64_t>(u.element.size()) == 0;
}

/// A short put or get is one.
bool is_short_copy(const Access& a) {
  if (delegate_from() == 0 || !copies_are_slow() || a.window.lane().config.oversubscribed) return false;
  return static_cast<std::uint64_t>(a.place.count) * static_cast<std::uint64_t>(a.place.type->size()) <= kShort;
}

/// As delegate_put().
std::size_t run(const Operation& o) {
  Origin& own = origin();
  const std::unique_lock lock(own.mutex, std::try_to_lock);
  Taker* const taker = lock ? own.taker_of(o.window, o.target) : nullptr;
  if (taker == nullptr || taker->reluctance.holds()) return 0;
  own.short_puts.finish();
  Reluctance& reluctance = taker->reluctance;
  const auto total = static_cast<std::size_t>(o.place.count) * static_cast<std::size_t>(o.place.type->size());
  const bool in_mailbox = fits_mailbox(o, total);
  Delegated* const piece = in_mailbox ? nullptr : own.piece();
  for (std::size_t done = 0; done < total;) {
    Outcome outcome = Outcome::kBusy;
    std::size_t bytes = total;
    if (in_mailbox) {
      outcome = hand_over_in_mailbox(o, total, *taker->box);
    } else if (piece != nullptr) {
      fill(o, done, piece);
      bytes = piece->work.bytes;
      if (bytes != 0) outcome = hand_over(o, done, *taker->box, *piece);
      // To look at the line again costs a short operation a quarter, if the target has read it.
      if (o.work.kind == Kind::kLongUpdate) bytes = piece->work.bytes;
    }
    if (outcome == Outcome::kNotTaken) reluctance.failed(o.is_short);
    if (outcome != Outcome::kDone) return done;
    reluctance = {};
    done += bytes;
  }
  return total;
}

}  // namespace

bool Reluctance::holds() const { return until != 0 && now_ns() < until; }

void Reluctance::failed(bool of_short) {
  const std::uint64_t least = of_short ? 4 : 10, most = of_short ? 200 : 100;
  until = now_ns() + std::min(least << failures, most) * kPatienceNs;
  failures = std::min(failures + 1, 6u);
}

/// Never destroyed: another thread may be in an operation when the process ends.
Origin& origin() {
  static auto* const one = new Origin;
  return *one;
}

Delegated* make_piece() {
  void* memory = nullptr;
  return memory::Heap::own().allocate(sizeof(Delegated), kCacheLine, false, &memory).ok() ? new (memory) Delegated
                                                                                          : nullptr;
}

Delegated* Origin::piece() {
  if (delegated == nullptr) delegated = make_piece();
  return delegated;
}

namespace {

/// nullptr: the target has none.
Mailbox* mailbox_of(RmaWindow& window, const Target& target) {
  const std::uint64_t address = control_of(window).target(target.rank).mailbox().load(std::memory_order_relaxed);
  const memory::MappedHeap* heap = nullptr;
  if (address == 0 || !memory::map_heap(owner_of(target).heap, &heap).ok()) return nullptr;
  return reinterpret_cast<Mailbox*>(heap->find(address, sizeof(Mailbox)));
}

}  // namespace

Taker* Origin::taker_of(RmaWindow& window, const Target& target) {
  if (window.sync->name() != kSyncName) return nullptr;
  const Neighbour* const process = &owner_of(target);
  if (process == latest_process_) [[likely]]
    return latest_;
  Taker& taker = takers_[process];
  if (taker.box == nullptr) taker.box = mailbox_of(window, target);
  if (taker.box == nullptr) return nullptr;
  latest_process_ = process;
  return latest_ = &taker;
}

bool await(Mailbox& box, bool shared_core) {
  std::uint64_t until = 0;
  bool late = false;
  for (int polls = 1;; ++polls) {
    const std::uint32_t state = box.state.load(std::memory_order_acquire);
    if (state == Mailbox::kDone) return true;
    if (state == Mailbox::kRefused) {
      box.state.store(Mailbox::kFree, std::memory_order_release);
      return false;
    }
    std::uint32_t offered = Mailbox::kOffered;
    if (late && box.state.compare_exchange_strong(offered, Mailbox::kFree, std::memory_order_acq_rel)) return false;
    carry_out_offer();
    pause_briefly();
    if (polls % kPollsOfLook != 0) continue;
    if (shared_core || late) sched_yield();
    const std::uint64_t now = now_ns();
    if (until == 0) until = now + kPatienceNs;
    late = late || now > until;
  }
}

bool claim(Mailbox& box) {
  std::uint32_t free = Mailbox::kFree;
  return box.state.compare_exchange_strong(free, Mailbox::kWriting, std::memory_order_acquire);
}

void offer(RmaWindow& window, Rank target, Mailbox& box) {
  box.context = window.comm->context;
  box.origin = window.me;
  box.target = target;
  box.state.store(Mailbox::kOffered, std::memory_order_release);
  delegate_counters().offered.add();
  wake(window, target);
}

bool place_offer(RmaWindow& window, const Target& target, Mailbox& box, const Delegated& piece) {
  if (!claim(box)) return false;
  box.work.in_mailbox = false;
  box.at = reinterpret_cast<std::uintptr_t>(&piece);
  offer(window, target.rank, box);
  return true;
}

std::size_t delegate_put(const Access& access) {
  const bool many = may_pay(access.place);
  if (!many && !is_short_copy(access)) return 0;
  const DataView none;
  return run({.window = access.window,
              .target = access.target,
              .place = access.place,
              .from = access.origin,
              .result = none,
              .each = 1,
              .work = {.kind = Kind::kPut, .reads_origin = true},
              .is_short = !many});
}

bool post_put(const Access& access) {
  if (!access.place.type->dense() || !is_short_copy(access)) return false;
  Origin& own = origin();
  const std::unique_lock lock(own.mutex, std::try_to_lock);
  Taker* const taker = lock ? own.taker_of(access.window, access.target) : nullptr;
  if (taker == nullptr || taker->reluctance.holds()) return false;
  const auto bytes = static_cast<std::size_t>(access.origin.bytes());
  return bytes != 0 && own.short_puts.add(access, *taker, bytes);
}

ShortPuts::Failure complete_puts(const RmaWindow& window, Rank target) {
  Origin& own = origin();
  const std::lock_guard lock(own.mutex);
  return own.short_puts.complete(window, target);
}

std::size_t delegate_get(const Access& access) {
  const bool many = may_pay(access.place);
  if (!many && !is_short_copy(access)) return 0;
  return run({.window = access.window,
              .target = access.target,
              .place = access.place,
              .from = access.origin,
              .result = access.origin,
              .each = 1,
              .work = {.kind = Kind::kGet, .fetches = true},
              .is_short = !many});
}

std::size_t delegate_update(const Update& u) {
  const auto element = static_cast<std::size_t>(u.element.size());
  const bool is_long = is_long_update(u);
  if ((!is_long && !update_may_pay(u)) || u.element.predefined == 0) return 0;
  if (u.compare != nullptr && element > sizeof(Delegated::compare)) return 0;
  return run({.window = u.window,
              .target = u.target,
              .place = u.place,
              .from = u.origin,
              .result = u.result,
              .each = element,
              .work = {.kind = is_long                ? Kind::kLongUpdate
                               : u.compare == nullptr ? Kind::kUpdate
                                                      : Kind::kSwapIfEqual,
                       .reads_origin = u.reads_origin(),
                       .fetches = u.fetches(),
                       .op = static_cast<std::uint16_t>(u.op.predefined),
                       .element = static_cast<std::uint16_t>(u.element.predefined)},
              .compare = u.compare,
              .is_short = is_long ? u.origin.bytes() < kLongUpdate : !may_pay(u.place)});
}

}  // namespace ashlar::rma::shm
