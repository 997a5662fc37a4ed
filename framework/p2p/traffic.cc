#include "framework/p2p/traffic.h"

#include <algorithm>
#include <array>
#include <new>

#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/route_table.h"

namespace ashlar::p2p {

bool count_traffic(Comm& comm) {
  const LaneGuard guard(comm.lane->lock);
  if (comm.traffic.load(std::memory_order_relaxed) != nullptr) return true;
  std::unique_ptr<Traffic> made(new (std::nothrow) Traffic);
  if (made == nullptr) return false;
  made->ranks.reset(new (std::nothrow) Traffic::OfRank[static_cast<std::size_t>(comm.remote_size)]);
  if (made->ranks == nullptr) return false;
  comm.traffic.store(made.release(), std::memory_order_release);
  // What is checked counts by itself. Of several lanes the first hands messages to the others, and then to its own
  // handlers.
  const auto count_in = [](std::array<AmHandler, Lane::kMaxHandlers>& handlers) {
    std::replace(handlers.begin(), handlers.end(), AmHandler{on_message}, AmHandler{on_message_counted});
  };
  count_in(comm.lane->handlers);
  if (RouteTable* const routes = comm.lane->p2p->routes.get()) count_in(routes->own);
  LaneLock::enable_counts();
  return true;
}

void drop_traffic(Comm& comm) { delete comm.traffic.exchange(nullptr); }

void count_sent(const Comm& comm, Rank to, MPI_Count bytes) {
  const Traffic* const traffic = comm.traffic.load(std::memory_order_relaxed);
  if (traffic == nullptr) return;
  Traffic::OfRank& rank = traffic->ranks[static_cast<std::size_t>(to)];
  rank.sent.add();
  rank.sent_bytes.add(static_cast<std::uint64_t>(bytes));
}

void count_received(const Comm& comm, Rank from, MPI_Count bytes) {
  const Traffic* const traffic = comm.traffic.load(std::memory_order_relaxed);
  if (traffic == nullptr) return;
  Traffic::OfRank& rank = traffic->ranks[static_cast<std::size_t>(from)];
  rank.received.add();
  rank.received_bytes.add(static_cast<std::uint64_t>(bytes));
}

}  // namespace ashlar::p2p
