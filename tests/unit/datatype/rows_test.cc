// Rows of equal small blocks, every block size and many steps: what is read, and what is written, to the byte.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

constexpr std::size_t kPage = 4096;

// Two pages between two that cannot be touched.
class Fenced {
 public:
  Fenced() : at_(static_cast<char*>(mmap(nullptr, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(first(), 2 * kPage, PROT_READ | PROT_WRITE);
  }
  ~Fenced() { munmap(at_, 4 * kPage); }
  char* first() { return at_ + kPage; }
  char* end() { return at_ + 3 * kPage; }

 private:
  char* at_;
};

Datatype* row_of(MPI_Count count, MPI_Count bytes, MPI_Count step) {
  Datatype *block = nullptr, *row = nullptr;
  EXPECT_TRUE(datatype::contiguous(bytes, datatype::predefined(MPI_BYTE), &block).ok());
  EXPECT_TRUE(datatype::create_hvector(count, 1, step, *block, &row).ok());
  release(block);
  return row;
}

TEST(Rows, NothingBesideTheElementsIsTouched) {
  Fenced memory;
  // Every loop there is, at both ends of its sizes; none may ask for more than the elements have.
  for (const MPI_Count bytes : {1,  2,  3,  4,  5,  7,  8,   9,   12,  15,  16,   17,   24,   31,   32,   33,  40,
                                47, 48, 63, 64, 65, 96, 127, 191, 192, 193, 1000, 1023, 1024, 2047, 2048, 3001}) {
    for (const MPI_Count gap : {1, 2, 3, 4, 7, 8, 24}) {
      for (MPI_Count count = 1; count * (bytes + gap) < MPI_Count{2 * kPage} && count < 80; count += 1 + count / 8) {
        for (const bool backwards : {false, true}) {
          const MPI_Count step = bytes + gap, span = (count - 1) * step + bytes;
          SCOPED_TRACE(testing::Message() << count << " x " << bytes << " bytes, step " << (backwards ? -step : step));
          const auto type = oracle::committed(row_of(count, bytes, backwards ? -step : step));
          // The first element starts, or the last one ends, where the memory does.
          for (char* const low : {memory.first(), memory.end() - span}) {
            char* const origin = backwards ? low + (count - 1) * step : low;
            for (MPI_Count i = 0; i < span; ++i) low[i] = static_cast<char>(i * 7 + 1);
            std::vector<char> packed(static_cast<std::size_t>(count * bytes) + 16, '.'), wanted(packed);
            for (MPI_Count i = 0; i < count; ++i)
              std::memcpy(&wanted[static_cast<std::size_t>(i * bytes)], origin + (backwards ? -i : i) * step,
                          static_cast<std::size_t>(bytes));
            datatype::pack_all(origin, 1, *type, packed.data(), static_cast<std::size_t>(count * bytes));
            ASSERT_EQ(packed, wanted);

            std::vector<char> before(low, low + span);
            for (char& c : packed) c = static_cast<char>(~c);
            datatype::unpack_all(origin, 1, *type, packed.data(), static_cast<std::size_t>(count * bytes));
            for (MPI_Count i = 0; i < count; ++i)
              for (MPI_Count k = 0; k < bytes; ++k) {
                char& c = before[static_cast<std::size_t>(origin - low + (backwards ? -i : i) * step + k)];
                c = static_cast<char>(~c);
              }
            ASSERT_EQ(before, std::vector<char>(low, low + span));
          }
        }
      }
    }
  }
}

// Elements on pages of their own, in a matrix larger than a processor's cache: all, and pieces of them.
TEST(Rows, FarApart) {
  constexpr MPI_Count kElements = 700, kStep = 3 * 1024 + 8;
  std::vector<char> memory(static_cast<std::size_t>(kElements * kStep));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 31 + (i >> 10));
  for (const MPI_Count bytes : {1, 2, 4, 8, 13, 16, 24, 40, 64, 65, 3001}) {
    for (const bool backwards : {false, true}) {
      const auto type = oracle::committed(row_of(kElements, bytes, backwards ? -kStep : kStep));
      const MPI_Count first = backwards ? (kElements - 1) * kStep : 0;
      std::vector<char> packed(static_cast<std::size_t>(kElements * bytes)), wanted;
      for (MPI_Count i = 0; i < kElements; ++i) {
        const char* const from = &memory[static_cast<std::size_t>(first + (backwards ? -i : i) * kStep)];
        wanted.insert(wanted.end(), from, from + bytes);
      }
      datatype::pack_all(&memory[static_cast<std::size_t>(first)], 1, *type, packed.data(), packed.size());
      ASSERT_EQ(packed, wanted) << bytes;
      const DataView view = DataView::of(&memory[static_cast<std::size_t>(first)], 1, *type);
      for (const std::size_t piece : {packed.size() - 1, packed.size() / 2 + 3}) {
        std::fill(packed.begin(), packed.end(), '.');
        for (std::size_t done = 0; done < packed.size();)
          done += datatype::pack(view, done, &packed[done], std::min(piece, packed.size() - done));
        ASSERT_EQ(packed, wanted) << bytes << " in pieces of " << piece;
      }
      std::vector<char> back(memory.size(), '.'), spread(back);
      for (MPI_Count i = 0; i < kElements; ++i)
        std::memcpy(&spread[static_cast<std::size_t>(i * kStep)], &memory[static_cast<std::size_t>(i * kStep)],
                    static_cast<std::size_t>(bytes));
      datatype::unpack_all(&back[static_cast<std::size_t>(first)], 1, *type, packed.data(), packed.size());
      ASSERT_TRUE(back == spread) << bytes;
      std::fill(back.begin(), back.end(), '.');
      const DataView into{&back[static_cast<std::size_t>(first)], 1, &*type};
      for (std::size_t done = 0; done < packed.size();)
        done += datatype::unpack(into, done, &packed[done], std::min<std::size_t>(8192, packed.size() - done));
      ASSERT_TRUE(back == spread) << bytes << " in pieces";
    }
  }
}

// Structs of two and three members, alone and in arrays, up to the fence.
TEST(Rows, StructsUpToTheFence) {
  Fenced memory;
  const MPI_Count sizes[] = {1, 2, 4, 8, 12, 16};
  for (const MPI_Count a : sizes) {
    for (const MPI_Count b : sizes) {
      for (const MPI_Count c : {0, 1, 2, 4, 8}) {
        const MPI_Count lengths[] = {a, b, c}, at[] = {0, a + 3, a + b + 8};
        const MPI_Count end = c > 0 ? at[2] + c : at[1] + b;
        Datatype *members = nullptr, *item = nullptr;
        ASSERT_TRUE(datatype::create_hindexed(3, lengths, at, datatype::predefined(MPI_BYTE), &members).ok());
        ASSERT_TRUE(datatype::create_resized(*members, 0, end + 2, &item).ok());
        release(members);
        const auto type = oracle::committed(item);
        for (const MPI_Count count : {1, 2, 3, 4, 9, 33}) {
          const MPI_Count span = (count - 1) * (end + 2) + end;
          char* const low = memory.end() - span;
          for (MPI_Count i = 0; i < span; ++i) low[i] = static_cast<char>(i * 5 + 3);
          std::vector<char> packed(static_cast<std::size_t>(count * (a + b + c))), wanted;
          for (MPI_Count i = 0; i < count; ++i)
            for (int m = 0; m < 3; ++m) {
              const char* const from = low + i * (end + 2) + at[m];
              wanted.insert(wanted.end(), from, from + lengths[m]);
            }
          datatype::pack_all(low, count, *type, packed.data(), packed.size());
          ASSERT_EQ(packed, wanted) << a << ' ' << b << ' ' << c << " x " << count;
          std::vector<char> kept(low, low + span);
          std::memset(low, 0x55, static_cast<std::size_t>(span));
          datatype::unpack_all(low, count, *type, packed.data(), packed.size());
          for (MPI_Count i = 0; i < span; ++i) {
            bool data = false;
            for (int m = 0; m < 3; ++m) data = data || (i % (end + 2) >= at[m] && i % (end + 2) < at[m] + lengths[m]);
            ASSERT_EQ(low[i], data ? kept[static_cast<std::size_t>(i)] : 0x55) << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
