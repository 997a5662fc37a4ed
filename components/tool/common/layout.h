#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "components/tool/common/span.h"
#include "framework/plugin/tool.h"

/// What a rank writes into the buffer that mpiexec holds (ashlar_tool_context::buffer), and what is read from it when
/// the job is over, also when the rank was killed in the middle. Offsets are from the start of the buffer; the reader
/// believes none of them (reader.cc).
///
///   Head | ProcedureRow[] | CommRow[] | OpenCall[] | AlgorithmRow[] | ProtocolRow[] | VariableRow[] | TransportRow[]
///        | decisions' text | Shard, its Total[][kSizeClasses], its Peer[] | next Shard ... | Chunk[] (a ring)
///
/// Each of the first threads has a shard to itself, and writes there without a lock; all further ones share the last
/// shard, in turns.
namespace ashlar::recording {

inline constexpr std::uint32_t kMagic = 0x32534741;  // "AGS2": the head is complete
inline constexpr std::uint32_t kMostShards = 8;
inline constexpr std::uint32_t kMostComms = Span::kMostComms;
inline constexpr std::uint32_t kOpenCalls = 64;
inline constexpr std::uint32_t kMostVariables = 1024;
inline constexpr std::uint32_t kMostTransports = 16;
inline constexpr std::uint32_t kDecisionBytes = 256 * 1024;

/// Classes of sizes: none, up to 16 bytes, and then each four times as large, up to 16 MiB and above.
inline constexpr std::uint32_t kSizeClasses = 13;
inline std::uint32_t size_class(std::uint64_t bytes) {
  if (bytes <= 16) return bytes > 0;
  const auto quarters = static_cast<std::uint32_t>(std::bit_width(bytes - 1) + 1) / 2;
  return quarters - 1 < kSizeClasses - 1 ? quarters - 1 : kSizeClasses - 1;
}
/// The most bytes of a class; UINT64_MAX of the last.
inline std::uint64_t most_of_class(std::uint32_t size_class) {
  if (size_class == 0) return 0;
  return size_class == kSizeClasses - 1 ? UINT64_MAX : std::uint64_t{1} << (2 * (size_class + 1));
}

struct Head {
  std::atomic<std::uint32_t> complete;  // kMagic
  std::uint32_t rank, ranks;
  std::uint32_t procedures;
  std::uint32_t shards;
  std::uint32_t peers, ranks_per_peer;  // a row of the matrix: cells, and how many ranks share one
  std::uint32_t chunks;                 // 0: no ring
  std::uint32_t algorithms, protocols;  // rows
  std::uint64_t procedure_rows, comm_rows, open_calls, algorithm_rows, protocol_rows, variable_rows, transport_rows,
      decisions, shard_rows, shard_bytes, chunk_rows;
  ashlar_tool_clock begin;                       // the recorder was opened, while MPI was being initialised
  std::atomic<std::uint64_t> initialised_ticks;  // 0: the call that initialises MPI has not returned
  std::atomic<std::uint64_t> end_ticks, end_ns;  // 0: the rank did not finalise MPI
  std::atomic<std::uint64_t> dropped;            // calls that were not counted: every shard was in use
  std::atomic<std::uint64_t> unplaced;  // of those that were, what the ring does not have: another thread held it
  std::atomic<std::uint64_t> chunks_taken;
  std::atomic<std::uint32_t> ring_lock;
  std::atomic<std::uint32_t> comms, variables, transports, decision_bytes, decisions_left_out, threads;
  std::atomic<std::uint64_t> memory_peak;  // bytes of the process, 0: not known
};

struct ProcedureRow {
  char name[48];
  char chapter[12];
  std::uint32_t kind;
};

/// A communicator that a call was made on; row 0 stands for calls without one, the last row for all that came when the
/// table was full.
struct CommRow {
  std::uint64_t id;
  std::uint32_t size;
  char name[132];
};

/// Calls of one procedure with one class of size.
struct Total {
  std::uint64_t calls, bytes_out, bytes_in, ticks, most_ticks;
};

/// Messages of this rank to another.
struct Peer {
  std::uint64_t messages, bytes;
};

struct alignas(64) Shard {
  std::atomic<std::uint32_t> lock;   // of the last shard alone
  std::atomic<std::uint32_t> chunk;  // its number in the ring plus 1, 0: none
  std::uint64_t spans;               // recorded in the ring so far
};

/// Spans of one shard, one after the other. The ring gives out chunks in turn: the oldest is overwritten.
inline constexpr std::uint32_t kSpansOfChunk = 84;
struct alignas(64) Chunk {
  std::uint64_t order;  // how many were given out before
  std::uint64_t base;   // ticks: what its spans count from
  std::atomic<std::uint32_t> count;
  Span spans[kSpansOfChunk];
};
static_assert(sizeof(Chunk) == 2048);

/// The call that a thread is in. Threads whose numbers are equal modulo kOpenCalls share one.
struct OpenCall {
  std::atomic<std::uint64_t> began;  // ticks, 0: in none
  std::uint64_t comm, bytes;
  std::uint32_t thread;
  std::uint16_t procedure;
  std::uint8_t algorithm, protocol;  // as in Span::Facts, so far
  std::int32_t peer;
};

/// A word of the event coll.begin for an algorithm.
struct AlgorithmRow {
  char name[32];
};

/// Messages by rendezvous that are complete on this rank, by the word of the event p2p.rendezvous_end that says how the
/// data travelled.
struct ProtocolRow {
  char name[48];
  std::atomic<std::uint64_t> messages, bytes;
};

struct VariableRow {
  char name[96];
  std::uint64_t value;
  std::int32_t kind;
};

/// Messages of this rank that a transport carried, by the decision that gave it the peer.
struct TransportRow {
  char name[32];
  std::uint64_t peers, messages, bytes;
};

}  // namespace ashlar::recording
