#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "framework/base/hash.h"

// The board: one sealed memfd per job and node, which mpiexec or its daemon makes and every rank of the node inherits.
// It holds what a rank must know to join its job, what the ranks publish for each other, and how far each has come. It
// has slots of all ranks of the job; those of other nodes' ranks are written by the launcher, as far as it hears of
// them. Layout shared by mpiexec and components/launch/native, which come from one build; `version` refuses any other.
namespace ashlar::launch {

inline constexpr std::uint64_t kBoardMagic = 0x64726f6253484c41;  // "ALHSbord"
inline constexpr std::uint32_t kBoardVersion = 10;
inline constexpr std::size_t kAccountBytes = 4096;     // what one rank may say about what it is doing
inline constexpr std::size_t kWaitBytes = 1024;        // and about its newest wait, unasked; behind the account
inline constexpr std::size_t kVariablesBytes = 16384;  // its variables, with BoardVariables; behind the wait

/// ASHLAR__JOB=1:<board fd>:<bell fd>:<shared fd>:<rank>:<launcher pid>:<launcher start time in ticks>:<job id>
inline constexpr char kJobVariable[] = "ASHLAR__JOB";

/// What mpiexec was asked for, for MPI_INFO_ENV, which a process may read before it joins the job: KEY=VALUE;KEY=VALUE;
inline constexpr char kInfoVariable[] = "ASHLAR__INFO";

/// What a rank publishes under this prefix and a parameter's key: the value that it uses in place of the one in force,
/// a zero, and why.
inline constexpr char kAdjustedPrefix[] = "adjusted.";

enum class RankState : std::uint32_t {
  kAbsent = 0,       // no process of this rank has attached
  kAttached = 1,     // joined the job
  kInitialized = 2,  // uses MPI: to end now, without finalizing, is a failure of the job
  kFinalized = 3     // uses MPI no more; a program of sessions may come back
};
/// What a rank uses MPI for, and has: bits of BoardSlot::use. The world is MPI_Init's.
/// kConnected: processes of another job.
enum RankUse : std::uint32_t { kInWorld = 1, kInSessions = 2, kHadWorld = 4, kHadSessions = 8, kConnected = 16 };
/// The calls that a rank has yet to make before it ends.
inline const char* missing_calls(std::uint32_t use) {
  const bool sessions = use & kInSessions;
  return !sessions ? "MPI_Finalize" : use & kInWorld ? "MPI_Finalize and MPI_Session_finalize" : "MPI_Session_finalize";
}
/// The call with which a rank that has left MPI did so.
inline const char* leaving_call(std::uint32_t use) {
  return (use & kHadSessions) && !(use & kHadWorld) ? "MPI_Session_finalize" : "MPI_Finalize";
}
enum class RankEnd : std::uint32_t { kRuns = 0, kEnded = 1, kFailed = 2 };

/// One rank. The rank writes the first half of the first line, mpiexec the second; either reads both. The second line
/// is for questions about what the rank is doing, by mpiexec or another process, at any time.
struct alignas(64) BoardSlot {
  std::atomic<std::uint32_t> state;     // RankState
  std::atomic<std::uint32_t> pid;       // of the process that attached
  std::atomic<std::uint32_t> attaches;  // how many processes in turn were this rank; records carry the number
  std::atomic<std::uint32_t> fences;    // entered, over all attaches
  std::atomic<std::uint64_t> newest;    // offset of the newest record of this rank, 0: none
  std::atomic<std::uint32_t> aborted;   // 1 once abort_code and abort_text are set
  std::int32_t abort_code;

  std::uint64_t abort_text;        // offset of a zero-terminated text, 0: none
  std::atomic<std::uint32_t> end;  // RankEnd
  std::int32_t wait_status;        // as waitpid gave it, valid once `end` is set
  std::uint32_t appnum;
  std::uint32_t bound;
  std::uint64_t placement;  // offset of a zero-terminated text

