#include <gtest/gtest.h>

#include <vector>

#include "framework/object/handle.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

struct Decoded {
  int combiner = 0;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large;
  std::vector<MPI_Datatype> types;
};

Decoded decode(Datatype& type) {
  MPI_Count i, a, l, t;
  Decoded d;
  EXPECT_TRUE(datatype::get_envelope(type, &i, &a, &l, &t, &d.combiner).ok());
  d.integers.resize(static_cast<std::size_t>(i));
  d.addresses.resize(static_cast<std::size_t>(a));
  d.large.resize(static_cast<std::size_t>(l));
  d.types.resize(static_cast<std::size_t>(t));
  EXPECT_TRUE(
      datatype::get_contents(type, i, a, l, t, d.integers.data(), d.addresses.data(), d.large.data(), d.types.data())
          .ok());
  return d;
}

TEST(Contents, OfAStruct) {
  const int lengths[] = {2, 3};
  const MPI_Aint at[] = {0, 16};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::create_struct(2, lengths, at, types, &type).ok());
  const auto keep = Ref<Datatype>::adopt(type);
  const Decoded d = decode(*type);
  EXPECT_EQ(d.combiner, MPI_COMBINER_STRUCT);
  EXPECT_EQ(d.integers, (std::vector<int>{2, 2, 3}));
  EXPECT_EQ(d.addresses, (std::vector<MPI_Aint>{0, 16}));
  EXPECT_EQ(d.types, (std::vector<MPI_Datatype>{MPI_INT, MPI_DOUBLE}));
}

TEST(Contents, OfASubarrayAndADarray) {
  const int sizes[] = {4, 5}, sub[] = {2, 3}, starts[] = {1, 2};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::create_subarray(2, sizes, sub, starts, MPI_ORDER_C, datatype::predefined(MPI_INT), &type).ok());
  auto keep = Ref<Datatype>::adopt(type);
  EXPECT_EQ(decode(*type).integers, (std::vector<int>{2, 4, 5, 2, 3, 1, 2, MPI_ORDER_C}));
  const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2},
            grid[] = {2, 3};
  ASSERT_TRUE(datatype::create_darray(6, 4, 2, sizes, kinds, arguments, grid, MPI_ORDER_FORTRAN,
                                      datatype::predefined(MPI_INT), &type)
                  .ok());
  keep = Ref<Datatype>::adopt(type);
  EXPECT_EQ(decode(*type).integers, (std::vector<int>{6, 4, 2, 4, 5, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                                      MPI_DISTRIBUTE_DFLT_DARG, 2, 2, 3, MPI_ORDER_FORTRAN}));
}

TEST(Contents, LargeCountsNeedTheLargeForm) {
  const MPI_Count lengths[] = {1, MPI_Count{1} << 33}, at[] = {0, 64};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::create_hindexed(2, lengths, at, datatype::predefined(MPI_CHAR), &type).ok());
  const auto keep = Ref<Datatype>::adopt(type);
  const Decoded d = decode(*type);
  EXPECT_EQ(d.large, (std::vector<MPI_Count>{2, 1, MPI_Count{1} << 33, 0, 64}));
  EXPECT_TRUE(d.integers.empty());
  EXPECT_TRUE(d.addresses.empty());
  MPI_Count i, a, t;
  int combiner;
  EXPECT_EQ(datatype::get_envelope(*type, &i, &a, &t, &combiner).mpi_class(), MPI_ERR_TYPE);
}

TEST(Contents, HandedOutTypesAreTheUsersToFree) {
  Datatype *inner = nullptr, *outer = nullptr;
  ASSERT_TRUE(datatype::vector(2, 1, 3, datatype::predefined(MPI_INT), &inner).ok());
  ASSERT_TRUE(datatype::commit(&inner).ok());
  ASSERT_TRUE(datatype::contiguous(2, *inner, &outer).ok());
  const MPI_Datatype handle = to_handle<MPI_Datatype>(inner);
  ASSERT_TRUE(datatype::free(&inner).ok());
  const Decoded d = decode(*outer);
  ASSERT_EQ(d.types, std::vector<MPI_Datatype>{handle});
  Datatype* again = resolve(d.types[0]);
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(again->committed());
  ASSERT_TRUE(datatype::free(&outer).ok());
  EXPECT_EQ(again->size(), 8);
  ASSERT_TRUE(datatype::free(&again).ok());
  EXPECT_EQ(resolve(handle), nullptr);
}

