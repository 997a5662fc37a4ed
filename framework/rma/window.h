#pragma once
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/base/list.h"
#include "framework/object/comm.h"
#include "framework/object/window.h"
#include "framework/rma/card.h"
#include "framework/rma/epoch.h"
#include "framework/rma/sync.h"
#include "framework/rma/target_table.h"
#include "framework/rma/wire.h"

namespace ashlar {

namespace rma {

/// The info keys of a window, as they are in force on all of its processes.
struct Hints {
  bool no_locks = false;
  bool same_size = false, same_disp_unit = false;
  bool same_op = false;                                 // accumulate_ops = same_op
  bool rar = true, raw = true, war = true, waw = true;  // accumulate_ordering
  bool noncontiguous = false;                           // alloc_shared_noncontig
  std::uint32_t alignment = 64;                         // mpi_minimum_memory_alignment
  std::uint64_t granularity = 0;                        // mpi_accumulate_granularity
};

/// A region of a dynamic window of this process.
struct Region {
  std::uint64_t address;
  std::uint64_t size;
};

/// A group that a call of epochs between processes was given last, and the ranks of its members in the window's. Most
/// programs give the same one for every epoch; finding its ranks takes longer than the rest of an epoch.
struct RanksOfGroup {
  Ref<Group> group;  // kept, so that no other one has its address
  std::vector<Rank> ranks;
};
struct Groups {
  RanksOfGroup started;  // targets of MPI_Win_start
  RanksOfGroup posted;   // origins of MPI_Win_post
};

class Check;  // check.h
struct Guard;
struct Component;  // component.h
inline constexpr std::size_t kMostComponents = 4;

}  // namespace rma

/// A window and what this process knows of it. Everything is constant once it is made, except where said.
class RmaWindow final : public Window, public ListHook {  // hook: Engine::alive_
 public:
  RmaWindow();
  ~RmaWindow();

  // --- short path ---
  /// An access epoch is open to all: one of lock_all, or one of a fence that an operation has followed.
  std::atomic<bool> open_to_all = false;
  bool passive_to_all = false;  // lock_all
  bool all_unchecked = false;   // of it: MPI_MODE_NOCHECK
  Rank me = 0;
  Rank ranks = 0;
  std::atomic<std::uint32_t> calls_without_wait = 0;  // a hint: rounds.h
  rma::TargetTable targets;

  // --- epochs; changed by the synchronization calls ---
  rma::Epochs epochs;
  std::atomic_flag changing;     // guards them and Target::held where threads lock different targets (EpochGuard)
  bool any_outstanding = false;  // whether Target::outstanding may be set anywhere; set with it
  bool made = false;             // messages for it may be answered; guarded by the lane's lock
  bool own_areas = false;        // `areas` are no memory of a component
  bool private_memory = false;   // `memory` is none of the heap, where there was no room
  std::unique_ptr<rma::Groups> groups;  // once there have been any

  // --- set-up path ---
  Ref<Comm> owned;                        // Window::comm: the window's own, with a lane and a context
  rma::Sync* sync = nullptr;              // of the component that can serve all processes, which owns it
  std::unique_ptr<rma::WindowWire> wire;  // of the component that sends messages; starts when all else is made
  const rma::Area* areas = nullptr;       // [ranks]; set when the window is synchronized
  rma::Hints hints;
  /// How this process updates its own memory where it alone does so with its processor (Guard::Kind::kOwner), but a
  /// transport may as well; nullptr: it is alone. Set by Component::share.
  const rma::Guard* own_guard = nullptr;
  void* memory = nullptr;                             // that the window allocated, from memory::Heap; freed with it
  std::unique_ptr<rma::Check> check;                  // with check.rma
  std::unique_ptr<std::vector<rma::Region>> regions;  // of a dynamic window, by address; changed by attach and detach
  std::span<const rma::Component* const> components;  // those that serve this window, the preferred one first
  std::array<void*, rma::kMostComponents> states{};   // of each of them, as the component likes

  Lane& lane() const { return *comm->lane; }
  /// For sentences: the name, or the number of its communicator.
  const char* label() const { return name.empty() ? comm->name.c_str() : name.c_str(); }
};

static_assert(sizeof(RmaWindow) <= 5 * kCacheLine);  // a process may have thousands

}  // namespace ashlar
