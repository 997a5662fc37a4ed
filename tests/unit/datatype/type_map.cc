#include "tests/unit/datatype/type_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "framework/object/handle.h"

namespace ashlar::oracle {
namespace {

class Registered : public testing::Environment {
  void SetUp() override { datatype::register_predefined(); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new Registered);

}  // namespace

TypeMap TypeMap::basic(MPI_Datatype handle) {
  const Datatype& type = datatype::predefined(handle);
  TypeMap map;
  map.elements.push_back({0, type.size(), type.bounds().align, handle});
  return map;
}

void TypeMap::append(const TypeMap& other, MPI_Count displacement) {
  for (const Element& e : other.elements) elements.push_back({e.displacement + displacement, e.size, e.align, e.basic});
  for (MPI_Count m : other.lb_marks) lb_marks.push_back(m + displacement);
  for (MPI_Count m : other.ub_marks) ub_marks.push_back(m + displacement);
}

MPI_Count TypeMap::size() const {
  MPI_Count sum = 0;
  for (const Element& e : elements) sum += e.size;
  return sum;
}
MPI_Count TypeMap::true_lb() const {
  if (elements.empty()) return 0;
  return std::min_element(elements.begin(), elements.end(),
                          [](auto& a, auto& b) { return a.displacement < b.displacement; })
      ->displacement;
}
MPI_Count TypeMap::true_ub() const {
  if (elements.empty()) return 0;
  MPI_Count high = elements[0].displacement + elements[0].size;
  for (const Element& e : elements) high = std::max(high, e.displacement + e.size);
  return high;
}
MPI_Count TypeMap::lb() const {
  return lb_marks.empty() ? true_lb() : *std::min_element(lb_marks.begin(), lb_marks.end());
}
MPI_Count TypeMap::ub() const {
  if (!ub_marks.empty()) return *std::max_element(ub_marks.begin(), ub_marks.end());
  if (elements.empty()) return lb();
  MPI_Count align = 1;
  for (const Element& e : elements) align = std::max(align, e.align);
  MPI_Count high = true_ub();
  while ((high - lb()) % align != 0) ++high;
  return high;
}
std::vector<MPI_Count> TypeMap::bytes(MPI_Count count) const {
  std::vector<MPI_Count> result;
  for (MPI_Count i = 0; i < count; ++i)
    for (const Element& e : elements)
      for (MPI_Count b = 0; b < e.size; ++b) result.push_back(i * extent() + e.displacement + b);
  return result;
}

TypeMap contiguous(MPI_Count count, const TypeMap& old) {
  TypeMap map;
  for (MPI_Count i = 0; i < count; ++i) map.append(old, i * old.extent());
  return map;
}
TypeMap hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, const TypeMap& old) {
  TypeMap map;
  for (MPI_Count i = 0; i < count; ++i)
    for (MPI_Count k = 0; k < blocklength; ++k) map.append(old, i * stride + k * old.extent());
  return map;
}
TypeMap hindexed(const std::vector<MPI_Count>& lengths, const std::vector<MPI_Count>& displacements,
                 const TypeMap& old) {
  return structure(lengths, displacements, std::vector<TypeMap>(lengths.size(), old));
}
TypeMap structure(const std::vector<MPI_Count>& lengths, const std::vector<MPI_Count>& displacements,
                  const std::vector<TypeMap>& old) {
  TypeMap map;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (MPI_Count k = 0; k < lengths[i]; ++k) map.append(old[i], displacements[i] + k * old[i].extent());
  return map;
}
TypeMap resized(const TypeMap& old, MPI_Count lb, MPI_Count extent) {
  TypeMap map = old;
  map.lb_marks = {lb};
  map.ub_marks = {lb + extent};
  return map;
}

namespace {

// Visits all indices of an array in memory order and keeps those that `wanted` says, as elements of the big array.
template <class Wanted>
TypeMap pick(const std::vector<MPI_Count>& sizes, bool fortran, const TypeMap& old, Wanted&& wanted) {
  TypeMap map;
  MPI_Count total = 1;
  for (MPI_Count s : sizes) total *= s;
  std::vector<MPI_Count> index(sizes.size());
  for (MPI_Count flat = 0; flat < total; ++flat) {
    MPI_Count rest = flat;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const std::size_t d = fortran ? k : sizes.size() - 1 - k;
      index[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    if (wanted(index)) map.append(old, flat * old.extent());
  }
  return resized(map, 0, total * old.extent());
}

}  // namespace

TypeMap subarray(const std::vector<MPI_Count>& sizes, const std::vector<MPI_Count>& subsizes,
                 const std::vector<MPI_Count>& starts, bool fortran, const TypeMap& old) {
  return pick(sizes, fortran, old, [&](const std::vector<MPI_Count>& index) {
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (index[d] < starts[d] || index[d] >= starts[d] + subsizes[d]) return false;
    return true;
  });
}

TypeMap darray(int rank, const std::vector<MPI_Count>& sizes, const std::vector<int>& kinds,
               const std::vector<int>& arguments, const std::vector<int>& grid, bool fortran, const TypeMap& old) {
  return pick(sizes, fortran, old, [&](const std::vector<MPI_Count>& index) {
    int owner = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      int coordinate = 0;
      if (kinds[d] != MPI_DISTRIBUTE_NONE) {
        MPI_Count block = arguments[d];
        if (block == MPI_DISTRIBUTE_DFLT_DARG)
          block = kinds[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[d] + grid[d] - 1) / grid[d];
        coordinate = static_cast<int>(index[d] / block % grid[d]);
      }
      owner = owner * grid[d] + coordinate;
    }
    return owner == rank;
  });
}

Ref<Datatype> committed(Datatype* type) {
  EXPECT_TRUE(datatype::commit(&type).ok());
  return Ref<Datatype>::adopt(type);
}

void expect_equal(const Sample& sample, MPI_Count count, std::mt19937_64& random) {
  SCOPED_TRACE(sample.text + " x " + std::to_string(count));
  Datatype& type = *sample.type;
  const TypeMap& map = sample.map;
  ASSERT_EQ(type.size(), map.size());
  ASSERT_EQ(type.lb(), map.lb());
  ASSERT_EQ(type.extent(), map.extent());
  ASSERT_EQ(type.true_lb(), map.true_lb());
  ASSERT_EQ(type.true_extent(), map.true_ub() - map.true_lb());
  ASSERT_EQ(type.signature().elements, static_cast<MPI_Count>(map.elements.size()));

  const std::vector<MPI_Count> at = map.bytes(count);
  const std::size_t total = at.size();
  if (total == 0) {
    char none;
    EXPECT_EQ(datatype::pack(DataView::of(nullptr, count, type), 0, &none, 1), 0u);
    return;
  }
  // Memory exactly as large as the data spans: the sanitizers see a byte too far.
  const auto [low, high] = std::minmax_element(at.begin(), at.end());
  std::vector<char> memory(static_cast<std::size_t>(*high - *low + 1));
  for (char& c : memory) c = static_cast<char>(random());
  char* origin = memory.data() - *low;
  std::vector<char> expected(total);
  for (std::size_t i = 0; i < total; ++i) expected[i] = origin[at[i]];

  const DataView view = DataView::of(origin, count, type);
  ASSERT_EQ(view.bytes(), static_cast<MPI_Count>(total));
  std::vector<char> packed(total);
  ASSERT_EQ(datatype::pack(view, 0, packed.data(), total), total);
  ASSERT_EQ(packed, expected);

  // Random pieces, each into a buffer of its own length.
  for (std::size_t done = 0; done < total;) {
    std::vector<char> piece(1 + random() % (random() % 4 == 0 ? total : 64));
    const std::size_t n = datatype::pack(view, done, piece.data(), piece.size());
    ASSERT_EQ(n, std::min(piece.size(), total - done));
    ASSERT_TRUE(std::equal(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n),
                           expected.begin() + static_cast<std::ptrdiff_t>(done)))
        << "piece at " << done << ", " << n << " bytes";
    done += n;
  }

