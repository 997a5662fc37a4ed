#pragma once
#include "framework/coll/call.h"
#include "framework/coll/check.h"
#include "framework/coll/co.h"

namespace ashlar::coll {

class Op;

/// check.datatypes, for collectives: each rank that sends data to another sends the type signature first, the receiver
/// compares it with its own, and all ranks receive the outcome. Fails on all of them alike with MPI_ERR_TYPE and both
/// signatures in words, before any data moves. Operands that are combined are compared with those of rank 0. Works on
/// intercommunicators and among neighbours too. It assumes that all ranks are in the same call with the same root,
/// which check.collectives makes sure of. 3 rounds; as many messages as the call has pairs of ranks, and 2 (n - 1)
/// more.
Co compare_types(Op& op, const Call& call, CallForm form);

}  // namespace ashlar::coll
