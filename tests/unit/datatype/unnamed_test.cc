// Predefined datatypes without a constant, the search by size, and attributes on datatypes.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "framework/datatype/reduce_op.h"
#include "framework/object/handle.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

using datatype::predefined;

class Unnamed : public testing::Test {
 protected:
  Unnamed() { datatype::register_predefined(); }

  static void expect_made(Datatype& type, int combiner, const std::vector<int>& integers) {
    MPI_Count n_integers, n_addresses, n_types;
    int made_by;
    ASSERT_TRUE(datatype::get_envelope(type, &n_integers, &n_addresses, &n_types, &made_by).ok());
    EXPECT_EQ(made_by, combiner);
    ASSERT_EQ(n_integers, static_cast<MPI_Count>(integers.size()));
    EXPECT_EQ(n_addresses, 0);
    EXPECT_EQ(n_types, 0);
    std::vector<int> got(integers.size());
    ASSERT_TRUE(datatype::get_contents(type, n_integers, 0, 0, got.data(), nullptr, nullptr).ok());
    EXPECT_EQ(got, integers);
    EXPECT_TRUE(type.committed());
    EXPECT_STREQ(type.name(), "");
    Datatype* handle = &type;
    EXPECT_EQ(datatype::free(&handle).mpi_class(), MPI_ERR_TYPE);
  }
};

TEST_F(Unnamed, FortranReals) {
  struct Case {
    int p, r;
    MPI_Count size;
  };
  for (const Case& c :
       {Case{6, 37, 4}, Case{1, 1, 4}, Case{7, 37, 8}, Case{6, 38, 8}, Case{15, 307, 8}, Case{16, 307, 16},
        Case{33, 4931, 16}, Case{10, MPI_UNDEFINED, 8}, Case{MPI_UNDEFINED, 100, 8}}) {
    SCOPED_TRACE(std::to_string(c.p) + ", " + std::to_string(c.r));
    Datatype *type = nullptr, *again = nullptr, *complex = nullptr;
    ASSERT_TRUE(datatype::create_f90_real(c.p, c.r, &type).ok());
    ASSERT_TRUE(datatype::create_f90_real(c.p, c.r, &again).ok());
    EXPECT_EQ(type, again);
    EXPECT_EQ(type->size(), c.size);
    EXPECT_EQ(type->extent(), c.size);
    expect_made(*type, MPI_COMBINER_F90_REAL, {c.p, c.r});
    ASSERT_TRUE(datatype::create_f90_complex(c.p, c.r, &complex).ok());
    EXPECT_EQ(complex->size(), 2 * c.size);
    expect_made(*complex, MPI_COMBINER_F90_COMPLEX, {c.p, c.r});
    EXPECT_TRUE(datatype::predefined_op(MPI_SUM).check(*complex).ok());
    EXPECT_EQ(datatype::predefined_op(MPI_MAX).check(*complex).mpi_class(), MPI_ERR_OP);
  }
  Datatype* type = nullptr;
  EXPECT_EQ(datatype::create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type).mpi_class(), MPI_ERR_ARG);
  EXPECT_EQ(datatype::create_f90_real(40, 10, &type).mpi_class(), MPI_ERR_ARG);
  EXPECT_EQ(datatype::create_f90_complex(4, 5000, &type).mpi_class(), MPI_ERR_ARG);
}

