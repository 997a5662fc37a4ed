#include "framework/coll/comm_state.h"

#include <mpi.h>

#include <algorithm>
#include <new>
#include <vector>

#include "framework/object/group.h"

namespace ashlar::coll {
namespace {

Shape shape_of(const Comm& comm) {
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

Status CommState::choose(const Call& call, Choice* out) {
  const bool commutes = call.op == nullptr || call.op->commutative();
  for (const Choice& choice : plan->choices[static_cast<std::size_t>(call.what)]) {
    const Rule* const rule = choice.rule;
    if (rule != nullptr) {
      if (!rule->bytes.has(call.bytes)) continue;
      if (rule->commute != Rule::Commute::kAny && (rule->commute == Rule::Commute::kYes) != commutes) continue;
    }
    Entry& entry = *choice.entry;
    if ((disabled >> entry.component & 1u) != 0) continue;
    if (entry.algorithm->excluded != nullptr) {
      if (const char* const why = entry.algorithm->excluded(plan->shape, call); why != nullptr) [[unlikely]] {
        Room::current()->report_unfit(choice, plan->shape, call, why);
        continue;
      }
    }
    ++entry.calls;
    if (!entry.recorded) [[unlikely]]
      Room::current()->record(choice, plan->shape, call);
    *out = choice;
    return {};
  }
  return Status::fail(MPI_ERR_UNSUPPORTED_OPERATION, "no component in use has a %s for %lld bytes on %d ranks",
                      name_of(call.what), static_cast<long long>(call.bytes), plan->shape.ranks);
}

Slot& Op::slot() const { return own_slot_ != nullptr ? *own_slot_ : comm_->slots[component_ % CommState::kSlots]; }

Status state_of(Comm& comm, CommState** out) {
  if (comm.coll == nullptr) [[unlikely]] {
    if (comm.inter) {
      return Status::fail(MPI_ERR_UNSUPPORTED_OPERATION, "collectives on intercommunicators are not implemented ('%s')",
                          comm.name.c_str());
    }
    if (Room::current() == nullptr) return Status::fail(MPI_ERR_INTERN, "a collective outside of a running job");
    comm.coll = new (std::nothrow) CommState(comm, Room::current()->plan_for(shape_of(comm)));
    if (comm.coll == nullptr) return Status::fail(MPI_ERR_NO_MEM, "no memory for the collectives of a communicator");
  }
  *out = comm.coll;
  return {};
}

}  // namespace ashlar::coll
