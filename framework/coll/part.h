#pragma once
#include "framework/coll/call.h"
#include "framework/coll/co.h"

namespace ashlar::coll {

class Op;
struct CommState;

/// For algorithms that are composed of collectives on other communicators, as those of intercommunicators are: starts
/// `call` on `where` as a part of `whole`, with whatever algorithm the rules choose there. `part` was made from
/// `whole`; it and `call` live until the part is over. The caller joins the result. Parts of one operation on one
/// communicator follow each other: their messages carry the same number.
Co run_part(Op& whole, Op& part, CommState& where, const Call& call);

}  // namespace ashlar::coll
