#include "framework/runtime/process.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/base/log.h"
#include "framework/coll/engine.h"
#include "framework/coll/pvars.h"
#include "framework/comm/context_ids.h"
#include "framework/comm/join_api.h"
#include "framework/comm/make.h"
#include "framework/datatype/pvars.h"
#include "framework/io/engine.h"
#include "framework/object/attribute_api.h"
#include "framework/object/comm.h"
#include "framework/object/errhandler.h"
#include "framework/object/handle.h"
#include "framework/object/limit.h"
#include "framework/object/memory_kinds.h"
#include "framework/object/pvars.h"
#include "framework/p2p/pvars.h"
#include "framework/p2p/route.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/in_force.h"
#include "framework/plugin/pvars.h"
#include "framework/plugin/setup.h"
#include "framework/rma/engine.h"
#include "framework/runtime/abort_job.h"
#include "framework/runtime/choose_launch.h"
#include "framework/runtime/fork.h"
#include "framework/runtime/live_values.h"
#include "framework/runtime/other_jobs.h"
#include "framework/runtime/params.h"
#include "framework/runtime/start_facts.h"
#include "framework/runtime/threads.h"
#include "framework/runtime/tool_modules.h"
#include "framework/runtime/wiring.h"
#include "framework/topo/engine.h"

// From the first use of MPI to MPI_COMM_WORLD: the launcher, the parameters (process_params.cc), lanes and transports.
namespace ashlar {
namespace {

Object* for_errors_without_object() { return Process::current() ? Process::current()->without_object() : nullptr; }

}  // namespace

Status Process::start(int thread_level) {
  if (thread_level == MPI_THREAD_MULTIPLE) LaneLock::enable_threads();
  if (Process* const process = current()) {
    process->thread_level = std::max(process->thread_level, thread_level);
    runtime::lanes_begin(thread_level);
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
  error_hooks.abort = runtime::abort_job;
  error_hooks.release_comm = [](Comm* comm) { release(comm); };
  auto* process = new Process;
  process->thread_level = thread_level;
  process->main_thread = std::this_thread::get_id();
  runtime::lanes_begin(thread_level);
  current_.store(process, std::memory_order_release);
  Status status = process->join_job();
  if (status.ok()) status = process->make_lanes();
  if (status.ok()) status = process->open_collectives();
  if (status.ok()) status = process->publish();
  if (!status.ok()) {
    current_.store(nullptr, std::memory_order_release);
    delete process;
    runtime::lanes_end();
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

void Process::serve() {
  if (!progress_config_.thread) return;
  std::vector<Lane*> served;
  for (const auto& lane : lanes_) served.push_back(lane.get());
  if (!background_.start(served, progress_config_.dormant))
    ASHLAR_LOG(warn, "runtime", "no thread could be started for %s",
               progress_config_.dormant ? "rma.progress = background" : "progress.thread");
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
  launch->ops->on_peer_failure(launch, &Process::rank_failed, this);
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

Status Process::open_collectives() {
  const coll::JobMap map{
      .node_of = job->nodes > 1 ? job->node_of_rank : nullptr,
      .ranks = job->ranks,
      .node_identity = [](PeerId peer,
                          std::uint64_t node_size) { return Process::current()->node_identity(peer, node_size); },
      .oversubscribed = job->oversubscribed != 0};
  ASHLAR_TRY(coll::Engine::open(registry, params, map, &coll));
  for (const auto& lane : lanes_) {
    const LaneGuard guard(lane->lock);
    coll->attach(*lane);
  }
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

Status Process::complete_addresses() {
  if (addresses_complete) return {};
  const auto deadline_ms = static_cast<std::int64_t>(runtime_config_.start_timeout / 1'000'000);
  const ashlar_result met = launch->ops->fence(launch, deadline_ms);
  if (met != ASHLAR_OK) return incomplete("the exchange of addresses at start-up", met);
  addresses_complete = true;
  return {};
}

Status Process::begin_world() {
  ASHLAR_TRY(complete_addresses());
  // Equality being transitive, ranks compare with the first one of their node, and those with rank 0: of each other
  // node one rank asks for a record from elsewhere.
  const PeerId first_of_node = job->local_peers != nullptr ? job->local_peers[0] : 0;
  const PeerId other = job->rank == first_of_node ? 0 : first_of_node;
  if (job->rank != other) ASHLAR_TRY(wiring_->compare_settings(other));
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

}  // namespace ashlar
