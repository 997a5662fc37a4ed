#include "framework/runtime/process.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/base/flush_streams.h"
#include "framework/base/hash.h"
#include "framework/base/log.h"
#include "framework/coll/call_counts.h"
#include "framework/coll/engine.h"
#include "framework/coll/pvars.h"
#include "framework/comm/context_ids.h"
#include "framework/comm/join_api.h"
#include "framework/comm/make.h"
#include "framework/datatype/pvars.h"
#include "framework/memory/heap.h"
#include "framework/object/attribute_api.h"
#include "framework/object/comm.h"
#include "framework/object/errhandler.h"
#include "framework/object/handle.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/object/leaks.h"
#include "framework/object/limit.h"
#include "framework/object/memory_kinds.h"
#include "framework/object/params.h"
#include "framework/object/pvars.h"
#include "framework/p2p/params.h"
#include "framework/p2p/pvars.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/route.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/in_force.h"
#include "framework/plugin/launch_board.h"
#include "framework/plugin/mpiexec_params.h"
#include "framework/plugin/params.h"
#include "framework/plugin/pvars.h"
#include "framework/plugin/setup.h"
#include "framework/progress/context_lane.h"
#include "framework/progress/params.h"
#include "framework/progress/waiting.h"
#include "framework/runtime/choose_launch.h"
#include "framework/runtime/fork.h"
#include "framework/runtime/leaks.h"
#include "framework/runtime/live_values.h"
#include "framework/runtime/other_jobs.h"
#include "framework/runtime/params.h"
#include "framework/runtime/start_facts.h"
#include "framework/runtime/threads.h"
#include "framework/runtime/wiring.h"

