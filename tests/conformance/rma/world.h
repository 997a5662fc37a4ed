#pragma once
#include <mpi.h>

#include <barrier>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "framework/coll/engine.h"
#include "framework/datatype/api.h"
#include "framework/rma/component.h"
#include "framework/rma/window.h"
#include "tests/unit/p2p/world.h"

/// What a component of the framework rma owes (framework/rma/component.h, sync.h, way.h), for those of the build.
namespace ashlar::test {

/// What the tests are run over, and behind it those that serve what it does not. Set before the tests are listed.
struct RmaSubject {
  const rma::Component* component = nullptr;
  std::vector<const rma::Component*> all;  // itself, and those of lower priority
};
RmaSubject& rma_subject();

/// Where the memory of a window lies.
enum class Memory { kHeap, kPrivate, kDynamic };

/// A window of "processes" that are threads of this one, over the loop transport. It is made as rma::make() does, with
/// the component under test; processes share a node if that component serves processes of one node.
class RmaWorld {
 public:
  RmaWorld(int ranks, std::size_t bytes, const LoopOptions& options, Memory memory);
  ~RmaWorld();
  RmaWorld(const RmaWorld&) = delete;
  RmaWorld& operator=(const RmaWorld&) = delete;

  int size() const { return world_.size(); }
  RmaWindow& window(int rank) { return members_[static_cast<std::size_t>(rank)]->window; }
  std::byte* memory(int rank) { return members_[static_cast<std::size_t>(rank)]->memory; }
  rma::Sync& sync(int rank) { return *window(rank).sync; }
  void poll(int rank) { world_[rank].poll(); }
  LoopNetwork& network() { return world_.network(); }

  /// Every process runs `part` on its own thread, and makes progress until all have.
  void run(const std::function<void(int rank)>& part);

  /// What process `me` knows of another, with its ways.
  rma::Target& target(int me, int of);
  rma::Place place(int of, MPI_Aint offset, MPI_Count count, Datatype& type) const;
  Status put(int me, const DataView& from, int to, const rma::Place& at, Gate* done = nullptr);
  Status get(int me, const DataView& into, int from, const rma::Place& at, Gate* done = nullptr);
  /// Of `count` elements. `result` nullptr: nothing is fetched; `compare` not nullptr: compare and swap.
  Status update(int me, MPI_Op op, MPI_Datatype element, const void* origin, void* result, int to, MPI_Aint offset,
                MPI_Count count = 1, const void* compare = nullptr, Gate* done = nullptr);
  /// As rma::flush().
  Status flush(int me, int to, bool remote = true);
  /// Lock and unlock, as the window's epochs count them.
  Status lock(int me, int of, bool exclusive);
  Status unlock(int me, int of, bool exclusive);

 private:
  struct Member {
    RmaWindow window;
    std::byte* memory = nullptr;
    std::vector<rma::Area> areas;
    std::vector<std::byte> own;          // kPrivate, kDynamic
    std::unique_ptr<coll::Engine> coll;  // counts the calls of one process, as in a job
  };
  void make(int me);
  void choose_sync(int me, std::span<const rma::Card> cards);
  void drop(int me);
  bool all_agree(int me, bool yes);

  World world_;
  const std::size_t bytes_;
  const Memory kind_;
  std::vector<std::unique_ptr<Member>> members_;
  std::atomic<int> running_{0};
};

}  // namespace ashlar::test
