#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/comm/engine.h"
#include "framework/io/params.h"
#include "framework/memory/setup.h"
#include "framework/p2p/config.h"
#include "framework/p2p/process_state.h"
#include "framework/param/store.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/params.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/reporter.h"
#include "framework/plugin/transport.h"
#include "framework/progress/background.h"
#include "framework/progress/lane.h"
#include "framework/progress/peer.h"
#include "framework/rma/params.h"
#include "framework/runtime/hardware.h"
#include "framework/runtime/params.h"
#include "framework/runtime/process_sets.h"
#include "framework/runtime/pvars.h"
#include "framework/topo/params.h"

namespace ashlar {

class Comm;
namespace coll {
class Engine;
}
namespace io {
class Engine;
}
namespace rma {
class Engine;
}
namespace runtime {
struct LiveValues;
class OtherJobs;
class ToolModules;
}  // namespace runtime
namespace topo {
class Engine;
}
namespace plugin {
struct Account;
}
namespace progress {
class Waiting;
}

/// This process as a member of a job: the one object with process-wide state, from the first initialisation to the last
/// finalisation. Made and ended by runtime::init, finalize and the session calls under one mutex; constant in between
/// except where said. Sessions alone leave it idle behind them, so that it need not join its job twice.
class Process final : private comm::Services {
 public:
  /// nullptr outside init..finalize.
  static Process* current() noexcept { return current_.load(std::memory_order_acquire); }

  /// Joins the job and opens the transports, unless that has happened already. Waits for no other rank when the
  /// launcher makes what is published readable at once.
  static Status start(int thread_level);
  /// The world model: MPI_COMM_WORLD and MPI_COMM_SELF. Collective over the job.
  Status begin_world();
  /// Waits until the whole job has come here, then takes them away.
  Status end_world();
  /// Waits until nothing of this process is under way. `call`: for which call of the user's.
  void settle(const char* call);
  /// Reports to the launcher whether the world model is on, and how many sessions are open.
  void report_use(int sessions);
  /// No session and no world model uses the process any more; start() takes it up again.
  void rest();
  /// For the child of a fork (fork.h): no message leaves or arrives any more, and `reason` is why.
  void cut_off(const char* reason);
  /// Makes the value that a tool has written to `key` take effect (plugin::InForce::Effect).
  static bool take_effect(std::string_view key, param::Store& store);
  /// Leaves the job and frees everything; `current()` is null afterwards.
  static Status stop();
  /// Leaves the job at exit, when sessions ended the use of MPI and stop() was never called.
  static void leave_at_exit();

  param::Store params;
  plugin::Registry registry{&params};
  plugin::Reporter reporter{&registry};
  const ashlar_job* job = nullptr;
  ashlar_launch* launch = nullptr;
  memory::HeapSetup heap_setup;  // what memory::Heap::own() was told
  int thread_level = MPI_THREAD_SINGLE;
  std::thread::id main_thread;
  bool idle = false;                // no session and no world model uses it
  bool addresses_complete = false;  // every rank has published its addresses
  Comm* world = nullptr;
  Comm* self = nullptr;
  /// The communicator whose error handler gets the errors of calls without an object; nullptr outside the world model.
  Object* without_object() const;
  /// The topology components, opened on first use. Any thread.
  const comm::Hardware& hardware() override;
  /// All process sets of the job (process_sets.h), collected on first use. Any thread.
  const std::vector<runtime::ProcessSet>& process_sets();
  std::unique_ptr<coll::Engine> coll;  // from start() to stop()
  std::uint64_t start_timeout_ns() const { return runtime_config_.start_timeout; }
  std::uint32_t node_of(PeerId peer) const override;
  std::uint64_t node_identity(PeerId peer) override;
  Lane* lane(unsigned index) const { return lanes_[index].get(); }
  runtime::OtherJobs* other_jobs() const { return other_jobs_.get(); }
  unsigned lane_count() const { return static_cast<unsigned>(lanes_.size()); }
  /// Host name as the launcher knows it, or a process of another job; never looked up.
  std::string host_of(PeerId peer) const;
  const char* host_of_rank(std::uint32_t rank) const;
  /// As node_identity() where nodes are what coll.node_size makes of them; 0: what they are.
  std::uint64_t node_identity(PeerId peer, std::uint64_t node_size);
  /// The job as people know it.
  std::string job_name() const;

