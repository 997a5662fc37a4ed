#include "framework/coll/comm_state.h"

#include <mpi.h>

#include <algorithm>
#include <new>
#include <vector>

#include "framework/base/shared_count.h"
#include "framework/object/group.h"

namespace ashlar::coll {
namespace {

Shape shape_of(const Comm& comm) {
  if (comm.inter) return Shape{comm.size + comm.remote_size, 1, comm.size + comm.remote_size, true};
  Shape shape{comm.size, 1, comm.size};
  const auto node_of = Room::current()->surroundings.node_of;
  if (node_of == nullptr) return shape;
  std::vector<std::uint32_t> nodes;
  const Group& group = *comm.local_group;
  nodes.reserve(static_cast<std::size_t>(comm.size));
  for (Rank rank = 0; rank < comm.size; ++rank) nodes.push_back(node_of(group[rank]));
  std::sort(nodes.begin(), nodes.end());
  shape.nodes = 0;
  shape.node_ranks = 0;
  for (std::size_t i = 0; i < nodes.size();) {
    std::size_t next = i;
    while (next < nodes.size() && nodes[next] == nodes[i]) ++next;
    ++shape.nodes;
    shape.node_ranks = std::max(shape.node_ranks, static_cast<int>(next - i));
    i = next;
  }
  return shape;
}

}  // namespace

CommState::CommState(Comm& owner, const Plan& of)
    : comm(owner), wire(owner), plan(&of), chunks(Room::current()->config.scratch_cache) {}

CommState::~CommState() {
  for (Slot& slot : slots) {
    if (slot.drop != nullptr) slot.drop(slot.data);
  }
}

bool CommState::serves(const Choice& choice, const Call& call, bool commutes, For whose) {
  const Rule* const rule = choice.rule;
  if (rule != nullptr) {
    if (!rule->bytes.has(call.bytes)) return false;
    if (rule->commute != Rule::Commute::kAny && (rule->commute == Rule::Commute::kYes) != commutes) return false;
  }
  const Algorithm& algorithm = *choice.entry->algorithm;
  if ((disabled >> choice.entry->component & 1u) != 0) return false;
  if (whose == For::kPart && algorithm.is(kInCallOrder)) return false;
  if (algorithm.excluded == nullptr) return true;
  const char* const why = algorithm.excluded(plan->shape, call);
  if (why == nullptr) [[likely]]
    return true;
  Room::current()->report_unfit(choice, plan->shape, call, why);
  return false;
}

Status CommState::choose(const Call& call, Choice* out, For whose) {
  const bool commutes = call.op == nullptr || call.op->commutative();
  const auto what = static_cast<std::size_t>(call.what);
  const auto take = [&](const Choice& choice) {
    Entry& entry = *choice.entry;
    count_shared(entry.calls);
    count_shared(entry.calls_of_size[size_bin(call.bytes)]);
    if (!is_set(entry.recorded)) [[unlikely]]
      Room::current()->record(choice, plan->shape, call);
    *out = choice;
    return Status{};
  };
  if (any_preferred_ && preferred_[what] != nullptr) [[unlikely]] {
    const Choice choice{&preferred_[what]->rule, preferred_[what]->entry};
    if (serves(choice, call, commutes, whose)) return take(choice);
  }
  for (const Choice& choice : plan->choices[what]) {
    if (serves(choice, call, commutes, whose)) return take(choice);
  }
  return Status::fail(MPI_ERR_UNSUPPORTED_OPERATION, "no component in use has a %s for %lld bytes on %d ranks",
                      name_of(call.what), static_cast<long long>(call.bytes), plan->shape.ranks);
}

Status CommState::prefer(Collective collective, const char* algorithm) {
  std::unique_ptr<Preference>& preference = preferred_[static_cast<std::size_t>(collective)];
  if (*algorithm == '\0') {
    preference.reset();
    return {};
  }
  Catalogue& catalogue = Room::current()->catalogue;
  const std::string origin = "coll." + std::string(name_of(collective)) + ".algorithm of '" + comm.name + "'";
  Entry* const entry = catalogue.find(collective, algorithm);
  if (entry == nullptr) return catalogue.unknown(collective, algorithm, origin.c_str());
  preference = std::make_unique<Preference>();
  preference->entry = entry;
  preference->algorithm = origin;
  preference->rule.collective = collective;
  preference->rule.algorithm = entry->algorithm->name;
  preference->rule.origin = preference->algorithm.c_str();
  any_preferred_ = true;
  return {};
}

Slot& Op::slot() const { return own_slot_ != nullptr ? *own_slot_ : comm_->slots[component_ % CommState::kSlots]; }

Status state_of(Comm& comm, CommState** out) {
  if (comm.coll == nullptr) [[unlikely]] {
    if (Room::current() == nullptr) return Status::fail(MPI_ERR_INTERN, "a collective outside of a running job");
    comm.coll = new (std::nothrow) CommState(comm, Room::current()->plan_for(shape_of(comm)));
    if (comm.coll == nullptr) return Status::fail(MPI_ERR_NO_MEM, "no memory for the collectives of a communicator");
    if (comm.inter) ASHLAR_TRY(state_of(*comm.local_comm, &comm.coll->own_group));
  }
  *out = comm.coll;
  return {};
}

}  // namespace ashlar::coll
