#include "framework/datatype/compile.h"

#include <cstddef>

#include "framework/datatype/contents.h"
#include "framework/datatype/distribution.h"
#include "framework/datatype/layout_make.h"
#include "framework/object/handle.h"

namespace ashlar::datatype {
namespace {

constexpr std::size_t kSmallBlock = 64, kManyBlocks = 16;

Placed place(const Datatype& type) { return {type.origin(), LayoutRef::share(&type.layout())}; }

Placed moved(Placed part, MPI_Count by) {
  part.offset += by;
  return part;
}

// Compiles blocks of one datatype: block i has length(i) items and starts `at(i)` bytes from the origin.
template <class Length, class At>
Placed compile_blocks(std::size_t blocks, Datatype& type, Length length, At at) {
  const Placed item = place(type);
  const MPI_Count extent = type.extent();
  if (item.layout->form == Layout::Form::kEmpty) return make_empty();
  if (item.layout->form == Layout::Form::kRun && extent == static_cast<MPI_Count>(item.layout->bytes)) {
    RunCollector runs;
    const std::size_t bytes = item.layout->bytes;
    const std::ptrdiff_t offset = item.offset;
    runs.add_all(
        blocks, [=](std::size_t i) { return bytes * static_cast<std::size_t>(length(i)); },
        [=](std::size_t i) { return at(i) + offset; });
    // Many small equal blocks that touch here and there: a loop without branches beats fewer, unequal copies.
    bool joined = blocks < kManyBlocks || runs.runs() == blocks || runs.runs() * 3 < blocks ||
                  bytes * static_cast<std::size_t>(length(0)) > kSmallBlock;
    for (std::size_t i = 1; i < blocks && !joined; ++i) joined = length(i) != length(0);
    if (joined) return runs.finish();
    const Placed block = make_strided(static_cast<std::size_t>(length(0)), extent, item);
    std::vector<Placed> copies;
    copies.reserve(blocks);
    for (std::size_t i = 0; i < blocks; ++i) copies.push_back(moved(block, at(i)));
    return make_indexed(copies);
  }
  std::vector<Placed> parts;
  parts.reserve(blocks);
  Placed block;
  MPI_Count made = -1;  // block lengths often repeat
  for (std::size_t i = 0; i < blocks; ++i) {
    if (length(i) == 0) continue;
    if (length(i) != made) block = make_strided(static_cast<std::size_t>(made = length(i)), extent, item);
    parts.push_back(moved(block, at(i)));
  }
  return make_sequence(std::move(parts));
}

Placed compile_struct(const Contents& c) {
  const auto n = c.types.size();
  const MPI_Count* lengths = c.numbers.data() + 1;
  const MPI_Count* displacements = lengths + n;
  std::vector<Placed> parts;
  parts.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (lengths[i] == 0) continue;
    Datatype& type = *c.types[i];
    parts.push_back(
        moved(make_strided(static_cast<std::size_t>(lengths[i]), type.extent(), place(type)), displacements[i]));
  }
  return make_sequence(std::move(parts));
}

// The fastest dimension first; each next one repeats the plane below it.
Placed compile_subarray(const Contents& c) {
  const auto n = static_cast<std::size_t>(c.numbers[0]);
  const MPI_Count* sizes = c.numbers.data() + 1;
  const MPI_Count* subsizes = sizes + n;
  const MPI_Count* starts = subsizes + n;
  const bool fortran = c.numbers.back() == MPI_ORDER_FORTRAN;
  Placed part = place(*c.types[0]);
  MPI_Count step = c.types[0]->extent();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t d = fortran ? k : n - 1 - k;
    part = make_strided(static_cast<std::size_t>(subsizes[d]), step, std::move(part));
    part.offset += starts[d] * step;
    step *= sizes[d];
  }
  return part;
}

// Compiles one dimension after the other, as in a subarray; a dimension may end with a shorter block.
Placed compile_darray(const Contents& c) {
  const int rank = static_cast<int>(c.numbers[1]), n = static_cast<int>(c.numbers[2]);
  const MPI_Count* sizes = c.numbers.data() + 3;
  const MPI_Count *distribs = sizes + n, *arguments = distribs + n, *grid = arguments + n;
  const bool fortran = c.numbers.back() == MPI_ORDER_FORTRAN;
  Placed part = place(*c.types[0]);
  MPI_Count step = c.types[0]->extent();
  for (int k = 0; k < n; ++k) {
    const int d = fortran ? k : n - 1 - k;
    const auto mine = Distribution::of(sizes[d], static_cast<int>(distribs[d]), arguments[d], static_cast<int>(grid[d]),
                                       grid_coordinate(rank, n, grid, d));
    const auto row = [&](MPI_Count items) { return make_strided(static_cast<std::size_t>(items), step, part); };
    std::vector<Placed> parts;
    parts.push_back(moved(make_strided(static_cast<std::size_t>(mine.full), mine.period * step, row(mine.block)),
                          mine.first * step));
    parts.push_back(moved(row(mine.rest), (mine.first + mine.full * mine.period) * step));
    part = make_sequence(std::move(parts));
    step *= sizes[d];
  }
  return part;
}

}  // namespace

