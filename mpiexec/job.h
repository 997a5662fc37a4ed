#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpiexec/board.h"
#include "mpiexec/control.h"
#include "mpiexec/environment.h"
#include "mpiexec/further_jobs.h"
#include "mpiexec/further_request.h"
#include "mpiexec/local_ranks.h"
#include "mpiexec/name_service.h"
#include "mpiexec/node_map.h"
#include "mpiexec/notice_merger.h"
#include "mpiexec/options.h"
#include "mpiexec/output.h"
#include "mpiexec/placement.h"
#include "mpiexec/pmix_hub.h"
#include "mpiexec/rank_files.h"
#include "mpiexec/record_file.h"
#include "mpiexec/remote_input.h"
#include "mpiexec/remote_nodes.h"
#include "mpiexec/settings.h"
#include "mpiexec/spawn.h"
#include "mpiexec/stall_watch.h"
#include "mpiexec/status_query.h"
#include "mpiexec/tool_report.h"
#include "mpiexec/verdict.h"

namespace ashlar::mpiexec {

/// A job from its first process to its last: has the ranks started, here and on other hosts, passes signals and
/// streams, and ends everything when one fails. One thread, one poll loop; nothing in it blocks but the start of a
/// process.
class Job : private NodeEvents, private RelayedCalls::Events {
 public:
  /// `argv`: mpiexec's own command line. `asked`: what this job was asked for with, by another job; nullptr: nothing.
  Job(const Options& options, const Settings& settings, const Inherited& inherited, Environment environment,
      NodeMap nodes, std::string host, std::string job_id, const char* const* argv = nullptr,
      FurtherRequest* asked = nullptr);
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Runs the job to its end and returns mpiexec's exit status.
  int run();

 private:
  static constexpr std::uint64_t kStrangers = 1'000'000'000;  // between looks for connections of other users

  Status prepare();
  Status prepare_here();
  Status gather(RemoteNode::Phase phase);
  void send_order();
  Status agree_on_placement();
  unsigned universe() const;
  unsigned taken_on(const std::string& host) const;
  Status open_files();
  bool start_ranks();
  void rank_started(unsigned rank, pid_t pid) override;
  void rank_wrote(unsigned rank, bool error_stream, std::string_view bytes) override;
  void stream_ended(unsigned rank, bool error_stream) override;
  void rank_aborted(unsigned rank, int code, const std::string& words) override;
  void rank_ended(unsigned rank, const RankEnding& ending) override;
  void fence_entered(unsigned node, std::uint32_t generation) override;
  void record_wanted(const RecordWanted& wanted) override;
  void server_called(Descriptor socket) override;
  void states_changed() override {}
  void node_lost(unsigned node, const std::string& how) override;
  void host_tried_again(const Status& why) override;
  void rank_called(unsigned node, std::uint32_t call) override;
  void rank_asks(unsigned node, std::uint32_t call, std::string_view bytes) override;
  void relayed(std::uint64_t call, std::string_view bytes) override;
  void loop();
  void drain_after_end();
  void handle_signals();
  void forward(int signal, int code);
  void reap();
  bool others_in_mpi();
  void complete_fences();
  void leave_behind(unsigned rank);
  void judge_aborts();
  void pass_input_on(std::size_t room);
  void open_control();
  void serve_callers(const std::vector<pollfd>& fds);
  void name_failed(unsigned rank);
  void stop_everyone();
  void signal_rank(unsigned rank, int signal);
  void write_streams();
  void cannot_write(bool error_stream, int reason);
  void close_stream(unsigned rank, bool error_stream);
  int next_timeout_ms() const;
  void check_clock();
  void check_standing(std::uint64_t now);
  void told(std::uint64_t now);
  FurtherJobs::Facts facts_for_further() const;
  void hear_above();
  bool all_over() const { return running_ == 0 && to_start_ == 0 && further_.running() == 0; }
  void poll_once(int timeout_ms);
  std::string why_not_loaded(unsigned rank) const;
  std::string why_alone() const;
  void conclude();
  ToolJob for_tools(std::uint64_t until_ns) const;
  void sample_tools(std::uint64_t now);
  void bring_tools();

  const Options& options_;
  const Settings& settings_;
  const Inherited& inherited_;
  const Environment environment_;
  const NodeMap nodes_;
  const std::string host_, job_id_;
  const char* const* const argv_;
  FurtherRequest* const asked_;
  FurtherJobs further_;
  ControlSocket control_;
  Callers callers_;
  NameService names_;
  PmixHub pmix_;               // of the first mpiexec
  RelayedCalls relayed_;       // of ranks on other hosts: node and number there
  std::uint64_t cookie_ = 0;   // of a job on several hosts
  bool above_failed_ = false;  // the job that asked for this one
  bool leash_ended_ = false;   // it will not say so any more
  Placement placement_;        // of the ranks of this host
  LocalRanks here_;
  RemoteNodes there_;
  Board& board_;  // of here_; it shows the ranks of all hosts
  std::vector<RankFate> fates_;
  std::vector<unsigned> segment_of_rank_;
  std::vector<std::uint32_t> fences_;  // by node: entered
  std::uint32_t fences_done_ = 0;
  std::vector<bool> left_behind_;  // by node: all its ranks have failed, and the job goes on
  RankFiles files_;                // of --output, of ranks on other hosts
  LineMerger merged_out_, merged_err_;
  NoticeMerger notices_;
  OutputFd to_out_, to_err_;
  std::unique_ptr<RemoteInput> remote_input_;  // of a rank on another host
  unsigned running_ = 0;
  unsigned to_start_ = 0;        // ranks on other hosts that do not run yet
  unsigned remote_streams_ = 0;  // open ones of ranks on other hosts
  int signal_fd_ = -1;
  std::uint64_t began_ns_ = 0;
  std::uint64_t limit_ns_ = 0;         // when the time of --timeout is over; 0: never
  std::uint64_t kill_at_ns_ = 0;       // when SIGTERM has had its time; 0: no rank is being stopped
  std::uint64_t flush_at_ns_ = 0;      // when an unfinished line on a terminal is shown
  std::uint64_t hint_at_ns_ = 0;       // when the ranks that outlive the first signal are reported
  int interrupted_by_ = 0;             // the first signal that asks mpiexec to end
  unsigned interrupts_ = 0;            // how many did
  std::uint64_t strangers_at_ns_ = 0;  // when to look for them next; only with a PMIx server
  std::uint64_t refresh_at_ns_ = 0;    // when the ranks shall say the next time that they are inside MPI
  bool timed_out_ = false;
  std::unique_ptr<StatusQuery> status_query_;  // only with a time limit or a watch
  std::unique_ptr<StallWatch> watch_;          // only with watch.stall
  std::unique_ptr<ToolSampler> sampler_;       // only with tools and tools.refresh
  bool bringing_ = false;                      // what other hosts have for a sample
  bool asking_ = false;                        // the ranks are saying what they wait for
  std::string waits_;                          // what they said when the time was over
  RecordFile records_;
  bool stopping_ = false;
  bool any_aborted_ = false;
  bool more_aborted_ = false;         // since the last judgement
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