  // Runs cover the stream in order, wherever they start, and are never empty.
  const std::size_t first = random() % total;
  for (std::size_t done = first; done < total;) {
    iovec list[5];
    const std::size_t n = datatype::runs(view, done, 1 + random() % 5, list);
    ASSERT_GT(n, 0u);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_GT(list[i].iov_len, 0u);
      for (std::size_t b = 0; b < list[i].iov_len; ++b, ++done)
        ASSERT_EQ(static_cast<char*>(list[i].iov_base) + b, origin + at[done]) << "packed byte " << done;
    }
  }

  // Receiving: no byte twice, so only where the map does not overlap itself.
  if (std::set<MPI_Count>(at.begin(), at.end()).size() != total) return;
  std::vector<char> target(memory.size(), '#'), wanted = target;
  for (std::size_t i = 0; i < total; ++i) (wanted.data() - *low)[at[i]] = expected[i];
  const DataView out{target.data() - *low, count, &type};
  ASSERT_EQ(datatype::unpack(out, 0, expected.data(), total), total);
  ASSERT_EQ(target, wanted);
  std::fill(target.begin(), target.end(), '#');
  for (std::size_t done = 0; done < total;) {
    const std::size_t length = std::min(total - done, std::size_t{1 + random() % (random() % 4 == 0 ? total : 64)});
    const std::vector<char> piece(expected.begin() + static_cast<std::ptrdiff_t>(done),
                                  expected.begin() + static_cast<std::ptrdiff_t>(done + length));
    ASSERT_EQ(datatype::unpack(out, done, piece.data(), length), length);
    done += length;
  }
  ASSERT_EQ(target, wanted);
  std::fill(target.begin(), target.end(), '#');
  datatype::copy_items(origin, target.data() - *low, count, type);
  ASSERT_EQ(target, wanted);
}