  /// The rank looks at this word in every round of progress, and nowhere else: it changes after a question, and the
  /// rank may change it for its own purposes.
  alignas(64) std::atomic<std::uint32_t> news;
  std::atomic<std::uint32_t> asked;     // questions so far; the asker adds one, then changes `news`
  std::atomic<std::uint32_t> answered;  // the newest question with an answer that needs no better one
  std::atomic<std::uint32_t> writing;   // odd while the account is being written; it changes with every account
  std::atomic<std::uint64_t> heard_ns;  // when the rank last saw `news` change: it made progress then
  std::uint64_t account;                // offset of kRankTextBytes: account, wait (plugin/account.h), BoardVariables
  std::uint32_t account_bytes;
  std::atomic<std::uint32_t> use;           // RankUse
  std::atomic<std::uint64_t> moved_ns;      // when a call of the rank last got on, as far as it is known
  std::atomic<std::uint32_t> wait_writing;  // as `writing`, of the newest wait
  std::uint32_t wait_bytes;
  std::atomic<std::uint32_t> waits;  // 1: a call waited when the rank last saw `news` change
};
static_assert(sizeof(BoardSlot) == 128, "whole cache lines: ranks write their own without disturbing others");

/// The variables of one rank (plugin/variables.h), which it writes when a question asks for them; the text follows.
struct alignas(64) BoardVariables {
  std::atomic<std::uint32_t> asked;     // questions so far; the asker adds one, then changes BoardSlot::news
  std::atomic<std::uint32_t> answered;  // the newest question that is answered
  std::atomic<std::uint32_t> writing;   // as BoardSlot::writing
  std::uint32_t bytes;
};
static_assert(sizeof(BoardVariables) == 64);

/// What a rank asks its launcher for: the record that a rank of another node has published under a key. It becomes a
/// record of this board, when there is one.
struct alignas(64) BoardWant {
  std::atomic<std::uint32_t> asked;     // questions so far; the rank adds one, then rings the bell
  std::atomic<std::uint32_t> answered;  // the newest question that is answered; `event` changes with it
  std::uint32_t rank;
  std::uint32_t attach;  // of the rank that asks
  char key[240];
};
static_assert(sizeof(BoardWant) == 256);
inline constexpr std::size_t kRankTextBytes = kAccountBytes + kWaitBytes + kVariablesBytes + sizeof(BoardWant);
static_assert((kAccountBytes + kWaitBytes) % alignof(BoardVariables) == 0);
static_assert((kAccountBytes + kWaitBytes + kVariablesBytes) % alignof(BoardWant) == 0);

/// What the launcher adds to the slot of another node's rank.
struct BoardFar {
  std::atomic<std::int64_t> clock;     // added to the times in the rank's texts, it gives this node's clock
  std::atomic<std::uint32_t> process;  // the letter that the system has for the process's state; 0: not known
};
inline constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

/// What a rank published, newest first. The key (with its zero) and the blob follow.
struct BoardRecord {
  std::uint64_t older;   // offset of the next older record of the same rank, 0: none
  std::uint32_t attach;  // BoardSlot::attaches of the publisher
  std::uint32_t key_hash;
  std::uint32_t key_bytes;    // with the zero
  std::uint32_t blob_offset;  // from the record's start, 16-aligned
  std::uint64_t blob_bytes;
};

struct BoardHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t ranks;
  char job_id[64];
  std::uint64_t cookie;
  std::uint32_t launcher_pid;
  std::uint32_t universe_size;
  std::uint64_t launcher_start;
  std::uint64_t bytes;  // of the whole board
  std::uint64_t heap_end;
  std::uint64_t slots;   // offset of BoardSlot[ranks]
  std::uint64_t params;  // offset; 0: none
  std::uint64_t params_bytes;
  std::uint64_t host;      // offset of the node's name
  std::uint64_t launcher;  // offset of the launcher's name for people
  std::uint32_t oversubscribed;
  std::uint32_t keep_going;  // 1: the others go on when a rank fails
  std::uint64_t tools;       // offset of the ranks' memory for tools (tool_memory.h), one after the other; 0: none
  std::uint64_t tool_bytes;  // of one rank
  // Offsets of texts for ashlar_job; 0: "".
  std::uint64_t name, parent_port;
  std::uint32_t starts_elsewhere;  // as ashlar_job's
  // Of a job that has ranks on other nodes than this board's. `node`: this one, kNoNode of an mpiexec that has no rank
  // beside it.
  std::uint32_t nodes, node, local_ranks;
  std::int32_t bell;           // the launcher's descriptor of the bell's end that rings
  std::uint32_t partial;       // 1: of a daemon's board, which does not show the ranks of other nodes
  std::uint64_t node_of_rank;  // offset of std::uint32_t[ranks]; 0: all are on this node, and the next two are 0
  std::uint64_t host_of_node;  // offset of the offsets of names, std::uint64_t[nodes]
  std::uint64_t far;           // offset of BoardFar[ranks]

