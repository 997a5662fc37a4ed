#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpiexec/board.h"
#include "mpiexec/environment.h"
#include "mpiexec/further_jobs.h"
#include "mpiexec/further_request.h"
#include "mpiexec/guard.h"
#include "mpiexec/input.h"
#include "mpiexec/notice_merger.h"
#include "mpiexec/options.h"
#include "mpiexec/output.h"
#include "mpiexec/placement.h"
#include "mpiexec/pmix_server.h"
#include "mpiexec/record_file.h"
#include "mpiexec/settings.h"
#include "mpiexec/spawn.h"
#include "mpiexec/stall_watch.h"
#include "mpiexec/status_query.h"
#include "mpiexec/tool_report.h"
#include "mpiexec/verdict.h"

namespace ashlar::mpiexec {

/// A job from its first process to its last: starts the ranks, passes signals and streams, and ends everything when
/// one fails. One thread, one poll loop; nothing in it blocks but the start of a process.
class Job : private PmixListener {
 public:
  /// `argv`: mpiexec's own command line. `asked`: what this job was asked for with, by another job; nullptr: nothing.
  Job(const Options& options, const Settings& settings, const Placement& placement, const Inherited& inherited,
      Environment environment, std::string host, std::string job_id, const char* const* argv = nullptr,
      FurtherRequest* asked = nullptr);
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Runs the job to its end and returns mpiexec's exit status.
  int run();

 private:
  struct Rank {
    unsigned segment = 0;
    int out = -1, err = -1;  // our ends of the pipes, -1: closed or passed through
    bool running = false;
  };

  Status prepare();
  Status check_wrappers();
  bool wants_pmix() const;
  Status start_pmix();
  void connected(unsigned rank) override;
  void finalized(unsigned rank) override;
  void aborted(unsigned rank, int code, const char* text) override;
  bool start_rank(unsigned rank);
  Status not_started(unsigned rank, const SpawnResult& result, const SpawnRequest& request) const;
  Status open_streams(unsigned rank, int streams[3], std::vector<int>* mine);
  void loop();
  void drain_after_end();
  void handle_signals();
  void forward(int signal, int code);
  void reap();
  void rank_ended(unsigned rank, int wait_status);
  void check_aborts();
  void name_failed(unsigned rank);
  void stop_everyone();
  void signal_rank(unsigned rank, int signal);
  void read_stream(unsigned rank, bool error_stream);
  void write_streams();
  void cannot_write(bool error_stream, int reason);
  void close_stream(unsigned rank, bool error_stream);
  int next_timeout_ms() const;
  void check_clock();
  void check_standing(std::uint64_t now);
  void told(std::uint64_t now);
  FurtherJobs::Facts facts_for_further() const;
  void hear_above();
  bool all_over() const { return running_ == 0 && further_.running() == 0; }
  void poll_once(int timeout_ms);
  std::string variable_of(const Segment& segment, const std::string& name) const;
  std::string why_not_loaded(unsigned rank) const;
  std::string why_alone() const;
  void conclude();
  ToolJob for_tools(std::uint64_t until_ns) const;

  const Options& options_;
  const Settings& settings_;
  const Placement& placement_;
  const Inherited& inherited_;
  Environment environment_;
  const std::string host_, job_id_;
  const char* const* const argv_;
  FurtherRequest* const asked_;
  FurtherJobs further_;
  bool above_failed_ = false;  // the job that asked for this one
  bool leash_ended_ = false;   // it will not say so any more
  Board board_;
  Guard guard_;
  std::unique_ptr<PmixServer> pmix_;
  std::string pmix_folder_;
  std::vector<Rank> ranks_;
  std::vector<RankFate> fates_;
  std::vector<std::string> files_;  // per segment: the program with its folder
  std::string wrappers_;            // preloaded into the ranks for tools; empty: no tool is chosen
  LineMerger merged_out_, merged_err_;
  NoticeMerger notices_;
  OutputFd to_out_, to_err_;
  std::unique_ptr<InputForwarder> input_;
  bool through_ = false;  // one rank: it has our own streams
  bool own_groups_ = true;
  unsigned running_ = 0;
  int signal_fd_ = -1;
  std::uint64_t began_ns_ = 0;
  std::uint64_t kill_at_ns_ = 0;       // when SIGTERM has had its time; 0: no rank is being stopped
  std::uint64_t flush_at_ns_ = 0;      // when an unfinished line on a terminal is shown
  std::uint64_t hint_at_ns_ = 0;       // when the ranks that outlive the first signal are reported
  int interrupted_by_ = 0;             // the first signal that asks mpiexec to end
  std::uint64_t strangers_at_ns_ = 0;  // when to look for them next; only with a PMIx server
  std::uint64_t refresh_at_ns_ = 0;    // when the ranks shall say the next time that they are inside MPI
  bool timed_out_ = false;
  std::unique_ptr<StatusQuery> status_query_;  // only with a time limit or a watch
  std::unique_ptr<StallWatch> watch_;          // only with watch.stall
  std::unique_ptr<ToolSampler> sampler_;       // only with tools and tools.refresh
  bool asking_ = false;                        // the ranks are saying what they wait for
  std::string waits_;                          // what they said when the time was over
  RecordFile records_;
  bool stopping_ = false;
  int effect_ = -1;                   // a rank that aborted because another one is gone, while it is not known which
  std::uint64_t cause_until_ns_ = 0;  // how long the end of that one is waited for
  std::uint64_t aborted_ns_ = 0;      // when the first rank aborted
  std::uint64_t stop_at_ns_ = 0;      // how long others are waited for that may abort, too
  int first_failed_ = -1;
  int first_returned_ = -1;  // of those that failed nothing, the first that did not return 0
  int status_ = 0;           // first non-zero exit status
  std::string start_error_;
  bool said_lost_[2] = {};           // that standard output, or error, cannot be written
  std::vector<unsigned> cut_short_;  // ranks whose files of --output lack something
  bool output_lost_ = false;         // for another reason than that its reader left
  std::vector<unsigned> still_ran_;  // when the time was over
};

}  // namespace ashlar::mpiexec
