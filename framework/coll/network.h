#pragma once
#include <cstdint>

#include "framework/base/status.h"
#include "framework/base/types.h"

namespace ashlar::coll {

struct Call;
struct CommState;

/// What the network between the nodes of a communicator costs, as its ranks have measured and agreed on: rules may go
/// by it, so it is the same on all ranks when any of them chooses. Part of CommState.
struct Network {
  static constexpr std::int64_t kLeastBytes = 64 * 1024;  // of a call that brings something to measure

  std::uint64_t bandwidth = 0;   // bytes per second of the slowest path; 0: nothing has been measured, or agreed on
  std::uint64_t round_trip = 0;  // ns, of the longest
  std::uint32_t calls = 0;       // that could have been the one to agree in
  std::uint32_t next = 2;        // the one that will be
};

/// Whether the ranks agree on the network before this blocking call of kLeastBytes or more; they all come to the same
/// answer. It counts the calls whose rules go by the network: the second is one, as the first has brought something to
/// measure, and others more and more rarely.
bool is_due(CommState& state, const Call& call);

/// All ranks of the communicator take part, in this blocking call, before they choose its algorithm. The lane's lock is
/// held. Blocks.
Status agree_on_network(CommState& state, const Call& called, Tag number);

}  // namespace ashlar::coll
