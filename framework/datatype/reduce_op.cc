#include "framework/datatype/reduce_op.h"

#include <algorithm>
#include <climits>

#include "framework/base/failure.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/fortran_sizes.h"
#include "framework/datatype/logical_values.h"
#include "framework/datatype/op_table.h"
#include "framework/datatype/pair_reduce.h"
#include "framework/datatype/pvars.h"
#include "framework/object/handle.h"
#include "framework/object/pool.h"

namespace ashlar {
namespace {

constinit Pool<ReduceOp> pool{PoolName::kOperations};
datatype::KernelTable kernels;

using Code = ReduceOp::Code;
const datatype::OpRow kRows[] = {
    {MPI_SUM, "MPI_SUM", Code::kSum},
    {MPI_MIN, "MPI_MIN", Code::kMin},
    {MPI_MAX, "MPI_MAX", Code::kMax},
    {MPI_PROD, "MPI_PROD", Code::kProd},
    {MPI_BAND, "MPI_BAND", Code::kBand},
    {MPI_BOR, "MPI_BOR", Code::kBor},
    {MPI_BXOR, "MPI_BXOR", Code::kBxor},
    {MPI_LAND, "MPI_LAND", Code::kLand},
    {MPI_LOR, "MPI_LOR", Code::kLor},
    {MPI_LXOR, "MPI_LXOR", Code::kLxor},
    {MPI_MINLOC, "MPI_MINLOC", Code::kMinloc},
    {MPI_MAXLOC, "MPI_MAXLOC", Code::kMaxloc},
    {MPI_REPLACE, "MPI_REPLACE", Code::kReplace},
    {MPI_NO_OP, "MPI_NO_OP", Code::kNoOp},
};

constexpr datatype::KernelSet kKernelSets[] = {
    {"base", [] { return true; }, datatype::fill_kernels_base},
#if defined(__x86_64__)
    {"AVX2", [] { return __builtin_cpu_supports("avx2") != 0; }, datatype::fill_kernels_avx2},
    {"AVX-512 F, BW, DQ and VL",
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
     },
     datatype::fill_kernels_avx512},
#endif
};

// What the operation takes, in words.
const char* wanted_by(Code code) {
  switch (code) {
    case Code::kMax:
    case Code::kMin:
      return "integers and floating-point numbers";
    case Code::kSum:
    case Code::kProd:
      return "integers, floating-point and complex numbers";
    case Code::kLand:
    case Code::kLor:
    case Code::kLxor:
      return "C integers, address-sized integers and logicals";
    case Code::kBand:
    case Code::kBor:
    case Code::kBxor:
      return "integers and MPI_BYTE";
    default:
      return "the predefined pairs of a value and an index";
  }
}

const char* class_name(const Datatype& type) {
  switch (type.basic_class()) {
    case BasicClass::kInteger:
      return "a C integer";
    case BasicClass::kFortranInteger:
      return "a Fortran integer";
    case BasicClass::kFloating:
      return "a floating-point number";
    case BasicClass::kLogical:
      return "a logical";
    case BasicClass::kComplex:
      return "a complex number";
    case BasicClass::kByte:
      return "an uninterpreted byte";
    case BasicClass::kMultiLanguage:
      return "an address-sized integer";
    case BasicClass::kPair:
      return "a pair of a value and an index";
    case BasicClass::kOther:
      break;
  }
  return type.basic() == Basic::kNone ? "a derived datatype" : "not a number";
}

// A kernel for LOGICALs may be replaced while another thread reduces (set_fortran_booleans).
datatype::Kernel kernel_at(Code code, Basic basic) {
  return __atomic_load_n(&kernels.kernel[static_cast<int>(code)][static_cast<int>(basic)], __ATOMIC_RELAXED);
}

// Items in one call of a user function that counts in int.
constexpr MPI_Count kCallItems = INT_MAX;

}  // namespace

const char* ReduceOp::name() const {
  for (const datatype::OpRow& row : kRows)
    if (row.code == code_) return row.name;
  return "a user-defined operation";
}

Status ReduceOp::check(const Datatype& type) const {
  if (code_ == Code::kUser || takes(type)) return {};
  return fail(MPI_ERR_OP, "op.type",
              {{"op", name()},
               {"wanted", code_ >= Code::kReplace ? "predefined datatypes" : wanted_by(code_)},
               {"type", type.described()},
               {"class", class_name(type)}});
}

void ReduceOp::apply(const void* in, void* inout, MPI_Count count, Datatype& type) const {
  apply3(in, inout, inout, count, type);
}

void ReduceOp::apply3(const void* a, const void* b, void* out, MPI_Count count, Datatype& type) const {
  if (count <= 0) return;
  switch (code_) {
    case Code::kReplace:
      if (out != a) datatype::copy_items(a, out, count, type);
      return;
    case Code::kNoOp:
      if (out != b) datatype::copy_items(b, out, count, type);
      return;
    case Code::kUser:
      break;
    default:
      if (type.basic() == Basic::kPair) return datatype::reduce_pairs(code_, type, a, b, out, count);
      kernel_at(code_, type.basic())(a, b, out, static_cast<std::size_t>(count));
      return;
  }
  if (out != b) datatype::copy_items(b, out, count, type);
  auto handle = to_handle<MPI_Datatype>(&type);
  auto* in = const_cast<char*>(static_cast<const char*>(a));
  if (wide_) {
    reinterpret_cast<MPI_User_function_c*>(function_)(in, out, &count, &handle);
    return;
  }
  auto* inout = static_cast<char*>(out);
  for (; count > 0; count -= kCallItems) {
    int now = static_cast<int>(std::min(count, kCallItems));
    reinterpret_cast<MPI_User_function*>(function_)(in, inout, &now, &handle);
    if (count <= kCallItems) return;
    in += kCallItems * type.extent();
    inout += kCallItems * type.extent();
  }
}

void destroy(ReduceOp* op) {
  if (op->predefined == 0) pool.put(op);
}

namespace datatype {

const Counter& ops_alive() { return pool.out_level(); }

OpRows op_rows() { return {kRows, sizeof kRows / sizeof *kRows}; }

ReduceOp* make_predefined_op(const OpRow& row) {
  ReduceOp* op = pool.take(row.code, row.code != Code::kReplace && row.code != Code::kNoOp, nullptr, false);
  if (op) op->predefined = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(row.handle));
  return op;
}

std::span<const KernelSet> kernel_sets() { return kKernelSets; }

void choose_kernels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  for (const KernelSet& set : kKernelSets) {
    if (set.supported()) set.fill(kernels);
  }
  use_logical_values(kernels);
}

void set_fortran_booleans(std::int64_t yes, std::int64_t no) {
  keep_logical_values(yes, no);
  use_logical_values(kernels);
}

Kernel kernel_of(ReduceOp::Code code, const Datatype& type) {
  if (code >= Code::kReplace || type.basic() == Basic::kNone || type.basic() == Basic::kPair ||
      !datatype::op_takes(code, type.basic_class()))
    return nullptr;
  return kernel_at(code, type.basic());
}

ReduceOp* make_user_op(bool commutative, ReduceOp::Function function, bool wide) {
  return pool.take(Code::kUser, commutative, function, wide);
}

}  // namespace datatype
}  // namespace ashlar
