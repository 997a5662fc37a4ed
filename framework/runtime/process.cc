#include "framework/runtime/process.h"

#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/comm/context_ids.h"
#include "framework/comm/make.h"
#include "framework/object/comm.h"
#include "framework/object/errhandler.h"
#include "framework/object/limit.h"
#include "framework/object/pvars.h"
#include "framework/p2p/pvars.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/pvars.h"
#include "framework/progress/context_lane.h"
#include "framework/progress/params.h"
#include "framework/progress/waiting.h"
#include "framework/runtime/fork.h"
#include "framework/runtime/params.h"
#include "framework/runtime/wiring.h"

namespace ashlar {

std::atomic<Process*> Process::current_{nullptr};

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
  // Nodes have numbers in their job; those of other jobs get numbers that no rank of this job has.
  constexpr std::uint32_t kOthers = 0x80000000;
  const std::string node = wiring_->node_of(peer);
  return node == wiring_->own_node() ? job->node : kOthers | static_cast<std::uint32_t>(Hash::of(node));
}

std::uint64_t Process::node_identity(PeerId peer) { return node_identity(peer, 0); }

std::uint64_t Process::node_identity(PeerId peer, std::uint64_t node_size) {
  if (node_size == 0) return wiring_->node_identity(peer);
  const Identity who = peers_->identity_of(peer);
  Hash hash;
  for (const std::uint64_t word : who.job) hash.add(word);
  hash.add(who.rank / node_size);
  return hash.value();
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

void Process::report_use(int sessions) {
  const ashlar_launch_ops& ops = *launch->ops;
  if (!ops.in_use || runtime::forked()) return;
  ops.in_use(launch, world != nullptr, static_cast<unsigned>(sessions));
}

void Process::explain() {
  if (explain_topics_.empty() || job->rank != 0) return;
  std::vector<plugin::Decision> wanted;
  const std::vector<plugin::Decision> all = registry.records().of("");
  for (; explained_ < all.size(); ++explained_)
    if (plugin::wants(explain_topics_, all[explained_].topic)) wanted.push_back(all[explained_]);
  reporter.decisions(wanted);
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

Object* Process::without_object() const {
  const bool of_world = runtime_config_.errors_without_object == runtime::kOfWorldOrSelf && self != nullptr &&
                        world->errhandler_set && !self->errhandler_set;
  return of_world ? world : self;
}

std::string Process::launch_reason(ashlar_result failed) const {
  return plugin::own_words(plugin::from(failed, launch_component_->prefix()));
}

Status Process::incomplete(const char* step, ashlar_result result) {
  if (result == ASHLAR_LAUNCH_TIMED_OUT) result = launch->ops->report_timeout(launch);
  const int mpi_class = result == -ASHLAR_ERR_PROC_ABORTED ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER;
  return fail(mpi_class, "launch.incomplete", {{"step", step}, {"lower", launch_reason(result)}});
}

void Process::add_pvars(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  p2p::add_pvars(lane);
  plugin::pvar_sets().add("progress", progress::kPvars, &lane.counters);
}

void Process::remove_pvars(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  p2p::remove_pvars(lane);
  plugin::pvar_sets().remove(progress::kPvars, &lane.counters);
}

}  // namespace ashlar
