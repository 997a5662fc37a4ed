// Every operation on every datatype that it takes, by every discipline, against one element at a time. Layouts,
// alignments and counts are drawn; the seed is printed.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "framework/datatype/basic.h"
#include "framework/datatype/half.h"
#include "framework/datatype/op_table.h"
#include "framework/object/handle.h"
#include "tests/unit/datatype/type_map.h"
#include "tests/unit/rma/updates.h"

namespace ashlar::rma {
namespace {

using test::Shared;
using Bytes = std::vector<std::byte>;

class ModelTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { datatype::register_predefined(); }
  std::mt19937_64 random;
};

// --- values ---

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// A number of the kind that `basic` is, small enough that sums and products stay exact.
void draw_basic(Basic basic, std::byte* at, std::size_t size, std::mt19937_64& random) {
  const int small = static_cast<int>(random() % 17) - 8;
  const auto real = static_cast<float>(small) / 4;
  switch (basic) {
    case Basic::kF16:
      return put(at, datatype::Half::from(real));
    case Basic::kC16:
      put(at, datatype::Half::from(real));
      return put(at + 2, datatype::Half::from(static_cast<float>(random() % 5)));
    case Basic::kF32:
      return put(at, real);
    case Basic::kC32:
    case Basic::kF32F32:
      put(at, real);
      return put(at + 4, static_cast<float>(random() % 5));
    case Basic::kF64:
      return put(at, static_cast<double>(real));
    case Basic::kC64:
    case Basic::kF64F64:
      put(at, static_cast<double>(real));
      return put(at + 8, static_cast<double>(random() % 5));
    case Basic::kLongDouble:
      return put(at, static_cast<long double>(real));
    case Basic::kCLongDouble:
      put(at, static_cast<long double>(real));
      return put(at + 16, static_cast<long double>(random() % 5));
#if defined(__SIZEOF_FLOAT128__)
    case Basic::kF128:
      return put(at, static_cast<__float128>(real));
    case Basic::kC128:
      put(at, static_cast<__float128>(real));
      return put(at + 16, static_cast<__float128>(random() % 5));
#endif
    case Basic::kF32Int:
      put(at, real);
      return put(at + 4, static_cast<int>(random() % 9));
    case Basic::kF64Int:
      put(at, static_cast<double>(real));
      return put(at + 8, static_cast<int>(random() % 9));
    case Basic::kLongDoubleInt:
      put(at, static_cast<long double>(real));
      return put(at + 16, static_cast<int>(random() % 9));
    case Basic::kBool:
    case Basic::kL8:
    case Basic::kL16:
    case Basic::kL32:
    case Basic::kL64:
    case Basic::kL128:
      std::memset(at, 0, size);
      *at = static_cast<std::byte>(random() % (basic == Basic::kBool ? 2 : 3));
      return;
    default:
      for (std::size_t i = 0; i < size; ++i) at[i] = static_cast<std::byte>(random() % 4);
  }
}

// Clears the bytes of an element that belong to no value: arithmetic may leave anything there.
void blank(Basic basic, std::byte* element) {
  if (basic != Basic::kLongDouble && basic != Basic::kCLongDouble && basic != Basic::kLongDoubleInt) return;
  std::memset(element + 10, 0, 6);
  if (basic == Basic::kCLongDouble) std::memset(element + 26, 0, 6);
}

// --- layouts ---

Ref<Datatype> made(Status status, Datatype* type) {
  EXPECT_TRUE(status.ok()) << status.text();
  return oracle::committed(type);
}

/// `n` elements somehow. *count: items.
Ref<Datatype> draw_layout(Datatype& element, MPI_Count n, std::mt19937_64& random, MPI_Count* count,
                          std::string* text) {
  *count = 1;
  Datatype* type = nullptr;
  switch (random() % 5) {
    default:
      *count = n;
      *text += " row";
      return Ref<Datatype>::share(element);
    case 2: {
      const Status st = datatype::vector(n, 1, 2, element, &type);
      *text += " every second";
      return made(st, type);
    }
    case 3: {  // long runs, and the rest of a run
      const MPI_Count block = std::max<MPI_Count>(1, n / 3);
      std::vector<MPI_Count> lengths, places;
      for (MPI_Count done = 0; done < n; done += block) {
        lengths.push_back(std::min(block, n - done));
        places.push_back(done * element.extent() + 16 * static_cast<MPI_Count>(places.size()));
      }
      const Status st = datatype::create_hindexed(static_cast<MPI_Count>(lengths.size()), lengths.data(), places.data(),
                                                  element, &type);
      *text += " blocks";
      return made(st, type);
    }
    case 4: {  // short runs at odd addresses
      std::vector<MPI_Count> lengths, places;
      MPI_Count at = 0;
      for (MPI_Count done = 0; done < n; done += lengths.back()) {
        lengths.push_back(std::min<MPI_Count>(1 + static_cast<MPI_Count>(random() % 3), n - done));
        places.push_back(at);
        at += lengths.back() * element.extent() + static_cast<MPI_Count>(random() % 9);
      }
      const Status st = datatype::create_hindexed(static_cast<MPI_Count>(lengths.size()), lengths.data(), places.data(),
                                                  element, &type);
      *text += " odd";
      return made(st, type);
    }
  }
}

/// `n` elements in memory of their own.
struct Side {
  Side(Datatype& of, MPI_Count n, std::mt19937_64& random, std::string* text) : element(of) {
    type = draw_layout(of, n, random, &count, text);
    const MPI_Aint offsets[] = {64, 64, 64 + of.extent(), 65, 68};
    offset = offsets[random() % 5];
    *text += "+" + std::to_string(offset);
    const MPI_Count span = type->true_lb() + type->true_extent() + (count - 1) * type->extent();
    memory.resize(static_cast<std::size_t>(offset + span + 64));
    for (std::byte& b : memory) b = static_cast<std::byte>(random());
    packed.resize(static_cast<std::size_t>(n * of.size()));
    for (MPI_Count i = 0; i < n; ++i)
      draw_basic(of.basic(), &packed[static_cast<std::size_t>(i * of.size())], static_cast<std::size_t>(of.size()),
                 random);
    datatype::unpack(view(memory.data()), 0, packed.data(), packed.size());
  }
  DataView view(std::byte* window) const { return place().in(window); }
  Place place() const { return {.offset = offset, .count = count, .type = type.get()}; }
  Bytes packed_now(std::byte* window) const {
    Bytes now(packed.size());
    datatype::pack(view(window), 0, now.data(), now.size());
    for (std::size_t i = 0; i < now.size(); i += static_cast<std::size_t>(element.size()))
      blank(element.basic(), &now[i]);
    return now;
  }

