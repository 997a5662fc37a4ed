#pragma once
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "framework/object/comm.h"
#include "framework/object/window.h"
#include "framework/rma/card.h"
#include "framework/rma/epoch.h"
#include "framework/rma/guard.h"
#include "framework/rma/sync.h"
#include "framework/rma/target.h"
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
  std::uint64_t alignment = 64;                         // mpi_minimum_memory_alignment
  std::uint64_t granularity = 0;                        // mpi_accumulate_granularity
};

/// A region of a dynamic window of this process.
struct Region {
  std::uint64_t address;
  std::uint64_t size;
};

struct Component;  // component.h

}  // namespace rma

/// A window and what this process knows of it. Everything is constant once it is made, except where said.
class RmaWindow final : public Window {
 public:
  // --- short path ---
  /// An access epoch is open to all: one of lock_all, or one of a fence that an operation has followed.
  std::atomic<bool> open_to_all = false;
  bool passive_to_all = false;  // lock_all
  bool all_unchecked = false;   // of it: MPI_MODE_NOCHECK
  Rank me = 0;
  Rank ranks = 0;
  rma::Target* targets = nullptr;  // [ranks]
  rma::Guard own_guard;            // of this process's memory

  // --- epochs; changed by the synchronization calls ---
  rma::Epochs epochs;
  std::mutex changing;        // guards them and Target::held where threads lock different targets (EpochGuard)
  const char* calling = "";   // the synchronization call that is going on, or the last one: for reports of what waits
  std::vector<Rank> started;  // targets of MPI_Win_start
  std::vector<Rank> posted;   // origins of MPI_Win_post

  // --- set-up path ---
  Ref<Comm> owned;                        // Window::comm: the window's own, with a lane and a context
  std::unique_ptr<rma::Sync> sync;        // of the component that can serve all processes
  std::unique_ptr<rma::WindowWire> wire;  // of the component that sends messages; starts when all else is made
  std::vector<rma::Card> cards;           // [ranks]
  std::vector<rma::Target> table;         // behind `targets`
  rma::Hints hints;
  void* heap_memory = nullptr;             // memory that the window allocated, from memory::Heap; freed with it
  void* private_memory = nullptr;          // the same, where there was no room in the heap
  std::vector<rma::Region> regions;        // of a dynamic window, by address; changed by attach and detach
  std::uint32_t number = 0;                // names the window in messages of its communicator's lane
  std::atomic<std::uint32_t> flushes = 0;  // that found nothing to wait for; a hint
  bool any_outstanding = false;            // whether Target::outstanding may be set anywhere; set with it
  std::span<const rma::Component* const> components;  // those that serve this window, the preferred one first
  std::vector<void*> states;                          // of each of them, as the component likes

  Lane& lane() const { return *comm->lane; }
  /// For sentences: the name, or the number of its communicator.
  const char* label() const { return name.empty() ? comm->name.c_str() : name.c_str(); }
};

}  // namespace ashlar
