// What an update of mapped memory costs (framework/rma/apply.h), and what it would cost with striped locks instead of
// the range gate. Processes share memory; each row runs for a fixed time.
//   bench_rma_apply [part of a row's name]
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "framework/base/clock.h"
#include "framework/rma/patience.h"
#include "tests/unit/rma/updates.h"

namespace {

using namespace ashlar;
using namespace ashlar::rma;
using test::Shared;

constexpr std::uint64_t kRowNs = 60'000'000;
constexpr std::size_t kMost = std::size_t{4} << 20;  // bytes of the target's memory

// The rival: every update takes the spin lock of each block of memory that it touches.
struct Stripes {
  static constexpr std::size_t kCount = 64, kBlock = 4096;
  struct alignas(64) Stripe {
    std::atomic<std::uint32_t> taken;
  };
  Stripe stripe[kCount];

  void lock(std::size_t offset) {
    std::atomic<std::uint32_t>& taken = stripe[offset / kBlock % kCount].taken;
    for (int i = 0; taken.exchange(1, std::memory_order_acquire) != 0; ++i)
      if (i % 100 == 99) {
        sched_yield();
      } else {
        pause_briefly();
      }
  }
  void unlock(std::size_t offset) { stripe[offset / kBlock % kCount].taken.store(0, std::memory_order_release); }
};

struct World {
  alignas(4096) std::byte memory[kMost];
  Stripes stripes;
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint64_t> done, ns;
};

const char* filter = "";
alignas(64) double source[kMost / 8];

struct Process {
  World& world;
  Guard guard;
  std::mt19937 random;

