#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "components/tool/common/layout.h"

namespace ashlar::recording {

/// A procedure of MPI that was called in the job. Ranks number procedures by themselves; the job by their names.
struct Procedure {
  std::string name, chapter;
  std::uint32_t kind = 0;
};

/// Calls of one procedure with one class of size, in seconds.
struct CallTotal {
  std::uint64_t calls = 0, bytes_out = 0, bytes_in = 0;
  double seconds = 0, most_seconds = 0;

  void add(const CallTotal& other);
  /// What a process gives or takes; the larger where it does both.
  std::uint64_t bytes() const { return bytes_out > bytes_in ? bytes_out : bytes_in; }
};
using CallTotals = std::array<CallTotal, kSizeClasses>;

struct CommFacts {
  std::uint64_t id = 0;
  std::uint32_t size = 0;
  std::string name;
};

/// A call of a rank; times in nanoseconds since the job began.
struct TimedCall {
  double began = 0, took = 0;
  std::uint64_t bytes = 0;
  std::uint32_t thread = 0, procedure = 0;  // index of Records::procedures
  std::uint32_t comm = 0;                   // index of RankRecord::comms
  std::int32_t peer = ASHLAR_TOOL_NONE;     // in the job
  // Index of RankRecord::algorithms and ::protocols plus 1; 0: none.
  std::uint8_t algorithm = 0, protocol = 0;
};

struct Transport {
  std::string name;
  std::uint64_t peers = 0, messages = 0, bytes = 0;
};

/// Messages by rendezvous that are complete on this side, by how the data travelled.
struct Protocol {
  std::string name;
  std::uint64_t messages = 0, bytes = 0;
};

struct RankRecord {
  std::uint32_t rank = 0;
  bool present = false;    // the tool was there, and what it has written can be read
  bool finalized = false;  // MPI
  bool running = false;    // the job is not over
  int exit_status = 0;     // as waitpid gives it
  std::string host, program;
  std::uint32_t threads = 0;
  std::uint64_t dropped = 0;       // calls that were not counted
  std::uint64_t unplaced = 0;      // of those that were, not in the ring: another thread held it
  double began = 0, ended = 0;     // ns since the job began: MPI initialised, finalised (or the job's end)
  double clock_error = 0;          // ns: the most by which times are wrong beside those of the host that reads
  std::vector<CallTotals> totals;  // by Records::procedures
  std::vector<Peer> peers;
  std::uint32_t ranks_per_peer = 1;
  std::vector<CommFacts> comms;
  std::vector<std::string> algorithms;
  std::vector<Protocol> protocols;
  std::vector<TimedCall> in_progress;  // when the rank ended
  std::map<std::string, std::uint64_t> variables;
  std::vector<Transport> transports;
  std::uint64_t memory_peak = 0;
  std::uint64_t calls_recorded = 0, calls_kept = 0;  // one by one, in the ring

  /// What the library did in a call, such as "recursive_doubling"; empty: nothing is known.
  std::string note(std::uint8_t algorithm, std::uint8_t protocol) const;
};

struct DecisionText {
  std::string topic, subject, chosen, because, lost, setting;
};

/// What the ranks of a job have recorded.
class Records {
 public:
  explicit Records(const ashlar_tool_job& job);

  /// The calls of one rank that are in its ring, in the order of their begins. They are many: of one rank at a time.
  std::vector<TimedCall> calls_of(std::uint32_t rank) const;

  double seconds() const { return static_cast<double>(job_.ended_ns - job_.began_ns) * 1e-9; }
  const ashlar_tool_job& job() const { return job_; }

  std::vector<Procedure> procedures;
  std::vector<RankRecord> ranks;
  std::vector<DecisionText> decisions;  // of rank 0
  std::uint64_t decisions_left_out = 0;

 private:
  struct Clock {
    double ns_per_tick = 1;
    std::uint64_t ticks = 0;
    double ns = 0;  // of the job's time
    double at(std::uint64_t moment) const {
      return ns + static_cast<double>(static_cast<std::int64_t>(moment - ticks)) * ns_per_tick;
    }
  };
  const ashlar_tool_rank& rank_at(std::uint32_t rank) const;
  const Head* head_of(std::uint32_t rank) const;
  double job_time(const ashlar_tool_host_clock& of, std::uint64_t host_ns) const;
  Clock clock_of(std::uint32_t rank, const Head& head) const;
  void read_rank(std::uint32_t rank);
  void read_totals(const Head& head, const Clock& clock, RankRecord* to);
  void read_end(const Head& head, RankRecord* to);
  void read_open(const Head& head, const Clock& clock, RankRecord* to);
  std::uint32_t procedure_index(const ProcedureRow& row);

  ashlar_tool_job job_;
  std::map<std::string, std::uint32_t> by_name_;
  std::vector<std::vector<std::uint32_t>> index_of_;  // per rank: its rows -> procedures
};

}  // namespace ashlar::recording
