#pragma once
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "components/tool/common/reader.h"
#include "components/tool/common/recorder.h"

namespace ashlar::recording {

/// Ranks whose calls the test makes up. Ticks are nanoseconds.
class FakeJob {
 public:
  enum : std::uint32_t { kSend, kTest, kBarrier, kStartAll, kSendInit, kFree, kSetName, kProcedures };

  explicit FakeJob(std::uint32_t ranks, std::size_t buffer_bytes = 4 << 20, RingPlan ring = {.kept = true});
  ~FakeJob();

  Recorder& rank(std::uint32_t rank) { return *ranks_[rank]->recorder; }
  ashlar_tool_call call(std::uint32_t procedure, std::uint64_t began, std::uint64_t took = 10) const;
  void make(std::uint32_t rank, const ashlar_tool_call& call);
  /// The calling thread's event.
  enum : std::uint32_t { kCollectiveBegins = 1, kRendezvousEnds = 2 };
  void raise(std::uint32_t rank, std::uint32_t type, std::initializer_list<std::uint64_t> values);
  /// Memory that no page stands behind until it is touched, as in a rank.
  std::span<std::byte> buffer(std::uint32_t rank) { return ranks_[rank]->buffer; }
  void close();
  /// The rank is on another host, whose clock goes like this.
  void set_clock(std::uint32_t rank, const ashlar_tool_host_clock& clock) { ranks_[rank]->clock = clock; }
  void set_host(std::uint32_t rank, const char* name) { ranks_[rank]->host = name; }
  /// As at the end of the job.
  Records read();

  ashlar_result opened = ASHLAR_OK;  // of the last rank

 private:
  struct Rank {
    Rank() = default;
    ~Rank();
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;
    ashlar_tool_context context{};
    std::span<std::byte> buffer;
    ashlar_tool_host_clock clock{};
    const char* host = "host";
    std::unique_ptr<Recorder> recorder;
  };
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<ashlar_tool_rank> rows_;
};

inline std::string comm_name_of_test = "MPI_COMM_WORLD";

}  // namespace ashlar::recording
