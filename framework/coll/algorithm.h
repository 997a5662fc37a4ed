#pragma once
#include <cstdint>
#include <span>

#include "framework/coll/call.h"
#include "framework/coll/co.h"
#include "framework/plugin/coll.h"

namespace ashlar::coll {

class Op;

/// What is constant about a group, and alike on all of its members: rules and restrictions go by it.
struct Shape {
  int ranks = 1;
  int nodes = 1;
  int node_ranks = 1;   // of the fullest node
  bool inter = false;   // an intercommunicator; `ranks` are those of both groups
  bool in_runs = true;  // the ranks of each node follow each other

  bool operator==(const Shape&) const = default;
};

/// What else must be known of an algorithm.
enum Trait : std::uint8_t {
  /// For intercommunicators, and for nothing else.
  kInter = 1,
  /// The order in which ranks begin collectives of this kind on a communicator must be the same everywhere: it serves
  /// calls, but of the parts of other algorithms, which begin when their time comes, only those of a PartGroup.
  kInCallOrder = 2,
  /// Every item of a reduction's result is the same function of the operands, whatever the sizes and the placement:
  /// a0 op (a1 op (... a[n-1])); of scans ((a0 op a1) op a2) ...
  kFixedOrder = 4,
  /// Ranks copy from and to each other's memory.
  kReaches = 8,
  /// Every rank's edges are listed in shared memory, for which there is limited room.
  kListsEdges = 16,
};

/// One algorithm of one collective: what a component registers. Constant data.
struct Algorithm {
  Collective collective;
  const char* name;       // "recursive_doubling": unique among the collective's algorithms
  const char* component;  // "p2p"
  const char* summary;    // one line for listings
  Co (*run)(Op& op, const Call& call);
  /// Why it cannot serve this call, in words; nullptr: it can. Every rank of a call must come to the same answer, so it
  /// looks only at the shape and at what is equal on all ranks. May be null: always serves.
  const char* (*excluded)(const Shape& shape, const Call& call) = nullptr;
  std::uint8_t traits = 0;  // of Trait
  /// Of one that counts in the order of calls, and may serve a part: where this call would begin there and end if it
  /// began at `from` (0: where the component is now).
  std::uint64_t (*counts_to)(Op& op, const Call& call, std::uint64_t from) = nullptr;
  /// Of an algorithm that is written against the C interface (rounds.h); its restrictions are there.
  const ashlar_coll_algorithm* row = nullptr;

  bool is(Trait trait) const { return (traits & trait) != 0; }

  /// For the rows of catalogues: this algorithm with a restriction, and with further traits.
  constexpr Algorithm limited_by(const char* (*reason)(const Shape& shape, const Call& call)) const {
    Algorithm restricted = *this;
    restricted.excluded = reason;
    return restricted;
  }
  constexpr Algorithm with(unsigned more) const {
    Algorithm extended = *this;
    extended.traits = static_cast<std::uint8_t>(traits | more);
    return extended;
  }
};

/// The table of functions of a coll component's module: its list of algorithms. They live as long as the process.
struct AlgorithmList {
  std::uint32_t size = sizeof(AlgorithmList);
  std::uint32_t count = 0;
  const Algorithm* first = nullptr;
};
constexpr AlgorithmList list_of(std::span<const Algorithm> algorithms) {
  return {.count = static_cast<std::uint32_t>(algorithms.size()), .first = algorithms.data()};
}

}  // namespace ashlar::coll
