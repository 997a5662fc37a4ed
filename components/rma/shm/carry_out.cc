// The target's side of operations that their origins offer to it.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "components/rma/shm/delegate.h"
#include "components/rma/shm/far.h"
#include "framework/datatype/reduce_op.h"
#include "framework/rma/combine.h"
#include "framework/rma/neighbours.h"
#include "framework/rma/pieces.h"
#include "framework/rma/update_lock.h"

namespace ashlar::rma::shm {
namespace {

/// Of one lane with windows that accept offers.
struct LanePoller : Poller {
  std::uint32_t windows = 0;
};

struct Receiver {
  std::atomic<Mailbox*> box{nullptr};   // never freed: it is one line, and an origin may still be about to leave it
  std::unique_ptr<std::byte[]> copied;  // kCopied bytes, of the thread that has taken the offer
  std::mutex mutex;                     // guards the rest
  std::unordered_map<std::uint64_t, RmaWindow*> windows;  // that accept offers, by key()
  std::map<Lane*, LanePoller> pollers;
};
/// Never destroyed: windows may end with the process.
Receiver& receiver() {
  static auto* const one = new Receiver;
  return *one;
}

/// Which window, and which process of it: tests have several of one window in a process.
std::uint64_t key(std::uint32_t context, Rank rank) {
  return std::uint64_t{context} << 32 | static_cast<std::uint32_t>(rank);
}

constexpr std::size_t kCopied = 64 * 1024;  // of a long update at a time: in the cache when they are combined

RmaWindow* window_of(const Mailbox& box) {
  const std::lock_guard guard(receiver().mutex);
  const auto found = receiver().windows.find(key(box.context, box.target));
  return found != receiver().windows.end() ? found->second : nullptr;
}

/// Where the operation's bytes are, if they lie in one block whose elements are aligned; nullptr: they do not.
std::byte* one_block(const Delegated& piece, std::byte* memory, std::size_t element) {
  if (piece.rows != 1 || piece.row[0].count != 1) return nullptr;
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uint64_t>(piece.row[0].offset);
  return at % element == 0 ? reinterpret_cast<std::byte*>(at) : nullptr;
}

void update(const RmaWindow& window, Delegated& piece, std::byte* memory) {
  using Code = ReduceOp::Code;
  const ReduceOp& op = datatype::predefined_op(reinterpret_cast<MPI_Op>(static_cast<std::uintptr_t>(piece.op)));
  Datatype& element = datatype::predefined(reinterpret_cast<MPI_Datatype>(static_cast<std::uintptr_t>(piece.element)));
  const auto size = static_cast<std::size_t>(element.size());
  alignas(16) std::byte packed[kBounceBytes];
  const std::size_t step = bounce_bytes(size);
  RowCursor from({piece.row, piece.rows}, memory), to = from;
  const Guard guard = window.sync->guard(window.me);
  const UpdateLockGuard held(guard);
  std::byte* const block = one_block(piece, memory, size);
  if (block != nullptr && !piece.fetches && op.code() != Code::kReplace && op.code() != Code::kNoOp)
    return combine_packed(op, element, piece.in, block, piece.bytes / size);
  for (std::size_t done = 0; done < piece.bytes; done += step) {
    const std::size_t now = std::min<std::size_t>(step, piece.bytes - done);
    const bool replaces = op.code() == Code::kReplace;
    if (!replaces || piece.fetches) from.gather(packed, now);
    if (piece.fetches) std::memcpy(piece.out + done, packed, now);
    if (op.code() == Code::kNoOp) continue;
    if (!replaces) combine_packed(op, element, piece.in + done, packed, now / size);
    to.scatter(replaces ? piece.in + done : packed, now);
  }
}

/// Elements that are still where the origin has them. Those that are combined are counted: the origin does the rest.
/// Returns whether there were any.
bool long_update(const RmaWindow& window, const Neighbour& from, Delegated& piece, std::byte* memory) {
  const ReduceOp& op = datatype::predefined_op(reinterpret_cast<MPI_Op>(static_cast<std::uintptr_t>(piece.op)));
  Datatype& element = datatype::predefined(reinterpret_cast<MPI_Datatype>(static_cast<std::uintptr_t>(piece.element)));
  const auto size = static_cast<std::size_t>(element.size());
  std::byte* const block = one_block(piece, memory, size);
  std::unique_ptr<std::byte[]>& copied = receiver().copied;
  if (copied == nullptr) copied.reset(new (std::nothrow) std::byte[kCopied]);
  if (block == nullptr || copied == nullptr || !copies_memory_of(from).ok()) return false;
  const Guard guard = window.sync->guard(window.me);
  const std::size_t step = std::max(std::min<std::size_t>(kCopied, guard.range.bytes) / size, std::size_t{1}) * size;
  ProcessMemory origin(from.pid, 0);
  std::size_t done = 0;
  while (done < piece.bytes) {
    const std::size_t now = std::min<std::size_t>(step, piece.bytes - done);
    const iovec run{reinterpret_cast<void*>(static_cast<std::uintptr_t>(piece.origin + done)), now};
    if (origin.read(copied.get(), {&run, 1}) != 0) break;
    const UpdateLockGuard held(guard);
    combine_packed(op, element, copied.get(), block + done, now / size);
    done += now;
  }
  piece.bytes = done;
  return done != 0;
}

/// One element, which is as long as what it is compared with.
void swap_if_equal(const RmaWindow& window, Delegated& piece, std::byte* memory) {
  const Guard guard = window.sync->guard(window.me);
  const UpdateLockGuard held(guard);
  RowCursor({piece.row, piece.rows}, memory).gather(piece.out, piece.bytes);
  if (std::memcmp(piece.out, piece.compare, piece.bytes) == 0)
    RowCursor({piece.row, piece.rows}, memory).scatter(piece.in, piece.bytes);
}

bool execute(const Mailbox& box) {
  RmaWindow* const window = window_of(box);
  const memory::MappedHeap* heap = nullptr;
  if (window == nullptr) return false;
  const Neighbour& from = neighbour_of(*window, box.origin);
  if (!memory::map_heap(from.heap, &heap).ok()) return false;
  auto* const piece = reinterpret_cast<Delegated*>(heap->find(box.address, sizeof(Delegated)));
  if (piece == nullptr) return false;
  auto* const memory = static_cast<std::byte*>(window->base);
  switch (piece->kind) {
    case Delegated::Kind::kPut:
      RowCursor({piece->row, piece->rows}, memory).scatter(piece->in, piece->bytes);
      return true;
    case Delegated::Kind::kGet:
      RowCursor({piece->row, piece->rows}, memory).gather(piece->out, piece->bytes);
      return true;
    case Delegated::Kind::kUpdate:
      update(*window, *piece, memory);
      return true;
    case Delegated::Kind::kSwapIfEqual:
      if (piece->bytes > sizeof piece->compare) return false;
      swap_if_equal(*window, *piece, memory);
      return true;
    case Delegated::Kind::kLongUpdate:
      return long_update(*window, from, *piece, memory);
    case Delegated::Kind::kSharedPut:
    case Delegated::Kind::kSharedGet:
      return share_copy_of(from, *piece, memory);
  }
  return false;
}

}  // namespace

bool carry_out_offer() {
  Mailbox* const box = receiver().box.load(std::memory_order_acquire);
  std::uint32_t offered = Mailbox::kOffered;
  if (box == nullptr || box->state.load(std::memory_order_relaxed) != offered) [[likely]]
    return false;
  if (!box->state.compare_exchange_strong(offered, Mailbox::kTaken, std::memory_order_acquire)) return false;
  const bool done = execute(*box);
  if (done) delegate_counters().carried_out.add();
  box->state.store(done ? Mailbox::kDone : Mailbox::kRefused, std::memory_order_release);
  return true;
}

void prepare_offers() {
  if (delegate_from() == 0) return;
  Receiver& own = receiver();
  const std::lock_guard guard(own.mutex);
  void* memory = nullptr;
  if (own.box.load(std::memory_order_relaxed) != nullptr ||
      !memory::Heap::own().allocate(sizeof(Mailbox), kCacheLine, true, &memory).ok())
    return;
  own.box.store(static_cast<Mailbox*>(memory), std::memory_order_release);
}

void accept_offers(RmaWindow& window, const Control& control) {
  Receiver& own = receiver();
  const Mailbox* const box = own.box.load(std::memory_order_acquire);
  if (box == nullptr) return;
  control.target(window.me).mailbox().store(reinterpret_cast<std::uintptr_t>(box), std::memory_order_relaxed);
  Lane& lane = window.lane();
  const LaneGuard guard(lane.lock);
  const std::lock_guard also(own.mutex);
  own.windows[key(window.comm->context, window.me)] = &window;
  LanePoller& poller = own.pollers[&lane];
  if (poller.windows++ != 0) return;
  poller.poll = [](Poller&) { return carry_out_offer(); };
  lane.pollers.push_back(&poller);
}

void refuse_offers(RmaWindow& window) {
  Receiver& own = receiver();
  Lane& lane = window.lane();
  const LaneGuard guard(lane.lock);
  const std::lock_guard also(own.mutex);
  if (own.windows.erase(key(window.comm->context, window.me)) == 0) return;
  const auto poller = own.pollers.find(&lane);
  if (--poller->second.windows != 0) return;
  List<Poller>::remove(&poller->second);
  own.pollers.erase(poller);
}

}  // namespace ashlar::rma::shm
