// Time of the datatype engine against hand-written loops, as ratios. Both sides of a row run in turns, so that noise of
// the machine hits both; the figure is the ratio of the best times.
//   bench_datatype_pack [part of a row's name]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "framework/base/clock.h"
#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/op_api.h"
#include "framework/datatype/reduce_op.h"
#include "framework/object/handle.h"
#include "tests/bench/datatype/hand_loops.h"

namespace {

using namespace ashlar;

const char* filter = "";

void require(Status status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.text());
  std::exit(1);
}

Datatype* committed(Datatype* type) {
  require(datatype::commit(&type));
  return type;
}

// Best of many short turns, each at least 20 microseconds long.
void row(const std::string& name, std::size_t bytes, const std::function<void()>& ours,
         const std::function<void()>& theirs) {
  if (name.find(filter) == std::string::npos) return;
  const auto time = [](const std::function<void()>& run, int times) {
    const std::uint64_t start = now_ns();
    for (int i = 0; i < times; ++i) run();
    return static_cast<double>(now_ns() - start) / times;
  };
  const int times = std::max(1, static_cast<int>(20e3 / std::max(1.0, time(theirs, 3))));
  double best_ours = 1e30, best_theirs = 1e30;
  for (int turn = 0; turn < 400; ++turn) {
    best_ours = std::min(best_ours, time(ours, times));
    best_theirs = std::min(best_theirs, time(theirs, times));
  }
  std::printf("%-44s %9zu %10.0f %10.0f %7.2f\n", name.c_str(), bytes, best_ours, best_theirs, best_ours / best_theirs);
}

void check_same(const std::string& name, const void* a, const void* b, std::size_t bytes) {
  if (std::memcmp(a, b, bytes) == 0) return;
  std::fprintf(stderr, "%s: the two sides differ\n", name.c_str());
  std::exit(1);
}

void pack_row(const std::string& name, const DataView& view, const std::function<void(void*)>& theirs) {
  const auto bytes = static_cast<std::size_t>(view.bytes());
  std::vector<char> a(bytes), b(bytes);  // both sides time on the same memory
  row(
      name, bytes, [&] { datatype::pack(view, 0, a.data(), bytes); }, [&] { theirs(a.data()); });
  datatype::pack(view, 0, a.data(), bytes);
  theirs(b.data());
  check_same(name, a.data(), b.data(), bytes);
}

void vectors(std::size_t bytes, const std::string& size) {
  std::vector<double> memory(bytes / 8 * 2 + 64), target(memory.size()), packed(bytes / 8);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i);
  for (const std::size_t block : {1, 2, 8, 64}) {
    const std::size_t count = bytes / 8 / block;
    Datatype* type = nullptr;
    require(datatype::vector(static_cast<MPI_Count>(count), static_cast<MPI_Count>(block),
                             static_cast<MPI_Count>(2 * block), datatype::predefined(MPI_DOUBLE), &type));
    committed(type);
    const std::string name = "vector of " + std::to_string(block) + " doubles, " + size;
    pack_row("pack " + name, DataView::of(memory.data(), 1, *type), [&](void* to) {
      auto* out = static_cast<double*>(to);
      if (block == 1) return hand::vector1(out, memory.data(), count, 2);
      if (block == 2) return hand::vector2(out, memory.data(), count, 4);
      hand::vector(out, memory.data(), count, block, 2 * block);
    });
    const DataView view{target.data(), 1, type};
    row(
        "unpack " + name, bytes, [&] { datatype::unpack(view, 0, packed.data(), bytes); },
        [&] { hand::unpack_vector(target.data(), packed.data(), count, block, 2 * block); });
    require(datatype::free(&type));
  }
}

void indexed(std::size_t bytes, const std::string& size) {
  std::vector<double> memory(bytes / 8 * 4);
  std::vector<int> lengths, at, ones;
  unsigned draw = 12345;
  std::size_t total = 0;
  for (int next = 0; total < bytes / 8;) {
    draw = draw * 1664525u + 1013904223u;
    const int length = 1 + static_cast<int>(draw >> 28) % 7;
    lengths.push_back(length);
    at.push_back(next);
    next += length + 1 + static_cast<int>(draw >> 24 & 3);
    total += static_cast<std::size_t>(length);
  }
  for (std::size_t i = 0; i < bytes / 8; ++i) {
    draw = draw * 1664525u + 1013904223u;
    ones.push_back(static_cast<int>(2 * i + (draw >> 31)));
  }
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i);
  Datatype* type = nullptr;
  require(datatype::indexed(static_cast<MPI_Count>(at.size()), lengths.data(), at.data(),
                            datatype::predefined(MPI_DOUBLE), &type));
  committed(type);
  pack_row("pack indexed, 1 to 7 doubles, " + size, DataView::of(memory.data(), 1, *type), [&](void* to) {
    hand::indexed(static_cast<double*>(to), memory.data(), at.size(), lengths.data(), at.data());
  });
  require(datatype::free(&type));
  require(datatype::create_indexed_block(static_cast<MPI_Count>(ones.size()), 1, ones.data(),
                                         datatype::predefined(MPI_DOUBLE), &type));
  committed(type);
  pack_row("pack indexed blocks of 1 double, " + size, DataView::of(memory.data(), 1, *type),
           [&](void* to) { hand::indexed_block(static_cast<double*>(to), memory.data(), ones.size(), ones.data()); });
  require(datatype::free(&type));
}