  std::byte* memory() const { return world.memory; }
  MPI_Aint any_word() { return static_cast<MPI_Aint>(random() % 4096 * 8); }
};
using Step = std::function<void(Process&)>;

/// Operations by `processes` together. Each calls `step` again and again, which makes `per_step` operations; process 0
/// alone counts, if `first_counts`.
void row(const std::string& name, std::uint32_t processes, double per_step, const char* unit, const Step& step,
         bool first_counts = false) {
  if (name.find(filter) == std::string::npos) return;
  Shared shared(sizeof(World) + 4096);
  World& world = *reinterpret_cast<World*>((reinterpret_cast<std::uintptr_t>(shared.memory()) + 4095) & ~4095ull);
  test::in_processes(processes, [&](std::uint32_t i) {
    Process process{world, shared.guard(Guard::Kind::kElements, i % Shared::kOrigins), std::mt19937(i)};
    join_updates({&shared.line(), 1});
    for (int warm = 0; warm < 20; ++warm) step(process);
    world.ready.fetch_add(1);
    while (world.ready.load() < processes) sched_yield();
    const std::uint64_t start = now_ns();
    std::uint64_t steps = 0, now = start;
    for (; now - start < kRowNs; now = now_ns(), steps += 8)
      for (int k = 0; k < 8; ++k) step(process);
    if (first_counts && i != 0) return true;
    world.done.fetch_add(steps);
    world.ns.fetch_add(now - start);
    return true;
  });
  const double counting = first_counts ? 1 : processes;
  const double ns = static_cast<double>(world.ns.load()) / counting;
  const double operations = static_cast<double>(world.done.load()) * per_step;
  if (std::string(unit) == "ns")
    std::printf("%-56s %2u %10.1f ns\n", name.c_str(), processes, ns / operations * counting);
  else
    std::printf("%-56s %2u %10.2f %s\n", name.c_str(), processes,
                operations / ns * (std::string(unit) == "GB/s" ? 1 : 1e3), unit);
  std::fflush(stdout);
}

// What a call of the accumulate family has found out before it updates.
struct Types {
  RmaWindow window;
  Target target;
  Datatype &real = test::type_of(MPI_DOUBLE), &word = test::type_of(MPI_INT64_T), &byte = test::type_of(MPI_BYTE);
  ReduceOp &sum = test::op_of(MPI_SUM), &replace = test::op_of(MPI_REPLACE), &none = test::op_of(MPI_NO_OP);
};
Types* types = nullptr;

Update made(const ReduceOp& op, Datatype& element, MPI_Aint at, const void* in, std::size_t n, void* out = nullptr,
            const void* compare = nullptr) {
  const auto count = static_cast<MPI_Count>(n);
  return {.window = types->window,
          .target = types->target,
          .op = op,
          .element = element,
          .origin = DataView::of(in, count, element),
          .result = out != nullptr ? DataView{.data = out, .count = count, .type = &element} : DataView{},
          .place = {.offset = at, .count = count, .type = &element},
          .compare = compare,
          .done = nullptr};
}
void run(const Guard& guard, std::byte* memory, const Update& update) {
  if (!apply(guard, memory, update).ok()) std::abort();
}

// --- small updates ---

void fop(Process& p, MPI_Aint at) {
  const std::int64_t one = 1;
  std::int64_t was;
  run(p.guard, p.memory(), made(types->sum, types->word, at, &one, 1, &was));
}
void sum(Process& p, MPI_Aint at) { run(p.guard, p.memory(), made(types->sum, types->real, at, source, 1)); }
void striped_sum(Process& p, MPI_Aint at) {
  p.world.stripes.lock(static_cast<std::size_t>(at));
  run({.kind = Guard::Kind::kOwner}, p.memory(), made(types->sum, types->real, at, source, 1));
  p.world.stripes.unlock(static_cast<std::size_t>(at));
}

// One process, the same update again and again: its cost alone.
void hundred(Process& p, const Update& u) {
  for (int i = 0; i < 100; ++i) run(p.guard, p.memory(), u);
}

void alone() {
  static const std::int64_t one = 1, zero = 0;
  static std::int64_t was;
  Types& t = *types;
  const auto alone = [](const char* name, const Update& u, Guard::Kind kind = Guard::Kind::kElements,
                        bool fenced = false) {
    row(name, 1, 100, "ns", [&](Process& p) {
      p.guard.kind = kind;
      if (fenced) p.guard.line->gate.store(gate::kFenced, std::memory_order_relaxed);
      hundred(p, u);
    });
  };
  const Update real = made(t.sum, t.real, 64, source, 1);
  alone("sum of int64", made(t.sum, t.word, 64, &one, 1));
  alone("sum of double", real);
  alone("fetch and op of int64", made(t.sum, t.word, 64, &one, 1, &was));
  alone("compare and swap of int64", made(t.replace, t.word, 64, &one, 1, &was, &zero));
  alone("replace of int64", made(t.replace, t.word, 64, &one, 1));
  alone("read of int64", made(t.none, t.word, 64, nullptr, 1, &was));
  alone("sum of double, fenced", real, Guard::Kind::kElements, true);
  alone("sum of double, locked", real, Guard::Kind::kLocked);
  row("sum of double, striped", 1, 100, "ns", [&](Process& p) {
    p.guard.kind = Guard::Kind::kOwner;
    for (int i = 0; i < 100; ++i) {
      p.world.stripes.lock(64);
      run(p.guard, p.memory(), real);
      p.world.stripes.unlock(64);
    }
  });
}

void small() {
  for (const std::uint32_t processes : {1u, 2u, 4u, 16u}) {
    row("one word: fetch and op", processes, 1, "M/s", [](Process& p) { fop(p, 64); });
    row("one word: sum of double", processes, 1, "M/s", [](Process& p) { sum(p, 64); });
    row("one word: striped sum of double", processes, 1, "M/s", [](Process& p) { striped_sum(p, 64); });
    row("many words: fetch and op", processes, 1, "M/s", [](Process& p) { fop(p, p.any_word()); });
    row("many words: sum of double", processes, 1, "M/s", [](Process& p) { sum(p, p.any_word()); });
    row("many words: striped sum of double", processes, 1, "M/s", [](Process& p) { striped_sum(p, p.any_word()); });
  }
}

// --- large ones ---

void sum_row(Process& p, std::size_t bytes, std::uint32_t range_elements) {
  p.guard.range.elements = range_elements;
  run(p.guard, p.memory(), made(types->sum, types->real, 0, source, bytes / 8));
}
void striped_row(Process& p, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += Stripes::kBlock) {
    p.world.stripes.lock(at);
    run({.kind = Guard::Kind::kOwner}, p.memory(),
        made(types->sum, types->real, static_cast<MPI_Aint>(at), source + at / 8,
             std::min(Stripes::kBlock, bytes - at) / 8));
    p.world.stripes.unlock(at);
  }
}

