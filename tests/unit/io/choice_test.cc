#include "framework/io/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "framework/io/meter.h"

namespace ashlar::io {
namespace {

constexpr double kWindow = 512 * 1024;

double between(std::mt19937_64& random, double low, double high) {
  return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
}

Demand some_demand(std::mt19937_64& random) {
  const double ranks = std::floor(between(random, 1, 64));
  Demand all = {.writes = random() % 2 == 0};
  all.most_pieces = std::floor(between(random, 1, 1e6));
  all.most_bytes = all.most_pieces * std::floor(between(random, 1, 1e5));
  all.pieces = all.most_pieces * ranks;
  all.bytes = all.most_bytes * ranks;
  all.most_hull = all.most_bytes * between(random, 1, 100);
  all.hulls = all.most_hull * ranks;
  all.hull = std::max(all.bytes, all.hulls / between(random, 1, ranks + 1));
  return all;
}

Windows some_windows(std::mt19937_64& random) {
  return {.sieve = between(random, 4096, 1e8),
          .together = between(random, 4096, 1e8),
          .aggregators = std::floor(between(random, 1, 64)),
          .rounds = std::floor(between(random, 1, 1000))};
}

TEST(ChoiceTest, TheCheapestOpenWayIsTaken) {
  std::mt19937_64 random(11);
  int taken[5] = {};
  for (int i = 0; i < 20000; ++i) {
    const Rates rates = {.read = {.call = between(random, 100, 1e6), .byte = between(random, 0.02, 100)},
                         .write = {.call = between(random, 100, 1e6), .byte = between(random, 0.02, 100)}};
    const Estimates costs = estimate_together(some_demand(random), some_windows(random), rates);
    const Open open = {.sieve = random() % 4 != 0, .two_phase = random() % 4 != 0, .mapped = random() % 4 == 0};
    const Way way = cheapest(costs, open);
    const double of[] = {0, costs.list, costs.sieve, costs.two_phase, costs.mapped};
    const double chosen = of[static_cast<int>(way)];
    ++taken[static_cast<int>(way)];
    EXPECT_GT(costs.list, 0);
    EXPECT_LE(chosen, costs.list);
    EXPECT_TRUE(open.sieve ? chosen <= costs.sieve : way != Way::kSieve);
    EXPECT_TRUE(open.two_phase ? chosen <= costs.two_phase : way != Way::kTwoPhase);
    EXPECT_TRUE(open.mapped ? chosen <= costs.mapped : way != Way::kMapped);
  }
  EXPECT_EQ(taken[static_cast<int>(Way::kAuto)], 0);
  for (const Way way : {Way::kList, Way::kSieve, Way::kTwoPhase, Way::kMapped})
    EXPECT_GT(taken[static_cast<int>(way)], 1000);
}

TEST(ChoiceTest, AProcessAloneNeverCombines) {
  const Demand one = {.writes = true, .bytes = 1e6, .pieces = 1e5, .hull = 4e6};
  EXPECT_EQ(cheapest(estimate_alone(one, kWindow, cost::kUsual), {.sieve = true, .two_phase = true}), Way::kSieve);
}

/// A file system whose transfers take what its rates say, or longer.
class Simulated {
 public:
  Simulated(const Rates& rates, std::uint64_t seed) : rates_(rates), random_(seed) {}

  /// What an access that goes this way takes, without waits; the meter sees the transfers with theirs.
  double move(const Demand& one, Way way, Meter& meter) {
    const Rate& rate = one.writes ? rates_.write : rates_.read;
    if (way == Way::kList) {
      const double pieces = 256, bytes = pieces * one.bytes / one.pieces;
      for (double done = 0; done < one.pieces; done += pieces)
        meter.moved_pieces(one.writes, 256, static_cast<std::uint64_t>(bytes),
                           (pieces * rate.call + bytes * rate.byte) * wait());
      return cost::list(rate, one.pieces, one.bytes);
    }
    for (double done = 0; done < one.hull; done += kWindow) {
      const auto window = static_cast<std::uint64_t>(kWindow);
      meter.moved_window(false, window, (rates_.read.call + kWindow * rates_.read.byte) * wait());
      if (one.writes) meter.moved_window(true, window, (rate.call + kWindow * rate.byte) * wait());
    }
    return cost::sieve(rates_, one.writes, one.hull, kWindow, one.pieces, one.bytes);
  }

