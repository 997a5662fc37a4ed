#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/coll/algorithm.h"
#include "framework/coll/call.h"
#include "framework/coll/co.h"

namespace ashlar::coll {

class Op;

/// The three forms of a collective. Calls of different forms do not match.
enum class CallForm : std::uint8_t { kBlocking, kNonblocking, kPersistent };

/// "MPI_Iallreduce", "MPI_Bcast_init".
void name_of_call(Collective what, CallForm form, char* out, std::size_t room);

/// check.collectives and check.datatypes: compares the call on all ranks, and then runs it with `algorithm`. A mismatch
/// fails on all ranks alike, with a sentence that names the ranks and their values; the class says in what they differ:
/// MPI_ERR_ROOT, MPI_ERR_OP, MPI_ERR_COUNT, MPI_ERR_TYPE (check_types.h), or MPI_ERR_OTHER when the ranks are in
/// different collectives. Rank 0 compares the records of all ranks (call_records.h), for all but the types: 2 rounds,
/// 2 (n - 1) messages more. On an intercommunicator it compares both groups; "the first group" is the one whose rank 0
/// has the lower process number.
Co checked(Op& op, const Call& call, const Algorithm& algorithm, CallForm form);

}  // namespace ashlar::coll
