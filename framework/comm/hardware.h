#pragma once
#include <array>
#include <string>

namespace ashlar::comm {

/// The types of hardware that a process can be restricted to, from the widest to the narrowest. Read from Linux itself,
/// so that no rank needs a topology library for it; the names are those that hwloc gives them.
struct ResourceType {
  const char* name;  // as info key mpi_hw_resource_type has it
  const char* leaf;  // file below /sys/devices/system/cpu/cpu<n>/ that lists the processors of the same instance, or ""
  int cache_level;   // > 0: the cache of this level
};
inline constexpr std::array<ResourceType, 8> kResourceTypes = {{{"hwloc://Machine", "", 0},
                                                                {"hwloc://NUMANode", "node", 0},
                                                                {"hwloc://Package", "topology/core_siblings_list", 0},
                                                                {"hwloc://L3Cache", "", 3},
                                                                {"hwloc://L2Cache", "", 2},
                                                                {"hwloc://L1Cache", "", 1},
                                                                {"hwloc://Core", "topology/thread_siblings_list", 0},
                                                                {"hwloc://PU", "", -1}}};

/// The index of a type, or -1; "mpi_shared_memory" is the machine.
int resource_type(const std::string& name);

/// The one instance of a type that the calling process is restricted to, by its binding at this moment: the number of
/// its first processor. -1: the process may run on several, or the machine does not tell.
int resource_instance(std::size_t type);

/// For tests: where the files are found instead of /sys/devices/system.
void set_system_folder(const char* folder);

}  // namespace ashlar::comm
