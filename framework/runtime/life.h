#pragma once
#include <atomic>
#include <mutex>
#include <span>

#include "framework/base/status.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::runtime {

/// Where this process is in the life of MPI: the world model, which begins and ends once, and the sessions, which come
/// and go before, beside and after it. It outlives Process: MPI_Initialized and MPI_Finalized may be called at any
/// time. The calls that change it hold `mutex`; the questions need no lock.
class Life {
 public:
  enum class World { kBefore, kOn, kOver };

  World world() const { return world_.load(); }
  /// Of the world model; meaningful while it is on.
  int thread_level() const { return thread_level_; }
  int open_sessions() const { return open_sessions_.load(std::memory_order_relaxed); }

  /// Fails unless the world model can begin with `thread_level`.
  Status check_can_begin(int thread_level) const;
  /// Fails unless the world model is on.
  Status check_on() const;

  void world_began(int thread_level);
  void world_ended() { world_.store(World::kOver); }
  /// The number of a new session, from 1 upwards.
  int next_session() { return ++sessions_made_; }
  /// How many are open now.
  int session_opened() { return open_sessions_.fetch_add(1) + 1; }
  int session_closed() { return open_sessions_.fetch_sub(1) - 1; }

  std::mutex mutex;  // held while the library begins or ends: MPI_Init, MPI_Finalize, and the same of sessions

 private:
  std::atomic<World> world_{World::kBefore};
  int thread_level_ = 0;  // written before world_ becomes kOn
  std::atomic<int> open_sessions_{0};
  int sessions_made_ = 0;
};

/// Of this process.
extern constinit Life life;

/// What tools see of it.
extern const std::span<const ashlar_pvar_row> life_rows;

}  // namespace ashlar::runtime
