#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/coll/algorithm.h"
#include "framework/coll/call.h"
#include "framework/coll/co.h"

namespace ashlar::coll {

class Op;

/// How a collective was called: the forms do not match each other.
enum class Form : std::uint8_t { kBlocking, kNonblocking, kPersistent };

/// "MPI_Iallreduce", "MPI_Bcast_init".
void name_of_call(Collective what, Form form, char* out, std::size_t room);

/// check.collectives and check.datatypes: compares the call on all ranks, and then runs it with `algorithm`. When ranks
/// disagree it fails on all of them alike, with a sentence that says who differs and how; the class says in what:
/// MPI_ERR_ROOT, MPI_ERR_OP, MPI_ERR_COUNT, MPI_ERR_TYPE (check_types.h), or MPI_ERR_OTHER when they are in different
/// collectives. For all but the types rank 0 looks at everyone's record (judge.h): 2 rounds, 2 (n - 1) messages more.
/// Of an intercommunicator both groups are compared; "the first group" is the one whose rank 0 has the lower process
/// number.
Co checked(Op& op, const Call& call, const Algorithm& algorithm, Form form);

}  // namespace ashlar::coll