TEST_F(Unnamed, FortranIntegers) {
  constexpr int kCases[][2] = {{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {18, 8}, {19, 16}, {38, 16}};
  for (const auto& [range, bytes] : kCases) {
    Datatype *type = nullptr, *again = nullptr;
    ASSERT_TRUE(datatype::create_f90_integer(range, &type).ok());
    ASSERT_TRUE(datatype::create_f90_integer(range, &again).ok());
    EXPECT_EQ(type, again);
    EXPECT_EQ(type->size(), bytes) << range;
    expect_made(*type, MPI_COMBINER_F90_INTEGER, {range});
  }
  Datatype *three = nullptr, *four = nullptr;
  ASSERT_TRUE(datatype::create_f90_integer(3, &three).ok());
  ASSERT_TRUE(datatype::create_f90_integer(4, &four).ok());
  EXPECT_NE(three, four) << "equal in memory, but only equal arguments match";
  EXPECT_FALSE(three->signature() == four->signature());
  EXPECT_EQ(datatype::create_f90_integer(39, &three).mpi_class(), MPI_ERR_ARG);
}

TEST_F(Unnamed, TheyMakeOthersAndReduce) {
  Datatype *real = nullptr, *row = nullptr;
  ASSERT_TRUE(datatype::create_f90_real(15, 307, &real).ok());
  ASSERT_TRUE(datatype::vector(2, 1, 2, *real, &row).ok());
  const auto keep = oracle::committed(row);
  const double in[] = {1, 2, 3};
  char packed[16];
  DataView view = DataView::of(in, 1, *row);
  EXPECT_EQ(datatype::pack(view, 0, packed, sizeof packed), 16u);
  double sum[] = {10, 20, 30};
  datatype::predefined_op(MPI_SUM).apply(in, sum, 3, *real);
  EXPECT_EQ(sum[2], 33);
}

TEST_F(Unnamed, MatchSize) {
  struct Case {
    int typeclass, size;
    MPI_Datatype handle;
  };
  for (const Case& c : {Case{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1}, Case{MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
                        Case{MPI_TYPECLASS_REAL, 4, MPI_REAL4}, Case{MPI_TYPECLASS_REAL, 8, MPI_REAL8},
                        Case{MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8}, Case{MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
                        Case{MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2}}) {
    Datatype* type = nullptr;
    ASSERT_TRUE(datatype::match_size(c.typeclass, c.size, &type).ok());
    EXPECT_EQ(type, &predefined(c.handle));
  }
  Datatype* type = nullptr;
  EXPECT_EQ(datatype::match_size(MPI_TYPECLASS_REAL, 3, &type).mpi_class(), MPI_ERR_ARG);
  EXPECT_EQ(datatype::match_size(MPI_TYPECLASS_REAL, 0, &type).mpi_class(), MPI_ERR_ARG);
  EXPECT_EQ(datatype::match_size(12345, 4, &type).mpi_class(), MPI_ERR_ARG);
}

TEST_F(Unnamed, PairsWithAName) {
  const MPI_Datatype kPairs[][3] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},     {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},       {MPI_INT, MPI_INT, MPI_2INT},
      {MPI_SHORT, MPI_INT, MPI_SHORT_INT},     {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_REAL, MPI_REAL, MPI_2REAL},         {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
      {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}};
  for (const auto& [value, index, pair] : kPairs) {
    Datatype* found = nullptr;
    ASSERT_TRUE(datatype::get_value_index(predefined(value), predefined(index), &found).ok());
    EXPECT_EQ(found, &predefined(pair));
  }
  Datatype* none = nullptr;
  EXPECT_TRUE(datatype::get_value_index(predefined(MPI_C_DOUBLE_COMPLEX), predefined(MPI_INT), &none).ok());
  EXPECT_EQ(none, nullptr);
  EXPECT_TRUE(datatype::get_value_index(predefined(MPI_INT), predefined(MPI_FLOAT), &none).ok());
  EXPECT_EQ(none, nullptr);
}

template <class V, class I>
void expect_loc(MPI_Datatype value, MPI_Datatype index) {
  SCOPED_TRACE(std::string(predefined(value).name()) + " with " + predefined(index).name());
  struct Item {
    V value;
    I index;
  };
  Datatype *type = nullptr, *again = nullptr;
  ASSERT_TRUE(datatype::get_value_index(predefined(value), predefined(index), &type).ok());
  ASSERT_TRUE(datatype::get_value_index(predefined(value), predefined(index), &again).ok());
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type, again);
  EXPECT_EQ(type->size(), static_cast<MPI_Count>(sizeof(V) + sizeof(I)));
  EXPECT_EQ(type->extent(), static_cast<MPI_Count>(sizeof(Item)));
  MPI_Count integers, addresses, types;
  int combiner;
  ASSERT_TRUE(datatype::get_envelope(*type, &integers, &addresses, &types, &combiner).ok());
  EXPECT_EQ(combiner, MPI_COMBINER_VALUE_INDEX);
  EXPECT_EQ(integers, 0);
  ASSERT_EQ(types, 2);
  MPI_Datatype parts[2];
  ASSERT_TRUE(datatype::get_contents(*type, 0, 0, 2, nullptr, nullptr, parts).ok());
  EXPECT_EQ(parts[0], value);
  EXPECT_EQ(parts[1], index);

  const Item in[] = {{V(1), I(5)}, {V(2), I(5)}, {V(2), I(3)}, {V(2), I(9)}};
  const Item other[] = {{V(2), I(4)}, {V(1), I(4)}, {V(2), I(4)}, {V(2), I(4)}};
  Item low[4], high[4];
  std::copy(other, other + 4, low);
  std::copy(other, other + 4, high);
  ASSERT_TRUE(datatype::predefined_op(MPI_MINLOC).check(*type).ok());
  datatype::predefined_op(MPI_MINLOC).apply(in, low, 4, *type);
  datatype::predefined_op(MPI_MAXLOC).apply(in, high, 4, *type);
  const Item wanted_low[] = {{V(1), I(5)}, {V(1), I(4)}, {V(2), I(3)}, {V(2), I(4)}};
  const Item wanted_high[] = {{V(2), I(4)}, {V(2), I(5)}, {V(2), I(3)}, {V(2), I(4)}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(low[i].value == wanted_low[i].value && low[i].index == wanted_low[i].index) << i;
    EXPECT_TRUE(high[i].value == wanted_high[i].value && high[i].index == wanted_high[i].index) << i;
  }
}

TEST_F(Unnamed, PairsWithoutAName) {
  expect_loc<double, std::int64_t>(MPI_DOUBLE, MPI_INT64_T);
  expect_loc<float, long>(MPI_FLOAT, MPI_LONG);
  expect_loc<signed char, long>(MPI_SIGNED_CHAR, MPI_LONG);
  expect_loc<std::uint64_t, unsigned char>(MPI_UINT64_T, MPI_UNSIGNED_CHAR);
  expect_loc<long double, std::uint16_t>(MPI_LONG_DOUBLE, MPI_UINT16_T);
  expect_loc<int, MPI_Count>(MPI_INT, MPI_COUNT);
  expect_loc<std::int16_t, std::int16_t>(MPI_INTEGER2, MPI_INTEGER2);
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::get_value_index(predefined(MPI_DOUBLE), predefined(MPI_INT64_T), &type).ok());
  EXPECT_EQ(datatype::predefined_op(MPI_SUM).check(*type).mpi_class(), MPI_ERR_OP);
  Datatype* handle = type;
  EXPECT_EQ(datatype::free(&handle).mpi_class(), MPI_ERR_TYPE);
}

