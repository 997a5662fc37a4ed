// The heap where the system refuses things. Each test makes its own surroundings in a child process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "framework/base/sanitizers.h"
#include "framework/memory/heap.h"
#include "framework/memory/setup.h"
#include "tests/unit/forbid.h"
#include "tests/unit/memory/heap_facts.h"
#include "tests/unit/memory/in_child.h"

namespace ashlar::memory {
namespace {

bool limit(decltype(RLIMIT_AS) what, std::uint64_t to) {
  const rlimit value = {.rlim_cur = to, .rlim_max = to};
  return setrlimit(what, &value) == 0;
}

/// Whether blocks of all sizes can be had and written.
int works(Heap& heap) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{50'000}, 3 * kMiB}) {
    void* block = nullptr;
    if (const Status got = heap.allocate(bytes, 64, true, &block); !got.ok()) return wrong(got.text());
    std::memset(block, 1, bytes);
    if (!heap.free(block)) return wrong("a block cannot be freed");
  }
  return 0;
}

/// Whether the heap refuses, with these words.
int refuses(Heap& heap, std::size_t bytes, const char* words) {
  void* block = nullptr;
  const Status got = heap.allocate(bytes, 64, true, &block);
  if (got.ok()) return wrong("it got memory");
  return std::strstr(got.text(), words) ? 0 : wrong(got.text());
}

#define EXPECT_IN_CHILD(...)                                              \
  do {                                                                    \
    const int result_of_child = in_child(__VA_ARGS__);                    \
    if (result_of_child == kSkipped) GTEST_SKIP() << "not possible here"; \
    EXPECT_EQ(result_of_child, 0);                                        \
  } while (0)

#if !defined(ASHLAR_ASAN) && !defined(ASHLAR_TSAN)  // they need much address space themselves
std::uint64_t address_space() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages;
  return pages * 4096;
}

TEST(HostileHeapTest, ReservesLessUnderALimitOfTheAddressSpace) {
  EXPECT_IN_CHILD([] {
    if (!limit(RLIMIT_AS, address_space() + 400 * kMiB)) return kSkipped;
    Heap heap;
    HeapSetup{.config = {.heap_reserve = 64 * 1024 * kMiB}}.apply(heap);
    if (const int result = works(heap)) return result;
    const std::uint64_t bytes = heap.handle().bytes;
    return bytes >= 64 * kMiB && bytes < 400 * kMiB ? 0 : wrong(std::to_string(bytes));
  });
}

TEST(HostileHeapTest, RefusesWithoutAddressSpace) {
  EXPECT_IN_CHILD([] {
    if (!limit(RLIMIT_AS, address_space() + 30 * kMiB)) return kSkipped;
    Heap heap;
    if (const int result = refuses(heap, 100, "ulimit -v")) return result;
    if (std::strlen(heap.refused()) == 0 || heap.handle().pid != 0) return wrong("it does not say so");
    return refuses(heap, 100, "ulimit -v");
  });
}
#endif

TEST(HostileHeapTest, RefusesWhereFilesMustBeSmall) {
  EXPECT_IN_CHILD([] {
    if (!limit(RLIMIT_FSIZE, kMiB)) return kSkipped;
    Heap heap;
    return refuses(heap, 100, "ulimit -f");
  });
}

TEST(HostileHeapTest, RefusesWithoutDescriptors) {
  EXPECT_IN_CHILD([] {
    if (!limit(RLIMIT_NOFILE, 3)) return kSkipped;
    Heap heap;
    return refuses(heap, 100, "memfd_create");
  });
}

TEST(HostileHeapTest, WorksInAFileAndClaimsAllOfIt) {
  EXPECT_IN_CHILD([] {
    if (!test::forbid(SYS_memfd_create)) return kSkipped;
    Heap heap;
    if (const int result = works(heap)) return result;
    void* block = nullptr;
    if (!heap.allocate(20 * kMiB, 64, false, &block).ok()) return wrong("no block of 20 MiB");
    return resident(heap) >= 20 * kMiB ? 0 : wrong("its memory is not claimed");
  });
}

TEST(HostileHeapTest, RefusesAFileWhoseMemoryCannotBeClaimed) {
  EXPECT_IN_CHILD([] {
    if (!test::forbid(SYS_memfd_create) || !test::forbid(SYS_fallocate)) return kSkipped;
    Heap heap;
    return refuses(heap, 100, "the system refused");
  });
}