  Datatype& element;
  Ref<Datatype> type;
  MPI_Count count = 0;
  MPI_Aint offset = 0;
  Bytes memory, packed;
};

// One element at a time, by the reduction itself.
Bytes combined(const ReduceOp& op, Datatype& element, const Bytes& in, const Bytes& was) {
  Bytes now = was;
  const auto size = static_cast<std::size_t>(element.size());
  for (std::size_t at = 0; at < was.size(); at += size) {
    alignas(16) std::byte a[64] = {}, b[64] = {};
    const DataView one_a{.data = a, .count = 1, .type = &element}, one_b{.data = b, .count = 1, .type = &element};
    datatype::unpack(one_a, 0, &in[at], size);
    datatype::unpack(one_b, 0, &was[at], size);
    op.apply(a, b, 1, element);
    datatype::pack(one_b, 0, &now[at], size);
    blank(element.basic(), &now[at]);
  }
  return now;
}

// --- disciplines ---

enum class How { kOwner, kElements, kEarlyRange, kIdleRange, kLocked, kFar };
const char* const kNames[] = {"owner", "elements", "early range", "idle range", "locked", "far"};

void run(How how, Shared& lines, std::byte* window, const test::Call& call) {
  Target target;
  switch (how) {
    case How::kOwner:
      return test::update(lines.guard(Guard::Kind::kOwner), window, call);
    case How::kElements:
      lines.line().gate = 0;
      return test::update(lines.guard(Guard::Kind::kElements), window, call);
    case How::kEarlyRange:
      lines.line().gate = 0;
      return test::update(lines.guard(Guard::Kind::kElements, 1, 16), window, call);
    case How::kIdleRange:
      lines.line().gate = gate::kIdle;
      return test::update(lines.guard(Guard::Kind::kElements, 2), window, call);
    case How::kLocked:
      return test::update(lines.guard(Guard::Kind::kLocked), window, call);
    case How::kFar: {
      test::NearMemory memory(reinterpret_cast<std::uintptr_t>(window));
      int failed = 0;
      Guard guard = lines.guard(Guard::Kind::kLocked);
      guard.range.bytes = 4096;  // several pieces
      ASSERT_TRUE(apply_far(guard, memory, test::update_of(call, target), 0, &failed).ok());
      ASSERT_EQ(failed, 0);
    }
  }
}

void expect_idle(Shared& lines) {
  ASSERT_EQ(lines.line().gate.load() & gate::kHolder, 0U);
  ASSERT_EQ(lines.line().lock.load(), 0U);
  ASSERT_EQ(lines.line().holder.load(), 0U);
  for (std::uint32_t i = 0; i < Shared::kOrigins; ++i) ASSERT_EQ(lines.origin(i).updating.load(), 0U);
}

void expect_update(Shared& lines, MPI_Op handle, Datatype& element, std::mt19937_64& random) {
  const ReduceOp& op = test::op_of(handle);
  const MPI_Count counts[] = {1, 1, 2, 5, 40, 300, 700};
  const MPI_Count n = counts[random() % 7];
  const How how = static_cast<How>(random() % 6);
  std::string text = std::string(op.name()) + " of " + std::to_string(n) + " " + element.described() + " by " +
                     kNames[static_cast<int>(how)] + ", target";
  Side target(element, n, random, &text);
  text += ", origin";
  Side origin(element, n, random, &text);
  text += ", result";
  Side result(element, n, random, &text);
  const bool fetches = op.code() == ReduceOp::Code::kNoOp || random() % 2 == 0;
  SCOPED_TRACE(text + (fetches ? " fetched" : " not fetched"));

  const bool reads = op.code() != ReduceOp::Code::kNoOp;
  const Bytes was = target.packed_now(target.memory.data());
  Bytes wanted_memory = target.memory, wanted_result = result.memory;
  const Bytes now = combined(op, element, origin.packed, was);
  datatype::unpack(target.view(wanted_memory.data()), 0, now.data(), now.size());
  if (fetches) datatype::unpack(result.view(wanted_result.data()), 0, was.data(), was.size());

  ASSERT_NO_FATAL_FAILURE(run(how, lines, target.memory.data(),
                              {.op = handle,
                               .element = &element,
                               .origin = reads ? origin.view(origin.memory.data()) : DataView{},
                               .result = fetches ? result.view(result.memory.data()) : DataView{},
                               .place = target.place()}));
  ASSERT_EQ(target.packed_now(target.memory.data()), now);
  if (fetches) {
    ASSERT_EQ(result.packed_now(result.memory.data()), was);
  }
  // What lies beside the elements has not changed.
  datatype::unpack(target.view(target.memory.data()), 0, now.data(), now.size());
  ASSERT_EQ(target.memory, wanted_memory);
  datatype::unpack(result.view(result.memory.data()), 0, was.data(), was.size());
  if (!fetches) datatype::unpack(result.view(wanted_result.data()), 0, was.data(), was.size());
  ASSERT_EQ(result.memory, wanted_result);
  ASSERT_NO_FATAL_FAILURE(expect_idle(lines));
}

TEST_F(ModelTest, EveryOperationOnEveryDatatype) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  random.seed(seed);
  Shared lines(64);
  int pairs = 0;
  for (const datatype::OpRow& row : datatype::op_rows())
    for (const BasicRow& type : basic_rows()) {
      Datatype& element = test::type_of(type.handle);
      if (element.size() == 0 || !test::op_of(row.handle).check(element).ok()) continue;
      ++pairs;
      for (int i = 0; i < 24; ++i) ASSERT_NO_FATAL_FAILURE(expect_update(lines, row.handle, element, random));
    }
  EXPECT_GT(pairs, 450);
}