namespace {

// Draws datatypes. Each step takes the datatypes made so far as material, so that nests and shared parts arise.
class Generator {
 public:
  explicit Generator(std::mt19937_64& random) : random_(random) {}

  Sample make(int depth) {
    if (depth == 0 || pick(8) == 0) return basic();
    Sample old = make(depth - 1);
    // Keep the maps small enough to interpret.
    const bool small = old.map.elements.size() < 300;
    switch (small ? pick(9) : 7 + pick(2)) {
      case 0:
        return contiguous_of(old);
      case 1:
      case 2:
        return vector_of(old);
      case 3:
      case 4:
        return indexed_of(old);
      case 5:
        return struct_of(old, depth);
      case 6:
        return pick(2) ? subarray_of(old) : darray_of(old);
      case 7:
        return resized_of(old);
      default:
        return dup_of(old);
    }
  }

 private:
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  MPI_Count number(MPI_Count low, MPI_Count high) {
    return low + static_cast<MPI_Count>(pick(static_cast<std::uint64_t>(high - low + 1)));
  }
  Sample done(Status status, Datatype* type, TypeMap map, std::string text) {
    EXPECT_TRUE(status.ok()) << text << ": " << status.text();
    if (!status.ok()) return basic();
    return {Ref<Datatype>::adopt(type), std::move(map), std::move(text)};
  }

  Sample basic() {
    static const MPI_Datatype kTypes[] = {MPI_CHAR,   MPI_SHORT,       MPI_INT,
                                          MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_DOUBLE_COMPLEX,
                                          MPI_BYTE,   MPI_FLOAT,       MPI_INT64_T};
    const MPI_Datatype handle = kTypes[pick(sizeof kTypes / sizeof *kTypes)];
    Datatype& type = datatype::predefined(handle);
    return {Ref<Datatype>::share(type), TypeMap::basic(handle), type.name()};
  }

  Sample contiguous_of(Sample& old) {
    const MPI_Count n = number(0, 6);
    Datatype* type = nullptr;
    const Status st = datatype::contiguous(n, *old.type, &type);
    return done(st, type, contiguous(n, old.map), "contiguous(" + std::to_string(n) + ", " + old.text + ")");
  }

