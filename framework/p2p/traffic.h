#pragma once
#include <cstdint>
#include <memory>

#include "framework/base/counter.h"
#include "framework/object/comm.h"
#include "framework/progress/lane.h"

namespace ashlar::p2p {

/// The messages of one communicator by rank. The first handle that a tool allocates for such a variable makes it, and
/// LaneLock::counts() holds from then on: a counter starts with its handle, so no tool misses a message, and programs
/// without a tool pay nothing. The lane's lock guards the writing.
struct Traffic {
  struct OfRank {
    Counter sent, sent_bytes, received, received_bytes;
  };
  std::unique_ptr<OfRank[]> ranks;  // [remote_size]
};

/// Counts the messages of `comm` from now on. False: no memory for the counters.
bool count_traffic(Comm& comm);
void drop_traffic(Comm& comm);

/// A message of `comm` that is given to its link, and one that a receive has taken; called while LaneLock::counts().
[[gnu::cold]] void count_sent(const Comm& comm, Rank to, MPI_Count bytes);
[[gnu::cold]] void count_received(const Comm& comm, Rank from, MPI_Count bytes);

}  // namespace ashlar::p2p
