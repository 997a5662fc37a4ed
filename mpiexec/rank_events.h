#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "framework/base/descriptor.h"
#include "framework/plugin/launch_board.h"

namespace ashlar::mpiexec {

/// What is known of a rank when its process has ended.
struct RankEnding {
  int wait_status = 0;
  launch::RankState state = launch::RankState::kAbsent;
  std::uint32_t use = 0;     // launch::RankUse
  std::uint32_t fences = 0;  // entered
  bool aborted = false;
  int abort_code = 0;
  std::string abort_text = {};
};

/// A question of a rank for what a rank of another node has published.
struct RecordWanted {
  std::uint32_t by = 0;        // the rank that asks
  std::uint32_t question = 0;  // and the number of its question
  std::uint32_t rank = 0;
  std::uint32_t attach = 0;
  std::string key = {};
};

/// What the ranks of a node do, in the order in which they did it: told by the process that started them, and, of
/// another node, by that node's daemon.
class RankEvents {
 public:
  virtual ~RankEvents() = default;
  virtual void rank_started(unsigned rank, pid_t pid) = 0;
  virtual void rank_wrote(unsigned rank, bool error_stream, std::string_view bytes) = 0;
  virtual void stream_ended(unsigned rank, bool error_stream) = 0;
  virtual void rank_aborted(unsigned rank, int code, const std::string& words) = 0;
  virtual void rank_ended(unsigned rank, const RankEnding& ending) = 0;
  /// All ranks of the node have entered this fence. Only in a job on several nodes, as the next one.
  virtual void fence_entered(unsigned node, std::uint32_t generation) = 0;
  virtual void record_wanted(const RecordWanted& wanted) = 0;
  /// The PMIx server of the node wants something of mpiexec, as ranks do that connect to the control socket.
  virtual void server_called(Descriptor socket) = 0;
  /// A rank has joined or left MPI, or met another job; only in a job that has ranks elsewhere.
  virtual void states_changed() = 0;
};

}  // namespace ashlar::mpiexec
