// Predefined datatypes without a constant (MPI-5.0, 6.9.4 and 19.1.9), and the search for one that has it.
#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "framework/base/failure.h"
#include "framework/datatype/api.h"
#include "framework/datatype/compile.h"
#include "framework/datatype/contents.h"
#include "framework/datatype/guarded.h"
#include "framework/datatype/layout_make.h"
#include "framework/datatype/pair_reduce.h"
#include "framework/datatype/pvars.h"
#include "framework/object/handle.h"
#include "framework/object/limit.h"

namespace ashlar::datatype {
namespace {

using What = Contents::What;

// All of these datatypes made so far. They are few: a list is enough.
struct Made {
  int combiner;
  std::uintptr_t first, second;  // the arguments
  Datatype* type;
  const Cold* cold;  // the arena is no place where leak checkers look for pointers
};
std::mutex made_mutex;
// Never destroyed: the datatypes may be used until the process is gone.
std::vector<Made>& made() {
  static auto* const list = new std::vector<Made>;
  return *list;
}

/// The one made from these arguments before, or a new one from `make`.
template <class Make>
Status once(int combiner, std::uintptr_t first, std::uintptr_t second, Datatype** out, Make&& make) {
  return guarded([&] {
    const std::lock_guard guard(made_mutex);
    for (const Made& m : made()) {
      if (m.combiner != combiner || m.first != first || m.second != second) continue;
      *out = m.type;
      return Status{};
    }
    made().reserve(made().size() + 1);
    Datatype* type = Builder::unnamed(make());
    if (!type) return object::none_left("a datatype", types_alive());
    made().push_back({combiner, first, second, type, &Builder::cold_of(*type)});
    *out = type;
    return Status{};
  });
}

const BasicRow& row_of(MPI_Datatype handle) {
  const BasicRows rows = basic_rows();
  return *std::find_if(rows.begin(), rows.end(), [&](const BasicRow& row) { return row.handle == handle; });
}

// Makes a datatype of its own, though its data has the form of `handle`: only equal arguments make equal types.
Status fortran(int combiner, int p, int r, MPI_Datatype handle, Datatype** newtype) {
  const auto first = static_cast<std::uint32_t>(p), second = static_cast<std::uint32_t>(r);
  return once(combiner, first, second, newtype, [&] {
    const BasicRow& row = row_of(handle);
    Contents c;
    c.combiner = combiner;
    if (combiner != MPI_COMBINER_F90_INTEGER) c.add(What::kInt, p);
    c.add(What::kInt, r);
    const std::uint32_t id =
        1u << 31 | (static_cast<std::uint32_t>(combiner) & 3) << 29 | (first & 0x3fff) << 15 | (second & 0x7fff);
    return Builder::Unnamed{std::move(c), row.size,          row.extent,           row.size, row.align, row.basic,
                            row.of,       Signature::of(id), make_run(0, row.size)};
  });
}

Status check_defined(int p, int r) {
  if (p != MPI_UNDEFINED || r != MPI_UNDEFINED) return {};
  return fail(MPI_ERR_ARG, "type.f90_undefined", {{"argument", "p"}, {"other", "r"}});
}

struct RealKind {
  int precision, range;  // decimal digits and exponent that a kind has at least
  MPI_Datatype real, complex;
};
// The compiler's kinds, smallest first: what SELECTED_REAL_KIND chooses.
const RealKind kReals[] = {
    {6, 37, MPI_REAL4, MPI_COMPLEX8},
    {15, 307, MPI_REAL8, MPI_COMPLEX16},
#if __LDBL_MANT_DIG__ == 64
    {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
#endif
    {33, 4931, MPI_REAL16, MPI_COMPLEX32},
};

Status real_kind(int p, int r, const RealKind** kind) {
  ASHLAR_TRY(check_defined(p, r));
  for (const RealKind& k : kReals) {
    if ((p != MPI_UNDEFINED && p > k.precision) || (r != MPI_UNDEFINED && r > k.range)) continue;
    if (row_of(k.real).size == 0) continue;
    *kind = &k;
    return {};
  }
  return fail(MPI_ERR_ARG, "type.f90_no_kind", {{"precision", p}, {"range", r}});
}

MPI_Count up(MPI_Count value, MPI_Count to) { return (value + to - 1) / to * to; }

}  // namespace

Status create_f90_real(int p, int r, Datatype** newtype) {
  const RealKind* kind = nullptr;
  ASHLAR_TRY(real_kind(p, r, &kind));
  return fortran(MPI_COMBINER_F90_REAL, p, r, kind->real, newtype);
}

Status create_f90_complex(int p, int r, Datatype** newtype) {
  const RealKind* kind = nullptr;
  ASHLAR_TRY(real_kind(p, r, &kind));
  return fortran(MPI_COMBINER_F90_COMPLEX, p, r, kind->complex, newtype);
}

Status create_f90_integer(int r, Datatype** newtype) {
  constexpr std::pair<int, std::uintptr_t> kRanges[] = {{2, 0}, {4, 1}, {9, 2}, {18, 3}, {38, 4}};
  const MPI_Datatype kinds[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16};
  if (r == MPI_UNDEFINED)
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "r"}, {"value", "MPI_UNDEFINED"}, {"wanted", "a number of decimal digits"}});
  for (const auto& [range, kind] : kRanges)
    if (r <= range) return fortran(MPI_COMBINER_F90_INTEGER, 0, r, kinds[kind], newtype);
  return fail(MPI_ERR_ARG, "type.f90_no_range", {{"argument", "r"}, {"value", r}});
}

