#include "components/coll/hier/nodes.h"

#include <mpi.h>

#include <algorithm>
#include <new>

#include "framework/base/failure.h"
#include "framework/coll/comm_state.h"
#include "framework/object/group.h"

namespace ashlar::coll::hier {

Nodes::Nodes(Engine& engine, const std::vector<std::uint32_t>& node_of_rank, Rank me) {
  const std::size_t ranks = node_of_rank.size();
  std::vector<std::uint32_t> names;
  std::vector<int> counts;
  node_of_.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    std::size_t node = 0;
    if (r > 0 && node_of_rank[r] == node_of_rank[r - 1]) {
      node = static_cast<std::size_t>(node_of_[r - 1]);
    } else {
      while (node < names.size() && names[node] != node_of_rank[r]) ++node;
    }
    if (node == names.size()) {
      names.push_back(node_of_rank[r]);
      counts.push_back(0);
    }
    node_of_[r] = static_cast<int>(node);
    ++counts[node];
  }
  begin_.assign(names.size() + 1, 0);
  for (std::size_t node = 0; node < names.size(); ++node) begin_[node + 1] = begin_[node] + counts[node];
  fewest_ranks_ = *std::min_element(counts.begin(), counts.end());
  order_.resize(ranks);
  std::vector<int> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t r = 0; r < ranks; ++r) {
    const int at = next[static_cast<std::size_t>(node_of_[r])]++;
    order_[static_cast<std::size_t>(at)] = static_cast<Rank>(r);
    in_runs_ = in_runs_ && at == static_cast<int>(r);
    if (static_cast<Rank>(r) == me) my_index_ = at - begin_[static_cast<std::size_t>(node_of_[r])];
  }
  mine_ = node_of(me);
  inside_.plan = &engine.plan_for(Shape{.ranks = my_ranks(), .nodes = 1, .node_ranks = my_ranks()});
  inside_.slots = slots_.data();
  across_ = &engine.plan_for(Shape{.ranks = count(), .nodes = count(), .node_ranks = 1});
}

Nodes::~Nodes() {
  for (Slot& slot : slots_)
    if (slot.drop != nullptr) slot.drop(slot.data);
}

Nodes* Nodes::of(Op& op) {
  Slot& slot = op.slot();
  if (slot.data == nullptr) {
    const CommState& state = *op.comm();
    slot.data = new (std::nothrow) Nodes(state.engine, state.engine.nodes_of(*state.comm.local_group), op.rank());
    slot.drop = [](void* data) { delete static_cast<Nodes*>(data); };
  }
  if (slot.data == nullptr)
    op.fail(fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the map of a communicator's nodes"}}));
  return static_cast<Nodes*>(slot.data);
}

Leaders Leaders::in_turn(Op& op, const Nodes& nodes, Rank root, int turn) {
  Leaders leaders{.nodes = &nodes};
  leaders.ranks = reinterpret_cast<Rank*>(op.scratch(nodes.count() * MPI_Count{sizeof(Rank)}));
  if (leaders.ranks == nullptr) return leaders;
  for (int node = 0; node < nodes.count(); ++node) {
    const Rank* const members = nodes.members(node);
    int index = turn;
    if (node == nodes.node_of(root)) {
      while (members[index - turn] != root) ++index;
      index %= nodes.ranks_on(node);
    }
    leaders.ranks[node] = members[index];
    if (node == nodes.mine()) leaders.inside = index;
  }
  return leaders;
}

Leaders Leaders::last(Op& op, const Nodes& nodes) {
  Leaders leaders = of(op, nodes);
  leaders.inside = nodes.my_ranks() - 1;
  for (int node = 0; node < nodes.count() && leaders.ranks != nullptr; ++node)
    leaders.ranks[node] = nodes.members(node)[nodes.ranks_on(node) - 1];
  return leaders;
}

}  // namespace ashlar::coll::hier
