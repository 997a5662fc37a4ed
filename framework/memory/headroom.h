#pragma once
#include <cstdint>
#include <string>

#include "framework/base/status.h"

namespace ashlar::memory {

/// How much memory this process could still get, and what sets the limit.
struct Available {
  std::uint64_t bytes = UINT64_MAX;
  std::string limit;  // "MemAvailable", "memory.max of control group /x"
};

/// Reads /proc/meminfo and the control groups of versions 1 and 2 that the process is in, with all their parents. What
/// cannot be read sets no limit. `root`: "" or, in tests, a folder that stands for "/". Takes tens of microseconds.
Available available_memory(const std::string& root = "");

/// Whether the system accounts for memory that is only promised (vm.overcommit_memory = 2): touching a page of a shared
/// file may then end the process although there is memory, so all of it must be claimed first.
bool strict_overcommit(const std::string& root = "");

/// Physical memory in bytes, what the control groups leave of it; 0: unknown.
std::uint64_t physical_memory(const std::string& root = "");

/// Admits memory that is not claimed but will be touched later. Reads the system anew when much was admitted since, or
/// a second has passed: in a loop of allocations the files of /proc would cost more than the rest. Not for several
/// threads.
class Headroom {
 public:
  /// Fails with MPI_ERR_NO_MEM where there is not so much memory; the text says what sets the limit.
  Status admit(std::uint64_t bytes);

 private:
  std::uint64_t credit_ = 0;       // what may be admitted without looking
  std::uint64_t valid_until_ = 0;  // ns
};

}  // namespace ashlar::memory
