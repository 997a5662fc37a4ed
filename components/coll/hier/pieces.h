#pragma once
#include <span>

#include "components/coll/hier/parts.h"

namespace ashlar::coll::hier {

/// How a long vector is cut, so that one piece is between the nodes while another is inside them. Each node has one or
/// more leaders, which take the pieces in turn: each of them has a processor of its own, and may have a network card.
struct Pieces {
  static constexpr int kMost = 64;

  MPI_Count items = 0;  // of the vector
  MPI_Count each = 0;   // items of a piece, but for the last one
  int count = 1;
  int leaders = 1;  // of each node

  /// Arguments: segment (bytes of a piece; 0: the vector is one), leaders. The same on all ranks.
  static Pieces of(const Op& op, const Nodes& nodes, MPI_Count items, MPI_Count item_bytes);
  static Pieces of(const Op& op, const Nodes& nodes, const DataView& vector) {
    return of(op, nodes, vector.count, vector.type->size());
  }

  MPI_Count first(int piece) const { return each * piece; }
  MPI_Count length(int piece) const { return piece < count - 1 ? each : items - first(piece); }
  int turn(int piece) const { return piece % leaders; }
  DataView of(const DataView& vector, int piece) const {
    if (count == 1) return vector;
    const MPI_Count offset = first(piece) * vector.type->extent();
    return DataView{reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(vector.data) + offset), length(piece),
                    vector.type};
  }
};

/// A part inside the nodes of a call that is cut: one piece on its way to a leader, or from it.
struct Step {
  Call part;
  int piece = 0;
  bool up = false;  // to the leader
};

/// Room for so many; empty: no memory, noted as op's failure.
std::span<Step> steps_of(Op& op, int count);
void announce(Op& op, const Call& call, Op& inside, Nodes& nodes, std::span<const Step> steps);
/// This rank has failed before these.
void leave(Op& op, const Call& call, Op& inside, Nodes& nodes, std::span<const Step> steps);

/// Which rank of this node takes which turn: of the root's node the root takes the first.
struct Turns {
  int first = 0;  // indices among the ranks of the node
  int me, ranks;

  static Turns of(const Nodes& nodes, Rank root) {
    Turns turns{.me = nodes.my_index(), .ranks = nodes.my_ranks()};
    while (nodes.mine() == nodes.node_of(root) && nodes.members(nodes.mine())[turns.first] != root) ++turns.first;
    return turns;
  }
  int leader(int turn) const { return (first + turn) % ranks; }
  int mine() const { return (me - first + ranks) % ranks; }
};

/// What a leader exchanges with those of its turn in the other nodes: one piece after the other, while it goes on with
/// other pieces inside its node. A vector of one piece has nothing to go on with.
class Crossing {
 public:
  Crossing(Op& whole, Nodes& nodes, const Leaders& leaders, const Pieces& pieces)
      : whole_(whole),
        nodes_(nodes),
        wire_(whole.wire(), leaders.ranks),
        op_(whole, wire_, nodes.mine(), nodes.count(), whole.blocking() && pieces.count == 1),
        leaders_(pieces.leaders) {}

  /// When the one before has ended. Returns the leader's next piece.
  int start(const Call& call, int piece, Gate& gate) {
    call_ = call;
    piece_ = piece;
    const Co crossing = run_part(whole_, op_, nodes_.across(), call_);
    whole_.join(crossing, gate);
    return piece + leaders_;
  }
  /// Which was started last; -1: none.
  int piece() const { return piece_; }

 private:
  Op& whole_;
  Nodes& nodes_;
  GroupWire wire_;
  Op op_;
  Call call_;
  const int leaders_;
  int piece_ = -1;
};

}  // namespace ashlar::coll::hier
