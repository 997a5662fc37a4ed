#pragma once
#include "framework/coll/call.h"
#include "framework/coll/co.h"

namespace ashlar::coll {

class Op;
struct CommState;
struct Plan;

/// For algorithms that are composed of collectives on other communicators, as those of intercommunicators are: starts
/// `call` on `where` as a part of `whole`, with whatever algorithm the rules choose there. `part` was made from
/// `whole`; it and `call` live until the part is over. The caller joins the result. Parts of one operation on one
/// communicator follow each other: their messages carry the same number.
Co run_part(Op& whole, Op& part, CommState& where, const Call& call);

/// The same for a part among some ranks of the same communicator (`part` is on a GroupWire), by the rules for groups of
/// their shape. Of two such parts at a time, no two ranks are in both.
Co run_part(Op& whole, Op& part, const Plan& plan, const Call& call);

}  // namespace ashlar::coll