  // Words that change while the job runs, away from the constants above.
  alignas(64) std::atomic<std::uint64_t> heap_used;  // offset of the first free byte
  alignas(64) std::atomic<std::uint64_t> arrivals;   // fences entered by all ranks together
  /// The futex word all waiting ranks sleep on: bumped when a fence completes and when a rank ends.
  alignas(64) std::atomic<std::uint32_t> event;
  std::atomic<std::uint32_t> generation;  // fences completed
  std::atomic<std::uint32_t> failures;    // ranks that ended badly
  /// A rank sets it and rings the bell: mpiexec is to take requests, at an abstract socket of the number `control`,
  /// which is 0 until then, and kNoControl when there can be none.
  std::atomic<std::uint32_t> control_wanted;
  std::atomic<std::uint64_t> control;
};
inline constexpr std::uint64_t kNoControl = ~std::uint64_t{0};

/// What a process wants that connects there: the first byte that it sends. kJob: a further job (further_job.h); kNames:
/// the names that processes have published (name_service.h); kPmix: a PMIx server, what concerns those of other hosts.
namespace wish {
inline constexpr char kJob = 'j', kNames = 'n', kPmix = 'x';
}

/// The name of BoardHeader::control behind the zero of an abstract socket. Processes of other users are turned away
/// there.
inline constexpr char kControlSocket[] = "ashlar-mpiexec-%016llx";

inline std::uint32_t board_key_hash(const char* key) { return static_cast<std::uint32_t>(Hash::of(key)); }

/// Takes `bytes` of the board's heap. Returns the offset, 0 when it is used up. Any process, any thread.
inline std::uint64_t board_allocate(BoardHeader* board, std::uint64_t bytes, std::uint64_t alignment = 16) {
  std::uint64_t used = board->heap_used.load(std::memory_order_relaxed), at = 0;
  do {
    at = (used + alignment - 1) & ~(alignment - 1);
    if (bytes > board->heap_end || at > board->heap_end - bytes) return 0;
  } while (!board->heap_used.compare_exchange_weak(used, at + bytes, std::memory_order_relaxed));
  return at;
}

template <class T>
T* board_at(BoardHeader* board, std::uint64_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(board) + offset);
}

inline BoardSlot& board_slot(BoardHeader* board, std::uint32_t rank) {
  return board_at<BoardSlot>(board, board->slots)[rank];
}

/// Whether the rank is on the board's own node.
inline bool board_has(BoardHeader* board, std::uint32_t rank) {
  return board->node_of_rank == 0 || board_at<std::uint32_t>(board, board->node_of_rank)[rank] == board->node;
}
inline BoardFar& board_far(BoardHeader* board, std::uint32_t rank) {
  return board_at<BoardFar>(board, board->far)[rank];
}
/// The name of the rank's host; the launcher has written it.
inline const char* board_host(BoardHeader* board, std::uint32_t rank) {
  if (board->node_of_rank == 0) return board_at<char>(board, board->host);
  const std::uint32_t node = board_at<std::uint32_t>(board, board->node_of_rank)[rank];
  return board_at<char>(board, board_at<std::uint64_t>(board, board->host_of_node)[node]);
}

/// How many fences all ranks of this node have entered. No rank enters a fence before the one before it is complete, so
/// the sum of arrivals tells it until a rank fails in a job that goes on: the failed rank is not waited for any more.
inline std::uint32_t board_fences_entered(BoardHeader* board) {
  if (board->keep_going == 0 || board->failures.load() == 0)
    return static_cast<std::uint32_t>(board->arrivals.load() / board->local_ranks);
  std::uint32_t least = 0;
  bool any = false;
  for (std::uint32_t rank = 0; rank < board->ranks; ++rank) {
    BoardSlot& slot = board_slot(board, rank);
    if (!board_has(board, rank) || slot.end.load() == static_cast<std::uint32_t>(RankEnd::kFailed)) continue;
    const std::uint32_t fences = slot.fences.load();
    if (!any || static_cast<std::int32_t>(fences - least) < 0) least = fences;
    any = true;
  }
  return any ? least : board->generation.load();
}

/// Makes fence `generation` complete, and all before it. The ranks that sleep on `event` are the caller's to wake.
inline void board_complete_fence(BoardHeader* board, std::uint32_t generation) {
  std::uint32_t now = board->generation.load();
  while (static_cast<std::int32_t>(generation - now) > 0 && !board->generation.compare_exchange_weak(now, generation)) {
  }
  board->event.fetch_add(1);
}

