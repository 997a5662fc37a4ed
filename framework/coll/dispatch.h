#pragma once
#include "framework/base/status.h"
#include "framework/coll/algorithm.h"
#include "framework/coll/call.h"
#include "framework/coll/co.h"

namespace ashlar {
class Comm;
class Info;
class Request;
}  // namespace ashlar

namespace ashlar::coll {

class Op;

/// Runs a collective to its end. Takes the lane's lock. Blocks.
Status run(Comm& comm, const Call& call);

/// Starts a collective; *request is the caller's. Takes the lane's lock. Never blocks.
Status start(Comm& comm, const Call& call, Request** request);

/// Makes an inactive persistent request; *request is the caller's. Takes the lane's lock. Never blocks.
Status prepare(Comm& comm, const Call& call, Info* info, Request** request);

/// For an algorithm that has begun and whose component cannot serve this communicator, on all ranks alike: disables the
/// component there and starts the algorithm that the rules choose without it, as a child of `op`.
Co instead(Op& op, const Call& call, unsigned component);

/// The same for this call alone, and for algorithms of this trait, whichever their component.
Co instead_of(Op& op, const Call& call, Trait trait);

}  // namespace ashlar::coll
