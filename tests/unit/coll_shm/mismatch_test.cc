#include "components/coll/shm/segment/mismatch.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "tests/unit/coll_shm/world.h"

namespace ashlar::coll::shm {
namespace {

/// What rank 0 reports when it calls `mine` and rank 1 `theirs`.
Status of_two(const Call& mine, const Call& theirs) {
  World world(2);
  const Ticket a = begin(world[0], mine), b = begin(world[1], theirs);
  publish(b);
  publish(a);
  FlagWait wait = FlagWait::contributions(a);
  EXPECT_TRUE(poll(wait)) << "a flag of another call will never be this call's";
  return end(wait);
}

TEST(Mismatch, AFlagOfAnotherCallIsNamed) {
  const Status collective = of_two(call_of(Collective::kBarrier, 0, 0), call_of(Collective::kReduce));
  EXPECT_EQ(collective.mpi_class(), MPI_ERR_OTHER);
  EXPECT_NE(std::string(collective.text()).find("rank 1 called MPI_Reduce, this rank MPI_Barrier"), std::string::npos)
      << collective.text();
  const Status root = of_two(call_of(Collective::kReduce, 0), call_of(Collective::kReduce, 1));
  EXPECT_EQ(root.mpi_class(), MPI_ERR_ROOT);
  EXPECT_NE(std::string(root.text()).find("rank 1 passed root 1, this rank root 0"), std::string::npos) << root.text();
  const Status more = of_two(call_of(Collective::kAllreduce, 0, 40), call_of(Collective::kAllreduce, 0, 80));
  EXPECT_EQ(more.mpi_class(), MPI_ERR_TRUNCATE);
  EXPECT_NE(std::string(more.text()).find("rank 1 passed 80 bytes"), std::string::npos) << more.text();
  EXPECT_EQ(of_two(call_of(Collective::kAllreduce, 0, 80), call_of(Collective::kAllreduce, 0, 40)).mpi_class(),
            MPI_ERR_COUNT);
}

TEST(Mismatch, TheLastRankToArriveFindsItForAll) {
  World world(3, /*flat=*/false);
  const Call eight = call_of(Collective::kAllreduce, 0, 8), more = call_of(Collective::kAllreduce, 0, 16);
  Ticket tickets[3] = {begin(world[0], eight), begin(world[1], eight), begin(world[2], more)};
  for (Ticket& ticket : tickets) {
    publish(ticket);
    arrive(ticket);
  }
  for (Ticket& ticket : tickets) {
    FlagWait wait = FlagWait::all_arrived(ticket);
    EXPECT_TRUE(poll(wait));
    EXPECT_FALSE(end(wait).ok()) << "rank " << ticket.me();
  }
}

// Ranks in different algorithms wait for flags that no rank ever stores; only the records tell.
TEST(Mismatch, AWaitThatIsAboutToSleepComparesRecords) {
  World world(2);
  const Call bcast = call_of(Collective::kBcast, 1), reduce = call_of(Collective::kReduce, 0);
  const Ticket leaf = begin(world[0], bcast);
  FlagWait wait = FlagWait::result_from(leaf, 1);
  EXPECT_FALSE(poll(wait));
  fall_asleep(wait);
  EXPECT_FALSE(poll(wait)) << "rank 1 has called nothing yet";
  begin(world[1], reduce);
  for (int i = 1; i < 64; ++i) fall_asleep(wait);
  EXPECT_FALSE(poll(wait)) << "compared once in so many sleeps";
  fall_asleep(wait);
  EXPECT_TRUE(poll(wait));
  EXPECT_EQ(end(wait).mpi_class(), MPI_ERR_OTHER);
}

TEST(Mismatch, EndsTheWaitsOfEveryRankUpToItsLastNumber) {
  World world(3);
  const Call large = call_of(Collective::kBcast, 0, 1 << 20), barrier = call_of(Collective::kBarrier);
  const Ticket finder = begin(world[0], large, 4, 4096), other = begin(world[1], barrier);
  publish(other);
  Ticket waiting = begin(world[2], large, 4, 4096);
  SlotWait slot(waiting);
  DoneWait others(waiting);
  FlagWait flag = FlagWait::result(waiting);
  EXPECT_FALSE(poll(flag));
  fall_asleep(flag);
  FlagWait found = FlagWait::contributions(finder);
  publish(finder);
  EXPECT_TRUE(poll(found));
  EXPECT_FALSE(end(found).ok());
  EXPECT_EQ(world.layout().header().mismatched.load(), finder.last);
  EXPECT_EQ(world.wires[0].woken, std::vector<Rank>{2});
  EXPECT_TRUE(poll(flag));
  EXPECT_FALSE(end(flag).ok());
  EXPECT_TRUE(poll(others));
  EXPECT_FALSE(others.outcome.ok());
  EXPECT_TRUE(poll(slot));
  EXPECT_TRUE(slot.outcome.ok()) << "its slot is free all the same";
  // What is called afterwards is counted alike by ranks 0 and 2, and works between flags that agree.
  const Ticket next = begin(world[0], barrier), theirs = begin(world[2], barrier);
  EXPECT_EQ(next.number, theirs.number);
  FlagWait again = FlagWait::contributions(next, 1);
  publish(next);
  EXPECT_TRUE(poll(again));
  EXPECT_TRUE(end(again).ok());
}

TEST(Mismatch, AnEarlierMismatchEndsNoLaterWait) {
  World world(2);
  const Call a = call_of(Collective::kBarrier), b = call_of(Collective::kReduce);
  const Ticket mine = begin(world[0], a), theirs = begin(world[1], b);
  publish(theirs);
  publish(mine);
  FlagWait found = FlagWait::contributions(mine);
  EXPECT_TRUE(poll(found));
  EXPECT_FALSE(end(found).ok());
  FlagWait found_there = FlagWait::contributions(theirs);
  EXPECT_TRUE(poll(found_there));
  EXPECT_FALSE(end(found_there).ok());
  const Ticket next = begin(world[0], a);
  EXPECT_TRUE(any_mismatch(next));
  FlagWait later = FlagWait::contributions(next);
  publish(next);
  EXPECT_FALSE(poll(later));
  publish(begin(world[1], a));
  EXPECT_TRUE(poll(later));
  EXPECT_TRUE(end(later).ok());
}

// Once numbers need more than the 40 bits of a record, records must still be compared.
TEST(Mismatch, RecordsAreComparedBeyondTheirBits) {
  for (const std::uint64_t number : {(std::uint64_t{1} << 40) - 1, std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 5,
                                     kNumberMask, kNumberMask + 1}) {
    World world(2);
    world.start_at(number);
    const Call bcast = call_of(Collective::kBcast, 1, 0), barrier = call_of(Collective::kBarrier, 0, 0);
    const Ticket mine = begin(world[0], bcast, 3);
    EXPECT_TRUE(records_agree(mine));
    begin(world[1], barrier, 3);
    EXPECT_FALSE(records_agree(mine)) << number;
    Ticket behind = mine;
    behind.number = mine.last;  // found by any of the call's numbers
    const std::string text = mismatch(behind).text();
    EXPECT_NE(text.find("rank 1 called MPI_Barrier"), std::string::npos) << number << ": " << text;
  }
}

TEST(Mismatch, SizesPerPairAreReportedByTheirSign) {
  EXPECT_EQ(sizes_differ(1, 80, 0, 40).mpi_class(), MPI_ERR_TRUNCATE);
  EXPECT_EQ(sizes_differ(1, 40, 0, 80).mpi_class(), MPI_ERR_COUNT);
  EXPECT_NE(std::string(sizes_differ(1, 80, 0, 40).text()).find("rank 1 sends 80 bytes to rank 0"), std::string::npos);
}

}  // namespace
}  // namespace ashlar::coll::shm
