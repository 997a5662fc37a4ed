#include "framework/io/together.h"

#include <mpi.h>

#include <cstring>
#include <new>
#include <string_view>

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/io/engine.h"
#include "framework/io/moves.h"
#include "framework/io/plan.h"
#include "framework/io/verify.h"
#include "framework/io/window.h"
#include "framework/memory/heap.h"

namespace ashlar::io {
namespace {

constexpr std::size_t kSample = 128;  // pieces that are looked at for an estimate

std::uint64_t room_of(const Plan& plan) { return plan.window + mask_bytes(plan.window); }

/// How many pieces the stream has, from its first ones.
std::uint64_t estimate_pieces(const Stream& stream) {
  datatype::Span spans[kSample];
  const std::uint64_t all = stream.to - stream.from;
  const std::size_t used = stream.tiles->spans(stream.from, all, kSample, spans);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < used; ++i) bytes += spans[i].bytes;
  return bytes == 0 ? 0 : bytes == all ? used : all / (bytes / used + 1) + 1;
}

/// What the calls of the processes have in common. An access at an offset and one at the file pointer move their data
/// together, as libraries above us rely on where some of the processes have none; check.files tells them apart.
std::uint32_t hash_of_call(std::string_view name) {
  constexpr std::string_view kAtOffset = "_at_";
  const std::size_t at = Engine::current().checks ? std::string_view::npos : name.find(kAtOffset);
  Hash hash;
  hash.add(name.substr(0, at == std::string_view::npos ? at : at + 1));
  if (at != std::string_view::npos) hash.add(name.substr(at + kAtOffset.size()));
  return static_cast<std::uint32_t>(hash.value());
}

/// MPI_File_set_view compares nothing. So it is found here when it has failed, or was not called, on some processes,
/// and when their arguments do not agree.
Status other_view(const Together& access, Rank rank) {
  const OpenFile& file = access.file();
  if (access.facts_of(rank).view == file.viewed)
    return fail(MPI_ERR_NOT_SAME, "io.view_not_same", {{"wanted", access.call}, {"peer", rank}, {"path", file.path}});
  return fail(MPI_ERR_OTHER, "io.other_view", {{"wanted", access.call}, {"peer", rank}, {"path", file.path}});
}

}  // namespace

Together::Together(const char* name, const Transfer& transfer) : call(name), what(transfer) {}

/// What the others must know of this process's part.
Facts Together::own_facts() {
  OpenFile& open = file();
  Facts facts = {.number = number,
                 .call = hash_of_call(call),
                 .failure = failure.mpi_class(),
                 .flags = what.writes ? std::uint32_t{Facts::kWrites} : 0,
                 .aggregators = open.hints.aggregators,
                 .window = open.hints.window_bytes,
                 .together = what.writes ? open.hints.writes_together : open.hints.reads_together,
                 .sieve = what.writes ? open.hints.sieve_writes : open.hints.sieve_reads,
                 .way = Engine::current().config.get().forced(),
                 .rates = open.meter->rates(),
                 .sieve_window = what.writes ? open.hints.sieve_write_bytes : open.hints.sieve_read_bytes,
                 .view = open.viewed,
                 .common = open.view.common};
  if (open.atomic) facts.flags |= Facts::kAtomic;
  if (!open.coherent()) facts.flags |= Facts::kIncoherent;
  if (blocking) facts.flags |= Facts::kBlocking;
  if (!open.reads()) facts.flags |= Facts::kUnreadable;
  if (open.view.rep->converts(what.writes)) facts.flags |= Facts::kConverted;
  if (what.writes && Engine::current().verifies) facts.flags |= Facts::kVerifies;
  std::uint64_t at = 0, bytes = 0;
  if (failure.ok() && what.buffer.bytes() > 0) {
    note(stream_bytes(what, &at, &bytes));
    facts.failure = failure.mpi_class();
  }
  if (bytes > 0) {
    stream = {.tiles = &*open.view.tiles, .from = at, .to = at + bytes, .buffer = what.buffer};
    if (!range_of(open.view, at, bytes, &facts.first, &facts.end)) facts.flags |= Facts::kUnordered;
    facts.bytes = bytes;
    facts.pieces = estimate_pieces(stream);
    MapWish part;
    if (facts.pieces >= Meter::kLeastPieces && (facts.flags & (Facts::kUnordered | Facts::kConverted)) == 0 &&
        !what.in_turn && may_wish(open, what.writes, stream, &part)) {
      wish = part;
      if (open.mappings.offers(what.writes, part)) facts.flags |= Facts::kMapped;
    }
  }
  if (what.in_turn && failure.ok()) facts.etypes = what.buffer.bytes() / open.view.etype_data;
  return facts;
}

