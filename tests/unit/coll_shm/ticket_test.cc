#include "components/coll/shm/segment/ticket.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/coll_shm/world.h"

namespace ashlar::coll::shm {
namespace {

TEST(Ticket, TakesNumbersInTheOrderOfTheCalls) {
  World world(2);
  const Call barrier = call_of(Collective::kBarrier), large = call_of(Collective::kBcast, 0, 1 << 20);
  const Ticket first = Ticket::take(world[0], barrier, {.own = 0, .any = 0}, 1);
  const Ticket pieces = Ticket::take(world[0], large, {.own = 4096, .any = 4096}, 16);
  const Ticket last = Ticket::take(world[0], barrier, {.own = 0, .any = 0}, 1);
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(pieces.first, 2u);
  EXPECT_EQ(pieces.last, 17u);
  EXPECT_EQ(last.number, 18u);
}

TEST(Ticket, HasItsTurnWhenTheOneBeforeIsOver) {
  World world(2);
  const Call call = call_of(Collective::kBcast);
  Ticket first = Ticket::take(world[0], call, {.own = 8, .any = 8}, 2);
  const Ticket second = Ticket::take(world[0], call, {.own = 8, .any = 8}, 1);
  TurnWait turn(second);
  EXPECT_TRUE(first.is_turn());
  EXPECT_FALSE(turn.holds(turn));
  done(first);
  EXPECT_FALSE(turn.holds(turn)) << "its first number alone is over";
  ++first.number;
  done(first);
  EXPECT_TRUE(turn.holds(turn));
}

// Nonblocking collectives wait for their turn; one of them may fail meanwhile, because another rank reports so.
TEST(Ticket, TheTurnPassesOverTicketsThatFailedBeforeTheirTurn) {
  World world(2);
  const Call call = call_of(Collective::kBcast);
  Ticket tickets[8];
  for (Ticket& ticket : tickets) ticket = Ticket::take(world[0], call, {.own = 8, .any = 8}, 3);
  tickets[2].abandon();
  tickets[1].abandon();
  tickets[5].abandon();
  EXPECT_FALSE(tickets[3].is_turn()) << "the first one is not over";
  tickets[0].end_turn();
  EXPECT_TRUE(tickets[3].is_turn());
  tickets[3].end_turn();
  EXPECT_TRUE(tickets[4].is_turn());
  tickets[4].abandon();  // its turn had just come
  EXPECT_TRUE(tickets[6].is_turn());
  tickets[7].abandon();
  tickets[6].end_turn();
  EXPECT_TRUE(Ticket::take(world[0], call, {.own = 8, .any = 8}, 1).is_turn());
  EXPECT_FALSE(tickets[7].is_turn());
}

TEST(Ticket, PayloadsLieInTheLineAsLongAsTheyFit) {
  World world(2);
  const Call call = call_of(Collective::kAllreduce);
  const Ticket ticket = Ticket::take(world[1], call, {.own = 8, .any = 8}, 1);
  const auto most = static_cast<MPI_Count>(kInline);
  EXPECT_EQ(ticket.payload(0, most), ticket.line(0).data);
  EXPECT_EQ(ticket.payload(0, most + 1), ticket.buffer(0));
  EXPECT_EQ(ticket.result(most), ticket.result_line().data);
  EXPECT_EQ(ticket.result(most + 1), ticket.result_buffer());
  EXPECT_EQ(ticket.ahead, kSlots);
  EXPECT_EQ(Ticket::take(world[1], call, {.own = most + 1, .any = most + 1}, 1).ahead, kBufferSlots);
}

TEST(Ticket, FlagsOfOneNumberDifferWhereCallsDo) {
  std::set<std::uint64_t> signatures;
  for (const Collective what :
       {Collective::kBarrier, Collective::kBcast, Collective::kReduce, Collective::kAllreduce}) {
    for (const Rank root : {0, 1, 2}) {
      for (const MPI_Count bytes : {0, 8, 16, 1 << 20}) {
        const std::uint64_t signature = signature_of(what, root, bytes);
        EXPECT_EQ(signature & kNumberMask, 0u);
        EXPECT_NE(signature, 0u);
        signatures.insert(signature);
      }
    }
  }
  EXPECT_EQ(signatures.size(), 48u);
}

TEST(Ticket, FlagsOfOneCallDifferWhereNumbersDo) {
  World world(2);
  const Call call = call_of(Collective::kAllreduce);
  const Ticket first = Ticket::take(world[0], call, {.own = 8, .any = 8}, 1),
               second = Ticket::take(world[0], call, {.own = 8, .any = 8}, 1);
  EXPECT_NE(first.flag(), second.flag());
  EXPECT_EQ(first.flag() & ~kNumberMask, second.flag() & ~kNumberMask);
}

// A number above 48 bits must not reach the signature.
TEST(Ticket, FlagsHoldTheNumberModuloTheirBits) {
  World world(2);
  const Call call = call_of(Collective::kAllreduce);
  world.start_at(kNumberMask);
  const Ticket last = Ticket::take(world[0], call, {.own = 8, .any = 8}, 1),
               wrapped = Ticket::take(world[0], call, {.own = 8, .any = 8}, 1);
  EXPECT_EQ(last.flag() & kNumberMask, kNumberMask);
  EXPECT_EQ(wrapped.number, kNumberMask + 1);
  EXPECT_EQ(wrapped.flag() & kNumberMask, 0u);
  EXPECT_EQ(wrapped.flag() & ~kNumberMask, last.flag() & ~kNumberMask);
  world.start_at(~kNumberMask | 5);
  const Ticket beyond = Ticket::take(world[0], call, {.own = 8, .any = 8}, 1);
  ASSERT_NE(beyond.signature, ~kNumberMask);
  EXPECT_EQ(beyond.flag(), beyond.signature | 5);
}

}  // namespace
}  // namespace ashlar::coll::shm
