#include "framework/coll/comm_state.h"

#include <mpi.h>

#include <algorithm>
#include <map>
#include <new>
#include <vector>

#include "framework/base/failure.h"
#include "framework/coll/lane_collectives.h"
#include "framework/object/group.h"

namespace ashlar::coll {
namespace {

Shape shape_of_comm(const Engine& engine, const Comm& comm) {
  if (comm.inter) return Shape{comm.size + comm.remote_size, 1, comm.size + comm.remote_size, true};
  Shape shape{comm.size, 1, comm.size};
  const Group& group = *comm.local_group;
  return engine.knows_nodes(group) ? shape_of(engine.nodes_of(group)) : shape;
}

}  // namespace

bool Engine::spans_jobs(const Group& group) const {
  for (const Run& run : group.runs())
    if (std::max(run.first, run.last()) >= std::int64_t{job.ranks}) return true;
  return std::any_of(group.table().begin(), group.table().end(), [this](PeerId peer) { return peer >= job.ranks; });
}

// Of one job, the nodes have the numbers that its launcher gives them. Each job has its own, so in a communicator of
// several jobs they are numbered by identity, in the order in which the members have them.
std::vector<std::uint32_t> Engine::nodes_of(const Group& group) const {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(static_cast<std::size_t>(group.size()));
  if (spans_jobs(group)) {
    std::map<std::uint64_t, std::uint32_t> numbers;
    for (Rank rank = 0; rank < group.size(); ++rank) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      nodes.push_back(numbers.emplace(job.node_identity(group[rank], config.node_size), next).first->second);
    }
    return nodes;
  }
  for (Rank rank = 0; rank < group.size(); ++rank) {
    const PeerId process = group[rank];
    nodes.push_back(config.node_size > 0     ? static_cast<std::uint32_t>(process / config.node_size)
                    : job.node_of != nullptr ? job.node_of[process]
                                             : 0);
  }
  return nodes;
}

Shape shape_of(const std::vector<std::uint32_t>& nodes) {
  const auto ranks = static_cast<int>(nodes.size());
  Shape shape{ranks, 0, 0};
  std::vector<std::uint32_t> sorted(nodes);
  std::sort(sorted.begin(), sorted.end());
  std::size_t runs = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) runs += i == 0 || nodes[i] != nodes[i - 1] ? 1 : 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t next = i;
    while (next < sorted.size() && sorted[next] == sorted[i]) ++next;
    ++shape.nodes;
    shape.node_ranks = std::max(shape.node_ranks, static_cast<int>(next - i));
    i = next;
  }
  shape.in_runs = runs == static_cast<std::size_t>(shape.nodes);
  return shape;
}

CommState::CommState(Comm& owner, const Plan& of)
    : comm(owner),
      engine(*of.engine),
      wire(owner),
      plan(&of),
      // A communicator without a lane, as simulations have, counts nothing.
      chunks(engine.config.scratch_cache,
             owner.lane != nullptr && owner.lane->coll != nullptr ? &owner.lane->coll->counters.scratch : nullptr) {}

CommState::~CommState() {
  for (Slot& slot : slots) {
    if (slot.drop != nullptr) slot.drop(slot.data);
  }
}

Status CommState::choose(const Call& call, Choice* out, Without without) {
  without.components |= disabled;
  without.network = &network;
  if (any_preferred_) [[unlikely]] {
    const Preference* const preferred = preferred_[static_cast<std::size_t>(call.what)].get();
    if (preferred != nullptr) {
      *out = Choice{&preferred->rule, preferred->entry};
      if (serves(*plan, *out, call, without)) {
        take(*plan, *out, call);
        return {};
      }
    }
  }
  return coll::choose(*plan, call, without, out);
}

Status CommState::prefer(Collective collective, const char* algorithm) {
  std::unique_ptr<Preference>& preference = preferred_[static_cast<std::size_t>(collective)];
  if (*algorithm == '\0') {
    preference.reset();
    return {};
  }
  Catalogue& catalogue = engine.catalogue;
  const std::string origin = "coll." + std::string(name_of(collective)) + ".algorithm of '" + comm.name.c_str() + "'";
  CatalogueEntry* const entry = catalogue.find(collective, algorithm);
  if (entry == nullptr) return catalogue.unknown(collective, algorithm, origin.c_str());
  preference = std::make_unique<Preference>();
  preference->entry = entry;
  preference->algorithm = origin;
  preference->rule.collective = collective;
  preference->rule.source = Rule::Source::kCommunicator;
  preference->rule.algorithm = entry->algorithm->name;
  preference->rule.origin = preference->algorithm.c_str();
  any_preferred_ = true;
  return {};
}

const char* CommState::preferred(Collective collective) const {
  const auto& preference = preferred_[static_cast<std::size_t>(collective)];
  return preference != nullptr ? preference->entry->algorithm->name : "";
}

Slot& Op::slot() const { return own_slot_ != nullptr ? *own_slot_ : comm_->slots[component_ % CommState::kSlots]; }

Status make_state(Comm& comm) ASHLAR_NO_THREAD_SAFETY {
  Engine& engine = comm.lane->coll->engine;
  comm.coll = new (std::nothrow) CommState(comm, engine.plan_for(shape_of_comm(engine, comm)));
  if (comm.coll == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the collectives of a communicator"}});
  add_to_lane(*comm.coll);
  if (comm.inter) ASHLAR_TRY(state_of(*comm.local_comm, &comm.coll->own_group));
  return {};
}

}  // namespace ashlar::coll
