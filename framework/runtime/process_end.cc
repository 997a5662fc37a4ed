#include "framework/runtime/process.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/log.h"
#include "framework/coll/call_counts.h"
#include "framework/coll/engine.h"
#include "framework/coll/pvars.h"
#include "framework/comm/context_ids.h"
#include "framework/io/engine.h"
#include "framework/memory/heap.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"
#include "framework/object/leaks.h"
#include "framework/p2p/pvars.h"
#include "framework/p2p/route.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/in_force.h"
#include "framework/plugin/pvars.h"
#include "framework/progress/waiting.h"
#include "framework/rma/engine.h"
#include "framework/runtime/fork.h"
#include "framework/runtime/leaks.h"
#include "framework/runtime/live_values.h"
#include "framework/runtime/other_jobs.h"
#include "framework/runtime/params.h"
#include "framework/runtime/threads.h"
#include "framework/runtime/tool_modules.h"
#include "framework/runtime/wiring.h"
#include "framework/topo/engine.h"

// The end of the world model, of the process in its job, and of its part in the job of the rank that forked it.
namespace ashlar {

// What was sent here and never received: its senders may want to cancel it when this process answers no more. A message
// of the communicator of the whole job stays: its sender may be in a later session already, where this process will
// receive it.
bool Process::give_up_messages() {
  bool all_notified = true;
  for (const auto& lane : lanes_) {
    const LaneGuard guard(lane->lock);
    while (lane->index != 0 && progress::poll(*lane) != 0) {
      // Messages that the first lane handed over to this one.
    }
    all_notified = p2p::give_up_all(*lane, comm::ContextIds::kEveryone) && all_notified;
  }
  return all_notified;
}

void Process::rest() {
  // Whether a session made the process or MPI_Init, whose MPI_Finalize may have come before the last session's end.
  static const bool registered = std::atexit(Process::leave_at_exit) == 0;
  (void)registered;
  background_.stop();
  while (!give_up_messages()) settle("MPI_Session_finalize");
  wiring_->rest(true);
  idle = true;
}

Status Process::end_world() {
  coll::record_call_counts(*coll, registry.records());
  explain();
  // Requests the user gave up may still have work to do here; a peer may need an answer of ours until it is here too.
  leaving_ = true;
  {
    const std::lock_guard guard(status_.writing);  // a background thread may be publishing it
    status_.moved_ns = now_ns();
  }
  settle("MPI_Finalize");
  other_jobs_->take_leave();
  Status left;
  if (job->ranks > 1) {
    ashlar_result met;
    std::int64_t patience_ms = 0;
    do {
      met = launch->ops->barrier(launch, patience_ms);
      for (const auto& lane : lanes_) {
        const LaneGuard guard(lane->lock);
        progress::poll(*lane);
      }
      patience_ms = patience_ms < 10 ? patience_ms + 1 : 10;
    } while (met == ASHLAR_LAUNCH_TIMED_OUT);
    if (met != ASHLAR_OK) left = incomplete("MPI_Finalize", met);
  }
  for (Comm* comm : {world, self}) {
    if (!comm) continue;
    predefined_objects[comm->predefined] = nullptr;
    comm->predefined = 0;
    release(comm);
  }
  world = self = nullptr;
  leaving_ = false;
  return left;
}

Status Process::stop() {
  Process* process = current();
  plugin::in_force().withdraw();  // before what the values of tools take effect in
  process->background_.stop();    // before the tools go: its threads raise events
  process->tools_.reset();
  process->io_engine_.reset();   // files that are left have communicators
  process->rma_engine_.reset();  // windows that are left have communicators
  if (const ashlar_result left = process->launch->ops->finalize(process->launch); left != ASHLAR_OK)
    ASHLAR_LOG(warn, "runtime", "leaving the job: %s", process->launch_reason(left).c_str());
  process->comm_engine_->destroy_waiting();
  if (process->everyone_) release(std::exchange(process->everyone_, nullptr));  // while its lane is there
  current_.store(nullptr, std::memory_order_release);
  delete process;
  runtime::lanes_end();
  return {};
}

void Process::leave_at_exit() {
  Process* const process = current();
  if (!process || !process->idle) return;
  if (leaks::watching.load()) runtime::report_leaks(*process, runtime::Ending::kProcess);
  process->tools_.reset();
  (void)process->launch->ops->finalize(process->launch);
}

// No lane's lock is taken, as the analysis wants: another thread may have held it when the process forked, and the
// child has no other thread that would release it or that could race with this one. Only the mutex of the table of
// peers is taken, which threads hold for a moment when they connect to a new peer.
void Process::cut_off(const char* reason) ASHLAR_NO_THREAD_SAFETY {
  constexpr std::uint32_t kMostMadeKnown = 4096;
  idle = false;  // nothing to leave at exit
  if (tools_) tools_->leave_alone();
  if (!peers_) return;
  peers_->share_news(&news_of_child_);  // the word may be one that the launcher sees
  peers_->set_connector(
      [](void*, Lane&, PeerId, ashlar_endpoint**, ashlar_iface**) { return runtime::check_not_forked(); }, nullptr);
  for (const auto& lane : lanes_) {
    lane->iface_count = 0;
    lane->news = &news_of_child_;
  }
  // A receive ends when its sender is known to be gone, so all are made known, unless they are very many.
  for (std::uint32_t id = 0; job->ranks <= kMostMadeKnown && id < job->ranks; ++id) (void)peers_->get(id);
  peers_->each([&](Peer& peer) {
    for (const auto& lane : lanes_) {
      Link& link = peer.link(*lane);
      link.budget = 0;
      link.endpoint = nullptr;
    }
    if (peer.id != peers_->self()) peers_->mark_failed(peer.id, reason);
  });
  for (const auto& lane : lanes_) lane->news_seen = news_of_child_ - 1;
  // Collectives in shared memory send nothing. Compared, they do first, and fail by that.
  if (coll) coll->checks.collectives = true;
}

Process::~Process() {
  heap_setup.records = nullptr;  // the heap stays
  heap_setup.apply(memory::Heap::own());
  plugin::in_force().withdraw();
  plugin::pvar_sets().remove(p2p::comm_rows.data(), this);
  plugin::pvar_sets().remove(coll::comm_rows.data(), this);
  plugin::pvar_sets().remove(runtime::kPvars, &counters_);
  plugin::pvar_sets().remove(plugin::Records::pvar_rows.data(), &registry.records());
  for (auto& lane : lanes_) remove_pvars(*lane);
  for (auto& lane : lanes_) p2p::detach(*lane);
  coll.reset();
  wiring_.reset();
  lanes_.clear();
  peers_.reset();
  if (launch) launch_component_->destroy(launch);
}

}  // namespace ashlar