 private:
  friend class Wiring;
  friend class runtime::OtherJobs;
  Process() = default;
  ~Process();
  Lane* lane_of(std::uint32_t context) override;
  Status everyone(Comm** result) override;
  bool in_process_set(const char* name) override;
  Status choose_launch();
  /// Why a call of the launch component failed, in the component's words.
  std::string launch_reason(ashlar_result failed) const;
  /// The failure of a fence or barrier, which all ranks must enter. `result` is no success.
  Status incomplete(const char* step, ashlar_result result);
  Status read_parameters();
  Status join_job();
  /// Prints the decision records made since the last call, when parameter explain wants them; rank 0 does so for the
  /// job.
  void explain();
  Status make_lanes();
  void add_pvars(Lane& lane);
  void remove_pvars(Lane& lane);
  Status open_collectives();
  Status publish();
  /// Publishes, for ashlar_info, the values that are used in place of those in force.
  void publish_adjustments();
  void serve();
  bool give_up_messages();
  Status complete_addresses();
  /// Answers a status query from outside the job (mpiexec, ashlar_info).
  static void answer_query(void* self, Lane& lane);
  /// The same where the launcher asks nothing: reports the long waits of this process itself.
  static void report_long_wait(void* self, Lane& lane);
  /// PeerTable's listener.
  static void look_at_news(void* self, Lane& lane);
  void look_for_failed_ranks();
  /// The launcher's listener.
  static void rank_failed(void* self, std::uint32_t rank, const char* how);
  void apply(const runtime::LiveValues& values);
  void apply_to(Lane& lane, const runtime::LiveValues& values);
  /// Values of a thread that may not enter lanes: the one that makes progress next takes them.
  void leave_for_lanes(const runtime::LiveValues& values);
  void take_left_values();
  void write_status(Lane& lane);
  void write_variables();
  void publish_progress(Lane& lane);
  void record_wait(Lane& lane);
  /// Finds waits that have become stalls (watch.stall): tools hear of each, and with `report` the user does.
  void look_for_stalls(Lane& lane, bool report);
  void note_stall(const progress::Waiting& waiting, const plugin::Account& account);
  void report_stall(const plugin::Account& account);

  static std::atomic<Process*> current_;
  plugin::Component* launch_component_ = nullptr;
  ashlar_job job_{};
  std::uint64_t launch_capabilities_ = 0;  // ASHLAR_LAUNCH_*
  Comm* everyone_ = nullptr;
  progress::Config progress_config_;
  std::string explain_topics_;
  std::size_t explained_ = 0;
  bool leaving_ = false;
  bool check_hints_ = false;
  p2p::Config p2p_config_;
  runtime::Config runtime_config_;
  runtime::ThreadConfig thread_config_;
  plugin::ToolConfig tool_config_;
  topo::Config topo_config_;
  rma::Config rma_config_;
  io::Config io_config_;
  p2p::ProcessState p2p_state_;
  std::unique_ptr<PeerTable> peers_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<class Wiring> wiring_;
  std::unique_ptr<runtime::OtherJobs> other_jobs_;
  std::unique_ptr<comm::Engine> comm_engine_;
  std::unique_ptr<topo::Engine> topo_engine_;
  std::unique_ptr<rma::Engine> rma_engine_;
  std::unique_ptr<io::Engine> io_engine_;
  progress::Background background_;
  std::unique_ptr<runtime::ToolModules> tools_;
  /// What this process publishes about itself, for questions from outside (status_page.cc).
  struct StatusPage {
    std::mutex writing;
    std::uint64_t moved_ns = 0;        // when a call last got on
    std::uint64_t recorded_ns = 0;     // when the wait began that was recorded last
    std::uint64_t next_record_ns = 0;  // no wait that began before then is recorded
    std::uint64_t stall_ns = 0;        // watch.stall
    std::uint64_t stalled_ns = 0;      // when the wait became quiet that was the last stall
  } status_;
  runtime::Counters counters_;  // written under status_.writing
  std::mutex left_mutex_;       // guards the next one
  std::unique_ptr<runtime::LiveValues> left_;
  std::atomic<bool> is_left_{false};
  bool answers_queries_ = false;
  std::mutex failures_read_;                            // held while the launcher is asked for failed ranks
  std::mutex opening_;                                  // guards the two below
  std::unique_ptr<runtime::TopologyModules> topology_;  // made by hardware()
  std::vector<runtime::ProcessSet> process_sets_;       // filled by process_sets()
  std::uint32_t news_of_child_ = 0;                     // cut_off(): the word that the lanes watch instead of the job's
};

}  // namespace ashlar
