// Put and get between all kinds of layouts, against the type map.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "tests/unit/datatype/type_map.h"
#include "tests/unit/rma/updates.h"

namespace ashlar::rma {
namespace {

class CopiesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { datatype::register_predefined(); }
};

std::vector<std::byte> random_bytes(std::size_t n, std::mt19937_64& random) {
  std::vector<std::byte> bytes(n);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

/// `count` items of a datatype in memory of their own, with room around them.
struct Buffer {
  Buffer(const oracle::Sample& sample, MPI_Count items, std::mt19937_64& random)
      : Buffer(Ref<Datatype>::share(*sample.type), items, sample.map.bytes(items), random) {}
  Buffer(Ref<Datatype> of, MPI_Count items, std::vector<MPI_Count> packed_at, std::mt19937_64& random)
      : type(std::move(of)), count(items), places(std::move(packed_at)) {
    MPI_Count low = 0, high = 0;
    for (const MPI_Count at : places) {
      low = std::min(low, at);
      high = std::max(high, at + 1);
    }
    origin = static_cast<std::size_t>(-low) + 64;
    memory = random_bytes(origin + static_cast<std::size_t>(high) + 64, random);
  }
  DataView view() { return {.data = memory.data() + origin, .count = count, .type = type.get()}; }
  std::byte& at(std::size_t packed) {
    return memory[static_cast<std::size_t>(static_cast<MPI_Count>(origin) + places[packed])];
  }

  Ref<Datatype> type;
  MPI_Count count;
  std::vector<MPI_Count> places;  // of the packed bytes
  std::size_t origin = 0;
  std::vector<std::byte> memory;
};

// Both directions; memory outside the type maps does not change.
void expect_copies(Buffer& here, Buffer& there) {
  ASSERT_EQ(here.places.size(), there.places.size());
  std::vector<std::byte> wanted = there.memory;
  for (std::size_t i = 0; i < here.places.size(); ++i)
    wanted[static_cast<std::size_t>(static_cast<MPI_Count>(there.origin) + there.places[i])] = here.at(i);
  const Place place{.offset = static_cast<MPI_Aint>(there.origin), .count = there.count, .type = there.type.get()};
  put(there.memory.data(), here.view(), place);
  ASSERT_EQ(there.memory, wanted);

  std::mt19937_64 random(7);
  there.memory = random_bytes(there.memory.size(), random);
  std::vector<std::byte> wanted_here = here.memory;
  for (std::size_t i = 0; i < here.places.size(); ++i)
    wanted_here[static_cast<std::size_t>(static_cast<MPI_Count>(here.origin) + here.places[i])] = there.at(i);
  get(there.memory.data(), here.view(), place);
  ASSERT_EQ(here.memory, wanted_here);
}

oracle::Sample bytes_sample() {
  return {.type = Ref<Datatype>::share(datatype::predefined(MPI_BYTE)),
          .map = oracle::TypeMap::basic(MPI_BYTE),
          .text = "bytes"};
}

// A vector of doubles.
Buffer vector_buffer(MPI_Count count, MPI_Count block, MPI_Count stride, std::mt19937_64& random) {
  Datatype* type = nullptr;
  EXPECT_TRUE(datatype::vector(count, block, stride, datatype::predefined(MPI_DOUBLE), &type).ok());
  std::vector<MPI_Count> places;
  for (MPI_Count i = 0; i < count; ++i)
    for (MPI_Count byte = 0; byte < block * 8; ++byte) places.push_back(i * stride * 8 + byte);
  return {oracle::committed(type), 1, std::move(places), random};
}

TEST_F(CopiesTest, DenseOfEverySize) {
  std::mt19937_64 random(1);
  for (const MPI_Count n :
       {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 2047, 2048, 5000, 300000}) {
    SCOPED_TRACE(n);
    Buffer here(bytes_sample(), n, random), there(bytes_sample(), n, random);
    expect_copies(here, there);
  }
}

TEST_F(CopiesTest, LayoutAgainstDense) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    const oracle::Sample sample = oracle::random_sample(random, 3);
    std::vector<MPI_Count> places = sample.map.bytes(3);
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end()) continue;  // no target may overlap itself
    SCOPED_TRACE(sample.text);
    Buffer items(sample, 3, random), flat(bytes_sample(), 3 * sample.map.size(), random);
    ASSERT_NO_FATAL_FAILURE(expect_copies(items, flat));
    ASSERT_NO_FATAL_FAILURE(expect_copies(flat, items));
    Buffer others(sample, 3, random);
    ASSERT_NO_FATAL_FAILURE(expect_copies(items, others));
  }
}

// Runs from 8 bytes, which go through a buffer, to 4 KiB, which are walked side by side.
TEST_F(CopiesTest, LayoutAgainstAnother) {
  std::mt19937_64 random(3);
  for (const MPI_Count here_block : {1, 3, 16, 24, 512})
    for (const MPI_Count there_block : {1, 2, 16, 32, 768}) {
      SCOPED_TRACE(std::to_string(here_block) + " " + std::to_string(there_block));
      const MPI_Count elements = std::lcm(here_block, there_block) * (here_block + there_block > 8 ? 2 : 300);
      Buffer here = vector_buffer(elements / here_block, here_block, here_block + 2, random);
      Buffer there = vector_buffer(elements / there_block, there_block, there_block * 2, random);
      ASSERT_NO_FATAL_FAILURE(expect_copies(here, there));
    }
}

}  // namespace
}  // namespace ashlar::rma
