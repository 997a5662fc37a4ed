// Constructors with a displacement per block: the four indexed ones and struct.
#include <algorithm>

#include "framework/base/failure.h"
#include "framework/datatype/api.h"
#include "framework/datatype/contents.h"
#include "framework/datatype/guarded.h"
#include "framework/datatype/measures.h"
#include "framework/object/handle.h"

namespace ashlar::datatype {
namespace {

using What = Contents::What;

// The blocks' length(i) items start `displacement(i) * unit` bytes from the origin.
template <class Length>
Status make_indexed(Contents&& c, MPI_Count count, Length&& length, IntArray displacements, MPI_Count unit,
                    Datatype& oldtype, Datatype** newtype) {
  // One datatype throughout: the lowest and the highest item decide the bounds, the number of items the rest.
  Measures measures;
  const MPI_Count extent = oldtype.extent();
  MPI_Count items = 0, low = 0, high = 0;
  for (MPI_Count i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const MPI_Count n = length(k);
    if (n == 0) continue;
    if (n < 0)
      return fail(MPI_ERR_ARG, "argument.element",
                  {{"argument", "array_of_blocklengths"}, {"index", i}, {"value", n}, {"wanted", "0 or more"}});
    const MPI_Count at = measures.times(displacements[k], unit);
    const MPI_Count last = measures.plus(at, measures.times(n - 1, extent));
    low = items == 0 ? std::min(at, last) : std::min({low, at, last});
    high = items == 0 ? std::max(at, last) : std::max({high, at, last});
    items = measures.plus(items, n);
  }
  measures.add(oldtype, items, low, high);
  ASHLAR_TRY(measures.finish());
  c.types.push_back(Ref<Datatype>::share(oldtype));
  return Builder::make(std::move(c), measures.bounds, measures.size, measures.signature, newtype);
}

Status blocks(int combiner, MPI_Count count, IntArray blocklengths, IntArray displacements, What what, MPI_Count unit,
              Datatype& oldtype, Datatype** newtype) {
  ASHLAR_TRY(check_count(count, "count"));
  return guarded([&] {
    const auto n = static_cast<std::size_t>(count);
    Contents c;
    c.combiner = combiner;
    c.numbers.reserve(2 * n + 1);
    c.add(What::kCount, count);
    c.add(What::kCount, blocklengths, n);
    c.add(what, displacements, n);
    return make_indexed(
        std::move(c), count, [&](std::size_t i) { return blocklengths[i]; }, displacements, unit, oldtype, newtype);
  });
}

Status even_blocks(int combiner, MPI_Count count, MPI_Count blocklength, IntArray displacements, What what,
                   MPI_Count unit, Datatype& oldtype, Datatype** newtype) {
  ASHLAR_TRY(check_count(count, "count"));
  ASHLAR_TRY(check_count(blocklength, "blocklength"));
  return guarded([&] {
    const auto n = static_cast<std::size_t>(count);
    Contents c;
    c.combiner = combiner;
    c.numbers.reserve(n + 2);
    c.add(What::kCount, count);
    c.add(What::kCount, blocklength);
    c.add(what, displacements, n);
    return make_indexed(
        std::move(c), count, [&](std::size_t) { return blocklength; }, displacements, unit, oldtype, newtype);
  });
}

}  // namespace

Status indexed(MPI_Count count, IntArray blocklengths, IntArray displacements, Datatype& oldtype, Datatype** newtype) {
  return blocks(MPI_COMBINER_INDEXED, count, blocklengths, displacements, What::kCount, oldtype.extent(), oldtype,
                newtype);
}

Status create_hindexed(MPI_Count count, IntArray blocklengths, IntArray displacements, Datatype& oldtype,
                       Datatype** newtype) {
  return blocks(MPI_COMBINER_HINDEXED, count, blocklengths, displacements, What::kAddress, 1, oldtype, newtype);
}

Status create_indexed_block(MPI_Count count, MPI_Count blocklength, IntArray displacements, Datatype& oldtype,
                            Datatype** newtype) {
  return even_blocks(MPI_COMBINER_INDEXED_BLOCK, count, blocklength, displacements, What::kCount, oldtype.extent(),
                     oldtype, newtype);
}

Status create_hindexed_block(MPI_Count count, MPI_Count blocklength, IntArray displacements, Datatype& oldtype,
                             Datatype** newtype) {
  return even_blocks(MPI_COMBINER_HINDEXED_BLOCK, count, blocklength, displacements, What::kAddress, 1, oldtype,
                     newtype);
}

Status create_struct(MPI_Count count, IntArray blocklengths, IntArray displacements, const MPI_Datatype* types,
                     Datatype** newtype) {
  ASHLAR_TRY(check_count(count, "count"));
  return guarded([&] {
    const auto n = static_cast<std::size_t>(count);
    Contents c;
    c.combiner = MPI_COMBINER_STRUCT;
    c.numbers.reserve(2 * n + 1);
    c.add(What::kCount, count);
    c.add(What::kCount, blocklengths, n);
    c.add(What::kAddress, displacements, n);
    c.types.reserve(n);
    Measures measures;
    for (std::size_t i = 0; i < n; ++i) {
      Datatype* type = resolve(types[i]);
      if (!type) return fail(MPI_ERR_TYPE, "type.element_invalid", {{"argument", "array_of_types"}, {"index", i}});
      if (blocklengths[i] < 0)
        return fail(
            MPI_ERR_ARG, "argument.element",
            {{"argument", "array_of_blocklengths"}, {"index", i}, {"value", blocklengths[i]}, {"wanted", "0 or more"}});
      measures.add_row(*type, blocklengths[i], displacements[i]);
      c.types.push_back(Ref<Datatype>::share(*type));
    }
    ASHLAR_TRY(measures.finish());
    return Builder::make(std::move(c), measures.bounds, measures.size, measures.signature, newtype);
  });
}

}  // namespace ashlar::datatype