 private:
  /// One in five waits for others, or for the processor.
  double wait() { return random_() % 5 == 0 ? between(random_, 1, 20) : between(random_, 1, 1.1); }

  const Rates rates_;
  std::mt19937_64 random_;
};

constexpr Rates kMemory = {.read = {.call = 400, .byte = 0.07}, .write = {.call = 700, .byte = 0.09}};
constexpr Rates kDisk = {.read = {.call = 560, .byte = 0.04}, .write = {.call = 2300, .byte = 0.05}};
constexpr Rates kDevice = {.read = {.call = 145'000, .byte = 6}, .write = {.call = 8000, .byte = 3}};
constexpr Rates kServer = {.read = {.call = 60'000, .byte = 1}, .write = {.call = 90'000, .byte = 1}};

TEST(ChoiceTest, FollowsWhatTheFileSystemTakes) {
  std::uint64_t seed = 1;
  int worse = 0, all = 0;
  for (const Rates& rates : {kMemory, kDisk, kDevice, kServer}) {
    for (const bool writes : {false, true}) {
      for (double piece = 8; piece <= 4096; piece *= 8) {
        for (double share = 1; share <= 4096; share *= 4) {
          const Demand one = {.writes = writes, .bytes = piece * 4000, .pieces = 4000, .hull = piece * share * 4000};
          Simulated files(rates, ++seed);
          Meter meter;
          double taken = 0;
          for (int i = 0; i < 40; ++i) {
            const Way way = cheapest(estimate_alone(one, kWindow, meter.rates()), {.sieve = true});
            taken = files.move(one, way, meter);
          }
          const double least = std::min(cost::list(writes ? rates.write : rates.read, one.pieces, one.bytes),
                                        cost::sieve(rates, writes, one.hull, kWindow, one.pieces, one.bytes));
          ++all;
          if (taken > 1.5 * least) ++worse;
          EXPECT_LT(taken, 3 * least) << "piece " << piece << ", one byte in " << share << ", write " << writes
                                      << ", call " << rates.write.call;
        }
      }
    }
  }
  EXPECT_LT(worse * 20, all);
}

TEST(MeterTest, WaitsCountLittle) {
  for (const bool writes : {false, true}) {
    Meter meter;
    Simulated files(kDisk, 5);
    const Demand one = {.writes = writes, .bytes = 8 * 4000, .pieces = 4000, .hull = 8e6};
    for (int i = 0; i < 20; ++i) {
      files.move(one, Way::kList, meter);
      files.move(one, Way::kSieve, meter);
    }
    const Rate found = writes ? meter.rates().write : meter.rates().read;
    const Rate truth = writes ? kDisk.write : kDisk.read;
    for (const double ratio : {found.call / truth.call, found.byte / truth.byte}) {
      EXPECT_GT(ratio, 0.5);
      EXPECT_LT(ratio, 2.5);
    }
  }
}

TEST(MeterTest, ShortTransfersSayNothing) {
  Meter meter;
  meter.moved_pieces(true, Meter::kLeastPieces - 1, 100, 1e9);
  meter.moved_pieces(true, 100, 100 * 8192, 1e9);
  meter.moved_window(false, Meter::kLeastBytes - 1, 1e9);
  EXPECT_EQ(meter.rates().write.call, cost::kUsual.write.call);
  EXPECT_EQ(meter.rates().read.byte, cost::kUsual.read.byte);
}

TEST(MeterTest, NeverLeavesItsRange) {
  Meter meter;
  for (int i = 0; i < 1000; ++i) {
    meter.moved_pieces(true, 256, 2048, 0);
    meter.moved_window(false, 1 << 20, 1e15);
  }
  EXPECT_GT(meter.rates().write.call, 0);
  EXPECT_LT(meter.rates().read.byte, 1e4 * cost::kUsual.read.byte);
}

}  // namespace
}  // namespace ashlar::io
