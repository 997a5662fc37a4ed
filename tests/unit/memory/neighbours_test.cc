#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "framework/memory/heap.h"
#include "tests/unit/memory/heap_facts.h"
#include "tests/unit/memory/in_child.h"

namespace ashlar::memory {
namespace {

class NeighboursTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Heap::own().allocate(10'000, 64, true, &block_).ok());
    handle_ = Heap::own().handle();
  }
  void TearDown() override {
    EXPECT_TRUE(Heap::own().free(block_));
    forget_neighbours();
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(block_); }

  void* block_ = nullptr;
  HeapHandle handle_;
};

TEST_F(NeighboursTest, AnotherProcessReadsAndWrites) {
  std::strcpy(static_cast<char*>(block_), "from the owner");
  const int result = in_child([this] {
    const int before = mappings();
    const MappedHeap *heap = nullptr, *again = nullptr;
    if (const Status mapped = map_heap(handle_, &heap); !mapped.ok()) return wrong(mapped.text());
    if (mappings() == before) return wrong("nothing was mapped");
    if (!map_heap(handle_, &again).ok() || again != heap) return wrong("it is mapped twice");
    std::byte* const here = heap->find(address(), 10'000);
    if (!here || here == block_) return wrong("the block is not in it");
    if (std::strcmp(reinterpret_cast<char*>(here), "from the owner") != 0) return wrong("the text is another");
    std::strcpy(reinterpret_cast<char*>(here) + 5000, "from the child");
    forget_neighbours();
    return mappings() == before ? 0 : wrong("it is still mapped");
  });
  EXPECT_EQ(result, 0);
  EXPECT_STREQ(static_cast<char*>(block_) + 5000, "from the child");
}

// What the owner takes into use later is there, too.
TEST_F(NeighboursTest, LaterBlocksNeedNoMapping) {
  int to_child[2], to_parent[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(to_parent), 0);
  const pid_t child = fork();
  if (child == 0) {
    const MappedHeap* heap = nullptr;
    std::uint64_t later = 0;
    if (!map_heap(handle_, &heap).ok() || write(to_parent[1], "m", 1) != 1) _exit(1);
    if (read(to_child[0], &later, sizeof later) != sizeof later) _exit(2);
    const std::byte* const here = heap->find(later, 5'000'000);
    _exit(here && std::strcmp(reinterpret_cast<const char*>(here) + 4'000'000, "later") == 0 ? 0 : 3);
  }
  char mapped = 0;
  ASSERT_EQ(read(to_parent[0], &mapped, 1), 1);
  void* later = nullptr;
  ASSERT_TRUE(Heap::own().allocate(5'000'000, 64, false, &later).ok());
  std::strcpy(static_cast<char*>(later) + 4'000'000, "later");
  ASSERT_EQ(write(to_child[1], &later, sizeof later), static_cast<ssize_t>(sizeof later));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Heap::own().free(later));
  for (const int fd : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(fd);
}

TEST_F(NeighboursTest, TheOwnHeapIsNotMappedAgain) {
  const int before = mappings();
  const MappedHeap* heap = nullptr;
  ASSERT_TRUE(map_heap(handle_, &heap).ok());
  EXPECT_EQ(heap->find(address(), 10'000), static_cast<std::byte*>(block_));
  EXPECT_EQ(mappings(), before);
  forget_neighbours();
  EXPECT_EQ(mappings(), before);
  std::memset(block_, 1, 10'000);
}

TEST_F(NeighboursTest, WrongHandlesAreRefusedEachTime) {
  const auto refused = [](const HeapHandle& handle, const char* words) {
    for (int i = 0; i < 2; ++i) {
      const MappedHeap* heap = nullptr;
      const Status status = map_heap(handle, &heap);
      EXPECT_EQ(status.mpi_class(), MPI_ERR_OTHER);
      EXPECT_EQ(heap, nullptr);
      EXPECT_NE(std::strstr(status.text(), words), nullptr) << status.text();
    }
  };
  refused(HeapHandle{}, "it has none");
  HeapHandle other = handle_;
  other.nonce += 1;
  refused(other, "by its nonce");
  other = handle_;
  other.nonce += 2;
  other.bytes /= 2;
  refused(other, "by its size");
  other = handle_;
  other.nonce += 3;
  other.fd = 1'000'000;
  refused(other, "No such file");
  other = handle_;
  other.pid = 0x7ffffff0;
  refused(other, "No such file");
  // A pipe has no size.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  other = handle_;
  other.nonce += 4;
  other.fd = ends[1];
  refused(other, "by its size");
  close(ends[0]);
  close(ends[1]);
}

TEST(MappedHeapTest, FindsOnlyWhatLiesInIt) {
  std::byte memory[100];
  const MappedHeap heap{.base = memory, .address = 5000, .bytes = 100};
  EXPECT_EQ(heap.find(5000, 100), memory);
  EXPECT_EQ(heap.find(5099, 1), memory + 99);
  EXPECT_EQ(heap.find(4999, 1), nullptr);
  EXPECT_EQ(heap.find(5000, 101), nullptr);
  EXPECT_EQ(heap.find(5101, 0), nullptr);
  EXPECT_EQ(heap.find(5050, UINT64_MAX), nullptr);
  EXPECT_EQ(heap.find(UINT64_MAX, 1), nullptr);
}

}  // namespace
}  // namespace ashlar::memory