TEST_F(ModelTest, PairsThatHaveNoConstant) {
  random.seed(11);
  Shared lines(64);
  const MPI_Datatype parts[][2] = {{MPI_INT16_T, MPI_INT16_T}, {MPI_INT8_T, MPI_INT32_T}, {MPI_DOUBLE, MPI_INT64_T}};
  for (const auto& part : parts) {
    Datatype* pair = nullptr;
    ASSERT_TRUE(datatype::get_value_index(test::type_of(part[0]), test::type_of(part[1]), &pair).ok());
    for (const MPI_Op op : {MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP})
      for (int i = 0; i < 60; ++i) ASSERT_NO_FATAL_FAILURE(expect_update(lines, op, *pair, random));
  }
}

void expect_swap(Shared& lines, Datatype& element, How how, std::size_t offset, bool equal, std::mt19937_64& random) {
  SCOPED_TRACE(std::string(element.described()) + " by " + kNames[static_cast<int>(how)] + " at " +
               std::to_string(offset) + (equal ? ", equal" : ", different"));
  const auto size = static_cast<std::size_t>(element.size());
  Bytes window(128), in(size), compare(size), out(size);
  for (std::byte& b : window) b = static_cast<std::byte>(random());
  for (std::byte& b : in) b = static_cast<std::byte>(random());
  std::memcpy(compare.data(), &window[offset], size);
  if (!equal) compare[size - 1] ^= std::byte{1};
  const Bytes was(window.begin() + static_cast<std::ptrdiff_t>(offset),
                  window.begin() + static_cast<std::ptrdiff_t>(offset + size));
  Bytes wanted = window;
  if (equal) std::memcpy(&wanted[offset], in.data(), size);
  ASSERT_NO_FATAL_FAILURE(run(how, lines, window.data(),
                              {.op = MPI_REPLACE,
                               .element = &element,
                               .origin = DataView::of(in.data(), 1, element),
                               .result = {.data = out.data(), .count = 1, .type = &element},
                               .place = {.offset = static_cast<MPI_Aint>(offset), .count = 1, .type = &element},
                               .compare = compare.data()}));
  ASSERT_EQ(window, wanted);
  ASSERT_EQ(out, was);
  ASSERT_NO_FATAL_FAILURE(expect_idle(lines));
}