  Sample vector_of(Sample& old) {
    const MPI_Count n = pick(4) == 0 && old.map.elements.size() < 30 ? number(0, 70) : number(0, 6),
                    length = number(0, 3);
    MPI_Count stride = number(-6, 8);
    Datatype* type = nullptr;
    std::string text = std::to_string(n) + ", " + std::to_string(length) + ", " + std::to_string(stride);
    if (pick(2)) {
      const Status st = datatype::vector(n, length, stride, *old.type, &type);
      return done(st, type, hvector(n, length, stride * old.map.extent(), old.map),
                  "vector(" + text + ", " + old.text + ")");
    }
    stride *= 1 + static_cast<MPI_Count>(pick(20));
    const Status st = datatype::create_hvector(n, length, stride, *old.type, &type);
    return done(st, type, hvector(n, length, stride, old.map),
                "hvector(" + text + " -> " + std::to_string(stride) + ", " + old.text + ")");
  }

  Sample indexed_of(Sample& old) {
    const auto n =
        static_cast<std::size_t>(pick(3) == 0 && old.map.elements.size() < 30 ? number(0, 60) : number(0, 5));
    std::vector<MPI_Count> lengths(n), displacements(n);
    const MPI_Count same = number(0, 3);
    const bool even = pick(2) == 0, in_bytes = pick(2) == 0, forward = pick(3) != 0;
    const MPI_Count unit = in_bytes ? 1 : old.map.extent();
    MPI_Count at = number(-9, 9);
    std::string text = even ? "even " : "";
    std::vector<int> narrow_lengths, narrow_displacements;
    for (std::size_t i = 0; i < n; ++i) {
      lengths[i] = even ? same : number(0, 3);
      displacements[i] = forward ? at : number(-40, 40);
      at += (in_bytes ? lengths[i] * old.map.extent() : lengths[i]) + number(0, 3);
      text += "[" + std::to_string(lengths[i]) + "@" + std::to_string(displacements[i]) + "]";
      narrow_lengths.push_back(static_cast<int>(lengths[i]));
      narrow_displacements.push_back(static_cast<int>(displacements[i]));
    }
    std::vector<MPI_Count> bytes(n);
    for (std::size_t i = 0; i < n; ++i) bytes[i] = displacements[i] * unit;
    const bool wide = pick(2) == 0;
    const IntArray l = wide ? IntArray(lengths.data()) : IntArray(narrow_lengths.data());
    const IntArray d = wide ? IntArray(displacements.data()) : IntArray(narrow_displacements.data());
    const auto count = static_cast<MPI_Count>(n);
    Datatype* type = nullptr;
    Status st;
    if (even && in_bytes) {
      st = datatype::create_hindexed_block(count, same, d, *old.type, &type);
    } else if (even) {
      st = datatype::create_indexed_block(count, same, d, *old.type, &type);
    } else if (in_bytes) {
      st = datatype::create_hindexed(count, l, d, *old.type, &type);
    } else {
      st = datatype::indexed(count, l, d, *old.type, &type);
    }
    return done(st, type, hindexed(lengths, bytes, old.map),
                std::string(in_bytes ? "h" : "") + "indexed(" + text + ", " + old.text + ")");
  }

  Sample struct_of(Sample& old, int depth) {
    const auto n = static_cast<std::size_t>(number(1, 5));
    std::vector<Sample> parts;
    std::vector<MPI_Count> lengths, displacements;
    std::vector<MPI_Datatype> types;
    std::vector<TypeMap> maps;
    MPI_Count at = number(-20, 20);
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
      parts.push_back(i == 0 ? old : make(pick(3) == 0 ? depth - 1 : 0));
      const Sample& part = parts.back();
      lengths.push_back(part.map.elements.size() > 500 ? number(0, 1) : number(0, 3));
      displacements.push_back(at - part.map.lb());
      at += lengths.back() * part.map.extent() + number(0, 9);
      types.push_back(to_handle<MPI_Datatype>(part.type.get()));
      maps.push_back(part.map);
      text += "[" + std::to_string(lengths.back()) + "@" + std::to_string(displacements.back()) + " " + part.text + "]";
    }
    Datatype* type = nullptr;
    const Status st =
        datatype::create_struct(static_cast<MPI_Count>(n), lengths.data(), displacements.data(), types.data(), &type);
    return done(st, type, structure(lengths, displacements, maps), "struct(" + text + ")");
  }

