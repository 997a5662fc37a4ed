#pragma once
#include <mpi.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "components/rma/am/sync.h"
#include "components/rma/am/ways.h"
#include "components/rma/am/window.h"
#include "framework/datatype/api.h"
#include "framework/rma/window.h"
#include "tests/unit/p2p/faults.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {

struct ReleaseType {
  void operator()(Datatype* type) const { release(type); }
};
using OwnedType = std::unique_ptr<Datatype, ReleaseType>;
OwnedType committed(Datatype* made);
OwnedType vector_of(MPI_Count count, MPI_Count length, MPI_Count stride, Datatype& of);

/// One process's part of a window.
struct Member {
  Member(Process& of, std::size_t bytes, const rma::am::Config& config, bool dynamic);
  ~Member();

  Process& process;
  std::vector<std::byte> memory;
  RmaWindow window;
  std::vector<rma::Area> areas;
  std::unique_ptr<rma::am::MessageSync> sync;  // the window's

  rma::am::AmWindow& am() { return rma::am::AmWindow::of(window); }
  rma::Target& target(Rank rank);
  /// As when the window is made.
  void start() {
    const LaneGuard guard(window.lane().lock);
    window.wire->start();
  }
  rma::am::Channel& channel(int rank) { return *am().channel(rank); }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(memory.data());
  }

  Status put(const void* from, MPI_Count count, Datatype& type, int to, MPI_Aint offset, MPI_Count target_count,
             Datatype& target_type, Gate* done = nullptr);
  Status get(void* into, MPI_Count count, Datatype& type, int from, MPI_Aint offset, MPI_Count target_count,
             Datatype& target_type, Gate* done = nullptr);
  /// `result` null: nothing is fetched. `compare` not null: compare and swap.
  Status update(MPI_Op op, Datatype& element, const void* origin, MPI_Count count, Datatype& type, void* result, int to,
                MPI_Aint offset, MPI_Count target_count, Datatype& target_type, const void* compare = nullptr,
                Gate* done = nullptr);
  Status update(MPI_Op op, MPI_Datatype element, const void* origin, void* result, int to, MPI_Aint offset,
                MPI_Count count = 1) {
    Datatype& type = datatype::predefined(element);
    return update(op, type, origin, count, type, result, to, offset, count, type);
  }
};

/// A window of several processes. One thread drives all of them, or each its own.
class WindowWorld {
 public:
  static constexpr rma::am::Config kConfig{.credits = 8, .queue_limit = 4096};
  explicit WindowWorld(int size, std::size_t bytes, const LoopOptions& options = {},
                       const rma::am::Config& parameters = kConfig, bool dynamic = false);
  Member& operator[](int rank) { return *members_[static_cast<std::size_t>(rank)]; }
  int size() const { return world.size(); }

  void start();
  /// The window is freed, and another one of the same context made.
  void remake();
  /// All operations of `rank` are complete; its failures toward all others, the first one.
  Status drain(int rank, bool remote = true);
  /// Every process runs `part` on a thread of its own.
  void run(const std::function<void(int rank)>& part);

  World world;
  const rma::am::Config config;

 private:
  void make(std::size_t bytes, bool dynamic);

  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace ashlar::test