TEST(HostileHeapTest, WorksWithoutClaims) {
  EXPECT_IN_CHILD([] {
    if (!test::forbid(SYS_fallocate)) return kSkipped;
    Heap heap;
    return works(heap);
  });
}

TEST(HostileHeapTest, WorksWhereMemoryCannotBeGivenBack) {
  EXPECT_IN_CHILD([] {
    if (!test::forbid(SYS_madvise, EINVAL)) return kSkipped;
    Heap heap;
    HeapSetup{.config = {.heap_keep = 0}}.apply(heap);
    for (int i = 0; i < 3; ++i)
      if (const int result = works(heap)) return result;
    return 0;
  });
}

TEST(HostileHeapTest, TinyFileSystemsRefuseAndKillNobody) {
  EXPECT_IN_CHILD([] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kSkipped;
    for (const char* folder : {"/dev/shm", "/tmp", "/var/tmp"})
      if (mount("tmpfs", folder, "tmpfs", 0, "size=2m") != 0) return kSkipped;
    unsetenv("TMPDIR");
    if (!test::forbid(SYS_memfd_create)) return kSkipped;
    Heap heap;
    void* block = nullptr;
    if (!heap.allocate(100'000, 64, false, &block).ok()) return wrong("100 kB do not fit into 2 MiB");
    std::memset(block, 1, 100'000);
    if (const int result = refuses(heap, 8 * kMiB, "No space left")) return result;
    if (const int result = refuses(heap, 3 * kMiB, "No space left")) return result;
    return heap.allocate(100'000, 64, false, &block).ok() ? 0 : wrong("a refusal took memory away");
  });
}

TEST(HostileHeapTest, TheLimitOfAControlGroupHolds) {
  EXPECT_IN_CHILD([] {
    std::ifstream own("/proc/self/cgroup");
    std::string path;
    for (std::string line; std::getline(own, line);)
      if (const auto at = line.find(":memory:"); at != line.npos) path = "/sys/fs/cgroup/memory" + line.substr(at + 8);
    const std::string group = path + "/ashlar-heap-test-" + std::to_string(getpid());
    if (path.empty() || mkdir(group.c_str(), 0755) != 0) return kSkipped;
    const int result = in_child([&] {
      if (!(std::ofstream(group + "/memory.limit_in_bytes") << 64 * kMiB).flush()) return kSkipped;
      if (!(std::ofstream(group + "/cgroup.procs") << getpid()).flush()) return kSkipped;
      Heap heap;
      HeapSetup{.config = {.heap_reserve = 1024 * kMiB}}.apply(heap);
      if (const int result_of_small = works(heap)) return result_of_small;
      return refuses(heap, 128 * kMiB, "control group");
    });
    rmdir(group.c_str());
    return result;
  });
}

// The number may belong to a file of the program by now, which claims would make longer.
TEST(HostileHeapTest, ADescriptorThatTheProgramClosesIsNotUsed) {
  EXPECT_IN_CHILD([] {
    Heap heap;
    void *block = nullptr, *large = nullptr;
    if (!heap.allocate(100, 64, false, &block).ok()) return wrong("no block");
    if (!heap.allocate(kMiB, 64, false, &large).ok()) return wrong("no large block");
    std::memset(large, 1, kMiB);
    char name[] = "/tmp/ashlar-heap-test-XXXXXX";
    const int file = mkstemp(name);
    unlink(name);
    if (file < 0 || write(file, "text", 4) != 4) return kSkipped;
    const int number = heap.handle().fd;
    if (dup2(file, number) != number) return wrong("dup2");
    if (const int result = refuses(heap, 500'000, "closed its descriptor")) return result;
    if (!heap.free(large) || !heap.free(block)) return wrong("a block cannot be freed");
    struct stat info = {};
    fstat(file, &info);
    return info.st_size == 4 ? 0 : wrong("the program's file was changed");
  });
}

TEST(HostileHeapTest, LockedMemoryIsNotFilled) {
  EXPECT_IN_CHILD([] {
    if (mlockall(MCL_FUTURE) != 0) return kSkipped;
    Heap heap;
    void* block = nullptr;
    HeapSetup{.config = {.heap_reserve = 1024 * kMiB}}.apply(heap);
    if (!heap.allocate(100, 64, false, &block).ok()) return 0;  // ulimit -l
    return resident(heap) < 8 * kMiB ? 0 : wrong(std::to_string(resident(heap)));
  });
}

}  // namespace
}  // namespace ashlar::memory
