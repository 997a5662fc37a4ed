#pragma once
#include <atomic>
#include <functional>

#include "components/rma/native/state.h"
#include "tests/unit/p2p/faults.h"
#include "tests/unit/rma_am/window_world.h"

namespace ashlar::test {

/// So many bytes here, and so many of a target.
inline DataView view(void* data, std::size_t size) {
  return {.data = data, .count = static_cast<MPI_Count>(size), .type = &bytes()};
}
inline rma::Place place(MPI_Aint offset, std::size_t size) {
  return {.offset = offset, .count = static_cast<MPI_Count>(size), .type = &bytes()};
}

/// A window whose memory is reached by the loop transport, and by messages where that does not do.
class NativeWorld {
 public:
  static constexpr rma::native::Config kConfig{
      .peers = rma::native::kAllPeers, .atomics = true, .atomic_elements = 4, .queue_limit = 4096};
  NativeWorld(int size, std::size_t bytes, const LoopOptions& options, const rma::native::Config& config = kConfig);
  ~NativeWorld();
  Member& operator[](int rank) { return world[rank]; }
  rma::Target& target(int rank, int to) { return *world[rank].window.targets.find(to); }
  rma::native::NativeWindow& native(int rank) { return rma::native::state_of(world[rank].window); }

  Status put(int rank, const void* from, const DataView& layout, int to, const rma::Place& place, Gate* gate = nullptr);
  Status get(int rank, const DataView& into, int from, const rma::Place& place, Gate* gate = nullptr);
  /// `compare` not null: compare and swap. `result` null: nothing is fetched.
  Status update(int rank, MPI_Op op, MPI_Datatype element, const void* origin, void* result, int to, MPI_Aint offset,
                MPI_Count count = 1, const void* compare = nullptr);
  Status flush(int rank, int to, bool remote = true);
  /// Every process runs `part` on a thread of its own, and then makes progress until all have.
  void run(const std::function<void(int rank)>& part);
  /// The window of the process goes away.
  void close(int rank);

  WindowWorld world;

 private:
  void make_target(int rank, int other);

  const rma::native::Config config_;
};

}  // namespace ashlar::test
