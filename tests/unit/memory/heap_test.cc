#include "framework/memory/heap.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "framework/memory/headroom.h"
#include "framework/memory/pvars.h"
#include "framework/memory/setup.h"
#include "framework/plugin/records.h"
#include "tests/unit/memory/heap_facts.h"
#include "tests/unit/memory/in_child.h"

namespace ashlar::memory {
namespace {

std::size_t descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{}));
}

bool all_are(const void* memory, std::size_t bytes, unsigned char value) {
  const auto* const begin = static_cast<const unsigned char*>(memory);
  return std::all_of(begin, begin + bytes, [value](unsigned char b) { return b == value; });
}

TEST(HeapTest, CostsNothingUntilItIsUsed) {
  const std::size_t before = descriptors();
  const int mappings_before = mappings();
  Heap heap;
  EXPECT_EQ(heap.handle().pid, 0);
  EXPECT_STREQ(heap.refused(), "");
  EXPECT_FALSE(heap.contains(&heap, 1));
  EXPECT_FALSE(heap.contains(nullptr, 0));
  EXPECT_FALSE(heap.free(&heap));
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(mappings(), mappings_before);
  void* block = nullptr;
  ASSERT_TRUE(heap.allocate(1, 1, false, &block).ok());
  EXPECT_EQ(descriptors(), before + 1);
  EXPECT_GT(mappings(), mappings_before);
}

TEST(HeapTest, GoesAwayWithItsObject) {
  const std::size_t before = descriptors();
  const int mappings_before = mappings();
  {
    Heap heap;
    void* block = nullptr;
    ASSERT_TRUE(heap.allocate(1, 1, false, &block).ok());
  }
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(mappings(), mappings_before);
}

struct Block {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char value;
};

void allocate_at_random(Heap& heap, unsigned seed, int steps) {
  std::mt19937 random(seed);
  std::vector<Block> held;
  for (int step = 0; step < steps; ++step) {
    if (held.size() < 20 || random() % 100 < 52) {
      constexpr std::size_t kSizes[] = {64, 1000, 40'000, 300'000, 3'000'000};
      const std::size_t bytes = 1 + random() % kSizes[random() % (random() % 8 == 0 ? 5 : 3)];
      const std::size_t alignment = std::size_t{1} << random() % 14;
      const bool zeroed = random() % 2 == 0;
      void* memory = nullptr;
      ASSERT_TRUE(heap.allocate(bytes, alignment, zeroed, &memory).ok());
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u);
      ASSERT_TRUE(heap.contains(memory, bytes));
      if (zeroed) {
        ASSERT_TRUE(all_are(memory, bytes, 0)) << bytes;
      }
      held.push_back({static_cast<unsigned char*>(memory), bytes, static_cast<unsigned char>(random())});
      std::memset(memory, held.back().value, bytes);
    } else {
      const std::size_t victim = random() % held.size();
      ASSERT_TRUE(all_are(held[victim].memory, held[victim].bytes, held[victim].value)) << "blocks overlap";
      ASSERT_TRUE(heap.free(held[victim].memory));
      held[victim] = held.back();
      held.pop_back();
    }
  }
  for (const Block& block : held) {
    ASSERT_TRUE(all_are(block.memory, block.bytes, block.value)) << "blocks overlap";
    ASSERT_TRUE(heap.free(block.memory));
  }
}

TEST(HeapTest, BlocksKeepWhatIsInThem) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Heap heap;
  HeapSetup{.config = {.heap_keep = kMiB}}.apply(heap);
  allocate_at_random(heap, seed, 4000);
}

TEST(HeapTest, ThreadsShareIt) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Heap heap;
  HeapSetup{.config = {.heap_keep = 4 * kMiB}}.apply(heap);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back([&, i] { allocate_at_random(heap, seed + i, 600); });
  for (auto& thread : threads) thread.join();
}

TEST(HeapTest, AlignmentsHoldForAllSizes) {
  Heap heap;
  for (std::size_t alignment = 1; alignment <= 64 * kMiB; alignment *= 4)
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, std::size_t{100'000}, 2 * kMiB}) {
      void* memory = nullptr;
      ASSERT_TRUE(heap.allocate(bytes, alignment, false, &memory).ok()) << bytes << " at " << alignment;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u);
    }
}

