#include <gtest/gtest.h>

#include <complex>
#include <cstring>

#include "framework/datatype/api.h"
#include "framework/datatype/datatype.h"
#include "framework/object/handle.h"

namespace ashlar {
namespace {

TEST(Predefined, EveryConstantResolvesToItsObject) {
  std::size_t seen = 0;
  for (const BasicRow& row : basic_rows()) {
    Datatype* type = resolve(row.handle);
    ASSERT_NE(type, nullptr) << row.name;
    EXPECT_STREQ(type->name(), row.name);
    EXPECT_EQ(to_handle<MPI_Datatype>(type), row.handle);
    EXPECT_TRUE(type->committed());
    EXPECT_EQ(type->lb(), 0);
    EXPECT_EQ(type->size(), row.size);
    ++seen;
  }
  // Rows of the ABI's table that are datatypes, without MPI_DATATYPE_NULL; MPI_LB and MPI_UB.
  EXPECT_EQ(seen, 70u + 2u);
  EXPECT_EQ(resolve(MPI_DATATYPE_NULL), nullptr);
}

template <class T>
void expect_type(MPI_Datatype handle) {
  const Datatype& type = datatype::predefined(handle);
  EXPECT_EQ(type.size(), static_cast<MPI_Count>(sizeof(T))) << type.name();
  EXPECT_EQ(type.extent(), static_cast<MPI_Count>(sizeof(T))) << type.name();
  EXPECT_EQ(type.bounds().align, static_cast<int>(alignof(T))) << type.name();
  EXPECT_TRUE(type.dense()) << type.name();
}

TEST(Predefined, LanguageTypesHaveTheCompilersSizes) {
  expect_type<char>(MPI_CHAR);
  expect_type<short>(MPI_SHORT);
  expect_type<int>(MPI_INT);
  expect_type<long>(MPI_LONG);
  expect_type<long long>(MPI_LONG_LONG_INT);
  expect_type<unsigned long long>(MPI_UNSIGNED_LONG_LONG);
  expect_type<float>(MPI_FLOAT);
  expect_type<double>(MPI_DOUBLE);
  expect_type<long double>(MPI_LONG_DOUBLE);
  expect_type<wchar_t>(MPI_WCHAR);
  expect_type<bool>(MPI_C_BOOL);
  expect_type<bool>(MPI_CXX_BOOL);
  expect_type<std::complex<float>>(MPI_C_COMPLEX);
  expect_type<std::complex<double>>(MPI_CXX_DOUBLE_COMPLEX);
  expect_type<std::complex<long double>>(MPI_C_LONG_DOUBLE_COMPLEX);
  expect_type<MPI_Aint>(MPI_AINT);
  expect_type<MPI_Count>(MPI_COUNT);
  expect_type<MPI_Offset>(MPI_OFFSET);
  expect_type<std::int8_t>(MPI_INT8_T);
  expect_type<std::uint64_t>(MPI_UINT64_T);
}

TEST(Predefined, FortranTypesHaveTheirNamesSizes) {
  const struct {
    MPI_Datatype handle;
    MPI_Count size;
  } kRows[] = {{MPI_INTEGER1, 1}, {MPI_INTEGER2, 2},   {MPI_INTEGER4, 4},        {MPI_INTEGER8, 8}, {MPI_INTEGER16, 16},
               {MPI_REAL2, 2},    {MPI_REAL4, 4},      {MPI_REAL8, 8},           {MPI_REAL16, 16},  {MPI_COMPLEX4, 4},
               {MPI_COMPLEX8, 8}, {MPI_COMPLEX16, 16}, {MPI_COMPLEX32, 32},      {MPI_LOGICAL1, 1}, {MPI_LOGICAL16, 16},
               {MPI_INTEGER, 4},  {MPI_LOGICAL, 4},    {MPI_DOUBLE_COMPLEX, 16}, {MPI_CHARACTER, 1}};
  for (const auto& row : kRows) EXPECT_EQ(datatype::predefined(row.handle).size(), row.size);
}

template <class V, class I>
void expect_pair(MPI_Datatype handle) {
  struct Pair {
    V value;
    I index;
  };
  const Datatype& type = datatype::predefined(handle);
  EXPECT_EQ(type.size(), static_cast<MPI_Count>(sizeof(V) + sizeof(I))) << type.name();
  EXPECT_EQ(type.extent(), static_cast<MPI_Count>(sizeof(Pair))) << type.name();
  EXPECT_EQ(type.true_extent(), static_cast<MPI_Count>(offsetof(Pair, index) + sizeof(I))) << type.name();
  EXPECT_EQ(type.signature().elements, 2);
}

TEST(Predefined, PairsAreStructsOfC) {
  expect_pair<float, int>(MPI_FLOAT_INT);
  expect_pair<double, int>(MPI_DOUBLE_INT);
  expect_pair<long, int>(MPI_LONG_INT);
  expect_pair<int, int>(MPI_2INT);
  expect_pair<short, int>(MPI_SHORT_INT);
  expect_pair<long double, int>(MPI_LONG_DOUBLE_INT);
  expect_pair<float, float>(MPI_2REAL);
  expect_pair<double, double>(MPI_2DOUBLE_PRECISION);
  expect_pair<int, int>(MPI_2INTEGER);
}

TEST(Predefined, HotFieldsShareACacheLine) {
  const Datatype& type = datatype::predefined(MPI_INT);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&type) % kCacheLine, 0u);
  EXPECT_LE(sizeof(Datatype), 2 * kCacheLine);
}

TEST(Predefined, CannotBeFreed) {
  Datatype* type = &datatype::predefined(MPI_INT);
  const Status st = datatype::free(&type);
  EXPECT_EQ(st.mpi_class(), MPI_ERR_TYPE);
  EXPECT_STREQ(st.text(), "argument datatype is 'MPI_INT', which is predefined and cannot be freed");
  EXPECT_NE(type, nullptr);
}

TEST(Predefined, NamesCanBeChangedAndAreCutAtTheLimit) {
  Datatype& type = datatype::predefined(MPI_INTEGER1);
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  ASSERT_TRUE(datatype::get_name(&type, name, &length).ok());
  EXPECT_STREQ(name, "MPI_INTEGER1");
  EXPECT_EQ(length, 12);
  const std::string longest(300, 'x');
  ASSERT_TRUE(datatype::set_name(type, longest.c_str()).ok());
  ASSERT_TRUE(datatype::get_name(&type, name, &length).ok());
  EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
  ASSERT_TRUE(datatype::set_name(type, "").ok());
  EXPECT_STREQ(type.name(), "MPI_INTEGER1");
}

}  // namespace
}  // namespace ashlar
