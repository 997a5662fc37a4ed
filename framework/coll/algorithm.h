#pragma once
#include <cstdint>

#include "framework/coll/call.h"
#include "framework/coll/co.h"

namespace ashlar::coll {

class Op;

/// What is constant about a group, and alike on all of its members: rules and restrictions go by it.
struct Shape {
  int ranks = 1;
  int nodes = 1;
  int node_ranks = 1;  // of the fullest node
};

/// One algorithm of one collective: what a component registers. Constant data.
struct Algorithm {
  Collective collective;
  const char* name;       // "recursive_doubling": unique among the collective's algorithms
  const char* component;  // "p2p"
  const char* summary;    // one line for listings
  /// Why it cannot serve this call, in words; nullptr: it can. Every rank of a call must come to the same answer, so it
  /// looks only at the shape and at what is equal on all ranks. May be null: always serves.
  const char* (*excluded)(const Shape& shape, const Call& call);
  Co (*run)(Op& op, const Call& call);
};

/// The table of functions of a coll component's module: its list of algorithms. They live as long as the process.
struct AlgorithmList {
  std::uint32_t size = sizeof(AlgorithmList);
  std::uint32_t count = 0;
  const Algorithm* first = nullptr;
};

}  // namespace ashlar::coll