void large() {
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20, kMost}) {
    const std::string size = std::to_string(bytes / 1024) + " KiB: ";
    const auto per_step = static_cast<double>(bytes);
    for (const std::uint32_t processes : {1u, 2u, 4u}) {
      row(size + "range", processes, per_step, "GB/s", [bytes](Process& p) { sum_row(p, bytes, 16); });
      row(size + "striped", processes, per_step, "GB/s", [bytes](Process& p) { striped_row(p, bytes); });
    }
    row(size + "elements", 1, per_step, "GB/s", [bytes](Process& p) { sum_row(p, bytes, RangeLimits::kNever); });
    row(size + "range, the gate opened each time", 1, per_step, "GB/s", [bytes](Process& p) {
      p.guard.line->gate.store(0);
      sum_row(p, bytes, 16);
    });
    const auto beside = [bytes](bool striped) {
      return [bytes, striped](Process& p) {
        if (p.guard.own == 0) return striped ? striped_row(p, bytes) : sum_row(p, bytes, 16);
        striped ? striped_sum(p, p.any_word()) : sum(p, p.any_word());
      };
    };
    row(size + "range beside sums of one double", 2, per_step, "GB/s", beside(false), true);
    row(size + "striped beside sums of one double", 2, per_step, "GB/s", beside(true), true);
  }
}

// From how many elements on a range pays, with the gate open before and with it closed.
void threshold() {
  for (const std::size_t n : {16u, 32u, 64u, 128u, 192u, 256u, 384u, 512u, 1024u}) {
    const std::string size = std::to_string(n) + " doubles: ";
    row(size + "elements", 1, 1, "ns", [n](Process& p) { sum_row(p, n * 8, RangeLimits::kNever); });
    for (const std::uint32_t processes : {1u, 2u})
      row(
          size + "range, the gate opened each time", processes, 1, "ns",
          [n](Process& p) {
            if (p.guard.own != 0) return pause_briefly();
            p.guard.line->gate.store(0);
            sum_row(p, n * 8, 16);
          },
          true);
    row(size + "range, the gate idle", 1, 1, "ns", [n](Process& p) { sum_row(p, n * 8, 16); });
  }
}

// --- layouts ---

void strided() {
  Datatype* made = nullptr;
  if (!datatype::vector(512, 1, 2, test::type_of(MPI_DOUBLE), &made).ok() || !datatype::commit(&made).ok()) return;
  const auto scatter = [made](Process& p, std::uint32_t range_elements) {
    p.guard.range.elements = range_elements;
    test::update(p.guard, p.memory(),
                 {.op = MPI_SUM,
                  .element = &test::type_of(MPI_DOUBLE),
                  .origin = DataView::of(source, 512, test::type_of(MPI_DOUBLE)),
                  .result = {},
                  .place = {.offset = 0, .count = 1, .type = made}});
  };
  row("every second of 1024 doubles: range", 1, 1, "ns", [&](Process& p) { scatter(p, 16); });
  row("every second of 1024 doubles: elements", 1, 1, "ns", [&](Process& p) { scatter(p, RangeLimits::kNever); });
  const DataView strided_source = DataView::of(source, 1, *made);
  row("put, both every second of 1024 doubles", 1, 1, "ns",
      [&](Process& p) { put(p.memory(), strided_source, {.offset = 0, .count = 1, .type = made}); });
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{4096}, std::size_t{65536}, kMost})
    row("put of " + std::to_string(bytes) + " bytes", 1, 1, "ns", [bytes](Process& p) {
      Datatype& byte = types->byte;
      const auto n = static_cast<MPI_Count>(bytes);
      put(p.memory(), DataView::of(source, n, byte), {.offset = 0, .count = n, .type = &byte});
    });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) filter = argv[1];
  ashlar::datatype::register_predefined();
  std::fill(std::begin(source), std::end(source), 1.0);  // adding zeros would store nothing
  static Types found;
  types = &found;
  alone();
  small();
  threshold();
  large();
  strided();
  return 0;
}