// --- attributes -----------------------------------------------------------------------------------------------------

struct Calls {
  int copies = 0, deletes = 0, fail = MPI_SUCCESS;
  void* last = nullptr;
};

int on_copy(MPI_Datatype, int, void* extra, void* in, void* out, int* flag) {
  auto& calls = *static_cast<Calls*>(extra);
  ++calls.copies;
  *static_cast<void**>(out) = static_cast<char*>(in) + 1;
  *flag = 1;
  return calls.fail;
}
int on_delete(MPI_Datatype, int, void* value, void* extra) {
  auto& calls = *static_cast<Calls*>(extra);
  ++calls.deletes;
  calls.last = value;
  return calls.fail;
}

class TypeAttributes : public Unnamed {
 protected:
  static void* get(Datatype& type, int key) {
    void* value = nullptr;
    int flag = 0;
    EXPECT_TRUE(datatype::get_attr(type, key, static_cast<void*>(&value), &flag).ok());
    return flag ? value : nullptr;
  }
  char data_[4] = {};
};

TEST_F(TypeAttributes, FollowDuplicationAndEndWithTheHandle) {
  Calls calls;
  int key = 0, dup_key = 0, null_key = 0;
  ASSERT_TRUE(datatype::create_keyval(on_copy, on_delete, &key, &calls).ok());
  ASSERT_TRUE(datatype::create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &dup_key, nullptr).ok());
  ASSERT_TRUE(datatype::create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &null_key, nullptr).ok());
  Datatype *type = nullptr, *copy = nullptr;
  ASSERT_TRUE(datatype::contiguous(2, predefined(MPI_INT), &type).ok());
  EXPECT_EQ(get(*type, key), nullptr);
  for (const int k : {key, dup_key, null_key}) ASSERT_TRUE(datatype::set_attr(*type, k, data_).ok());
  ASSERT_TRUE(datatype::dup(*type, &copy).ok());
  EXPECT_EQ(calls.copies, 1);
  EXPECT_EQ(get(*copy, key), data_ + 1);
  EXPECT_EQ(get(*copy, dup_key), data_);
  EXPECT_EQ(get(*copy, null_key), nullptr);
  ASSERT_TRUE(datatype::set_attr(*copy, key, data_ + 2).ok());  // the old value goes
  EXPECT_EQ(calls.deletes, 1);
  EXPECT_EQ(calls.last, data_ + 1);

  // A delete function that fails keeps the datatype.
  calls.fail = MPI_ERR_OTHER;
  EXPECT_EQ(datatype::free(&copy).mpi_class(), MPI_ERR_OTHER);
  ASSERT_NE(copy, nullptr);
  calls.fail = MPI_SUCCESS;
  ASSERT_TRUE(datatype::free(&copy).ok());
  EXPECT_EQ(calls.last, data_ + 2);

  // A copy function that fails ends the duplication.
  calls.fail = MPI_ERR_INTERN;
  EXPECT_EQ(datatype::dup(*type, &copy).mpi_class(), MPI_ERR_INTERN);
  EXPECT_EQ(copy, nullptr);
  calls.fail = MPI_SUCCESS;

  // A freed key lives on where it is attached.
  const int old = key;
  ASSERT_TRUE(datatype::free_keyval(&key).ok());
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
  EXPECT_EQ(get(*type, old), data_);
  ASSERT_TRUE(datatype::delete_attr(*type, old).ok());
  EXPECT_EQ(calls.last, data_);
  ASSERT_TRUE(datatype::free(&type).ok());
  ASSERT_TRUE(datatype::free_keyval(&dup_key).ok());
  ASSERT_TRUE(datatype::free_keyval(&null_key).ok());
}

TEST_F(TypeAttributes, WrongKeysAreErrors) {
  Datatype& type = predefined(MPI_INT);
  void* value = nullptr;
  int flag = 0, key = 0;
  EXPECT_EQ(datatype::set_attr(type, MPI_KEYVAL_INVALID, nullptr).mpi_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(datatype::get_attr(type, MPI_TAG_UB, static_cast<void*>(&value), &flag).mpi_class(), MPI_ERR_KEYVAL);
  ASSERT_TRUE(datatype::create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr).ok());
  EXPECT_EQ(datatype::delete_attr(type, key).mpi_class(), MPI_ERR_KEYVAL);
  ASSERT_TRUE(datatype::set_attr(type, key, &flag).ok());  // predefined datatypes have attributes too
  EXPECT_EQ(get(type, key), &flag);
  ASSERT_TRUE(datatype::delete_attr(type, key).ok());
  ASSERT_TRUE(datatype::free_keyval(&key).ok());
}

}  // namespace
}  // namespace ashlar
