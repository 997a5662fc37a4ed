#pragma once
#include <memory>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"

namespace ashlar {
class Comm;
class Topology;
}  // namespace ashlar
namespace ashlar::topo {

/// Fails when `comm` is an intercommunicator: those have no topology.
Status intra_only(const Comm& comm);

/// The communicator of the ranks `order` of `comm`, in that order, without its topology, which the caller adds;
/// *result == nullptr where this process is not among them. Collective over `comm`, with no message most of the time.
Status make_ordered(Comm& comm, const std::vector<Rank>& order, Comm** result);

/// 0, 1 ... n - 1.
std::vector<Rank> as_they_are(int n);

}  // namespace ashlar::topo