void Together::publish() {
  own().facts = own_facts();
  if (what.in_turn) arrive_in_turn();
  own().arrived.store(number, std::memory_order_release);
}

bool Together::meet_far(bool moves) {
  const Comm& comm = *file().comm;
  try {
    far = std::make_unique<Far>(comm.size);
  } catch (const std::bad_alloc&) {
    return false;
  }
  Facts& facts = far->told[static_cast<std::size_t>(comm.rank)].facts;
  if (moves) facts = own_facts();
  facts.number = number;
  facts.call = hash_of_call(call);
  facts.node = file().node;
  return true;
}

void Together::decide() {
  const int ranks = file().comm->size;
  const Facts& mine = facts_of(file().comm->rank);
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Facts& facts = facts_of(rank);
    const bool other = facts.number != number || facts.call != mine.call;
    plan.stopped = plan.stopped || facts.failure != 0 || facts.number != number || facts.call != facts_of(0).call;
    if (other) note(fail(MPI_ERR_OTHER, "io.other_call", {{"wanted", call}, {"peer", rank}, {"path", file().path}}));
    plan.stopped = plan.stopped || facts.view != facts_of(0).view || facts.common != facts_of(0).common;
    if (facts.view != mine.view || facts.common != mine.common) note(other_view(*this, rank));
  }
  file().counts.together.add();
  if (!plan.stopped) make_plan(*this);
}

void Together::count_for_mapping(double took) {
  if (!wish || plan.way != Way::kTwoPhase || !failure.ok()) return;
  wish->others = cost_together;
  file().mappings.passed_by(file(), what.writes, *wish, took);
}

bool Together::calls_differ() const {
  const Facts& first = facts_of(0);
  for (Rank rank = 1; rank < file().comm->size; ++rank)
    if (facts_of(rank).number != first.number || facts_of(rank).call != first.call) return true;
  return false;
}

bool Together::verifies() const {
  return !plan.stopped && (facts_of(0).flags & Facts::kVerifies) != 0 && !file().atomic;
}

std::uint32_t Together::own_index() const {
  const Rank rank = file().comm->rank;
  for (std::uint32_t index = 0; index < plan.aggregators; ++index)
    if (aggregator(index) == rank) return index;
  return plan.aggregators;
}

bool Together::visits(Rank rank, std::uint64_t begin) const {
  const Facts& facts = facts_of(rank);
  return facts.bytes > 0 && facts.first < begin + plan.window && begin < facts.end;
}

std::uint64_t Together::visitors(std::uint64_t begin, Rank limit) const {
  std::uint64_t all = 0;
  for (Rank rank = 0; rank < limit; ++rank) all += visits(rank, begin) ? 1 : 0;
  return all;
}

// Each window is touched anew by its first use in this access; the heap keeps the memory for the next one.
void Together::make_windows() {
  const bool mine = own_index() != plan.aggregators;
  const std::uint64_t bytes = mine ? 2 * room_of(plan) : kCacheLine;
  void* room = nullptr;
  own().windows = {};
  if (mine || !file().windows_reached) {
    const Status made = memory::Heap::own().allocate(bytes, kCacheLine, false, &room);
    if (made.ok()) {
      windows = static_cast<std::byte*>(room);
      own().windows = {.heap = memory::Heap::own().handle(), .address = reinterpret_cast<std::uintptr_t>(room)};
    }
  }
  if (mine && windows != nullptr && what.writes)
    for (std::uint64_t i = 0; i < 2; ++i)
      std::memset(windows + i * room_of(plan) + plan.window, 0, mask_bytes(plan.window));
  own().turned.store(what.writes ? 2 : 0, std::memory_order_relaxed);
  for (auto& visited : own().visits) visited.store(0, std::memory_order_relaxed);
  own().ready.store(number, std::memory_order_release);
}

bool Together::have_windows() const {
  for (std::uint32_t index = 0; index < plan.aggregators; ++index)
    if (slot(aggregator(index)).windows.address == 0) return false;
  return true;
}

