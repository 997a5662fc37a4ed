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

/// An operation on `total` packed bytes of `place`, whose elements have `each` bytes.
struct Operation {
  RmaWindow& window;
  const Target& target;
  const Place& place;
  const DataView& from;
  const DataView& result;  // type nullptr: none
  std::size_t each;
  bool reads_origin;
  bool is_short = false;
  bool is_long = false;  // Delegated::Kind::kLongUpdate
};

/// Of a long update: where the next piece is, and where it goes.
std::size_t fill_long(const Operation& o, std::size_t first, Delegated* out) {
  const std::size_t left = static_cast<std::size_t>(o.from.bytes()) - first;
  out->bytes = std::min(left, Delegated::kLongBytes / o.each * o.each);
  out->origin = reinterpret_cast<std::uintptr_t>(o.from.data) + first;
  out->rows = 1;
  out->row[0] = {.offset = o.place.offset + static_cast<std::int64_t>(first), .block = out->bytes, .count = 1};
  return out->bytes;
}

/// Rows and data of the next piece. Returns its bytes; 0: there is none.
std::size_t fill(const Operation& o, std::size_t first, Delegated* out) {
  if (o.is_long) return fill_long(o, first, out);
  std::size_t bytes = 0;
  std::size_t most = Delegated::kBytes / o.each * o.each;
  out->rows = list_rows(o.place, first, most, out->row, &bytes);
  if (bytes % o.each != 0) {  // the rows end within an element that has holes
    most = bytes / o.each * o.each;
    out->rows = list_rows(o.place, first, most, out->row, &bytes);
  }
  out->bytes = bytes;
  if (o.reads_origin) datatype::pack(o.from, first, out->in, bytes);
  return bytes;
}

/// Until the target has carried out the offer, or has not taken it in time. It may be about to offer something to this
/// process, so the own mailbox is looked at as well.
bool await(Mailbox& box, bool shared_core) {
  const std::uint64_t until = now_ns() + kPatienceNs;
  bool late = false;
  for (int polls = 1;; ++polls) {
    const std::uint32_t state = box.state.load(std::memory_order_acquire);
    if (state == Mailbox::kDone || state == Mailbox::kRefused) {
      box.state.store(Mailbox::kFree, std::memory_order_release);
      return state == Mailbox::kDone;
    }
    std::uint32_t offered = Mailbox::kOffered;
    if (late && box.state.compare_exchange_strong(offered, Mailbox::kFree, std::memory_order_acq_rel)) return false;
    carry_out_offer();
    pause_briefly();
    if (polls % kPollsOfLook != 0) continue;
    if (shared_core || late) sched_yield();
    late = late || now_ns() > until;
  }
}

enum class Outcome : std::uint8_t { kDone, kNotTaken, kBusy };

/// kBusy: another process offers something.
Outcome hand_over(const Operation& o, Mailbox& box, const Delegated& piece) {
  if (!place_offer(o.window, o.target, box, piece)) return Outcome::kBusy;
  return await(box, o.window.lane().config.oversubscribed) ? Outcome::kDone : Outcome::kNotTaken;
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

template <class Describe>
std::size_t run(const Operation& o, Describe describe) {
  Mailbox* const box = mailbox_of(o.window, o.target);
  if (box == nullptr) return 0;
  Origin& own = origin();
  const std::unique_lock lock(own.mutex, std::try_to_lock);
  if (!lock) return 0;
  Reluctance& reluctance = own.reluctances[box];
  if (reluctance.until != 0 && now_ns() < reluctance.until) return 0;
  Delegated* const room = own.piece();
  if (room == nullptr) return 0;
  Delegated& piece = *room;
  describe(&piece);
  const auto total = static_cast<std::size_t>(o.place.count) * static_cast<std::size_t>(o.place.type->size());
  for (std::size_t done = 0; done < total;) {
    const std::size_t bytes = fill(o, done, &piece);
    const Outcome outcome = bytes == 0 ? Outcome::kBusy : hand_over(o, *box, piece);
    if (outcome == Outcome::kNotTaken) reluctance.failed(o.is_short);
    if (outcome != Outcome::kDone) return done;
    reluctance = {};
    if (o.result.type != nullptr) datatype::unpack(o.result, done, piece.out, bytes);
    // The line may have moved to the target, which has read it: to look at it costs a short operation a quarter.
    done += o.is_long ? piece.bytes : bytes;
  }
  return total;
}

}  // namespace

