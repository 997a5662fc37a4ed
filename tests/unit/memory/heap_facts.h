#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "framework/memory/heap.h"

// What tests of the heap look at from outside.
namespace ashlar::memory {

inline constexpr std::size_t kMiB = 1 << 20;

/// How many mappings of heaps this process has.
inline int mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("ashlar-heap") != line.npos;
  return count;
}

/// Bytes of memory behind the heap.
inline std::uint64_t resident(const Heap& heap) {
  struct stat info = {};
  fstat(heap.handle().fd, &info);
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

}  // namespace ashlar::memory