namespace ashlar {

std::atomic<Process*> Process::current_{nullptr};

namespace {

Object* for_errors_without_object() { return Process::current() ? Process::current()->without_object() : nullptr; }

/// "rank 2" or "ranks 0-3, 8" of the job: the members of `comm`. Of many, the first few.
std::string ranks_of(const Comm& comm) {
  std::vector<PeerId> ranks;
  const std::uint32_t own = Process::current()->job->ranks;
  const auto add = [&ranks, own](const Group& group) {
    for (Rank r = 0; r < group.size(); ++r)
      if (group[r] < own) ranks.push_back(group[r]);
  };
  add(*comm.local_group);
  if (comm.inter) add(*comm.remote_group);
  std::sort(ranks.begin(), ranks.end());
  std::string list;
  int pieces = 0;
  for (std::size_t i = 0, last = 0; i < ranks.size(); i = last + 1) {
    if (++pieces > 8) return "ranks " + list + " ...";
    for (last = i; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1;) ++last;
    if (i > 0) list += ", ";
    list += std::to_string(ranks[i]);
    if (last > i) list += "-" + std::to_string(ranks[last]);
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

/// The standard asks that at least the processes of `comm` end. All of the job do: those that are left could not be
/// separated from a job that hangs. The reason says so when it is not what the caller named.
[[noreturn]] void abort_job(Comm* comm, int code, const char* text) {
  const int exit_code = code & 0xff ? code & 0xff : 1;
  Process* const process = Process::current();
  flush_streams();
  if (process && comm && process->other_jobs()) process->other_jobs()->end(*comm, exit_code);
  char longer[3072];
  const unsigned ranks = process && process->job ? process->job->ranks : 0;
  if (comm && static_cast<unsigned>(comm->size + (comm->inter ? comm->remote_size : 0)) < ranks) {
    std::snprintf(longer, sizeof longer, "%s\n  all %u ranks of the job end, not only those of '%s' (%s).", text, ranks,
                  comm->name.c_str(), ranks_of(*comm).c_str());
    text = longer;
  }
  if (process && process->launch)
    process->launch->ops->abort(process->launch, exit_code, text);
  else
    log::paragraph(log::Level::error, "mpi", text);
  std::_Exit(exit_code);
}

}  // namespace

std::string Process::host_of(PeerId peer) const {
  if (peer >= job->ranks) return wiring_->host_of_other(peer);
  return host_of_rank(peer);
}

const char* Process::host_of_rank(std::uint32_t rank) const {
  const char* host = launch->ops->host_of(launch, rank);
  return host ? host : "an unnamed host";
}

std::string Process::job_name() const {
  const bool named = job->name != nullptr && *job->name != '\0';
  return named ? std::string(job->name) + " (" + job->job_id + ")" : std::string(job->job_id);
}

std::uint32_t Process::node_of(PeerId peer) const {
  if (peer < job->ranks) return job->node_of_rank ? job->node_of_rank[peer] : job->node;
  return node_of_other(peer, 0);
}

// Nodes have numbers in their job; those of other jobs get numbers that no rank of this job has.
std::uint32_t Process::node_of_other(PeerId peer, std::uint64_t node_size) const {
  constexpr std::uint32_t kOthers = 0x80000000;
  const Identity who = peers_->identity_of(peer);
  if (node_size > 0) return kOthers | static_cast<std::uint32_t>(who.job[0] + who.rank / node_size);
  if (wiring_->on_this_node(peer)) return job->node;
  return kOthers | static_cast<std::uint32_t>(Hash::of(wiring_->node_of_other(peer)));
}

Status Process::start(int thread_level) {
  if (thread_level == MPI_THREAD_MULTIPLE) LaneLock::enable_threads();
  if (Process* const process = current()) {
    process->thread_level = std::max(process->thread_level, thread_level);
    if (std::exchange(process->idle, false)) {
      process->wiring_->rest(false);
      process->serve();
    }
    return {};
  }
  runtime::watch_forks();
  error_hooks.without_object = for_errors_without_object;
  error_hooks.report = [](const ashlar_error_record& record) {
    if (current()) current()->reporter.error(record);
    return current() != nullptr;
  };
  error_hooks.abort = abort_job;
  error_hooks.release_comm = [](Comm* comm) { release(comm); };
  auto* process = new Process;
  current_.store(process, std::memory_order_release);
  process->thread_level = thread_level;
  process->main_thread = std::this_thread::get_id();
  Status status = process->join_job();
  if (status.ok()) status = process->make_lanes();
  if (status.ok()) status = process->open_collectives();
  if (status.ok()) status = process->publish();
  if (!status.ok()) {
    current_.store(nullptr, std::memory_order_release);
    delete process;
    return status;
  }
  process->other_jobs_ = std::make_unique<runtime::OtherJobs>(*process);
  process->comm_engine_ = std::make_unique<comm::Engine>(static_cast<comm::Services&>(*process), process->check_hints_,
                                                         process->other_jobs_.get());
  process->topo_engine_ = std::make_unique<topo::Engine>(process->topo_config_);
  process->io_engine_ = std::make_unique<io::Engine>(process->registry, process->io_config_);
  process->rma_engine_ = std::make_unique<rma::Engine>(process->registry, process->rma_config_);
  attribute::predefined.tag_ub = Comm::kTagMax;
  process->serve();
  if (process->tools_ && !process->tools_->open()) process->tools_.reset();
  plugin::in_force().publish(process->params, process->registry, &Process::take_effect);
  return status;
}

Lane* Process::lane_of(std::uint32_t context) { return lane(lane_of_context(context, lane_count())); }

bool Process::in_process_set(const char* name) {
  const runtime::ProcessSet* const set = runtime::find_process_set(*this, name);
  return set && set->members->own_rank() >= 0;
}

const comm::Hardware& Process::hardware() {
  const std::lock_guard guard(opening_);
  if (!topology_) {
    topology_ = std::make_unique<runtime::TopologyModules>();
    topology_->open(registry);
  }
  return topology_->parts();
}

const std::vector<runtime::ProcessSet>& Process::process_sets() {
  const std::lock_guard guard(opening_);
  if (process_sets_.empty()) process_sets_ = runtime::collect_process_sets(*this, runtime_config_.process_sets);
  return process_sets_;
}

void Process::serve() {
  if (!progress_config_.thread) return;
  std::vector<Lane*> served;
  for (const auto& lane : lanes_) served.push_back(lane.get());
  if (!background_.start(served, progress_config_.dormant))
    ASHLAR_LOG(warn, "runtime", "no thread could be started for %s",
               progress_config_.dormant ? "rma.progress = background" : "progress.thread");
}

void Process::report_use(int sessions) {
  const ashlar_launch_ops& ops = *launch->ops;
  if (!ops.in_use || runtime::forked()) return;
  ops.in_use(launch, world != nullptr, static_cast<unsigned>(sessions));
}

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

Status Process::choose_launch() {
  // By the environment and what the program has set alone: the rest of the parameters may come from the launcher.
  // Faults in it are reported when all parameters are known.
  (void)plugin::begin(param::installation_prefix(), environ, &params, &registry).ok();
  plugin::in_force().apply(&params, registry);
  plugin::Chosen chosen;
  ASHLAR_TRY(runtime::choose_launch(registry, &chosen));
  ASHLAR_TRY(chosen.component->create(nullptr, &launch));
  launch_component_ = chosen.component;
  launch_capabilities_ = chosen.capabilities;
  return {};
}

std::string Process::launch_reason(ashlar_result failed) const {
  return plugin::own_words(plugin::from(failed, launch_component_->prefix()));
}

Status Process::incomplete(const char* step, ashlar_result result) {
  if (result == ASHLAR_LAUNCH_TIMED_OUT) result = launch->ops->report_timeout(launch);
  const int mpi_class = result == -ASHLAR_ERR_PROC_ABORTED ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER;
  return fail(mpi_class, "launch.incomplete", {{"step", step}, {"lower", launch_reason(result)}});
}

Status Process::read_parameters() {
  const std::string prefix = param::installation_prefix();
  if (job->params) {
    ASHLAR_TRY(plugin::adopt(prefix, job->params, environ, &params, &registry));
  } else {
    // No launcher of ours read the files. A fault in them is reported, and the rest is in force.
    const Status read = plugin::configure(prefix, param::standard_sources(prefix), &params, &registry);
    reporter.problems(params);
    ASHLAR_TRY(read);
  }
  plugin::in_force().apply(&params, registry);
  ASHLAR_TRY(params.fill("runtime", runtime::kParams, &runtime_config_));
  ASHLAR_TRY(params.fill("threads", runtime::kThreadParams, &thread_config_));
  ASHLAR_TRY(params.fill("topo", topo::kParams, &topo_config_));
  ASHLAR_TRY(params.fill("rma", rma::kParams, &rma_config_));
  ASHLAR_TRY(params.fill("check", rma::kCheckParams, &rma_config_));
  ASHLAR_TRY(params.fill("io", io::kParams, &io_config_));
  ASHLAR_TRY(params.fill("tools", plugin::kToolParams, &tool_config_));
  ASHLAR_TRY(params.fill("progress", progress::kParams, &progress_config_));
  if (rma_config_.progress == rma::kBackground && !progress_config_.thread)
    progress_config_.thread = progress_config_.dormant = true;
  ASHLAR_TRY(params.fill("p2p", p2p::kParams, &p2p_config_));
  ASHLAR_TRY(params.fill("check", p2p::kCheckParams, &p2p_config_));
  runtime::CheckConfig check;
  ASHLAR_TRY(params.fill("check", runtime::kCheckParams, &check));
  if (!check.leaks) leaks::stop_watching();
  check_hints_ = check.hints;
  origins_checked.store(check.sessions, std::memory_order_relaxed);
  runtime::watch_threads(thread_level, check.threads && !progress_config_.thread);
  progress_config_.oversubscribed = job->oversubscribed != 0;
  plugin::WatchConfig watch;
  ASHLAR_TRY(params.fill("watch", plugin::kWatchParams, &watch));
  status_.stall_ns = watch.stall;
  plugin::KernelConfig kernel;
  ASHLAR_TRY(params.fill("", plugin::kKernelParams, &kernel));
  explain_topics_ = kernel.explain;
  plugin::Config of_components;
  ASHLAR_TRY(params.fill("plugin", plugin::kParams, &of_components));
  registry.records().set_limit(static_cast<std::size_t>(of_components.records));
  heap_setup.processes = std::max(job->local_size, 1u);
  heap_setup.records = &registry.records();
  ASHLAR_TRY(params.fill("memory", memory::kParams, &heap_setup.config));
  heap_setup.apply(memory::Heap::own());
  object::Config objects;
  ASHLAR_TRY(params.fill("object", object::kParams, &objects));
  object::limit.store(static_cast<std::size_t>(objects.limit), std::memory_order_relaxed);
  params.freeze();
  Errhandler* const initial[] = {&errors_are_fatal(), &errors_abort(), &errors_return()};
  error_hooks.initial = initial[runtime_config_.initial_errhandler];
  if (progress_config_.thread) LaneLock::enable_threads();
  return {};
}

Status Process::join_job() {
  ASHLAR_TRY(choose_launch());
  const ashlar_job* theirs = nullptr;
  if (const ashlar_result joined = launch->ops->connect(launch, &theirs); joined != ASHLAR_OK)
    return fail(MPI_ERR_OTHER, "launch.not_joined", {{"lower", launch_reason(joined)}});
  job_ = plugin::whole(*theirs);
  job = &job_;
  char who[128];
  const bool further = job->name != nullptr && *job->name != '\0';
  std::snprintf(who, sizeof who, "ashlar: %s%s%srank %u of %u", further ? "job " : "", further ? job->name : "",
                further ? ", " : "", job->rank, job->ranks);
  log::set_speaker(who);
  reporter.speak_as(static_cast<int>(job->rank), static_cast<int>(job->ranks), launch->ops->host_of(launch, job->rank),
                    (launch_capabilities_ & ASHLAR_LAUNCH_SHOWS_ABORT) != 0);
  Group::self_peer = job->rank;
  ASHLAR_TRY(read_parameters());
  publish_adjustments();
  runtime::describe_start(*job, params);
  return {};
}

void Process::publish_adjustments() {
  if ((launch_capabilities_ & ASHLAR_LAUNCH_OBSERVABLE) == 0) return;
  params.on_adjusted([this, left = 32](const param::Store::Adjustment& adjustment) mutable {
    if (left-- <= 0 || runtime::forked()) return;
    const std::string text = adjustment.used + '\0' + adjustment.because;
    (void)launch->ops->put(launch, (launch::kAdjustedPrefix + adjustment.key).c_str(), text.data(), text.size());
  });
}

void Process::explain() {
  if (explain_topics_.empty() || job->rank != 0) return;
  std::vector<plugin::Decision> wanted;
  const std::vector<plugin::Decision> all = registry.records().of("");
  for (; explained_ < all.size(); ++explained_)
    if (plugin::wants(explain_topics_, all[explained_].topic)) wanted.push_back(all[explained_]);
  reporter.decisions(wanted);
}

void Process::add_pvars(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  p2p::add_pvars(lane);
  plugin::pvar_sets().add("progress", progress::kPvars, &lane.counters);
}

void Process::remove_pvars(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  p2p::remove_pvars(lane);
  plugin::pvar_sets().remove(progress::kPvars, &lane.counters);
}

Status Process::make_lanes() {
  plugin::pvar_sets().add("datatype", datatype::kPvars, &datatype::layout_counters);
  plugin::pvar_sets().add("comm", p2p::comm_rows, this);
  plugin::pvar_sets().add("comm", coll::comm_rows, this);
  plugin::pvar_sets().add("runtime", runtime::kPvars, &counters_);
  plugin::pvar_sets().add("plugin", plugin::Records::pvar_rows, &registry.records());
  // Communicators hash to lanes, and every interface, queue and lock belongs to one. Without threads one is best. With
  // check.datatypes a message is preceded by another, which must take the same way.
  const bool several = thread_level == MPI_THREAD_MULTIPLE && !p2p_config_.check_datatypes;
  const unsigned lanes = several ? static_cast<unsigned>(std::clamp<std::uint64_t>(thread_config_.lanes, 1, 16)) : 1;
  if (lanes != thread_config_.lanes)
    params.adjusted("threads.lanes", std::to_string(lanes),
                    thread_level != MPI_THREAD_MULTIPLE ? "the program did not ask for MPI_THREAD_MULTIPLE"
                                                        : "with check.datatypes all messages must take the same way");
  // The job's id is unique on this machine; the cookie tells machines apart.
  const Identity own{
      {Hash::of(job->job_id), Hash::of({reinterpret_cast<const char*>(&job->cookie), sizeof job->cookie})}, job->rank};
  peers_ = std::make_unique<PeerTable>(own, job->ranks, lanes);
  wiring_ = std::make_unique<Wiring>(*this);
  peers_->set_connector(&Wiring::connect, wiring_.get());
  if (std::uint32_t* const news = launch->ops->news ? launch->ops->news(launch) : nullptr) {
    peers_->share_news(news);
    answers_queries_ = true;
  }
  left_ = std::make_unique<runtime::LiveValues>();
  peers_->set_listener(&Process::look_at_news, this);
  for (unsigned i = 0; i < lanes; ++i) {
    lanes_.push_back(std::make_unique<Lane>(i, *peers_, progress_config_));
    ASHLAR_TRY(p2p::attach(*lanes_.back(), p2p_config_, p2p_state_));
    add_pvars(*lanes_.back());
    const LaneGuard guard(lanes_.back()->lock);
    lanes_.back()->records = &registry.records();
    ASHLAR_TRY(wiring_->open(*lanes_.back()));
  }
  std::vector<Lane*> all;
  for (const auto& lane : lanes_) all.push_back(lane.get());
  p2p::join_lanes(all);
  return {};
}

// After everything that reads parameters of which all processes need the same values.
Status Process::publish() {
  tools_ = runtime::ToolModules::prepare(*this, tool_config_.buffer);
  ASHLAR_TRY(wiring_->publish());
  addresses_complete = job->ranks == 1;
  if ((launch_capabilities_ & ASHLAR_LAUNCH_IMMEDIATE) != 0) return {};
  return complete_addresses();
}

Status Process::open_collectives() {
  const coll::JobMap map{
      .node_of = job->nodes > 1 ? job->node_of_rank : nullptr,
      .ranks = job->ranks,
      .node_of_other = [](PeerId peer,
                          std::uint64_t node_size) { return Process::current()->node_of_other(peer, node_size); },
      .oversubscribed = job->oversubscribed != 0};
  ASHLAR_TRY(coll::Engine::open(registry, params, map, &coll));
  for (const auto& lane : lanes_) {
    const LaneGuard guard(lane->lock);
    coll->attach(*lane);
  }
  return {};
}

Status Process::complete_addresses() {
  if (addresses_complete) return {};
  const auto deadline_ms = static_cast<std::int64_t>(runtime_config_.start_timeout / 1'000'000);
  const ashlar_result met = launch->ops->fence(launch, deadline_ms);
  if (met != ASHLAR_OK) return incomplete("the exchange of addresses at start-up", met);
  addresses_complete = true;
  return {};
}

Status Process::everyone(Comm** result) {
  if (!everyone_) {
    Ref<Group> all = Ref<Group>::adopt(Group::strided(0, 1, static_cast<int>(job->ranks)));
    if (!all) return object::none_left("the group of all processes", groups_alive());
    ASHLAR_TRY(comm::make(all, comm::ContextIds::kEveryone, errors_return(), world, &everyone_));
    everyone_->name = "all processes of the job";
  }
  *result = everyone_;
  return {};
}

Status Process::begin_world() {
  ASHLAR_TRY(complete_addresses());
  if (job->rank != 0) ASHLAR_TRY(wiring_->compare_settings(0));
  const int ranks = static_cast<int>(job->ranks);
  Ref<Group> all = Ref<Group>::adopt(Group::strided(0, 1, ranks));
  Ref<Group> alone = Ref<Group>::adopt(Group::strided(job->rank, 1, 1));
  if (!all || !alone) return object::none_left("the group of a communicator", groups_alive());
  all->origin = alone->origin = Ref<Origin>::adopt(new Origin);
  all->origin->memory_kinds = memory_kinds::supported(runtime_config_.memory_alloc_kinds);
  Errhandler& initial = *error_hooks.initial;
  ASHLAR_TRY(comm::make(all, comm::ContextIds::kWorld, initial, nullptr, &world));
  world->child_context = comm::ContextIds::kWorldChildren;
  world->child_context_end = comm::ContextIds::kFirst;
  world->child_context_range = world->child_context_end - world->child_context;
  ASHLAR_TRY(comm::make(alone, comm::ContextIds::kSelf, initial, nullptr, &self));
  const auto predefine = [](Comm* comm, MPI_Comm handle, const char* name) {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    comm->predefined = static_cast<std::uint32_t>(bits);
    comm->name = name;
    predefined_objects[bits] = comm;
  };
  predefine(world, MPI_COMM_WORLD, "MPI_COMM_WORLD");
  predefine(self, MPI_COMM_SELF, "MPI_COMM_SELF");

  attribute::predefined.appnum = static_cast<int>(job->appnum);
  attribute::predefined.has_appnum = true;
  attribute::predefined.universe_size = static_cast<int>(job->universe_size);
  attribute::predefined.has_universe_size = job->universe_size != 0;
  attribute::predefined.wtime_is_global = job->nodes <= 1;
  launch->ops->initialized(launch);
  explain();
  if (job->parent_port == nullptr || *job->parent_port == '\0') return {};
  return comm::connect_to_parent(job->parent_port, *world);
}

void Process::settle(const char* call) {
  const p2p::Leaving leaving{call, nullptr};
  for (const auto& lane : lanes_) {
    const LaneGuard guard(lane->lock);
    // The analysis does not see into a lambda: progress::wait() calls it with the lock held.
    const auto quiet = [&]() ASHLAR_NO_THREAD_SAFETY { return p2p::quiet(*lane) && wiring_->idle(*lane); };
    progress::wait(*lane, quiet, p2p::because_of(leaving));
  }
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
  process->background_.stop();  // before the tools go: its threads raise events
  process->tools_.reset();
  process->io_engine_.reset();   // files that are left have communicators
  process->rma_engine_.reset();  // windows that are left have communicators
  if (const ashlar_result left = process->launch->ops->finalize(process->launch); left != ASHLAR_OK)
    ASHLAR_LOG(warn, "runtime", "leaving the job: %s", process->launch_reason(left).c_str());
  process->comm_engine_->destroy_waiting();
  if (process->everyone_) release(std::exchange(process->everyone_, nullptr));  // while its lane is there
  current_.store(nullptr, std::memory_order_release);
  delete process;
  return {};
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

void Process::leave_at_exit() {
  Process* const process = current();
  if (!process || !process->idle) return;
  if (leaks::watching.load()) runtime::report_leaks(*process, runtime::Ending::kProcess);
  process->tools_.reset();
  (void)process->launch->ops->finalize(process->launch);
}

Object* Process::without_object() const {
  const bool of_world = runtime_config_.errors_without_object == runtime::kOfWorldOrSelf && self != nullptr &&
                        world->errhandler_set && !self->errhandler_set;
  return of_world ? world : self;
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
