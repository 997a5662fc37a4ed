// The target's side of operations that their origins offer to it.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
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
  std::atomic<Mailbox*> box{nullptr};  // never freed: it is one line, and an origin may still be about to leave it
  // Of the thread that has taken the offer.
  std::unique_ptr<std::byte[]> copied;  // kCopied bytes
  struct Latest {
    std::uint64_t key = 0;
    RmaWindow* window = nullptr;
    std::uint32_t changes = 0;
  } latest;                                               // what the last offer was for
  std::atomic<std::uint32_t> changes{0};                  // of `windows`
  std::mutex mutex;                                       // guards the rest
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

/// By the thread that has taken the offer.
RmaWindow* window_of(const Mailbox& box) {
  Receiver& own = receiver();
  const std::uint64_t wanted = key(box.context, box.target);
  Receiver::Latest& latest = own.latest;
  // A window that has an offer is not being freed, so it is still the one that it was found as.
  const std::uint32_t changes = own.changes.load(std::memory_order_acquire);
  if (latest.window != nullptr && latest.key == wanted && latest.changes == changes) [[likely]]
    return latest.window;
  const std::lock_guard guard(own.mutex);
  const auto found = own.windows.find(wanted);
  if (found == own.windows.end()) return nullptr;
  latest = {.key = wanted, .window = found->second, .changes = own.changes.load(std::memory_order_relaxed)};
  return found->second;
}

/// Work on this process's memory, as an offer describes it.
struct Task {
  Work& work;
  std::span<const Row> rows;
  const std::byte* in;  // of the origin
  std::byte* out;       // what it fetches
  const std::byte* compare;
};

/// Where the operation's bytes are, if they lie in one block whose elements are aligned; nullptr: they do not.
std::byte* one_block(std::span<const Row> rows, std::byte* memory, std::size_t element) {
  if (rows.size() != 1 || rows[0].count != 1) return nullptr;
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::uint64_t>(rows[0].offset);
  return at % element == 0 ? reinterpret_cast<std::byte*>(at) : nullptr;
}

const ReduceOp& op_of(const Work& work) {
  return datatype::predefined_op(reinterpret_cast<MPI_Op>(static_cast<std::uintptr_t>(work.op)));
}
Datatype& element_of(const Work& work) {
  return datatype::predefined(reinterpret_cast<MPI_Datatype>(static_cast<std::uintptr_t>(work.element)));
}

void update(const RmaWindow& window, const Task& task, std::byte* memory) {
  using Code = ReduceOp::Code;
  const ReduceOp& op = op_of(task.work);
  Datatype& element = element_of(task.work);
  const auto size = static_cast<std::size_t>(element.size());
  const std::uint64_t bytes = task.work.bytes;
  const Guard guard = window.sync->guard(window.me);
  const UpdateLockGuard held(guard);
  if (std::byte* const block = one_block(task.rows, memory, size); block != nullptr) {
    if (task.work.fetches) std::memcpy(task.out, block, bytes);
    return combine_packed(op, element, task.in, block, bytes / size);
  }
  alignas(16) std::byte packed[kBounceBytes];
  const std::size_t step = bounce_bytes(size);
  RowCursor from(task.rows, memory), to = from;
  for (std::size_t done = 0; done < bytes; done += step) {
    const std::size_t now = std::min<std::size_t>(step, bytes - done);
    const bool replaces = op.code() == Code::kReplace;
    if (!replaces || task.work.fetches) from.gather(packed, now);
    if (task.work.fetches) std::memcpy(task.out + done, packed, now);
    if (op.code() == Code::kNoOp) continue;
    if (!replaces) combine_packed(op, element, task.in + done, packed, now / size);
    to.scatter(replaces ? task.in + done : packed, now);
  }
}

