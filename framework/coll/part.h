#pragma once
#include <span>

#include "framework/coll/call.h"
#include "framework/coll/co.h"

namespace ashlar::coll {

class Op;
struct CommState;
struct Plan;
struct Slot;

/// For algorithms that are composed of collectives on other communicators, as those of intercommunicators are: starts
/// `call` on `where` as a part of `whole`, with whatever algorithm the rules choose there. `part` was made from
/// `whole`; it and `call` live until the part is over. The caller joins the result. Parts of one operation on one
/// communicator follow each other: their messages carry the same number.
Co run_part(Op& whole, Op& part, CommState& where, const Call& call);

/// The same for a part among some ranks of the same communicator (`part` is on a GroupWire), by the rules for groups of
/// their shape. Of two such parts at a time, no two ranks are in both.
Co run_part(Op& whole, Op& part, const Plan& plan, const Call& call);

/// What parts of one communicator, or of one persistent operation, among the same ranks have in common. The group's
/// ranks take part in all of these, and the wire of each `part` lives as long as this.
struct PartGroup {
  const Plan* plan = nullptr;
  Slot* slots = nullptr;  // CommState::kSlots, by the number of the component
  // Of the part that is just starting:
  const Call* called = nullptr;  // by the program: what ranks compare
  bool leaves = false;           // this rank takes no part in it, and only counts it where the component counts
};
/// The same for such a part of `called`, which is what the program called. Blocking calls are made in one order by all
/// ranks, and each part is over before the next one begins: their parts may be served by algorithms that need that
/// (kInCallOrder). Those of other calls begin when their time comes.
Co run_part(Op& whole, const Call& called, Op& part, PartGroup& group, const Call& call);
/// Tells how far the call of the program will count by these parts of it, one after the other, so that ranks can
/// compare that when it fails. Before anything can.
void count_parts(Op& whole, const Call& called, Op& part, PartGroup& group, std::span<const Call* const> calls);
/// In place of that by a rank that has failed before: the others wait there until they learn of the failure, and all
/// count alike afterwards.
void leave_part(Op& whole, const Call& called, Op& part, PartGroup& group, const Call& call);

}  // namespace ashlar::coll
