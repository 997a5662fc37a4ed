#pragma once
#include <cstdint>

#include "framework/memory/heap.h"

namespace ashlar::rma {

/// What each process tells the others when a window is made. All cards travel in one allgather.
struct Card {
  std::int32_t failed = 0;    // error class of what failed here; the window then fails everywhere
  std::uint32_t node = 0;     // as comm::nodes_of() numbers it
  std::uint64_t address = 0;  // of its memory; 0 in a dynamic window
  std::uint64_t size = 0;     // bytes
  std::int64_t disp_unit = 1;
  memory::HeapHandle heap;
  std::int32_t pid = 0;
  std::uint64_t probe = 0;    // address of a word that others read to find out whether they may
  std::uint64_t control = 0;  // address, in its heap, of the block that a component made for the window; 0: none
  std::uint32_t flags = 0;
  std::uint32_t hints = 0;  // Hints, as bits
  std::uint64_t granularity = 0;

  enum : std::uint32_t {
    kInHeap = 1,      // its memory lies in its heap
    kInFirstHeap = 2  // in that of rank 0: contiguous shared memory
  };
  bool in_heap() const { return (flags & (kInHeap | kInFirstHeap)) != 0; }
};

/// What a window keeps of each process's card for its life, as small as can be: a component whose block of memory all
/// processes map holds the areas there, once for all of them (RmaWindow::areas).
struct Area {
  std::uint64_t address = 0;  // as in Card
  std::uint64_t size = 0;
  std::int64_t disp_unit = 1;
  std::uint32_t flags = 0;

  bool in_heap() const { return (flags & (Card::kInHeap | Card::kInFirstHeap)) != 0; }
};
inline Area area_of(const Card& card) {
  return {.address = card.address, .size = card.size, .disp_unit = card.disp_unit, .flags = card.flags};
}

}  // namespace ashlar::rma
