#include "components/coll/shm/segment/waits.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "tests/unit/coll_shm/world.h"

namespace ashlar::coll::shm {
namespace {

TEST(FlagWait, IsSatisfiedByItsOwnPublicationAlone) {
  World world(3);
  const Call call = call_of(Collective::kScan);
  Ticket tickets[3] = {begin(world[0], call), begin(world[1], call), begin(world[2], call)};
  FlagWait all = FlagWait::contributions(tickets[0]);
  FlagWait two = FlagWait::contributions(tickets[0], 2);
  FlagWait none = FlagWait::contributions(tickets[0], 0);
  FlagWait result = FlagWait::result(tickets[0]);
  EXPECT_TRUE(poll(none));
  publish(tickets[1]);
  EXPECT_FALSE(poll(two));
  publish(tickets[0]);
  EXPECT_TRUE(poll(two));
  EXPECT_FALSE(poll(all));
  publish(tickets[2]);
  EXPECT_TRUE(poll(all));
  EXPECT_FALSE(poll(result)) << "contributions are not the result";
  publish_result(tickets[2]);
  EXPECT_TRUE(poll(result));
  for (FlagWait* wait : {&all, &two, &none, &result}) EXPECT_TRUE(end(*wait).ok());
}

TEST(FlagWait, ABlockSatisfiesItsReceiverAlone) {
  World world(3);
  const Call call = call_of(Collective::kScatter);
  const Ticket root = begin(world[0], call), one = begin(world[1], call), two = begin(world[2], call);
  FlagWait first = FlagWait::own_line_from(one, 0), second = FlagWait::own_line_from(two, 0);
  publish_line(root, 2);
  EXPECT_FALSE(poll(first));
  EXPECT_TRUE(poll(second));
}

// What lay in the slot one ring earlier is not this collective's.
TEST(FlagWait, AnEarlierRingsFlagDoesNotSatisfyIt) {
  World world(2);
  const Call call = call_of(Collective::kAllreduce);
  for (std::uint64_t i = 0; i <= kSlots; ++i) {
    const Ticket mine = begin(world[0], call), theirs = begin(world[1], call);
    FlagWait wait = FlagWait::contributions(mine);
    publish(mine);
    ASSERT_FALSE(poll(wait)) << "number " << mine.number;
    publish(theirs);
    ASSERT_TRUE(poll(wait));
    done(mine);
    done(theirs);
  }
}

TEST(FlagWait, CentralFormWaitsForTheLastRankToArrive) {
  World world(3, /*flat=*/false);
  const Call call = call_of(Collective::kAllgather);
  for (int round = 0; round < 200; ++round) {
    Ticket tickets[3] = {begin(world[0], call), begin(world[1], call), begin(world[2], call)};
    for (int r = 0; r < 3; ++r) {
      FlagWait wait = FlagWait::all_arrived(tickets[0]);
      ASSERT_FALSE(poll(wait)) << "round " << round << ", " << r << " have arrived";
      publish(tickets[(round + r) % 3]);
      arrive(tickets[(round + r) % 3]);
    }
    FlagWait wait = FlagWait::all_arrived(tickets[0]);
    ASSERT_TRUE(poll(wait));
    ASSERT_TRUE(end(wait).ok());
    for (Ticket& ticket : tickets) {
      note_all_arrived(ticket);
      done(ticket);
    }
    EXPECT_EQ(world[0].all_done, tickets[0].number - 1);
  }
}

// A broadcast's root does not wait for its leaves: it runs ahead until the ring is full.
TEST(SlotWait, ARankRunsAheadByARingAndNoFurther) {
  World world(2);
  const Call call = call_of(Collective::kBcast);
  for (std::uint64_t i = 0; i < kSlots; ++i) {
    const Ticket root = begin(world[0], call);
    ASSERT_TRUE(root.slot_free()) << "number " << root.number;
    publish_result(root);
    done(root);
  }
  const Ticket ahead = begin(world[0], call);
  SlotWait slot(ahead);
  EXPECT_FALSE(poll(slot));
  // The leaf takes them one by one and finds each root's flag, however far the root is.
  for (std::uint64_t i = 0; i < kSlots; ++i) {
    const Ticket leaf = begin(world[1], call);
    FlagWait wait = FlagWait::result_from(leaf, 0);
    ASSERT_TRUE(poll(wait)) << "number " << leaf.number;
    EXPECT_TRUE(wait.outcome.ok());
    done(leaf);
    EXPECT_TRUE(poll(slot)) << "one slot is free";
  }
}

TEST(SlotWait, BuffersHaveAShorterRing) {
  World world(2);
  const Call call = call_of(Collective::kBcast, 0, 1024);
  for (std::uint64_t i = 0; i < kBufferSlots; ++i) {
    const Ticket root = begin(world[0], call, 1, 1024);
    ASSERT_TRUE(root.slot_free());
    done(root);
  }
  const Ticket ahead = begin(world[0], call, 1, 1024);
  EXPECT_FALSE(ahead.slot_free());
  done(begin(world[1], call, 1, 1024));
  EXPECT_TRUE(ahead.slot_free());
}

// The root of a broadcast in eight pieces is done at once, though the other rank has not left the barrier before it.
TEST(SlotWait, CollectivesWithoutBuffersDoNotTakeTheirPlaces) {
  World world(2);
  const Call barrier = call_of(Collective::kBarrier), bcast = call_of(Collective::kBcast, 0, 8 * 4096);
  const auto broadcast = [&](Member& member) {
    Ticket pieces = begin(member, bcast, kBufferSlots, 4096);
    for (;; ++pieces.number) {
      ASSERT_TRUE(pieces.slot_free()) << "number " << pieces.number << " of " << pieces.last;
      done(pieces);
      if (pieces.number == pieces.last) return;
    }
  };
  for (std::size_t r = 0; r < 2; ++r) broadcast(world[r]);
  const Ticket mine = begin(world[0], barrier), other = begin(world[1], barrier);
  done(mine);
  broadcast(world[0]);
  Ticket next = begin(world[0], bcast, 1, 4096);
  EXPECT_FALSE(next.slot_free()) << "the other rank has not read the first piece";
  done(other);
  EXPECT_FALSE(next.slot_free());
  done(begin(world[1], bcast, 1, 4096));
  EXPECT_TRUE(next.slot_free());
}

// However many of them there are, the ring of flags is not longer than it is.
TEST(SlotWait, ABufferIsNotFreeWhereTheFlagsAreNot) {
  World world(2);
  const Call barrier = call_of(Collective::kBarrier), bcast = call_of(Collective::kBcast, 0, 4096);
  for (std::uint64_t i = 0; i < kSlots; ++i) done(begin(world[0], barrier));
  const Ticket ahead = begin(world[0], bcast, 1, 4096);
  EXPECT_FALSE(ahead.slot_free());
  done(begin(world[1], barrier));
  EXPECT_TRUE(ahead.slot_free());
}

TEST(FlagWait, ARankOneOrTwoCollectivesAheadIsStillSeen) {
  World world(2);
  const Call reduce = call_of(Collective::kReduce), barrier = call_of(Collective::kBarrier);
  for (int ahead = 1; ahead <= 2; ++ahead) {
    const Ticket mine = begin(world[0], reduce);
    const Ticket theirs = begin(world[1], reduce);
    publish(theirs);
    done(theirs);
    std::vector<Ticket> later;
    for (int i = 0; i < ahead; ++i) {
      later.push_back(begin(world[1], barrier));
      publish(later.back());
    }
    publish(mine);
    FlagWait wait = FlagWait::contributions(mine);
    EXPECT_TRUE(poll(wait));
    EXPECT_TRUE(end(wait).ok());
    done(mine);
    for (Ticket& ticket : later) {
      const Ticket other = begin(world[0], barrier);
      publish(other);
      FlagWait both = FlagWait::contributions(other);
      EXPECT_TRUE(poll(both));
      EXPECT_TRUE(end(both).ok());
      done(other);
      done(ticket);
    }
  }
}

TEST(DoneWait, NeedsEveryOtherRank) {
  World world(3);
  const Call call = call_of(Collective::kBcast, 1);
  const Ticket root = begin(world[1], call), one = begin(world[0], call), two = begin(world[2], call);
  DoneWait readers(root);
  EXPECT_FALSE(poll(readers));
  done_and_wake(two);
  EXPECT_FALSE(poll(readers));
  done_and_wake(one);
  EXPECT_TRUE(poll(readers)) << "its own end is not needed";
}

// The writer must find the sleeper, or the sleeper the flag.
TEST(Sleep, ASleeperIsWokenByThePublicationItWaitsFor) {
  World world(3);
  const Call call = call_of(Collective::kBarrier);
  const Ticket mine = begin(world[0], call), theirs = begin(world[2], call);
  publish_and_wake(theirs);
  EXPECT_TRUE(world.wires[2].woken.empty()) << "no rank sleeps";
  FlagWait wait = FlagWait::contributions(mine);
  EXPECT_FALSE(poll(wait));
  fall_asleep(wait);
  fall_asleep(wait);  // polled again, and about to sleep again: announced once
  EXPECT_EQ(world.layout().header().sleepers.load(), 1u);
  publish_and_wake(mine);
  EXPECT_TRUE(world.wires[0].woken.empty()) << "a rank does not wake itself";
  const Ticket last = begin(world[1], call);
  publish_and_wake(last);
  EXPECT_EQ(world.wires[1].woken, std::vector<Rank>{0});
  EXPECT_TRUE(poll(wait));
  EXPECT_TRUE(end(wait).ok());
  EXPECT_EQ(world.layout().header().sleepers.load(), 0u);
  EXPECT_EQ(world[0].state().sleeping.load(), 0u);
}

TEST(Sleep, OneRankIsWokenWhereOneWaits) {
  World world(3);
  const Call call = call_of(Collective::kAlltoall);
  Ticket tickets[3] = {begin(world[0], call), begin(world[1], call), begin(world[2], call)};
  DoneWait first(tickets[0]), second(tickets[1]);
  fall_asleep(first);
  fall_asleep(second);
  wake_sleeper(tickets[2], 1);
  EXPECT_EQ(world.wires[2].woken, std::vector<Rank>{1});
  wake_sleepers(tickets[2]);
  EXPECT_EQ(world.wires[2].woken, (std::vector<Rank>{1, 0, 1}));
}

TEST(Wait, PollsForAWriterOnlyWhereRanksShareCores) {
  World world(2, /*flat=*/false);
  const Call call = call_of(Collective::kBcast);
  const Ticket leaf = begin(world[1], call);
  FlagWait plain = FlagWait::result_from(leaf, 0);
  EXPECT_EQ(plain.soon, nullptr);
  world[1].polls_for_writer = true;
  store_core(leaf);
  FlagWait polling = FlagWait::result_from(leaf, 0);
  ASSERT_NE(polling.soon, nullptr);
  world[0].state().core.store(1u << 20);  // a core that does not exist
  EXPECT_TRUE(polling.soon(polling));
}

TEST(Wait, NumbersWrapAround) {
  // Of a record's 40 bits, and of a flag's 48.
  for (const std::uint64_t limit : {std::uint64_t{1} << 40, kNumberMask + 1}) {
    World world(2, /*flat=*/false);
    world.start_at(limit - 3);
    const Call call = call_of(Collective::kAllreduce);
    for (int i = 0; i < 6; ++i) {
      const Ticket mine = begin(world[0], call), theirs = begin(world[1], call);
      EXPECT_TRUE(mine.slot_free());
      FlagWait wait = FlagWait::all_arrived(mine);
      publish(mine);
      arrive(mine);
      EXPECT_FALSE(poll(wait)) << "number " << mine.number;
      fall_asleep(wait);
      EXPECT_FALSE(poll(wait)) << "records agree";
      publish(theirs);
      arrive(theirs);
      EXPECT_TRUE(poll(wait));
      EXPECT_TRUE(end(wait).ok());
      done(mine);
      done(theirs);
    }
  }
}

// A wait that fails for another reason (a member is gone) leaves nothing that the others would wait for.
TEST(Wait, AFailedRankEndsItsNumbersForTheOthers) {
  World world(3);
  const Call call = call_of(Collective::kReduce, 0, 1024);
  const Ticket failing = begin(world[1], call, 3, 1024);
  FlagWait wait = FlagWait::contributions(failing);
  fall_asleep(wait);
  const Ticket root = begin(world[0], call, 3, 1024);
  DoneWait others(root);
  fall_asleep(others);
  wait.outcome = Status::fail(MPI_ERR_PROC_ABORTED, "rank 2 is gone");
  EXPECT_FALSE(end(wait).ok());
  EXPECT_TRUE(wait.failed());
  EXPECT_EQ(world[1].state().done.load(), failing.last);
  EXPECT_EQ(world.layout().header().sleepers.load(), 1u) << "it does not sleep any more";
  EXPECT_EQ(world.wires[1].woken, std::vector<Rank>{0}) << "the rank that waits for it polls again";
  EXPECT_TRUE(Ticket::take(world[1], call, {.own = 8, .any = 8}, 1).is_turn());
  EXPECT_EQ(world.layout().header().mismatched.load(), 0u) << "calls agreed";
  done(begin(world[2], call, 1, 1024));
  EXPECT_TRUE(poll(others));
}

}  // namespace
}  // namespace ashlar::coll::shm
