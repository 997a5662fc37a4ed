#include "components/tool/common/recorder.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "components/tool/common/recording_tool.h"

namespace ashlar::recording {
namespace {

constexpr int kRounds = 1000;               // attempts to find a free shard before a call is not counted
constexpr std::uint32_t kChunksAhead = 64;  // 128 KiB
constexpr std::uint64_t kTogether = 4096;   // ticks between polls that are one span

std::atomic<std::uint32_t> threads_seen{0};
thread_local std::uint32_t own_number = 0;  // plus 1

bool take(std::atomic<std::uint32_t>& lock) {
  return lock.load(std::memory_order_relaxed) == 0 && lock.exchange(1, std::memory_order_acquire) == 0;
}

}  // namespace

std::uint32_t thread_number() {
  if (own_number == 0) [[unlikely]]
    own_number = threads_seen.fetch_add(1, std::memory_order_relaxed) + 1;
  return own_number - 1;
}

// The process of the other side, whichever the call has.
static std::int32_t peer_of(const ashlar_tool_call& call) {
  return call.to_world != ASHLAR_TOOL_NONE ? call.to_world : call.from_world;
}

void Recorder::enter(const ashlar_tool_call& call) {
  const std::uint32_t thread = thread_number();
  OpenCall& open = open_[thread % kOpenCalls];
  open.comm = call.comm;
  open.bytes = std::max(call.bytes_out, call.bytes_in);
  open.thread = thread;
  open.procedure = facts_[call.number].row;
  open.algorithm = open.protocol = 0;
  open.peer = peer_of(call);
  open.began.store(call.began, std::memory_order_release);
}

void Recorder::leave(const ashlar_tool_call& call) {
  const std::uint32_t thread = thread_number();
  open_[thread % kOpenCalls].began.store(0, std::memory_order_relaxed);
  if (thread >= own_shards_) [[unlikely]]
    return leave_last_shard(call, thread);
  record(*own_[thread], call, thread);
}

void Recorder::leave_last_shard(const ashlar_tool_call& call, std::uint32_t thread) {
  Shard* const shard = take_shared();
  if (!shard) {
    head_->dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  record(*shard, call, thread);
  shard->lock.store(0, std::memory_order_release);
}

void Recorder::record(Shard& shard, const ashlar_tool_call& call, std::uint32_t thread) {
  if (thread >= head_->threads.load(std::memory_order_relaxed)) [[unlikely]]
    head_->threads.store(thread + 1, std::memory_order_relaxed);
  const ProcedureFacts& facts = facts_[call.number];
  const std::uint64_t bytes = std::max(call.bytes_out, call.bytes_in);
  const std::uint64_t spent = call.ended > call.began ? call.ended - call.began : 0;
  Total& total = totals(shard)[facts.first_total + size_class(bytes)];
  ++total.calls;
  total.bytes_out += call.bytes_out;
  total.bytes_in += call.bytes_in;
  total.ticks += spent;
  total.most_ticks = std::max(total.most_ticks, spent);
  if (facts.sends && call.result == 0) count_message(shard, call.to_world, call.bytes_out);
  if (facts.special) [[unlikely]]
    note_special(shard, call, facts);
  if (!chunks_ || (facts.polls && joins_last(shard, call, facts.row, thread))) return;
  Chunk* const chunk = chunk_with_room(shard, call.began);
  if (!chunk) return;
  const OpenCall& open = open_[thread % kOpenCalls];
  const std::uint32_t count = chunk->count.load(std::memory_order_relaxed);
  Span& span = chunk->spans[count];
  span = Span({.began = call.began,
               .ticks = spent,
               .bytes = bytes,
               .thread = thread,
               .procedure = facts.row,
               .comm = comm_row(call),
               .peer = peer_of(call),
               .algorithm = static_cast<std::uint8_t>(open.algorithm & facts.algorithm_mask),
               .protocol = open.protocol},
              chunk->base);
  chunk->count.store(count + 1, std::memory_order_release);
  __builtin_prefetch(&span + 8, 1);
}

void enter_call(ashlar_tool* self, const ashlar_tool_call* call) {
  reinterpret_cast<RecordingTool*>(self)->recorder.enter(*call);
}
void leave_call(ashlar_tool* self, const ashlar_tool_call* call) {
  reinterpret_cast<RecordingTool*>(self)->recorder.leave(*call);
}

// The call that the thread is in gets the word. A thread of the library's own is in none, and gets no number either.
void Recorder::event(const ashlar_tool_event& event) {
  const Event& facts = events_[event.number];
  const std::uint64_t word = event.values[facts.word];
  OpenCall* open = nullptr;
  if (own_number != 0) {
    open = &open_[(own_number - 1) % kOpenCalls];
    if (open->thread != own_number - 1 || open->began.load(std::memory_order_relaxed) == 0) open = nullptr;
  }
  if (facts.kind == Event::kCollective) {
    // Of a collective that consists of others, the whole is told first.
    if (open && open->algorithm == 0 && word < head_->algorithms) open->algorithm = static_cast<std::uint8_t>(word + 1);
    return;
  }
  if (word >= head_->protocols) return;
  if (open) open->protocol = static_cast<std::uint8_t>(word + 1);
  ProtocolRow& row = at<ProtocolRow>(head_->protocol_rows)[word];
  row.messages.fetch_add(1, std::memory_order_relaxed);
  row.bytes.fetch_add(event.values[facts.bytes], std::memory_order_relaxed);
}

// It never waits for long: a thread that lost its core while it held the lock must not stop the others.
Shard* Recorder::take_shared() {
  Shard& last = shard(head_->shards - 1);
  for (int round = 0; round < kRounds; ++round) {
    if (take(last.lock)) return &last;
    if (round > 10) sched_yield();
  }
  return nullptr;
}

void Recorder::count_message(Shard& shard, std::int32_t to, std::uint64_t bytes) {
  if (to < 0) return;  // MPI_PROC_NULL
  const std::uint32_t cell = static_cast<std::uint32_t>(to) / head_->ranks_per_peer;
  if (cell >= head_->peers) return;
  Peer& peer = peers(shard)[cell];
  ++peer.messages;
  peer.bytes += bytes;
}

void Recorder::note_special(Shard& shard, const ashlar_tool_call& call, const ProcedureFacts& facts) {
  if (call.result != 0) return;
  if (facts.prepares_send) prepared_.add(call.request, {.to = call.to_world, .bytes = call.bytes_out});
  if (facts.frees) prepared_.remove(call.request);
  if (facts.starts) {
    const std::uint64_t* const requests = call.requests ? call.requests : &call.request;
    const std::uint32_t count = call.requests ? call.request_count : 1;
    PreparedSends::Message message;
    for (std::uint32_t i = 0; i < count; ++i)
      if (prepared_.find(requests[i], &message)) count_message(shard, message.to, message.bytes);
  }
  if (facts.begins && head_->initialised_ticks.load() == 0) head_->initialised_ticks.store(call.ended);
  if (facts.names && call.comm != 0) {
    CommRow& row = comms_[comm_row(call)];
    if (row.id == call.comm) context_->comm_name(&call, row.name, sizeof row.name);
  }
}

// --- communicators ---------------------------------------------------------------------------------------------------

std::uint16_t Recorder::comm_row(const ashlar_tool_call& call) {
  if (call.comm == 0) return 0;
  const std::uint16_t row = row_of_[call.comm % std::size(row_of_)].load(std::memory_order_acquire);
  return comms_[row].id == call.comm ? row : add_comm(call);
}

std::uint16_t Recorder::add_comm(const ashlar_tool_call& call) {
  const std::lock_guard guard(adding_comm_);
  const std::uint32_t count = head_->comms.load(std::memory_order_relaxed);
  std::uint32_t row = 1;
  while (row < count && comms_[row].id != call.comm) ++row;
  if (row == count && count == kMostComms) return kMostComms - 1;  // which has the id of none then
  if (row == count) {
    CommRow& fresh = comms_[row];
    const bool last = row == kMostComms - 1;
    fresh.size = last ? 0 : static_cast<std::uint32_t>(call.comm_size);
    if (!last) context_->comm_name(&call, fresh.name, sizeof fresh.name);
    fresh.id = last ? UINT64_MAX : call.comm;
    head_->comms.store(row + 1, std::memory_order_release);
    if (last) return kMostComms - 1;
  }
  row_of_[call.comm % std::size(row_of_)].store(static_cast<std::uint16_t>(row), std::memory_order_release);
  return static_cast<std::uint16_t>(row);
}

// --- the ring --------------------------------------------------------------------------------------------------------

// A loop that tests a request again and again would push everything else out of the ring: a test directly after one is
// one span with it.
bool Recorder::joins_last(Shard& shard, const ashlar_tool_call& call, std::uint16_t row, std::uint32_t thread) {
  const std::uint32_t held = shard.chunk.load(std::memory_order_relaxed);
  if (held == 0) return false;
  Chunk& chunk = chunks_[held - 1];
  const std::uint32_t count = chunk.count.load(std::memory_order_relaxed);
  if (count == 0) return false;
  Span::Facts last = chunk.spans[count - 1].facts(chunk.base);
  const std::uint64_t ended = last.began + last.ticks;
  if (last.procedure != row || last.thread != std::min(thread, Span::kMostThreads - 1) || call.began < ended ||
      call.began - ended >= kTogether)
    return false;
  last.ticks = call.ended - last.began;
  last.bytes = std::max(last.bytes, std::max(call.bytes_out, call.bytes_in));
  chunk.spans[count - 1] = Span(last, chunk.base);
  return true;
}

// In the first turn the ring is memory that no page stands behind yet. The system gives several at once for a third of
// what it costs to fault on each; where it does not, they come one by one.
void Recorder::populate(std::uint32_t first, std::uint64_t count) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::uintptr_t kPage = 4096;
  const auto from = reinterpret_cast<std::uintptr_t>(&chunks_[first]) / kPage * kPage;
  const auto to = reinterpret_cast<std::uintptr_t>(&chunks_[std::min<std::uint64_t>(first + count, head_->chunks)]);
  const int before = errno;
  (void)madvise(reinterpret_cast<void*>(from), (to - from) / kPage * kPage, MADV_POPULATE_WRITE);
  errno = before;
#else
  (void)first, (void)count;
#endif
}

Chunk* Recorder::next_chunk(Shard& own, std::uint64_t base) {
  int round = 0;
  while (!take(head_->ring_lock)) {
    if (++round > kRounds) {
      head_->unplaced.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    if (round > 10) sched_yield();
  }
  std::uint32_t index = 0;
  const auto in_use = [&] {
    for (std::uint32_t i = 0; i < head_->shards; ++i)
      if (shard(i).chunk.load(std::memory_order_relaxed) == index + 1) return true;
    return false;
  };
  std::uint64_t order;
  do {
    order = head_->chunks_taken.fetch_add(1, std::memory_order_relaxed);
    index = static_cast<std::uint32_t>(order % head_->chunks);
  } while (in_use());
  Chunk& chunk = chunks_[index];
  if (order < head_->chunks && index >= populated_ && (index - populated_) % kChunksAhead == 0)
    populate(index, kChunksAhead);
  chunk.count.store(0, std::memory_order_release);
  chunk.order = order;
  chunk.base = base;
  own.chunk.store(index + 1, std::memory_order_relaxed);
  head_->ring_lock.store(0, std::memory_order_release);
  return &chunk;
}

}  // namespace ashlar::recording
