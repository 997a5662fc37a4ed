#include "mpiexec/placement.h"

#include <gmock/gmock.h>

#include <set>

#include "framework/base/processors.h"

namespace ashlar::mpiexec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Sockets of `cores` cores of `threads` threads; one NUMA node per socket.
Topology machine(unsigned sockets, unsigned cores, unsigned threads) {
  Topology t;
  for (unsigned s = 0; s < sockets; ++s)
    for (unsigned c = 0; c < cores; ++c)
      for (unsigned h = 0; h < threads; ++h)
        t.cpus.push_back({h * sockets * cores + s * cores + c, s * cores + c, s, s});
  return t;
}

TEST(Placement, RanksGetEqualShares) {
  const Placement p = place(machine(2, 4, 2), 2, 0, BindTo::kAuto, MapBy::kAuto);
  EXPECT_TRUE(p.bound);
  EXPECT_FALSE(p.oversubscribed);
  EXPECT_THAT(p.cpus[0], ElementsAre(0, 8, 1, 9, 2, 10, 3, 11));
  EXPECT_THAT(p.cpus[1], ElementsAre(4, 12, 5, 13, 6, 14, 7, 15));
  EXPECT_THAT(p.words[0], HasSubstr("cores 0-3"));
}

TEST(Placement, SharesCoverEveryCoreOnce) {
  for (unsigned ranks = 2; ranks <= 7; ++ranks) {
    const Placement p = place(machine(1, 7, 1), ranks, 0, BindTo::kAuto, MapBy::kAuto);
    std::set<unsigned> all;
    std::size_t sum = 0;
    for (const auto& cpus : p.cpus) {
      EXPECT_FALSE(cpus.empty());
      all.insert(cpus.begin(), cpus.end());
      sum += cpus.size();
    }
    EXPECT_EQ(all.size(), 7u);
    EXPECT_EQ(sum, 7u);
  }
}

TEST(Placement, MoreRanksThanCoresAreNotBound) {
  const Placement p = place(machine(1, 2, 1), 3, 0, BindTo::kAuto, MapBy::kAuto);
  EXPECT_FALSE(p.bound);
  EXPECT_TRUE(p.oversubscribed);
  EXPECT_THAT(p.cpus[0], IsEmpty());
  EXPECT_THAT(p.because, HasSubstr("3 ranks are more than 2 usable cores"));
}

TEST(Placement, AQuotaCountsAsCores) {
  const Placement p = place(machine(1, 64, 1), 4, 2.0, BindTo::kAuto, MapBy::kAuto);
  EXPECT_TRUE(p.oversubscribed);
  EXPECT_FALSE(p.bound);
  EXPECT_THAT(p.because, HasSubstr("quota of 2 cores"));
}

TEST(Placement, OneRankKeepsEverything) {
  EXPECT_FALSE(place(machine(1, 4, 1), 1, 0, BindTo::kAuto, MapBy::kAuto).bound);
}

TEST(Placement, PartialCoresAreUsable) {
  Topology t = machine(1, 2, 2);
  t.cpus.erase(t.cpus.begin());  // one of core 0's two threads is not ours
  const Placement p = place(t, 2, 0, BindTo::kCore, MapBy::kAuto);
  EXPECT_THAT(p.cpus[0], ElementsAre(2));
  EXPECT_THAT(p.cpus[1], ElementsAre(1, 3));
}

TEST(Placement, BindToCoreTakesAllItsThreads) {
  const Placement p = place(machine(1, 2, 2), 2, 0, BindTo::kCore, MapBy::kAuto);
  EXPECT_THAT(p.cpus[0], ElementsAre(0, 2));
  EXPECT_THAT(p.cpus[1], ElementsAre(1, 3));
}

TEST(Placement, BindToHwthreadTakesOne) {
  const Placement p = place(machine(1, 2, 2), 3, 0, BindTo::kHwthread, MapBy::kAuto);
  EXPECT_THAT(p.cpus[0], ElementsAre(0));
  EXPECT_THAT(p.cpus[1], ElementsAre(2));
  EXPECT_THAT(p.cpus[2], ElementsAre(1));
  EXPECT_THAT(p.words[0], HasSubstr("part of the core"));
}

TEST(Placement, MapBySocketAlternates) {
  const Placement p = place(machine(2, 2, 1), 4, 0, BindTo::kCore, MapBy::kSocket);
  EXPECT_THAT(p.cpus[0], ElementsAre(0));
  EXPECT_THAT(p.cpus[1], ElementsAre(2));
  EXPECT_THAT(p.cpus[2], ElementsAre(1));
  EXPECT_THAT(p.cpus[3], ElementsAre(3));
}

TEST(Placement, BindToSocketWidens) {
  const Placement p = place(machine(2, 2, 1), 2, 0, BindTo::kSocket, MapBy::kSocket);
  EXPECT_THAT(p.cpus[0], ElementsAre(0, 1));
  EXPECT_THAT(p.cpus[1], ElementsAre(2, 3));
}

TEST(Placement, AskedForBindingWrapsAround) {
  const Placement p = place(machine(1, 2, 1), 5, 0, BindTo::kCore, MapBy::kAuto);
  EXPECT_TRUE(p.bound);
  EXPECT_TRUE(p.oversubscribed);
  EXPECT_THAT(p.cpus[4], ElementsAre(0));
  EXPECT_THAT(p.because, HasSubstr("5 ranks share 2 places"));
}

TEST(Placement, TheTopologyIsReadOnlyWhenItMatters) {
  EXPECT_FALSE(needs_topology(BindTo::kNone, 2, 8));
  EXPECT_FALSE(needs_topology(BindTo::kAuto, 1, 8));
  EXPECT_FALSE(needs_topology(BindTo::kAuto, 9, 8));
  EXPECT_TRUE(needs_topology(BindTo::kAuto, 8, 8));
  EXPECT_TRUE(needs_topology(BindTo::kCore, 9, 8));
  EXPECT_TRUE(place_unbound(9, 8, 0, BindTo::kAuto).oversubscribed);
}

TEST(Topology, ThisMachineShowsOnlyAllowedProcessors) {
  std::string note;
  const Topology t = discover(&note);
  EXPECT_EQ(note, "");
  std::set<unsigned> seen;
  for (const Cpu& cpu : t.cpus) seen.insert(cpu.os);
  const std::vector<unsigned> allowed = own_processors();
  EXPECT_EQ(seen, std::set<unsigned>(allowed.begin(), allowed.end()));
  EXPECT_GE(t.cores(), 1u);
}

}  // namespace
}  // namespace ashlar::mpiexec
