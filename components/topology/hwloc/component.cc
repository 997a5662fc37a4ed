// topology/hwloc: where this process runs, by every type of hardware that hwloc knows of this machine, dies and groups
// too, or of the one in HWLOC_SYNTHETIC or HWLOC_XMLFILE. The machine is discovered when a call first needs it.
#include <hwloc.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "framework/plugin/topology.h"

namespace {

const ashlar_host* g_host = nullptr;

struct Module {
  ashlar_topology base;
  hwloc_topology_t machine = nullptr;
  std::vector<std::string> names;       // "hwloc://Package", widest first
  std::vector<hwloc_obj_type_t> types;  // of these

  ~Module() {
    if (machine) hwloc_topology_destroy(machine);
  }
};

Module& module_of(ashlar_topology* self) { return *reinterpret_cast<Module*>(self); }

/// Processes whose cpusets differ see the same objects: those they may not use are included. Devices are left out:
/// discovering them takes long.
bool load(hwloc_topology_t* machine) {
  if (hwloc_topology_init(machine) != 0) return false;
  hwloc_topology_set_flags(*machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_io_types_filter(*machine, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(*machine) == 0) return true;
  hwloc_topology_destroy(*machine);
  *machine = nullptr;
  return false;
}

int processors_of_first(hwloc_topology_t machine, hwloc_obj_type_t type) {
  const hwloc_obj_t first = hwloc_get_obj_by_type(machine, type, 0);
  return first && first->cpuset ? hwloc_bitmap_weight(first->cpuset) : 0;
}

void list_types(Module* m) {
  std::vector<hwloc_obj_type_t> found;
  for (int t = HWLOC_OBJ_TYPE_MIN; t < HWLOC_OBJ_TYPE_MAX; ++t) {
    const auto type = static_cast<hwloc_obj_type_t>(t);
    const bool has_processors = hwloc_obj_type_is_normal(type) || type == HWLOC_OBJ_NUMANODE;
    if (has_processors && !hwloc_obj_type_is_icache(type) && hwloc_get_nbobjs_by_type(m->machine, type) > 0)
      found.push_back(type);
  }
  // By size; of the same size, by what contains what. Memory is beside the tree: right behind the machine.
  const auto depth = [m](hwloc_obj_type_t type) {
    return type == HWLOC_OBJ_NUMANODE ? 0 : hwloc_get_type_depth(m->machine, type);
  };
  std::stable_sort(found.begin(), found.end(), [&](hwloc_obj_type_t a, hwloc_obj_type_t b) {
    const int x = processors_of_first(m->machine, a), y = processors_of_first(m->machine, b);
    return x != y ? x > y : depth(a) < depth(b);
  });
  for (const hwloc_obj_type_t type : found) {
    std::string name = hwloc_obj_type_string(type);
    if (hwloc_obj_type_is_dcache(type)) name = "L" + std::to_string(type - HWLOC_OBJ_L1CACHE + 1) + "Cache";
    m->names.push_back("hwloc://" + name);
    m->types.push_back(type);
  }
}

/// The type of a name, in any spelling that hwloc takes; false: this machine has none.
bool type_of(const Module& m, const char* name, hwloc_obj_type_t* type) {
  constexpr char kScheme[] = "hwloc://";
  if (std::strncmp(name, kScheme, sizeof kScheme - 1) != 0) return false;
  for (std::size_t i = 0; i < m.names.size(); ++i) {
    if (m.names[i] != name) continue;
    *type = m.types[i];
    return true;
  }
  return hwloc_type_sscanf(name + sizeof kScheme - 1, type, nullptr, 0) == 0 &&
         hwloc_get_nbobjs_by_type(m.machine, *type) > 0;
}

const char* type_at(ashlar_topology* self, std::uint32_t index) {
  const Module& m = module_of(self);
  return index < m.names.size() ? m.names[index].c_str() : nullptr;
}

std::int64_t instance(ashlar_topology* self, const char* name) {
  const Module& m = module_of(self);
  hwloc_obj_type_t type;
  if (!type_of(m, name, &type)) return ASHLAR_TOPOLOGY_NO_SUCH_TYPE;
  if (type == HWLOC_OBJ_MACHINE) return 0;
  const hwloc_bitmap_t mine = hwloc_bitmap_alloc();
  std::int64_t number = ASHLAR_TOPOLOGY_NOT_RESTRICTED;
  // The binding of this thread: hwloc's answer for the process may be that of another thread.
  if (mine && hwloc_get_cpubind(m.machine, mine, HWLOC_CPUBIND_THREAD) == 0 && !hwloc_bitmap_iszero(mine)) {
    for (hwloc_obj_t at = hwloc_get_next_obj_by_type(m.machine, type, nullptr); at;
         at = hwloc_get_next_obj_by_type(m.machine, type, at)) {
      if (!at->cpuset || !hwloc_bitmap_isincluded(mine, at->cpuset)) continue;
      number = hwloc_bitmap_first(at->cpuset);
      break;
    }
  }
  hwloc_bitmap_free(mine);
  return number;
}

constexpr ashlar_topology_ops kOps = {.size = sizeof kOps, .type = type_at, .instance = instance, .match = nullptr};

ashlar_result open(const ashlar_host* host, const void*) {
  g_host = host;
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  if (g_host->elevated) {
    answer->priority = -1;
    std::snprintf(answer->reason, sizeof answer->reason,
                  "this program has more rights than the user who started it, and hwloc loads what the environment "
                  "names");
    return;
  }
  answer->priority = 60;
  answer->capabilities = ASHLAR_TOPOLOGY_LOCATES;
  const unsigned version = hwloc_get_api_version();
  std::snprintf(answer->reason, sizeof answer->reason, "hwloc %u.%u shows where this process runs", version >> 16,
                version >> 8 & 0xff);
}

ashlar_result create(const void*, void** out) {
  auto* const m = new (std::nothrow) Module{{&kOps}, nullptr, {}, {}};
  if (!m) return ashlar_fail_no_memory(g_host, "topology/hwloc", sizeof *m);
  if (!load(&m->machine)) {
    delete m;
    return ashlar_fail_with(g_host, ASHLAR_ERR_OTHER, "machine.unknown", nullptr, 0);
  }
  list_types(m);
  *out = m;
  return ASHLAR_OK;
}
void destroy(void* module) { delete static_cast<Module*>(module); }

}  // namespace

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_TOPOLOGY_FRAMEWORK,
    .name = "hwloc",
    .version = "1.0.0",
    .description = "where processes run, from hwloc",
    .interface_version = ASHLAR_TOPOLOGY_INTERFACE,
    .config_size = 0,
    .param_count = 0,
    .params = nullptr,
    .build_id = 0,
    .open = open,
    .query = query,
    .create = create,
    .destroy = destroy,
    .close = nullptr,
};
