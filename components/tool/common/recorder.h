#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "components/tool/common/layout.h"
#include "components/tool/common/persistent.h"

namespace ashlar::recording {

/// Which calls are recorded: tool.*.calls. `communication` is what moves data or waits for it, and what begins and ends
/// MPI, communicators and sessions; local queries such as MPI_Comm_rank would hide it.
struct CallFilter {
  explicit CallFilter(const char* words) : words_(words) {}
  bool takes(const ashlar_tool_procedure& procedure) const;
  /// A word that is neither `communication`, `all` nor one of the procedures; empty: there is none.
  std::string unknown_word(const ashlar_tool_context& context) const;

 private:
  std::string words_;
};

/// Whether single calls are kept, too, and what events say of them; and how many bytes of memory for them are taken
/// from the system before the first call, which then waits for none.
struct RingPlan {
  bool kept = false;
  std::uint64_t populated = 0;
};

/// Records the calls of one rank in its buffer (layout.h). One object in a process.
class Recorder {
 public:
  /// Fails when the buffer is too small, or the filter names no call.
  ashlar_result open(const ashlar_host& host, const ashlar_tool_context& context, const CallFilter& filter,
                     const RingPlan& ring);
  /// Adds what is known at the end, the first time. No call is in the recorder any more.
  void close();

  bool wants(std::uint32_t procedure) const { return procedure < facts_.size() && facts_[procedure].wanted; }
  void enter(const ashlar_tool_call& call);
  void leave(const ashlar_tool_call& call);
  bool wants_event(std::uint32_t number) const {
    return number < events_.size() && events_[number].kind != Event::kOther;
  }
  void event(const ashlar_tool_event& event);
  /// What lies before the ring, in which single calls are.
  std::uint64_t bytes_without_ring() const { return head_ ? head_->chunk_rows : 0; }

 private:
  /// What is done with events of a type, and which of the values are for that.
  struct Event {
    enum Kind : std::uint8_t { kOther, kCollective, kRendezvous };
    Kind kind = kOther;
    std::uint32_t word = 0, bytes = 0;
  };
  struct ProcedureFacts {
    bool wanted = false, sends = false, polls = false;
    bool special = false;  // one of the following
    bool starts = false, prepares_send = false, frees = false, names = false, begins = false;
    std::uint8_t algorithm_mask = 0;  // no bit: a call has no algorithm
    std::uint16_t row = 0;
    std::uint32_t first_total = 0;  // of the row's size classes
  };
  std::uint32_t find_wanted(const ashlar_tool_context& context, const CallFilter& filter);
  void write_rows(const ashlar_tool_context& context);
  void find_events(const ashlar_tool_context& context);
  /// The call in this shard, which no other thread writes at the moment.
  [[gnu::always_inline]] inline void record(Shard& shard, const ashlar_tool_call& call, std::uint32_t thread);
  [[gnu::noinline]] void leave_last_shard(const ashlar_tool_call& call, std::uint32_t thread);
  [[gnu::noinline]] Shard* take_shared();
  [[gnu::noinline]] bool joins_last(Shard& shard, const ashlar_tool_call& call, std::uint16_t row,
                                    std::uint32_t thread);
  /// nullptr: the span is one of the lost ones.
  Chunk* chunk_with_room(Shard& shard, std::uint64_t began) {
    ++shard.spans;
    const std::uint32_t held = shard.chunk.load(std::memory_order_relaxed);
    if (held != 0) [[likely]] {
      Chunk& chunk = chunks_[held - 1];
      if (chunk.count.load(std::memory_order_relaxed) < kSpansOfChunk && Span::fits(began, chunk.base)) return &chunk;
    }
    return next_chunk(shard, began);
  }
  [[gnu::noinline]] Chunk* next_chunk(Shard& shard, std::uint64_t base);
  void populate(std::uint32_t first, std::uint64_t count);
  std::uint16_t comm_row(const ashlar_tool_call& call);
  [[gnu::noinline]] std::uint16_t add_comm(const ashlar_tool_call& call);
  void count_message(Shard& shard, std::int32_t to, std::uint64_t bytes);
  [[gnu::noinline]] void note_special(Shard& shard, const ashlar_tool_call& call, const ProcedureFacts& facts);
  void end_open_calls();
  void add_variables();
  void add_decisions();
  void add_transports();

  template <class T>
  T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  Total* totals(Shard& shard) const { return reinterpret_cast<Total*>(&shard + 1); }
  Peer* peers(Shard& shard) const {
    return reinterpret_cast<Peer*>(totals(shard) + std::size_t{head_->procedures} * kSizeClasses);
  }
  Shard& shard(std::uint32_t index) const {
    return *reinterpret_cast<Shard*>(base_ + head_->shard_rows + index * head_->shard_bytes);
  }

  const ashlar_tool_context* context_ = nullptr;
  std::byte* base_ = nullptr;
  Head* head_ = nullptr;
  CommRow* comms_ = nullptr;
  OpenCall* open_ = nullptr;
  Chunk* chunks_ = nullptr;
  std::uint32_t populated_ = 0;   // chunks whose memory open() has taken
  std::uint32_t own_shards_ = 0;  // threads with a shard to themselves
  Shard* own_[kMostShards] = {};
  std::vector<ProcedureFacts> facts_;
  std::vector<Event> events_;  // by the numbers of their types
  PreparedSends prepared_;
  std::mutex adding_comm_;
  std::atomic<std::uint16_t> row_of_[1024] = {};  // rows of communicators, by the last bits of their id
};

/// The number of the calling thread, from 0 in the order of their first calls.
std::uint32_t thread_number();

}  // namespace ashlar::recording
