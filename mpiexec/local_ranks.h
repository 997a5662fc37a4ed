#pragma once
#include <poll.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpiexec/board.h"
#include "mpiexec/environment.h"
#include "mpiexec/guard.h"
#include "mpiexec/input.h"
#include "mpiexec/node_map.h"
#include "mpiexec/options.h"
#include "mpiexec/placement.h"
#include "mpiexec/pmix_server.h"
#include "mpiexec/rank_events.h"
#include "mpiexec/settings.h"
#include "mpiexec/spawn.h"

namespace ashlar::mpiexec {

/// What the ranks of one node are told of their job.
struct LocalFacts {
  BoardFacts board;     // without what options and settings say
  bool daemon = false;  // all streams are passed on, and none is this process's own
};

/// The ranks of a job that are on this node: their board, their processes and their streams. It decides nothing:
/// what happens is told to `events`, and a rank is signalled by command. Nothing blocks but the start of a process.
class LocalRanks : private PmixListener {
 public:
  /// The arguments outlive it. `placement` has the ranks of this node, in their order.
  LocalRanks(const Options& options, const Settings& settings, const Inherited& inherited, RankEvents& events);
  ~LocalRanks() override;
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  /// Everything up to the first process. Signals that the caller takes must be blocked.
  Status prepare(LocalFacts facts, Environment environment, const Placement& placement);
  /// Starts all ranks. After a failure some may run.
  Status start();

  Board& board() { return board_; }
  const Board& board() const { return board_; }
  const NodeMap& nodes() const { return facts_.board.nodes; }
  unsigned running() const { return running_; }
  bool runs(unsigned rank) const { return ranks_[rank].running; }
  /// A single rank that has this process's own streams.
  bool through() const { return through_; }
  bool own_groups() const { return own_groups_; }
  InputForwarder* input() { return input_.get(); }
  /// The program of a segment with its folder; empty: none of its ranks is here.
  const std::string& file_of(unsigned segment) const { return files_[segment]; }
  bool has_wrappers() const { return !wrappers_.empty(); }
  bool has_pmix() const { return pmix_ != nullptr; }
  /// Why there is a PMIx server; empty: there is none.
  std::string why_pmix() const;
  /// What the ranks of `segment` get as the environment variable `name`.
  std::string variable_of(const Segment& segment, const std::string& name) const;

  void signal(unsigned rank, int number);
  /// SIGTERM to all that run; from now on what a rank leaves behind ends with it.
  void stop();
  /// Publishes the end of any rank of the job.
  void publish_end(unsigned rank, int wait_status, bool failed);

  /// Takes the news of the end of the process `pid`, which waitid() has shown, and reaps it. False: it is no rank.
  bool take_end(pid_t pid, bool exited);
  /// What the ranks have left on the board: aborts, fences, questions.
  void look_at_board();

  /// Adds the streams to read from, but for those of which `full` has too much that is unwritten (output, error).
  void add_streams(std::vector<pollfd>* fds, const bool full[2]);
  /// Reads those that have something; `fds` as add_streams() left it from `first` on.
  void read_streams(const std::vector<pollfd>& fds, std::size_t first);
  bool streams_open() const;
  void close_stream(unsigned rank, bool error_stream);
  /// The writing end of the rank's input, in a daemon; taken over by the caller. -1: it is closed, or not here.
  int take_input() { return std::exchange(remote_input_, -1); }

 private:
  struct Rank {
    unsigned segment = 0, local = 0;
    bool here = false;
    pid_t pid = -1;
    int out = -1, err = -1;  // our ends of the pipes, -1: closed or passed through
    bool running = false, told_abort = false;
  };

  Status check_wrappers();
  Status find_programs();
  Status make_board();
  bool wants_pmix() const;
  Status start_pmix();
  void connected(unsigned rank) override;
  void finalized(unsigned rank) override;
  void aborted(unsigned rank, int code, const char* text) override;
  void wake() override;
  Status open_streams(unsigned rank, int streams[3], std::vector<int>* mine);
  Status start_rank(unsigned rank);
  Environment environment_of(unsigned rank) const;
  Status not_started(unsigned rank, const SpawnResult& result, const SpawnRequest& request) const;
  void read_stream(unsigned rank, bool error_stream);
  void pass_calls_on();
  void look_for_fence();
  void look_for_questions();

  const Options& options_;
  const Settings& settings_;
  const Inherited& inherited_;
  RankEvents& events_;
  LocalFacts facts_;
  const Placement* placement_ = nullptr;
  Environment environment_;
  Board board_;
  Guard guard_;
  std::unique_ptr<PmixServer> pmix_;
  std::string pmix_folder_;
  std::vector<Rank> ranks_;         // all of the job
  std::vector<std::string> files_;  // per segment: the program with its folder
  std::string wrappers_;            // preloaded into the ranks for tools; empty: no tool is chosen
  std::unique_ptr<InputForwarder> input_;
  int remote_input_ = -1;
  std::vector<std::pair<unsigned, bool>> polled_;  // rank and stream of what add_streams() has added
  std::vector<std::uint32_t> questions_;           // per rank: the newest one that was told
  std::uint32_t fences_told_ = 0;
  unsigned running_ = 0;
  bool through_ = false;
  bool own_groups_ = true;
  bool stopping_ = false;
};

}  // namespace ashlar::mpiexec
