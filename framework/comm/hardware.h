#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "framework/plugin/topology.h"

namespace ashlar::comm {

/// The topology components of this process, as they were chosen when a call first needed one. Either may be missing.
struct Hardware {
  ashlar_topology* locator = nullptr;
  const char* locator_name = "none";
  ashlar_topology* matcher = nullptr;
  const char* matcher_name = "none";
};

/// The types of hardware by which processes are compared with each other, from the widest to the narrowest. All ranks
/// of a job speak of the same ones, whatever their components know.
inline constexpr std::array<const char*, 8> kComparedTypes = {"hwloc://Machine", "hwloc://NUMANode", "hwloc://Package",
                                                              "hwloc://L3Cache", "hwloc://L2Cache",  "hwloc://L1Cache",
                                                              "hwloc://Core",    "hwloc://PU"};

/// The one instance of a type of hardware ("hwloc://Package", "mpi_shared_memory") that the calling process is
/// restricted to, by its binding at this moment: the number of its first processor. -1: there is none, or the machine
/// does not tell; -2: no such type is known.
std::int64_t resource_instance(const std::string& type);

}  // namespace ashlar::comm