Placed compile_contents(const Contents& c) {
  const MPI_Count* v = c.numbers.data();
  const auto count = v ? static_cast<std::size_t>(v[0]) : 0;
  Datatype* type = c.types.empty() ? nullptr : c.types[0].get();
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return place(*type);
    case MPI_COMBINER_CONTIGUOUS:
      return make_strided(count, type->extent(), place(*type));
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
      const MPI_Count stride = c.combiner == MPI_COMBINER_VECTOR ? v[2] * type->extent() : v[2];
      return make_strided(count, stride, make_strided(static_cast<std::size_t>(v[1]), type->extent(), place(*type)));
    }
    case MPI_COMBINER_INDEXED:
      return compile_blocks(
          count, *type, [lengths = v + 1](std::size_t i) { return lengths[i]; },
          [places = v + 1 + count, extent = type->extent()](std::size_t i) { return places[i] * extent; });
    case MPI_COMBINER_HINDEXED:
      return compile_blocks(
          count, *type, [lengths = v + 1](std::size_t i) { return lengths[i]; },
          [places = v + 1 + count](std::size_t i) { return places[i]; });
    case MPI_COMBINER_INDEXED_BLOCK:
      return compile_blocks(
          count, *type, [length = v[1]](std::size_t) { return length; },
          [places = v + 2, extent = type->extent()](std::size_t i) { return places[i] * extent; });
    case MPI_COMBINER_HINDEXED_BLOCK:
      return compile_blocks(
          count, *type, [length = v[1]](std::size_t) { return length; },
          [places = v + 2](std::size_t i) { return places[i]; });
    case MPI_COMBINER_STRUCT:
      return compile_struct(c);
    case MPI_COMBINER_SUBARRAY:
      return compile_subarray(c);
    case MPI_COMBINER_DARRAY:
      return compile_darray(c);
    default:
      return make_empty();
  }
}

Placed layout_of(const BasicRow& row) {
  if (row.basic == Basic::kI16Int) {
    RunCollector runs;
    runs.add(0, sizeof(short));
    runs.add(alignof(int), sizeof(int));
    return runs.finish();
  }
  return make_run(0, row.size);
}

namespace {

struct PairHandles {
  MPI_Datatype value, index;
};

// Both handles are null when `type` is no pair.
PairHandles pair_of(MPI_Datatype handle) {
  if (handle == MPI_FLOAT_INT) return {MPI_FLOAT, MPI_INT};
  if (handle == MPI_DOUBLE_INT) return {MPI_DOUBLE, MPI_INT};
  if (handle == MPI_LONG_INT) return {MPI_LONG, MPI_INT};
  if (handle == MPI_2INT) return {MPI_INT, MPI_INT};
  if (handle == MPI_SHORT_INT) return {MPI_SHORT, MPI_INT};
  if (handle == MPI_LONG_DOUBLE_INT) return {MPI_LONG_DOUBLE, MPI_INT};
  if (handle == MPI_2REAL) return {MPI_REAL, MPI_REAL};
  if (handle == MPI_2DOUBLE_PRECISION) return {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION};
  if (handle == MPI_2INTEGER) return {MPI_INTEGER, MPI_INTEGER};
  return {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
}

}  // namespace

Signature signature_of(const BasicRow& row) {
  const auto of = [](MPI_Datatype handle) {
    return Signature::of(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle)));
  };
  if (row.size == 0) return {};
  const PairHandles pair = pair_of(row.handle);
  if (pair.value == MPI_DATATYPE_NULL) return of(row.handle);
  return of(pair.value).then(of(pair.index));
}

PairParts parts_of(const Datatype& type) {
  if (type.basic_class() != BasicClass::kPair) return {};
  if (type.basic() == Basic::kPair && type.predefined == 0) {
    const Contents& c = *Builder::contents(type);
    return {c.types[0].get(), c.types[1].get()};
  }
  const PairHandles pair = pair_of(to_handle<MPI_Datatype>(&const_cast<Datatype&>(type)));
  return {&predefined(pair.value), &predefined(pair.index)};
}

}  // namespace ashlar::datatype
