// Logical reductions of Fortran's LOGICALs for compilers whose .TRUE. is not 1: the result has the values that were
// registered (MPI_Abi_set_fortran_booleans), as a compiler may test single bits of it.
#include "framework/datatype/logical_values.h"

#include <atomic>

namespace ashlar::datatype {
namespace {

using Code = ReduceOp::Code;
__extension__ typedef unsigned __int128 Uint128;

// Other kinds than the one that was registered have the same values, extended by their sign or cut.
constinit std::atomic<std::int64_t> value_of_true{1}, value_of_false{0};

template <Code kCode>
bool result(bool a, bool b) {
  if constexpr (kCode == Code::kLand) return a && b;
  if constexpr (kCode == Code::kLor) return a || b;
  return a != b;
}

template <Code kCode, class T>
void loop(const void* va, const void* vb, void* vout, std::size_t n) {
  const T yes = static_cast<T>(value_of_true.load(std::memory_order_relaxed));
  const T no = static_cast<T>(value_of_false.load(std::memory_order_relaxed));
  const T* const a = static_cast<const T*>(va);
  const T* const b = static_cast<const T*>(vb);
  T* const out = static_cast<T*>(vout);
  for (std::size_t i = 0; i < n; ++i) out[i] = result<kCode>(a[i] != no, b[i] != no) ? yes : no;
}

void put(KernelTable& table, Code code, Basic basic, Kernel kernel) {
  // Reductions of other threads may be under way.
  __atomic_store_n(&table.kernel[static_cast<int>(code)][static_cast<int>(basic)], kernel, __ATOMIC_RELAXED);
}
template <class T>
void put_all(KernelTable& table, Basic basic) {
  put(table, Code::kLand, basic, loop<Code::kLand, T>);
  put(table, Code::kLor, basic, loop<Code::kLor, T>);
  put(table, Code::kLxor, basic, loop<Code::kLxor, T>);
}

}  // namespace

void use_logical_values(KernelTable& table) {
  if (value_of_true.load() == 1 && value_of_false.load() == 0) return;
  put_all<std::uint8_t>(table, Basic::kL8);
  put_all<std::uint16_t>(table, Basic::kL16);
  put_all<std::uint32_t>(table, Basic::kL32);
  put_all<std::uint64_t>(table, Basic::kL64);
  put_all<Uint128>(table, Basic::kL128);
}

void keep_logical_values(std::int64_t yes, std::int64_t no) {
  value_of_true.store(yes);
  value_of_false.store(no);
}

}  // namespace ashlar::datatype