TEST_F(ModelTest, CompareAndSwap) {
  Shared lines(64);
  int types = 0;
  for (const BasicRow& type : basic_rows()) {
    switch (type.of) {
      case BasicClass::kInteger:
      case BasicClass::kFortranInteger:
      case BasicClass::kLogical:
      case BasicClass::kByte:
      case BasicClass::kMultiLanguage:
        break;
      default:
        continue;
    }
    ++types;
    for (int how = 0; how < 6; ++how)
      for (const std::size_t offset : {32u, 48u, 33u, 36u})
        for (const bool equal : {false, true})
          ASSERT_NO_FATAL_FAILURE(
              expect_swap(lines, test::type_of(type.handle), static_cast<How>(how), offset, equal, random));
  }
  EXPECT_GT(types, 30);
}

TEST_F(ModelTest, NothingToDo) {
  Shared lines(64);
  Datatype& element = test::type_of(MPI_INT);
  for (int how = 0; how < 6; ++how)
    ASSERT_NO_FATAL_FAILURE(run(static_cast<How>(how), lines, nullptr,
                                {.op = MPI_SUM,
                                 .element = &element,
                                 .origin = DataView::of(nullptr, 0, element),
                                 .result = {.data = nullptr, .count = 0, .type = &element},
                                 .place = {.offset = 0, .count = 0, .type = &element}}));
}

// A copy that fails ends the update, and frees the lock.
TEST_F(ModelTest, FarMemoryThatFails) {
  Shared lines(64);
  Datatype& element = test::type_of(MPI_DOUBLE);
  std::vector<double> window(4096, 1.0), in(4096, 2.0);
  const test::Call call{.op = MPI_SUM,
                        .element = &element,
                        .origin = DataView::of(in.data(), 4096, element),
                        .result = {},
                        .place = {.offset = 0, .count = 4096, .type = &element}};
  Target target;
  for (int fail_at = 1; fail_at <= 4; ++fail_at) {
    test::NearMemory memory(reinterpret_cast<std::uintptr_t>(window.data()));
    memory.fail_at = fail_at;
    Guard guard = lines.guard(Guard::Kind::kLocked);
    guard.range.bytes = 16384;
    int failed = 0;
    ASSERT_TRUE(apply_far(guard, memory, test::update_of(call, target), 0, &failed).ok());
    EXPECT_EQ(failed, EFAULT);
    EXPECT_EQ(memory.calls, fail_at);
    ASSERT_NO_FATAL_FAILURE(expect_idle(lines));
  }
}

}  // namespace
}  // namespace ashlar::rma
