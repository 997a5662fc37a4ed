#include "framework/comm/hardware.h"

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace ashlar::comm {
namespace {

std::string& folder() {
  static std::string path = "/sys/devices/system";
  return path;
}

std::string line_of(const std::string& path) {
  char text[1024] = "";
  if (std::FILE* file = std::fopen((folder() + "/" + path).c_str(), "re")) {
    if (!std::fgets(text, sizeof text, file)) text[0] = '\0';
    std::fclose(file);
  }
  return text;
}

/// "0-3,8" as numbers.
std::vector<int> numbers(const std::string& list) {
  std::vector<int> result;
  for (const char* at = list.c_str(); *at >= '0' && *at <= '9';) {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    for (long n = first; n <= last && n - first < 65536; ++n) result.push_back(static_cast<int>(n));
    at = *end == ',' ? end + 1 : end;
  }
  return result;
}

bool holds(const std::vector<int>& list, int number) {
  for (const int n : list)
    if (n == number) return true;
  return false;
}

std::vector<int> of_numa_node(int cpu) {
  for (const int node : numbers(line_of("node/has_cpu"))) {
    std::vector<int> list = numbers(line_of("node/node" + std::to_string(node) + "/cpulist"));
    if (holds(list, cpu)) return list;
  }
  return {};
}

std::vector<int> of_cache(int cpu, int level) {
  const std::string cache = "cpu/cpu" + std::to_string(cpu) + "/cache/index";
  for (int i = 0; i < 8; ++i) {
    const std::string at = cache + std::to_string(i);
    if (std::atoi(line_of(at + "/level").c_str()) != level || line_of(at + "/type")[0] == 'I') continue;
    return numbers(line_of(at + "/shared_cpu_list"));
  }
  return {};
}

/// The processors of the instance that `cpu` belongs to; empty: not told.
std::vector<int> instance_around(const ResourceType& type, int cpu) {
  if (type.cache_level > 0) return of_cache(cpu, type.cache_level);
  if (type.cache_level < 0) return {cpu};
  if (std::string(type.leaf) == "node") return of_numa_node(cpu);
  return numbers(line_of("cpu/cpu" + std::to_string(cpu) + "/" + type.leaf));
}

std::vector<int> own_processors() {
  cpu_set_t set;
  std::vector<int> result;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return result;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) result.push_back(cpu);
  return result;
}

}  // namespace

void set_system_folder(const char* path) { folder() = path; }

int resource_type(const std::string& name) {
  if (name == "mpi_shared_memory") return 0;
  for (std::size_t i = 0; i < kResourceTypes.size(); ++i)
    if (name == kResourceTypes[i].name) return static_cast<int>(i);
  return -1;
}

int resource_instance(std::size_t type) {
  if (type == 0) return 0;
  const std::vector<int> mine = own_processors();
  if (mine.empty()) return -1;
  const std::vector<int> instance = instance_around(kResourceTypes[type], mine.front());
  if (instance.empty()) return -1;
  for (const int cpu : mine)
    if (!holds(instance, cpu)) return -1;
  return instance.front();
}

}  // namespace ashlar::comm
