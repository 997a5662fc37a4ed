#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/tool_memory.h"

namespace ashlar::runtime {

/// The memory that the tools of a job record in where the launcher has none for them (ashlar_job::tool_memory): a page,
/// and then the memory of each rank of this node. The first rank of the node makes it, the others map it through /proc;
/// so what a rank has recorded is there when its process is gone, and the rank that leaves last can read all of it.
class ToolBoard {
 public:
  ToolBoard() = default;
  ~ToolBoard();
  ToolBoard(const ToolBoard&) = delete;
  ToolBoard& operator=(const ToolBoard&) = delete;

  /// Before the exchange of addresses at start-up. The first rank of the node makes a board with `bytes` bytes for each
  /// rank and publishes where it is.
  void offer(const ashlar_job& job, ashlar_launch* launch, std::uint64_t bytes);
  /// After it: finds this rank's memory. Fails when the node's board cannot be reached; the memory is this process's
  /// own then.
  Status attach(const ashlar_job& job, ashlar_launch* launch, std::uint64_t bytes);

  /// This rank's; nullptr: there is none.
  plugin::ToolMemory* own() const { return head_ ? slot(index_) : nullptr; }
  /// That of a rank by its index on the node; the job's ranks that are on another node have none. nullptr: none.
  plugin::ToolMemory* of(std::uint32_t local_rank) const;
  /// Of each rank's memory.
  std::uint64_t bytes() const;
  /// When the board was made, CLOCK_MONOTONIC.
  std::uint64_t began_ns() const;
  /// Nothing is recorded here any more. True: of the ranks that have come, this one is the last that leaves.
  bool leave();

 private:
  struct Head;
  struct Place;
  plugin::ToolMemory* slot(std::uint32_t index) const;
  bool map(int fd, std::size_t bytes);
  Status find(const ashlar_job& job, ashlar_launch* launch);
  Status open(const Place& place, const ashlar_job& job);
  bool begin(const ashlar_job& job, std::uint32_t slots, std::uint64_t slot_bytes, bool shared);

  Head* head_ = nullptr;
  std::size_t mapped_ = 0;
  int fd_ = -1;  // open as long as others may look for it
  std::uint32_t index_ = 0;
  bool alone_ = false;  // the board has this rank and the job has more
};

}  // namespace ashlar::runtime
