// topology/sysfs: where this process runs, read from Linux itself. It needs no library, costs nothing before the first
// query, and knows the types of hardware that the system's files describe.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "framework/base/processors.h"
#include "framework/base/small_file.h"
#include "framework/plugin/topology.h"

namespace {

struct Config {
  const char* folder;
};
constexpr ashlar_param kParams[] = {
    {"folder", "/sys/devices/system", "Where the system describes its hardware; another folder is for tests.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_ALL, ASHLAR_PARAM_FROZEN, offsetof(Config, folder), nullptr},
};
std::string folder = "/sys/devices/system";

struct Type {
  const char* name;
  const char* leaf;  // file below cpu/cpu<n>/ that lists the processors of the same instance, or ""
  int cache_level;   // > 0: the cache of this level; -1: a processor itself
};
constexpr Type kTypes[] = {{"hwloc://Machine", "", 0},
                           {"hwloc://NUMANode", "node", 0},
                           {"hwloc://Package", "topology/core_siblings_list", 0},
                           {"hwloc://L3Cache", "", 3},
                           {"hwloc://L2Cache", "", 2},
                           {"hwloc://L1Cache", "", 1},
                           {"hwloc://Core", "topology/thread_siblings_list", 0},
                           {"hwloc://PU", "", -1}};

/// What a file of that folder says; most have one line.
std::string said_in(const std::string& path) { return ashlar::small_file(folder + "/" + path); }

bool holds(const std::vector<unsigned>& list, unsigned number) {
  for (const unsigned n : list)
    if (n == number) return true;
  return false;
}

std::vector<unsigned> of_numa_node(unsigned cpu) {
  for (const unsigned node : ashlar::processors_in(said_in("node/has_cpu"))) {
    std::vector<unsigned> list = ashlar::processors_in(said_in("node/node" + std::to_string(node) + "/cpulist"));
    if (holds(list, cpu)) return list;
  }
  return {};
}

std::vector<unsigned> of_cache(unsigned cpu, int level) {
  const std::string cache = "cpu/cpu" + std::to_string(cpu) + "/cache/index";
  for (int i = 0; i < 8; ++i) {
    const std::string at = cache + std::to_string(i);
    if (std::atoi(said_in(at + "/level").c_str()) != level || said_in(at + "/type")[0] == 'I') continue;
    return ashlar::processors_in(said_in(at + "/shared_cpu_list"));
  }
  return {};
}

/// The processors of the instance that `cpu` belongs to; empty: unknown.
std::vector<unsigned> instance_around(const Type& type, unsigned cpu) {
  if (type.cache_level > 0) return of_cache(cpu, type.cache_level);
  if (type.cache_level < 0) return {cpu};
  if (std::strcmp(type.leaf, "node") == 0) return of_numa_node(cpu);
  return ashlar::processors_in(said_in("cpu/cpu" + std::to_string(cpu) + "/" + type.leaf));
}

const char* type_at(ashlar_topology*, std::uint32_t index) {
  return index < sizeof kTypes / sizeof kTypes[0] ? kTypes[index].name : nullptr;
}

std::int64_t instance(ashlar_topology*, const char* name) {
  for (const Type& type : kTypes) {
    if (std::strcmp(type.name, name) != 0) continue;
    if (&type == &kTypes[0]) return 0;
    const std::vector<unsigned> mine = ashlar::own_processors();
    if (mine.empty()) return ASHLAR_TOPOLOGY_NOT_RESTRICTED;
    const std::vector<unsigned> around = instance_around(type, mine.front());
    if (around.empty()) return ASHLAR_TOPOLOGY_NOT_RESTRICTED;
    for (const unsigned cpu : mine)
      if (!holds(around, cpu)) return ASHLAR_TOPOLOGY_NOT_RESTRICTED;
    return around.front();
  }
  return ASHLAR_TOPOLOGY_NO_SUCH_TYPE;
}

constexpr ashlar_topology_ops kOps = {.size = sizeof kOps, .type = type_at, .instance = instance, .match = nullptr};
ashlar_topology module{&kOps};

ashlar_result open(const ashlar_host*, const void* config) {
  folder = static_cast<const Config*>(config)->folder;
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = 40;
  answer->capabilities = ASHLAR_TOPOLOGY_LOCATES;
  std::snprintf(answer->reason, sizeof answer->reason, "%s shows where this process runs", folder.c_str());
}

ashlar_result create(const void*, void** out) {
  *out = &module;
  return ASHLAR_OK;
}
void destroy(void*) {}

}  // namespace

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_TOPOLOGY_FRAMEWORK,
    .name = "sysfs",
    .version = "1.0.0",
    .description = "where processes run, from the files of Linux",
    .interface_version = ASHLAR_TOPOLOGY_INTERFACE,
    .config_size = sizeof(Config),
    .param_count = sizeof kParams / sizeof kParams[0],
    .params = kParams,
    .build_id = 0,
    .open = open,
    .query = query,
    .create = create,
    .destroy = destroy,
    .close = nullptr,
};
