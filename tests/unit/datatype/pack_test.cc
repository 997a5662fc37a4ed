// Packing beyond what the fuzzer reaches: sizes over 2^31, and the calls of the API.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "framework/datatype/data_view.h"
#include "framework/object/comm.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

// Address space without memory: only the touched pages exist.
class Vast {
 public:
  explicit Vast(std::size_t bytes)
      : bytes_(bytes),
        at_(static_cast<char*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~Vast() { munmap(at_, bytes_); }
  char* at(std::size_t offset) { return at_ + offset; }

 private:
  std::size_t bytes_;
  char* at_;
};

TEST(Pack, DisplacementsBeyondTwoGiB) {
  Vast memory(std::size_t{5} << 30);
  Datatype* type = nullptr;
  const MPI_Count far = MPI_Count{9} << 29;
  const MPI_Count at[] = {far, 0, far / 2 + 1};
  ASSERT_TRUE(datatype::create_hindexed_block(3, 4, at, datatype::predefined(MPI_CHAR), &type).ok());
  const auto keep = oracle::committed(type);
  std::memcpy(memory.at(static_cast<std::size_t>(at[0])), "far!", 4);
  std::memcpy(memory.at(0), "near", 4);
  std::memcpy(memory.at(static_cast<std::size_t>(at[2])), "half", 4);
  char packed[13] = {};
  ASSERT_EQ(datatype::pack(DataView::of(memory.at(0), 1, *type), 0, packed, 12), 12u);
  EXPECT_STREQ(packed, "far!nearhalf");
}

TEST(Pack, CountsBeyondTwoGiBStartAnywhereAtOnce) {
  // 2^32 items of one byte in eight: 32 GiB of address space, of which a few pages are touched.
  Vast memory(std::size_t{1} << 35);
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::create_resized(datatype::predefined(MPI_CHAR), 0, 8, &type).ok());
  const auto keep = oracle::committed(type);
  const MPI_Count count = MPI_Count{1} << 32;
  const std::size_t first = (std::size_t{1} << 31) + 12345;
  for (std::size_t i = 0; i < 100; ++i) *memory.at((first + i) * 8) = static_cast<char>(i + 1);
  const DataView view = DataView::of(memory.at(0), count, *type);
  EXPECT_EQ(view.bytes(), count);
  char packed[100];
  ASSERT_EQ(datatype::pack(view, first, packed, 100), 100u);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(packed[i], i + 1);
  // The last byte, and nothing behind it.
  *memory.at((static_cast<std::size_t>(count) - 1) * 8) = 'z';
  ASSERT_EQ(datatype::pack(view, static_cast<std::size_t>(count) - 1, packed, 100), 1u);
  EXPECT_EQ(packed[0], 'z');
  EXPECT_EQ(datatype::pack(view, static_cast<std::size_t>(count), packed, 100), 0u);
  // The same inside one item: a vector of 2^32 blocks.
  Datatype* rows = nullptr;
  ASSERT_TRUE(datatype::create_hvector(count, 1, 8, datatype::predefined(MPI_CHAR), &rows).ok());
  const auto keep_rows = oracle::committed(rows);
  ASSERT_EQ(datatype::pack(DataView::of(memory.at(0), 1, *rows), first, packed, 100), 100u);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(packed[i], i + 1);
  packed[0] = 'u';
  ASSERT_EQ(datatype::unpack(DataView{memory.at(0), 1, rows}, first, packed, 1), 1u);
  EXPECT_EQ(*memory.at(first * 8), 'u');
}

class PackCalls : public testing::Test {
 protected:
  Comm comm_;
};

TEST_F(PackCalls, PositionMovesAndUnpackReturns) {
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::vector(3, 1, 2, datatype::predefined(MPI_INT), &type).ok());
  const auto keep = oracle::committed(type);
  const int data[] = {1, 2, 3, 4, 5, 6};
  char buffer[32];
  MPI_Count position = 0, size;
  ASSERT_TRUE(datatype::pack_size(1, *type, comm_, &size).ok());
  EXPECT_EQ(size, 12);
  ASSERT_TRUE(datatype::pack(data, 1, *type, buffer, 32, &position, comm_).ok());
  EXPECT_EQ(position, 12);
  ASSERT_TRUE(datatype::pack(data + 1, 1, *type, buffer, 32, &position, comm_).ok());
  EXPECT_EQ(position, 24);
  Status st = datatype::pack(data, 1, *type, buffer, 32, &position, comm_);
  EXPECT_EQ(st.mpi_class(), MPI_ERR_TRUNCATE);
  EXPECT_STREQ(st.text(), "12 bytes do not fit between position 24 and the end of the output buffer (32 bytes)");
  int back[6] = {};
  position = 0;
  ASSERT_TRUE(datatype::unpack(buffer, 32, &position, back, 1, *type, comm_).ok());
  ASSERT_TRUE(datatype::unpack(buffer, 32, &position, back + 1, 1, *type, comm_).ok());
  EXPECT_EQ(position, 24);
  EXPECT_TRUE(std::equal(back, back + 6, data));
}

TEST_F(PackCalls, UncommittedIsAnError) {
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::vector(3, 1, 2, datatype::predefined(MPI_INT), &type).ok());
  const auto keep = Ref<Datatype>::adopt(type);
  int data[6] = {};
  char buffer[32];
  MPI_Count position = 0;
  const Status st = datatype::pack(data, 1, *type, buffer, 32, &position, comm_);
  EXPECT_EQ(st.mpi_class(), MPI_ERR_TYPE);
  EXPECT_STREQ(st.text(), "a vector datatype without a name is not committed (or was freed)");
}

}  // namespace
}  // namespace ashlar