void Reluctance::failed(bool of_short) {
  const std::uint64_t least = of_short ? 100 : 10, most = of_short ? 200 : 100;
  until = now_ns() + std::min(least << failures, most) * kPatienceNs;
  failures = std::min(failures + 1, 4u);
}

/// Never destroyed: another thread may be in an operation when the process ends.
Origin& origin() {
  static auto* const one = new Origin;
  return *one;
}

Delegated* Origin::piece() {
  void* memory = nullptr;
  if (delegated == nullptr && memory::Heap::own().allocate(sizeof(Delegated), kCacheLine, false, &memory).ok())
    delegated = new (memory) Delegated;
  return delegated;
}

Mailbox* mailbox_of(RmaWindow& window, const Target& target) {
  if (window.sync->name() != kSyncName) return nullptr;
  const std::uint64_t address = control_of(window).target(target.rank).mailbox().load(std::memory_order_relaxed);
  const memory::MappedHeap* heap = nullptr;
  if (address == 0 || !memory::map_heap(owner_of(target).heap, &heap).ok()) return nullptr;
  return reinterpret_cast<Mailbox*>(heap->find(address, sizeof(Mailbox)));
}

bool place_offer(RmaWindow& window, const Target& target, Mailbox& box, const Delegated& piece) {
  std::uint32_t free = Mailbox::kFree;
  if (!box.state.compare_exchange_strong(free, Mailbox::kWriting, std::memory_order_acquire)) return false;
  box.context = window.comm->context;
  box.origin = window.me;
  box.target = target.rank;
  box.address = reinterpret_cast<std::uintptr_t>(&piece);
  box.state.store(Mailbox::kOffered, std::memory_order_release);
  delegate_counters().offered.add();
  wake(window, target.rank);
  return true;
}

std::size_t delegate_put(const Access& access) {
  const bool many = may_pay(access.place);
  if (!many && !is_short_copy(access)) return 0;
  const DataView none;
  const Operation operation{.window = access.window,
                            .target = access.target,
                            .place = access.place,
                            .from = access.origin,
                            .result = none,
                            .each = 1,
                            .reads_origin = true,
                            .is_short = !many};
  return run(operation, [](Delegated* out) { out->kind = Delegated::Kind::kPut; });
}

std::size_t delegate_get(const Access& access) {
  const bool many = may_pay(access.place);
  if (!many && !is_short_copy(access)) return 0;
  const Operation operation{.window = access.window,
                            .target = access.target,
                            .place = access.place,
                            .from = access.origin,
                            .result = access.origin,
                            .each = 1,
                            .reads_origin = false,
                            .is_short = !many};
  return run(operation, [](Delegated* out) { out->kind = Delegated::Kind::kGet; });
}

std::size_t delegate_update(const Update& u) {
  const auto element = static_cast<std::size_t>(u.element.size());
  const bool is_long = is_long_update(u);
  if ((!is_long && !update_may_pay(u)) || u.element.predefined == 0) return 0;
  if (u.compare != nullptr && element > sizeof(Delegated::compare)) return 0;
  const Operation operation{.window = u.window,
                            .target = u.target,
                            .place = u.place,
                            .from = u.origin,
                            .result = u.result,
                            .each = element,
                            .reads_origin = u.reads_origin(),
                            .is_short = is_long ? u.origin.bytes() < kLongUpdate : !may_pay(u.place),
                            .is_long = is_long};
  return run(operation, [&](Delegated* out) {
    out->kind = is_long                ? Delegated::Kind::kLongUpdate
                : u.compare == nullptr ? Delegated::Kind::kUpdate
                                       : Delegated::Kind::kSwapIfEqual;
    if (u.compare != nullptr) std::memcpy(out->compare, u.compare, element);
    out->reads_origin = u.reads_origin();
    out->fetches = u.fetches();
    out->op = static_cast<std::uint16_t>(u.op.predefined);
    out->element = u.element.predefined;
  });
}

}  // namespace ashlar::rma::shm