/// A text that its rank rewrites now and then, and that others read meanwhile.
struct BoardText {
  std::atomic<std::uint32_t>* writing;  // odd while the text is being written; it changes with every text
  std::uint32_t* bytes;
  char* text;
  std::size_t room;

  /// By the rank alone, one thread at a time. What does not fit is left out.
  void write(const char* from, std::size_t length) const {
    writing->fetch_add(1, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_release);
    *bytes = static_cast<std::uint32_t>(length < room ? length : room);
    std::memcpy(text, from, *bytes);
    writing->fetch_add(1, std::memory_order_release);
  }
  /// Copies the text to `out`, which has `room` bytes. False when the rank rewrote it during every attempt.
  bool read(char* out, std::size_t* length) const {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const std::uint32_t before = writing->load(std::memory_order_acquire);
      if (before % 2 != 0) continue;
      *length = *bytes < room ? *bytes : room;
      std::memcpy(out, text, *length);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (writing->load(std::memory_order_relaxed) == before) return true;
    }
    return false;
  }
};

/// The answer to a status query, and the newest wait of the rank. The slot has room for both: its `account` is not 0.
inline BoardText account_text(BoardHeader* board, BoardSlot& slot) {
  return {.writing = &slot.writing,
          .bytes = &slot.account_bytes,
          .text = board_at<char>(board, slot.account),
          .room = kAccountBytes};
}
inline BoardText wait_text(BoardHeader* board, BoardSlot& slot) {
  return {.writing = &slot.wait_writing,
          .bytes = &slot.wait_bytes,
          .text = board_at<char>(board, slot.account) + kAccountBytes,
          .room = kWaitBytes};
}

inline BoardVariables& board_variables(BoardHeader* board, const BoardSlot& slot) {
  return *board_at<BoardVariables>(board, slot.account + kAccountBytes + kWaitBytes);
}
inline BoardText variables_text(BoardHeader* board, const BoardSlot& slot) {
  BoardVariables& variables = board_variables(board, slot);
  return {.writing = &variables.writing,
          .bytes = &variables.bytes,
          .text = reinterpret_cast<char*>(&variables + 1),
          .room = kVariablesBytes - sizeof variables};
}

inline BoardWant& board_want(BoardHeader* board, const BoardSlot& slot) {
  return *board_at<BoardWant>(board, slot.account + kAccountBytes + kWaitBytes + kVariablesBytes);
}

/// The newest record of `rank` under `key`, of its process number `attach`; nullptr: there is none.
inline BoardRecord* board_record(BoardHeader* board, std::uint32_t rank, const char* key, std::uint32_t attach) {
  const std::uint32_t hash = board_key_hash(key);
  for (std::uint64_t at = board_slot(board, rank).newest.load(std::memory_order_acquire); at != 0;) {
    auto* const record = board_at<BoardRecord>(board, at);
    // What an earlier program of the same rank published is nothing to this one.
    if (record->attach != attach) break;
    if (record->key_hash == hash && std::strcmp(reinterpret_cast<const char*>(record + 1), key) == 0) return record;
    at = record->older;
  }
  return nullptr;
}
inline const char* board_blob(const BoardRecord* record) {
  return reinterpret_cast<const char*>(record) + record->blob_offset;
}

/// Adds a record to those of `rank`, whose only writer the caller is. False: the board is full.
inline bool board_publish(BoardHeader* board, std::uint32_t rank, const char* key, std::uint32_t attach,
                          const void* blob, std::uint64_t bytes) {
  const std::size_t key_bytes = std::strlen(key) + 1;
  const std::size_t blob_offset = (sizeof(BoardRecord) + key_bytes + 15) & ~std::size_t{15};
  const std::uint64_t at = bytes < (std::uint64_t{1} << 40) ? board_allocate(board, blob_offset + bytes) : 0;
  if (at == 0) return false;
  BoardSlot& slot = board_slot(board, rank);
  auto* const record = board_at<BoardRecord>(board, at);
  record->older = slot.newest.load(std::memory_order_relaxed);
  record->attach = attach;
  record->key_hash = board_key_hash(key);
  record->key_bytes = static_cast<std::uint32_t>(key_bytes);
  record->blob_offset = static_cast<std::uint32_t>(blob_offset);
  record->blob_bytes = bytes;
  std::memcpy(reinterpret_cast<char*>(record + 1), key, key_bytes);
  if (bytes != 0) std::memcpy(reinterpret_cast<char*>(record) + blob_offset, blob, bytes);
  slot.newest.store(at, std::memory_order_release);
  return true;
}

}  // namespace ashlar::launch