void structs(std::size_t bytes, const std::string& size) {
  const std::size_t count = bytes / 13;
  std::vector<hand::Hole> memory(count), target(count);
  std::vector<char> packed(count * 13, 'x');
  for (std::size_t i = 0; i < count; ++i)
    memory[i] = {static_cast<char>(i), static_cast<double>(i), static_cast<int>(i)};
  const int lengths[] = {1, 1, 1};
  const MPI_Aint at[] = {offsetof(hand::Hole, c), offsetof(hand::Hole, d), offsetof(hand::Hole, i)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  Datatype* type = nullptr;
  require(datatype::create_struct(3, lengths, at, types, &type));
  committed(type);
  pack_row("pack struct with holes, " + size, DataView::of(memory.data(), static_cast<MPI_Count>(count), *type),
           [&](void* to) { hand::structs(static_cast<char*>(to), memory.data(), count); });
  const DataView view{target.data(), static_cast<MPI_Count>(count), type};
  row(
      "unpack struct with holes, " + size, count * 13, [&] { datatype::unpack(view, 0, packed.data(), packed.size()); },
      [&] { hand::unpack_structs(target.data(), packed.data(), count); });
  require(datatype::free(&type));
}

void cubes(std::size_t bytes, const std::string& size) {
  std::size_t n = 1;
  while ((n + 1) * (n + 1) * 8 <= bytes) ++n;  // a face has n * n doubles
  if (n > 128) n = 128;
  std::vector<double> memory(n * n * n);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i);
  const auto s = static_cast<int>(n);
  const int sizes[] = {s, s, s}, starts[] = {0, 0, 0};
  const struct {
    const char* name;
    int sub[3];
  } kFaces[] = {{"xy", {1, s, s}}, {"xz", {s, 1, s}}, {"yz", {s, s, 1}}, {"inner", {s / 2, s / 2, s / 2}}};
  for (const auto& face : kFaces) {
    Datatype* type = nullptr;
    require(
        datatype::create_subarray(3, sizes, face.sub, starts, MPI_ORDER_C, datatype::predefined(MPI_DOUBLE), &type));
    committed(type);
    pack_row(std::string("pack cube ") + face.name + " of " + std::to_string(n) + "^3, " + size,
             DataView::of(memory.data(), 1, *type), [&](void* to) {
               hand::cube_face(static_cast<double*>(to), memory.data(), n, static_cast<std::size_t>(face.sub[0]),
                               static_cast<std::size_t>(face.sub[1]), static_cast<std::size_t>(face.sub[2]));
             });
    require(datatype::free(&type));
  }
}

void transposes(std::size_t n) {
  std::vector<double> memory(n * n);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i);
  const auto count = static_cast<MPI_Count>(n);
  Datatype *column = nullptr, *narrow = nullptr;
  require(datatype::vector(count, 1, count, datatype::predefined(MPI_DOUBLE), &column));
  require(datatype::create_resized(*column, 0, 8, &narrow));
  committed(narrow);
  pack_row("pack transpose of " + std::to_string(n) + "^2 doubles", DataView::of(memory.data(), count, *narrow),
           [&](void* to) { hand::transpose(static_cast<double*>(to), memory.data(), n); });
  require(datatype::free(&column));
  require(datatype::free(&narrow));
}

void sums(std::size_t bytes, const std::string& size) {
  std::vector<double> a(bytes / 8, 1.0), b(bytes / 8, 2.0), c(bytes / 8, 2.0);
  ReduceOp& op = datatype::predefined_op(MPI_SUM);
  row(
      "sum of doubles, " + size, bytes,
      [&] { op.apply(a.data(), b.data(), static_cast<MPI_Count>(a.size()), datatype::predefined(MPI_DOUBLE)); },
      [&] { hand::add(c.data(), a.data(), a.size()); });
}

void tiny() {
  double memory[16] = {}, packed[8], other[8];
  Datatype* type = nullptr;
  require(datatype::vector(4, 1, 2, datatype::predefined(MPI_DOUBLE), &type));
  committed(type);
  const DataView view = DataView::of(memory, 1, *type);
  row(
      "pack vector of 4 x 1 double", 32, [&] { datatype::pack(view, 0, packed, 32); },
      [&] { hand::vector(other, memory, 4, 1, 2); });
  require(datatype::free(&type));
}

void commits() {
  const MPI_Count blocks = 10000;
  std::vector<int> lengths, at;
  for (int i = 0; i < blocks; ++i) {
    lengths.push_back(1 + i % 3);
    at.push_back(5 * i);
  }
  std::vector<int> copy(2 * lengths.size());
  row(
      "make, commit and free 10,000 blocks : copy", 80000,
      [&] {
        Datatype* type = nullptr;
        require(datatype::indexed(blocks, lengths.data(), at.data(), datatype::predefined(MPI_DOUBLE), &type));
        require(datatype::commit(&type));
        require(datatype::free(&type));
      },
      [&] {
        std::memcpy(copy.data(), lengths.data(), 40000);
        std::memcpy(copy.data() + 10000, at.data(), 40000);
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) filter = argv[1];
  datatype::register_predefined();
  std::printf("%-44s %9s %10s %10s %7s\n", "row", "bytes", "ours ns", "hand ns", "ratio");
  for (const auto& [bytes, size] : {std::pair<std::size_t, std::string>{4096, "4 KiB"}, {1 << 20, "1 MiB"}}) {
    vectors(bytes, size);
    indexed(bytes, size);
    structs(bytes, size);
    cubes(bytes, size);
    sums(bytes, size);
  }
  transposes(22);
  transposes(362);
  transposes(512);
  tiny();
  commits();
}
