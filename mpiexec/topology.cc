#include "mpiexec/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "framework/base/processors.h"
#include "framework/base/small_file.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

Topology one_core_each() {
  Topology t;
  for (unsigned os : own_processors()) {
    const auto index = static_cast<unsigned>(t.cpus.size());
    t.cpus.push_back({os, index, 0, 0});
  }
  return t;
}

struct TopologyGuard {
  hwloc_topology_t topology = nullptr;
  ~TopologyGuard() {
    if (topology) hwloc_topology_destroy(topology);
  }
};

}  // namespace

unsigned Topology::cores() const {
  unsigned count = 0;
  for (const Cpu& cpu : cpus) count = std::max(count, cpu.core + 1);
  return count;
}

std::optional<double> cpu_quota() {
  // Version 2 only: inside a container the group is mounted at the root, outside its path stands in /proc/self/cgroup.
  std::string path = small_file("/proc/self/cgroup");
  const std::size_t at = path.find("0::");
  path = at == std::string::npos ? "/" : path.substr(at + 3, path.find('\n', at) - at - 3);
  std::optional<double> least;
  for (;;) {
    const std::string limit = small_file("/sys/fs/cgroup" + (path == "/" ? "" : path) + "/cpu.max");
    double quota = 0, period = 0;
    if (std::sscanf(limit.c_str(), "%lf %lf", &quota, &period) == 2 && period > 0)
      if (!least || quota / period < *least) least = quota / period;
    if (path == "/" || path.empty()) return least;
    path.resize(path.rfind('/'));
    if (path.empty()) path = "/";
  }
}

Topology discover(std::string* note) {
  // hwloc's plug-ins load X11, OpenCL and PCI libraries: five milliseconds for nothing we want. The ranks' environment
  // was copied before.
  setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
  TopologyGuard guard;
  if (hwloc_topology_init(&guard.topology) != 0) {
    *note = "hwloc could not start";
    guard.topology = nullptr;
    return one_core_each();
  }
  hwloc_topology_t topology = guard.topology;
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(
      topology, HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
  if (hwloc_topology_load(topology) != 0) {
    *note = text("hwloc could not read the topology (%s)", std::strerror(errno));
    return one_core_each();
  }
  Topology t;
  t.real = hwloc_topology_is_thissystem(topology) != 0;
  const std::vector<unsigned> allowed = t.real ? own_processors() : std::vector<unsigned>{};
  std::map<unsigned, unsigned> cores, numas, sockets;  // hwloc's logical number -> dense number
  auto dense = [](std::map<unsigned, unsigned>& known, unsigned logical) {
    return known.try_emplace(logical, static_cast<unsigned>(known.size())).first->second;
  };
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  for (int i = 0; i < count; ++i) {
    hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, static_cast<unsigned>(i));
    if (t.real && !std::binary_search(allowed.begin(), allowed.end(), pu->os_index)) continue;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    hwloc_obj_t socket = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
    unsigned numa = 0;
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));)
      if (hwloc_bitmap_isset(node->cpuset, pu->os_index)) {
        numa = node->logical_index;
        break;
      }
    t.cpus.push_back({pu->os_index, dense(cores, core ? core->logical_index : 1000000u + pu->logical_index),
                      dense(numas, numa), dense(sockets, socket ? socket->logical_index : 0)});
  }
  if (t.cpus.empty()) {
    *note = "hwloc knows none of the allowed processors";
    return one_core_each();
  }
  return t;
}

}  // namespace ashlar::mpiexec