void Together::map_windows() {
  bool all = true;
  for (Rank rank = 0; rank < file().comm->size && all; ++rank) {
    const memory::MappedHeap* heap = nullptr;
    all = slot(rank).windows.address != 0 &&
          (rank == file().comm->rank || memory::map_heap(slot(rank).windows.heap, &heap).ok());
  }
  own().windows_mapped = all ? 1 : 0;
  own().mapped.store(number, std::memory_order_release);
}

bool Together::all_mapped() const {
  for (Rank rank = 0; rank < file().comm->size; ++rank)
    if (slot(rank).windows_mapped == 0) return false;
  return true;
}

void Together::drop_windows() {
  if (windows != nullptr) memory::Heap::own().free(windows);
  windows = nullptr;
}

Window Together::window(Rank of, std::uint64_t round, std::uint32_t index) const {
  std::byte* base = windows;
  if (of != file().comm->rank) {
    const Card& card = slot(of).windows;
    const memory::MappedHeap* heap = nullptr;
    if (memory::map_heap(card.heap, &heap).ok()) base = heap->find(card.address, 2 * room_of(plan));
  }
  base += round % 2 * room_of(plan);
  return {.begin = window_begin(round, index),
          .bytes = plan.window,
          .data = base,
          .mask = reinterpret_cast<Mask*>(base + plan.window)};
}

void Together::fill(std::uint64_t round, std::uint32_t index) {
  const Rank to = aggregator(index);
  const Window there = window(to, round, index);
  stream.put(there.begin, there.begin + there.bytes, there.data, there.mask);
  slot(to).visits[round % 2].fetch_add(1, std::memory_order_acq_rel);
}

// The bytes of a stream ascend in the file: those behind the end of the file are its last.
void Together::take(std::uint64_t round, std::uint32_t index) {
  const Rank from = aggregator(index);
  const Window there = window(from, round, index);
  const std::uint64_t valid = there.begin + slot(from).valid[round % 2];
  bytes_seen += stream.get(there.begin, there.begin + there.bytes, valid, there.data);
  slot(from).visits[round % 2].fetch_add(1, std::memory_order_acq_rel);
}

MPI_Count Together::bytes_moved() const {
  if (plan.stopped || plan.way != Way::kTwoPhase) return moved;
  if (what.writes) return failure.ok() ? what.buffer.bytes() : 0;
  return static_cast<MPI_Count>(bytes_seen);
}

Status Together::result() const {
  for (Rank rank = 0; rank < file().comm->size; ++rank)
    if (const std::int32_t outcome =
            far != nullptr ? far->outcomes[static_cast<std::size_t>(rank)] : slot(rank).outcome;
        outcome != 0)
      return failure.ok() ? fail(outcome, "io.elsewhere", {{"peer", rank}, {"path", file().path}})
                          : failure.give(outcome);
  return {};
}

void MoveJob::run() {
  OpenFile& file = access.file();
  if (work == Work::kOwn) {
    access.note(transfer(access.what, &access.moved));
    return;
  }
  if (work == Work::kLock) {
    access.range.emplace(file, access.what.writes ? RangeLock::Kind::kExclusive : RangeLock::Kind::kShared,
                         access.plan.first, access.plan.end);
    return;
  }
  if (work == Work::kVerify) {
    if (access.failure.ok() && can_verify(file)) access.note(verify(access.what));
    return;
  }
  file.counts.windows.add();
  if (work == Work::kWriteFar || work == Work::kReadFar) {
    move_far_window();
    return;
  }
  const Window there = access.window(file.comm->rank, round, access.own_index());
  if (work == Work::kWriteWindow) {
    if (access.failure.ok()) access.note(write_marked(file, there));
    std::memset(there.mask, 0, mask_bytes(there.bytes));
    return;
  }
  std::uint64_t valid = 0;
  if (access.failure.ok()) access.note(read_window(file, there.begin, there.bytes, there.data, &valid));
  access.own().valid[round % 2] = valid;
}

void MoveJob::move_far_window() {
  OpenFile& file = access.file();
  Far& far = *access.far;
  if (work == Work::kWriteFar) {
    if (access.failure.ok()) access.note(write_marked(file, far.window));
    std::memset(far.window.mask, 0, mask_bytes(far.window.bytes));
    return;
  }
  far.valid = 0;
  if (access.failure.ok())
    access.note(read_window(file, far.window.begin, far.window.bytes, far.window.data, &far.valid));
}

void MoveJob::over() { gate->arrive({}); }

}  // namespace ashlar::io