TEST(HeapTest, ZeroedMemoryIsZeroWhenItWasUsedBefore) {
  Heap heap;
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{50'000}, std::size_t{500'000}, 5 * kMiB}) {
    void *first = nullptr, *second = nullptr;
    ASSERT_TRUE(heap.allocate(bytes, 64, false, &first).ok());
    std::memset(first, 7, bytes);
    ASSERT_TRUE(heap.free(first));
    ASSERT_TRUE(heap.allocate(bytes, 64, true, &second).ok());
    EXPECT_EQ(first, second) << "what was freed is not used again, so this test shows nothing";
    EXPECT_TRUE(all_are(second, bytes, 0)) << bytes;
  }
}

TEST(HeapTest, FreesOnlyWhatItGave) {
  Heap heap;
  void *small = nullptr, *large = nullptr, *other = nullptr;
  ASSERT_TRUE(heap.allocate(200, 64, false, &small).ok());
  ASSERT_TRUE(heap.allocate(kMiB, 64, false, &large).ok());
  EXPECT_FALSE(heap.free(static_cast<char*>(small) + 64));
  EXPECT_FALSE(heap.free(static_cast<char*>(large) + 4096));
  EXPECT_FALSE(heap.free(&heap));
  EXPECT_FALSE(heap.free(nullptr));
  ASSERT_TRUE(heap.allocate(64, 64, false, &other).ok());
  // The first small block lies where the pages of all small ones begin.
  EXPECT_TRUE(heap.free(small));
  EXPECT_FALSE(heap.free(small));
  EXPECT_TRUE(heap.free(large));
  EXPECT_FALSE(heap.free(large));
}

TEST(HeapTest, SaysWhichLimitWasMet) {
  void* block = nullptr;
  Heap limited;
  HeapSetup{.config = {.heap_limit = kMiB}}.apply(limited);
  ASSERT_TRUE(limited.allocate(kMiB / 2, 64, false, &block).ok());
  const Status over = limited.allocate(kMiB, 64, false, &block);
  EXPECT_EQ(over.mpi_class(), MPI_ERR_NO_MEM);
  EXPECT_NE(std::strstr(over.text(), "memory.heap_limit"), nullptr) << over.text();
  EXPECT_STREQ(limited.refused(), "") << "smaller ones still fit";
  EXPECT_TRUE(limited.allocate(1000, 64, false, &block).ok());

  Heap narrow;
  HeapSetup{.config = {.heap_reserve = 4 * kMiB}}.apply(narrow);
  EXPECT_EQ(narrow.handle().bytes, 0u);
  std::size_t blocks = 0;
  Status full;
  while ((full = narrow.allocate(kMiB / 2, 64, false, &block)).ok()) ++blocks;
  EXPECT_EQ(blocks, 7u);
  EXPECT_NE(std::strstr(full.text(), "memory.heap_reserve"), nullptr) << full.text();
  for (const std::size_t bytes : {8 * kMiB, SIZE_MAX, SIZE_MAX - 100}) {
    const Status wide = narrow.allocate(bytes, 64, false, &block);
    EXPECT_EQ(wide.mpi_class(), MPI_ERR_NO_MEM);
    EXPECT_NE(std::strstr(wide.text(), "memory.heap_reserve"), nullptr) << wide.text();
  }
  HeapSetup{.config = {.heap_reserve = 4 * kMiB, .heap_limit = 64 * kMiB}}.apply(narrow);
  const Status still = narrow.allocate(8 * kMiB, 64, false, &block);
  EXPECT_NE(std::strstr(still.text(), "memory.heap_reserve"), nullptr) << "a limit beyond it limits nothing";
}

TEST(HeapTest, RefusesWhatTheMachineDoesNotHave) {
  Heap heap;
  void* block = nullptr;
  const Status refused = heap.allocate(physical_memory() / 4 * 5, 64, false, &block);
  EXPECT_EQ(refused.mpi_class(), MPI_ERR_NO_MEM);
  EXPECT_NE(std::strstr(refused.text(), " leaves "), nullptr) << refused.text();
  EXPECT_TRUE(heap.allocate(kMiB, 64, false, &block).ok());
}

TEST(HeapTest, LargeBlocksHaveNoMemoryUntilTheyAreTouched) {
  Heap heap;
  void* block = nullptr;
  ASSERT_TRUE(heap.allocate(256 * kMiB, 64, true, &block).ok());
  EXPECT_LT(resident(heap), kMiB);
  std::memset(block, 1, 8 * kMiB);
  EXPECT_GE(resident(heap), 8 * kMiB);
  EXPECT_LT(resident(heap), 64 * kMiB);
}

