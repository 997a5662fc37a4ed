#pragma once
#include <poll.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpiexec/check_order.h"
#include "mpiexec/control.h"
#include "mpiexec/input_queue.h"
#include "mpiexec/job_order.h"
#include "mpiexec/link.h"
#include "mpiexec/local_ranks.h"
#include "mpiexec/rank_events.h"
#include "mpiexec/relays.h"
#include "mpiexec/spawn.h"
#include "mpiexec/status_query.h"
#include "mpiexec/tool_pages.h"
#include "mpiexec/way_prober.h"

namespace ashlar::mpiexec {

/// mpiexec on a host of a job whose mpiexec is on another one: it has the ranks of this host, passes on what they do,
/// and does what it is told. When the other end of its pipe is gone, its ranks end. In a tree of daemons it has agents,
/// too.
class Daemon : private RankEvents, private RelayedCalls::Events {
 public:
  explicit Daemon(const Inherited& inherited);
  ~Daemon() override;
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Until the job is over; the exit status.
  int run();

 private:
  void rank_started(unsigned rank, pid_t pid) override;
  void rank_wrote(unsigned rank, bool error_stream, std::string_view bytes) override;
  void stream_ended(unsigned rank, bool error_stream) override;
  void rank_aborted(unsigned rank, int code, const std::string& words) override;
  void rank_ended(unsigned rank, const RankEnding& ending) override;
  void fence_entered(unsigned node, std::uint32_t generation) override;
  void record_wanted(const RecordWanted& wanted) override;
  void server_called(Descriptor socket) override;
  void states_changed() override;
  void relayed(std::uint64_t call, std::string_view bytes) override;

  Status take_over_streams();
  void take_frames();
  const char* step_words() const;
  void give_up(const std::string& sentence);
  bool handle(const Frame& frame);
  bool handle_signal(Unpacker& from);
  bool handle_prepared(const Frame& frame, Unpacker& from);
  bool take_end(Unpacker& from);
  Status prepare();
  void check(const CheckOrder& order);
  void tell_ways();
  void refuse(const std::string& sentence);
  void poll_once();
  int timeout_ms() const;
  void check_clock();
  void check_silence(std::uint64_t now);
  void handle_signals();
  void reap();
  bool look_up(Unpacker& from);
  bool take_record(Unpacker& from);
  bool take_reply(Unpacker& from);
  void open_control();
  void ask(bool status, bool variables);
  void send_states(FrameKind kind);
  void send_tools();
  void kill_all();
  bool is_here(std::uint32_t rank) const { return rank < order_.options.ranks() && order_.nodes.here(rank); }

  const Inherited& inherited_;
  Link link_;
  Relays relays_{inherited_, link_};
  JobOrder order_;
  std::uint32_t node_ = launch::kNoNode;  // this host's number in the job
  Placement placement_;
  std::unique_ptr<LocalRanks> ranks_;
  std::unique_ptr<WayProber> prober_;  // only of a check, which has no ranks
  bool ways_told_ = false;
  std::unique_ptr<StatusQuery> status_, variables_;
  bool answering_ = false;
  std::unique_ptr<ToolPages> tools_;  // only with tools, once mpiexec has asked for them
  InputQueue input_;
  ControlSocket control_;
  RelayedCalls relayed_;     // of ranks that have connected there
  std::uint64_t calls_ = 0;  // of them so far
  int signal_fd_ = -1;
  std::uint64_t unread_ = 0;        // bytes of output that mpiexec has not taken
  std::uint64_t states_at_ns_ = 0;  // when to tell them; 0: not asked
  bool started_ = false;            // the ranks
  bool leaving_ = false, over_ = false;
  int ended_by_ = 0;            // a signal to this process
  std::uint64_t heard_ns_ = 0;  // when mpiexec gave its last sign of life
  std::uint64_t looked_ns_ = 0;
  std::uint64_t strangers_at_ns_ = 0;  // when to look for them next; only with a PMIx server
  bool paused_ = false;                // mpiexec has been stopped by its user, and is silent until it goes on
};

}  // namespace ashlar::mpiexec