TEST(Contents, TooLittleRoomIsAnError) {
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::vector(2, 1, 3, datatype::predefined(MPI_INT), &type).ok());
  const auto keep = Ref<Datatype>::adopt(type);
  int integers[3];
  MPI_Datatype types[1];
  const Status st = datatype::get_contents(*type, 2, 0, 1, integers, nullptr, types);
  EXPECT_EQ(st.mpi_class(), MPI_ERR_ARG);
  EXPECT_STREQ(st.text(), "there is room for 2 integers, the datatype has 3");
}

TEST(Contents, PredefinedTypesHaveNone) {
  MPI_Count i, a, t;
  int combiner;
  ASSERT_TRUE(datatype::get_envelope(datatype::predefined(MPI_INT), &i, &a, &t, &combiner).ok());
  EXPECT_EQ(combiner, MPI_COMBINER_NAMED);
  EXPECT_EQ(datatype::get_contents(datatype::predefined(MPI_INT), 0, 0, 0, nullptr, nullptr, nullptr).mpi_class(),
            MPI_ERR_TYPE);
}

// Decoding a random datatype and calling the constructor again gives an equal datatype.
TEST(Contents, RebuildRandomDatatypes) {
  std::mt19937_64 random(11);
  for (int n = 0; n < 300; ++n) {
    const oracle::Sample sample = oracle::random_sample(random, 3);
    if (sample.type->predefined != 0) continue;
    SCOPED_TRACE(sample.text);
    Decoded d = decode(*sample.type);
    Datatype* copy = nullptr;
    Datatype& part = *resolve(d.types[0]);
    const int* v = d.integers.data();
    const MPI_Count* w = d.large.data();
    const bool large = !d.large.empty();
    const auto at = [&](std::size_t i) { return large ? IntArray(w + i) : IntArray(v + i); };
    const MPI_Count count = large ? w[0] : d.integers.empty() ? 0 : v[0];
    const auto c = static_cast<std::size_t>(count);
    Status st;
    switch (d.combiner) {
      case MPI_COMBINER_DUP:
        st = datatype::dup(part, &copy);
        break;
      case MPI_COMBINER_CONTIGUOUS:
        st = datatype::contiguous(count, part, &copy);
        break;
      case MPI_COMBINER_VECTOR:
        st = datatype::vector(count, v[1], v[2], part, &copy);
        break;
      case MPI_COMBINER_HVECTOR:
        st = datatype::create_hvector(count, v[1], d.addresses[0], part, &copy);
        break;
      case MPI_COMBINER_INDEXED:
        st = datatype::indexed(count, at(1), at(1 + c), part, &copy);
        break;
      case MPI_COMBINER_HINDEXED:
        st = datatype::create_hindexed(count, at(1), large ? at(1 + c) : IntArray(d.addresses.data()), part, &copy);
        break;
      case MPI_COMBINER_INDEXED_BLOCK:
        st = datatype::create_indexed_block(count, at(1)[0], at(2), part, &copy);
        break;
      case MPI_COMBINER_HINDEXED_BLOCK:
        st =
            datatype::create_hindexed_block(count, at(1)[0], large ? at(2) : IntArray(d.addresses.data()), part, &copy);
        break;
      case MPI_COMBINER_STRUCT:
        st = datatype::create_struct(count, at(1), large ? at(1 + c) : IntArray(d.addresses.data()), d.types.data(),
                                     &copy);
        break;
      case MPI_COMBINER_RESIZED:
        st = datatype::create_resized(part, d.addresses[0], d.addresses[1], &copy);
        break;
      case MPI_COMBINER_SUBARRAY: {
        const auto k = static_cast<std::size_t>(v[0]);
        const std::size_t first = large ? 0 : 1;
        st = datatype::create_subarray(v[0], at(first), at(first + k), at(first + 2 * k), d.integers.back(), part,
                                       &copy);
        break;
      }
      case MPI_COMBINER_DARRAY: {
        const auto k = static_cast<std::size_t>(v[2]);
        const int* rest = v + 3 + (large ? 0 : k);
        st = datatype::create_darray(v[0], v[1], v[2], large ? at(0) : at(3), rest, rest + k, rest + 2 * k,
                                     d.integers.back(), part, &copy);
        break;
      }
      default:
        FAIL() << "combiner " << d.combiner;
    }
    ASSERT_TRUE(st.ok()) << st.text();
    const oracle::Sample rebuilt{oracle::committed(copy), sample.map, "rebuilt " + sample.text};
    oracle::expect_equal(rebuilt, 2, random);
    EXPECT_EQ(copy->signature(), sample.type->signature());
    for (const MPI_Datatype handle : d.types) {
      Datatype* type = resolve(handle);
      if (type->predefined != 0) continue;
      ASSERT_TRUE(datatype::free(&type).ok());
    }
  }
}

}  // namespace
}  // namespace ashlar
