#pragma once
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace ashlar {

/// The numbers in a list as the system writes it, "0-3,8"; what follows the list does not count.
inline std::vector<unsigned> processors_in(const std::string& list) {
  constexpr unsigned long kMost = 65536;  // a longer range is no list of processors
  std::vector<unsigned> numbers;
  for (const char* at = list.c_str(); *at >= '0' && *at <= '9';) {
    char* end = nullptr;
    const unsigned long first = std::strtoul(at, &end, 10);
    unsigned long last = first;
    if (*end == '-') last = std::strtoul(end + 1, &end, 10);
    for (unsigned long n = first; n <= last && n - first < kMost; ++n) numbers.push_back(static_cast<unsigned>(n));
    at = *end == ',' ? end + 1 : end;
  }
  return numbers;
}

/// Bytes of a processor's second-level cache; 0: the system does not tell.
inline std::uint64_t second_level_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
#else
  return 0;
#endif
}

/// The processors that this thread may run on, in ascending order; empty: the system does not say.
inline std::vector<unsigned> own_processors() {
  std::vector<unsigned> numbers;
  // The system refuses a mask smaller than its own.
  for (std::size_t bits = 1024; bits <= std::size_t{1} << 18; bits *= 4) {
    cpu_set_t* const set = CPU_ALLOC(bits);
    const std::size_t bytes = CPU_ALLOC_SIZE(bits);
    if (set == nullptr) return numbers;
    const int rc = sched_getaffinity(0, bytes, set);
    const int error = errno;
    for (std::size_t i = 0; rc == 0 && i < bits; ++i)
      if (CPU_ISSET_S(i, bytes, set)) numbers.push_back(static_cast<unsigned>(i));
    CPU_FREE(set);
    if (rc == 0 || error != EINVAL) return numbers;
  }
  return numbers;
}

}  // namespace ashlar
