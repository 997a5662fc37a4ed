#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/base/types.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/group_wire.h"
#include "framework/coll/op.h"
#include "framework/coll/part.h"

namespace ashlar::coll {
class Engine;
}  // namespace ashlar::coll

namespace ashlar::coll::hier {

/// How a group's ranks lie on nodes. Made once for a communicator, and the same on all ranks but for `mine`. Nodes are
/// numbered by their lowest rank; who leads them, `Leaders` says.
class Nodes {
 public:
  Nodes(Engine& engine, const std::vector<std::uint32_t>& node_of_rank, Rank me);
  ~Nodes();
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  /// Those of op's group, from the slot of this component; nullptr: no memory, noted as op's failure.
  static Nodes* of(Op& op);

  int count() const { return static_cast<int>(begin_.size()) - 1; }
  int node_of(Rank rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  int ranks_on(int node) const { return begin_at(node + 1) - begin_at(node); }
  const Rank* members(int node) const { return order_.data() + begin_at(node); }
  /// Every rank, node after node; and the position in that order at which a node begins.
  Rank in_order(int i) const { return order_[static_cast<std::size_t>(i)]; }
  int begin_at(int node) const { return begin_[static_cast<std::size_t>(node)]; }
  /// The order is that of the ranks.
  bool in_runs() const { return in_runs_; }

  int mine() const { return mine_; }          // the node of this rank
  int my_index() const { return my_index_; }  // of this rank among those of its node
  int my_ranks() const { return ranks_on(mine_); }
  /// Of the node that has the fewest.
  int fewest_ranks() const { return fewest_ranks_; }
  /// For parts among the ranks of this node, which share what coll/shm keeps for them.
  PartGroup& inside() { return inside_; }
  /// Their wire; `whole` is that of every operation of the communicator.
  GroupWire& wire(Wire& whole) {
    if (!wire_) wire_.emplace(whole, members(mine_));
    return *wire_;
  }
  const Plan& across() const { return *across_; }  // for parts among the leaders

 private:
  std::vector<int> node_of_;
  std::vector<Rank> order_;
  std::vector<int> begin_;
  bool in_runs_ = true;
  int mine_, my_index_ = 0, fewest_ranks_;
  PartGroup inside_;
  const Plan* across_;
  std::optional<GroupWire> wire_;
  std::array<Slot, CommState::kSlots> slots_;
};

/// The leaders of one call: of the root's node the root itself, so that its data needs no step of its own. Trivial: it
/// lives in coroutines.
struct Leaders {
  const Nodes* nodes = nullptr;
  Rank* ranks = nullptr;  // one of each node; nullptr: no memory, noted as op's failure
  int inside = 0;         // index of this node's leader among the ranks of its node

  static Leaders of(Op& op, const Nodes& nodes, Rank root) { return in_turn(op, nodes, root, 0); }
  static Leaders of(Op& op, const Nodes& nodes) { return of(op, nodes, nodes.in_order(0)); }
  /// The ranks that are `turn` further on in their nodes: of the root's node from the root on, else from the lowest.
  static Leaders in_turn(Op& op, const Nodes& nodes, Rank root, int turn);
  /// The last rank of each node instead.
  static Leaders last(Op& op, const Nodes& nodes);
  bool lead(const Op& op) const { return ranks[nodes->mine()] == op.rank(); }
};

}  // namespace ashlar::coll::hier