  Sample resized_of(Sample& old) {
    const MPI_Count lb = old.map.lb() + number(-8, 8), extent = old.map.extent() + number(-4, 24);
    Datatype* type = nullptr;
    const Status st = datatype::create_resized(*old.type, lb, extent, &type);
    return done(st, type, resized(old.map, lb, extent),
                "resized(" + std::to_string(lb) + ", " + std::to_string(extent) + ", " + old.text + ")");
  }

  Sample dup_of(Sample& old) {
    Datatype* type = nullptr;
    const Status st = datatype::dup(*old.type, &type);
    return done(st, type, old.map, "dup(" + old.text + ")");
  }

  Sample subarray_of(Sample& old) {
    const auto n = static_cast<std::size_t>(number(1, 3));
    std::vector<MPI_Count> sizes(n), subsizes(n), starts(n);
    std::string text;
    for (std::size_t d = 0; d < n; ++d) {
      sizes[d] = number(1, 6);
      subsizes[d] = number(1, sizes[d]);
      starts[d] = number(0, sizes[d] - subsizes[d]);
      text +=
          "[" + std::to_string(sizes[d]) + " " + std::to_string(subsizes[d]) + " " + std::to_string(starts[d]) + "]";
    }
    const bool fortran = pick(2) == 0;
    Datatype* type = nullptr;
    const Status st = datatype::create_subarray(static_cast<int>(n), sizes.data(), subsizes.data(), starts.data(),
                                                fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, *old.type, &type);
    return done(st, type, subarray(sizes, subsizes, starts, fortran, old.map),
                std::string("subarray(") + (fortran ? "F" : "C") + text + ", " + old.text + ")");
  }

  Sample darray_of(Sample& old) {
    const auto n = static_cast<std::size_t>(number(1, 3));
    std::vector<MPI_Count> sizes(n);
    std::vector<int> kinds(n), arguments(n), grid(n);
    int processes = 1;
    std::string text;
    for (std::size_t d = 0; d < n; ++d) {
      sizes[d] = number(1, 8);
      kinds[d] = MPI_DISTRIBUTE_NONE + static_cast<int>(pick(3));
      grid[d] = kinds[d] == MPI_DISTRIBUTE_NONE ? 1 : static_cast<int>(number(1, 3));
      arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
      if (kinds[d] == MPI_DISTRIBUTE_CYCLIC && pick(2)) arguments[d] = static_cast<int>(number(1, 3));
      if (kinds[d] == MPI_DISTRIBUTE_BLOCK && pick(2))
        arguments[d] = static_cast<int>((sizes[d] + grid[d] - 1) / grid[d] + number(0, 2));
      processes *= grid[d];
      text += "[" + std::to_string(sizes[d]) + " " + std::to_string(kinds[d]) + " " + std::to_string(arguments[d]) +
              " " + std::to_string(grid[d]) + "]";
    }
    const bool fortran = pick(2) == 0;
    const int rank = static_cast<int>(pick(static_cast<std::uint64_t>(processes)));
    Datatype* type = nullptr;
    const Status st =
        datatype::create_darray(processes, rank, static_cast<int>(n), sizes.data(), kinds.data(), arguments.data(),
                                grid.data(), fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, *old.type, &type);
    return done(st, type, darray(rank, sizes, kinds, arguments, grid, fortran, old.map),
                "darray(rank " + std::to_string(rank) + (fortran ? " F" : " C") + text + ", " + old.text + ")");
  }

  std::mt19937_64& random_;
};

}  // namespace

Sample random_sample(std::mt19937_64& random, int depth) {
  Sample sample = Generator(random).make(depth);
  if (sample.type->predefined == 0) {
    Datatype* type = sample.type.get();
    EXPECT_TRUE(datatype::commit(&type).ok());
  }
  return sample;
}

}  // namespace ashlar::oracle
