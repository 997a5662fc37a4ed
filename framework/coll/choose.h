#pragma once
#include <cstdint>

#include "framework/base/status.h"
#include "framework/coll/call.h"
#include "framework/coll/room.h"

namespace ashlar::coll {

/// What cannot be used for a call, beside what its algorithm says itself.
struct Without {
  std::uint32_t components = 0;  // a bit for each, by its number
  std::uint8_t traits = 0;       // of Trait; why it is asked for is told when a rule is passed over for it
  bool part = false;             // the call is a part of another algorithm, and comes when its time has come
};

/// Whether this choice of a plan applies to the call, and its algorithm can serve it. A rule that applies and whose
/// algorithm cannot is reported.
bool serves(const Plan& plan, const Choice& choice, const Call& call, const Without& without);

/// Counts the choice, and the first time records it.
void take(const Plan& plan, const Choice& choice, const Call& call);

/// The first choice of the plan that serves, taken. Fails with MPI_ERR_UNSUPPORTED_OPERATION when there is none.
Status choose(const Plan& plan, const Call& call, const Without& without, Choice* out);

}  // namespace ashlar::coll