Status match_size(int typeclass, int size, Datatype** type) {
  struct Entry {
    int typeclass;
    MPI_Datatype handle;
  };
  const Entry kEntries[] = {
      {MPI_TYPECLASS_INTEGER, MPI_INTEGER1},  {MPI_TYPECLASS_INTEGER, MPI_INTEGER2},
      {MPI_TYPECLASS_INTEGER, MPI_INTEGER4},  {MPI_TYPECLASS_INTEGER, MPI_INTEGER8},
      {MPI_TYPECLASS_INTEGER, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, MPI_REAL2},
      {MPI_TYPECLASS_REAL, MPI_REAL4},        {MPI_TYPECLASS_REAL, MPI_REAL8},
      {MPI_TYPECLASS_REAL, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX4},
      {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX8},  {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX16},
      {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL1},
      {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL2}, {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL4},
      {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL8}, {MPIX_TYPECLASS_LOGICAL, MPI_LOGICAL16},
  };
  bool known = false;
  for (const Entry& entry : kEntries) {
    if (entry.typeclass != typeclass) continue;
    known = true;
    Datatype& candidate = predefined(entry.handle);
    if (candidate.size() != size || size == 0) continue;
    *type = &candidate;
    return {};
  }
  if (!known)
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "typeclass"},
                 {"value", typeclass},
                 {"wanted", "MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL or MPI_TYPECLASS_COMPLEX"}});
  return fail(MPI_ERR_ARG, "type.no_size", {{"argument", "size"}, {"value", size}});
}

Status get_value_index(Datatype& value, Datatype& index, Datatype** pair) {
  *pair = nullptr;
  for (const BasicRow& row : basic_rows()) {
    if (row.of != BasicClass::kPair) continue;
    Datatype& named = predefined(row.handle);
    const PairParts parts = parts_of(named);
    if (parts.value != &value || parts.index != &index) continue;
    *pair = &named;
    return {};
  }
  if (!pair_reduces(value, index)) return {};
  return once(MPI_COMBINER_VALUE_INDEX, reinterpret_cast<std::uintptr_t>(&value),
              reinterpret_cast<std::uintptr_t>(&index), pair, [&] {
                Contents c;
                c.combiner = MPI_COMBINER_VALUE_INDEX;
                c.types.push_back(Ref<Datatype>::share(value));
                c.types.push_back(Ref<Datatype>::share(index));
                const auto align = std::max(value.bounds().align, index.bounds().align);
                const MPI_Count at = up(value.size(), index.bounds().align), end = at + index.size();
                RunCollector runs;
                runs.add(0, static_cast<std::size_t>(value.size()));
                runs.add(at, static_cast<std::size_t>(index.size()));
                return Builder::Unnamed{std::move(c),
                                        value.size() + index.size(),
                                        up(end, align),
                                        end,
                                        align,
                                        Basic::kPair,
                                        BasicClass::kPair,
                                        value.signature().then(index.signature()),
                                        runs.finish()};
              });
}

}  // namespace ashlar::datatype