/// Elements that are still where the origin has them. Those that are combined are counted: the origin does the rest.
/// Returns whether there were any.
bool long_update(const RmaWindow& window, const Neighbour& from, Delegated& piece, std::byte* memory) {
  Work& work = piece.work;
  const ReduceOp& op = op_of(work);
  Datatype& element = element_of(work);
  const auto size = static_cast<std::size_t>(element.size());
  std::byte* const block = one_block({piece.row, piece.rows}, memory, size);
  std::unique_ptr<std::byte[]>& copied = receiver().copied;
  if (copied == nullptr) copied.reset(new (std::nothrow) std::byte[kCopied]);
  if (block == nullptr || copied == nullptr || !copies_memory_of(from).ok()) return false;
  const Guard guard = window.sync->guard(window.me);
  const std::size_t step = std::max(std::min<std::size_t>(kCopied, guard.range.bytes) / size, std::size_t{1}) * size;
  ProcessMemory origin(from.pid, 0);
  std::size_t done = 0;
  while (done < work.bytes) {
    const std::size_t now = std::min<std::size_t>(step, work.bytes - done);
    const iovec run{reinterpret_cast<void*>(static_cast<std::uintptr_t>(piece.origin + done)), now};
    if (origin.read(copied.get(), {&run, 1}) != 0) break;
    const UpdateLockGuard held(guard);
    combine_packed(op, element, copied.get(), block + done, now / size);
    done += now;
  }
  work.bytes = done;
  return done != 0;
}

/// One element, which is as long as what it is compared with.
void swap_if_equal(const RmaWindow& window, const Task& task, std::byte* memory) {
  const Guard guard = window.sync->guard(window.me);
  const UpdateLockGuard held(guard);
  const std::uint64_t bytes = task.work.bytes;
  RowCursor(task.rows, memory).gather(task.out, bytes);
  if (std::memcmp(task.out, task.compare, bytes) == 0) RowCursor(task.rows, memory).scatter(task.in, bytes);
}

/// False: the work is of a kind that has the data elsewhere.
bool execute_task(const RmaWindow& window, const Task& task) {
  auto* const memory = static_cast<std::byte*>(window.base);
  switch (task.work.kind) {
    case Work::Kind::kPut:
      RowCursor(task.rows, memory).scatter(task.in, task.work.bytes);
      return true;
    case Work::Kind::kGet:
      RowCursor(task.rows, memory).gather(task.out, task.work.bytes);
      return true;
    case Work::Kind::kUpdate:
      update(window, task, memory);
      return true;
    case Work::Kind::kSwapIfEqual:
      swap_if_equal(window, task, memory);
      return true;
    default:
      return false;
  }
}

bool execute(Mailbox& box) {
  RmaWindow* const window = window_of(box);
  if (window == nullptr) return false;
  if (box.work.in_mailbox) {
    if (bytes_in_mailbox(box.work, box.work.bytes) > Mailbox::kBytes) return false;
    const Row row{.offset = static_cast<std::int64_t>(box.at), .block = box.work.bytes, .count = 1};
    const MailboxData data(box);
    return execute_task(*window, {box.work, {&row, 1}, data.in, data.out, data.compare});
  }
  const Neighbour& from = neighbour_of(*window, box.origin);
  const memory::MappedHeap* heap = nullptr;
  if (!memory::map_heap(from.heap, &heap).ok()) return false;
  auto* const piece = reinterpret_cast<Delegated*>(heap->find(box.at, sizeof(Delegated)));
  if (piece == nullptr) return false;
  auto* const memory = static_cast<std::byte*>(window->base);
  switch (piece->work.kind) {
    case Work::Kind::kLongUpdate:
      return long_update(*window, from, *piece, memory);
    case Work::Kind::kSharedPut:
    case Work::Kind::kSharedGet:
      return share_copy_of(from, *piece, memory);
    case Work::Kind::kSwapIfEqual:
      if (piece->work.bytes > sizeof piece->compare) return false;
      [[fallthrough]];
    default:
      return execute_task(*window, {piece->work, {piece->row, piece->rows}, piece->in, piece->out, piece->compare});
  }
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
  own.changes.fetch_add(1, std::memory_order_release);
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
  own.changes.fetch_add(1, std::memory_order_release);
  const auto poller = own.pollers.find(&lane);
  if (--poller->second.windows != 0) return;
  List<Poller>::remove(&poller->second);
  own.pollers.erase(poller);
}

}  // namespace ashlar::rma::shm