TEST(HeapTest, FreedMemoryGoesBackToTheSystem) {
  Heap heap;
  HeapSetup{.config = {.heap_keep = 0}}.apply(heap);
  void* block = nullptr;
  for (const std::size_t bytes : {40'000 * sizeof(int), 16 * kMiB}) {
    ASSERT_TRUE(heap.allocate(bytes, 64, false, &block).ok());
    std::memset(block, 1, bytes);
    EXPECT_GE(resident(heap), bytes);
    ASSERT_TRUE(heap.free(block));
    EXPECT_LE(resident(heap), 8192u);
  }
  std::vector<void*> many(20'000);
  for (void*& small : many) ASSERT_TRUE(heap.allocate(300, 64, false, &small).ok());
  EXPECT_GE(resident(heap), many.size() * 300);
  std::shuffle(many.begin(), many.end(), std::mt19937(1));
  for (void* const small : many) ASSERT_TRUE(heap.free(small));
  EXPECT_LE(resident(heap), 256u * 1024) << "what small blocks were in";
}

TEST(HeapTest, KeepsNoMoreThanItMay) {
  Heap heap;
  HeapSetup{.config = {.heap_keep = 4 * kMiB}}.apply(heap);
  void* blocks[12];
  for (void*& block : blocks) {
    ASSERT_TRUE(heap.allocate(kMiB, 64, false, &block).ok());
    std::memset(block, 1, kMiB);
  }
  std::uint64_t in_use = 12 * kMiB, left = resident(heap) - in_use;
  for (void* const block : blocks) {
    ASSERT_TRUE(heap.free(block));
    in_use -= kMiB;
    left += kMiB;
    const std::uint64_t now = resident(heap) - in_use;
    EXPECT_LE(now, 4 * kMiB + 65536);
    EXPECT_GE(now, std::min(left, 2 * kMiB)) << "half of what it may keep stays";
    left = now;
  }
  void* again = nullptr;
  ASSERT_TRUE(heap.allocate(kMiB, 64, false, &again).ok());
  EXPECT_NE(std::find(blocks, blocks + 12, again), blocks + 12) << "kept memory is used first";
}

TEST(HeapTest, RecordsHowItWasMade) {
  plugin::Records records;
  Heap heap;
  HeapSetup{.config = {.heap_reserve = 128 * kMiB}, .processes = 1, .records = &records}.apply(heap);
  EXPECT_EQ(records.size(), 0u);
  void* block = nullptr;
  ASSERT_TRUE(heap.allocate(1, 1, false, &block).ok());
  ASSERT_EQ(records.of("memory").size(), 1u);
  EXPECT_EQ(records.of("memory")[0].chosen, "128MiB of address space");
  EXPECT_EQ(records.of("memory")[0].setting, "memory.heap_reserve");
  HeapSetup{}.apply(heap);
}

TEST(HeapTest, TheChildOfAForkLeavesItAlone) {
  void *block = nullptr, *later = nullptr;
  const std::uint64_t before = heap_counters.bytes.now.get();
  ASSERT_TRUE(Heap::own().allocate(100'000, 64, false, &block).ok());
  EXPECT_EQ(heap_counters.bytes.now.get(), before + 102'400);
  std::memset(block, 3, 100'000);
  const int result = in_child([&] {
    Heap& heap = Heap::own();
    void* mine = nullptr;
    const Status refused = heap.allocate(100, 64, false, &mine);
    if (refused.ok()) return wrong("the child has memory of the parent's heap");
    if (!std::strstr(refused.text(), "forked")) return wrong(refused.text());
    if (heap.contains(block, 1) || heap.handle().pid != 0) return wrong("the child offers the heap to others");
    if (!all_are(block, 100'000, 3)) return wrong("the child does not see what its parent has written");
    if (!heap.free(block)) return wrong("the child cannot free a block");
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(all_are(block, 100'000, 3));
  ASSERT_TRUE(Heap::own().allocate(100'000, 64, false, &later).ok());
  EXPECT_NE(later, block);
  EXPECT_TRUE(Heap::own().free(block));
  EXPECT_TRUE(Heap::own().free(later));
  EXPECT_EQ(heap_counters.bytes.now.get(), before);
}

}  // namespace
}  // namespace ashlar::memory
