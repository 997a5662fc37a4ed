#pragma once
#include <cstdint>

#include "framework/base/status.h"
#include "framework/coll/call.h"
#include "framework/coll/engine.h"

namespace ashlar::coll {

struct Network;

/// What restricts the choice for one call, beside the restrictions of each algorithm (Algorithm::excluded).
struct Without {
  const Network* network = nullptr;  // of the communicator, for rules that go by it; nullptr: none holds
  std::uint32_t components = 0;      // a bit for each, by its number
  std::uint8_t traits = 0;           // of Trait: algorithms with any of them
  bool part = false;  // a part of another algorithm that begins when its time comes: without kInCallOrder
};

/// Whether this choice of a plan applies to the call, and its algorithm can serve it. A rule that applies but names an
/// algorithm that cannot serve gets a decision record.
bool serves(const Plan& plan, const Choice& choice, const Call& call, const Without& without);

/// Why the algorithm cannot serve the call, in words, or nullptr. The same on all ranks.
const char* why_not(const Algorithm& algorithm, const Shape& shape, const Call& call);

/// Counts the choice, and records its first use.
void take(const Plan& plan, const Choice& choice, const Call& call);

/// The first choice of the plan that serves, counted by take(). Fails with MPI_ERR_UNSUPPORTED_OPERATION when there is
/// none.
Status choose(const Plan& plan, const Call& call, const Without& without, Choice* out);

}  // namespace ashlar::coll
