#include "framework/plugin/account.h"

#include <gmock/gmock.h>

namespace ashlar::plugin {
namespace {

using testing::ElementsAre;

std::uint32_t world_rank(const void* table, int i) { return static_cast<const std::uint32_t*>(table)[i]; }

TEST(Account, WhatIsWrittenIsRead) {
  char page[1024];
  AccountWriter writer(page, sizeof page);
  EXPECT_FALSE(writer.waits());
  writer.waiting(123456789012345);
  EXPECT_TRUE(writer.waits());
  writer.waits_for(3, "in MPI_Recv from rank 3 tag 7 on 'a name with spaces'");
  writer.waits_for(kAnyPeer, "in MPI_Probe");
  writer.waits_for(kNoPeer, "for MPI_Ibarrier");
  const std::uint32_t ranks[] = {0, 1, 2, 5, 9, 8};
  writer.waits_in_collective(4, 17, 6, world_rank, ranks, "in MPI_Bcast on ''");
  writer.under_way(1, "MPI_Isend of 8 bytes to rank 1");
  writer.has_begun(0, 99);
  writer.finalizing();

  const Account a = Account::parse({page, writer.finish()});
  EXPECT_TRUE(a.waits);
  EXPECT_EQ(a.since_ns, 123456789012345u);
  ASSERT_EQ(a.waits_for.size(), 3u);
  EXPECT_EQ(a.waits_for[0].peer, 3u);
  EXPECT_EQ(a.waits_for[0].text, "in MPI_Recv from rank 3 tag 7 on 'a name with spaces'");
  EXPECT_EQ(a.waits_for[1].peer, kAnyPeer);
  EXPECT_EQ(a.waits_for[2].peer, kNoPeer);
  ASSERT_EQ(a.collectives.size(), 1u);
  EXPECT_EQ(a.collectives[0].context, 4u);
  EXPECT_EQ(a.collectives[0].number, 17u);
  EXPECT_THAT(a.collectives[0].ranks, ElementsAre(0, 1, 2, 5, 9, 8));
  EXPECT_EQ(a.collectives[0].text, "in MPI_Bcast on ''");
  ASSERT_EQ(a.under_way.size(), 1u);
  EXPECT_EQ(a.under_way[0].text, "MPI_Isend of 8 bytes to rank 1");
  ASSERT_EQ(a.begun.size(), 1u);
  EXPECT_EQ(a.begun[0].number, 99u);
  EXPECT_TRUE(a.finalizing);
  EXPECT_EQ(a.dropped, 0u);
}

TEST(Account, WhatHasNoRoomIsCounted) {
  char page[200];
  AccountWriter writer(page, sizeof page);
  for (int i = 0; i < 20; ++i) writer.under_way(1, "MPI_Irecv from rank 1 tag 3 on 'MPI_COMM_WORLD'");
  const std::size_t bytes = writer.finish();
  EXPECT_LE(bytes, sizeof page);
  const Account a = Account::parse({page, bytes});
  EXPECT_EQ(a.under_way.size(), 3u);
  EXPECT_EQ(a.dropped, 17u);
}

TEST(Account, NonsenseIsLeftOut) {
  const Account a = Account::parse("q 1 2\n\nw\nc 1 2 9-3,4 text\nc 0 1 0-4000000000 text\nw 5");
  ASSERT_EQ(a.waits_for.size(), 2u);
  EXPECT_EQ(a.waits_for[1].peer, 5u);
  ASSERT_EQ(a.collectives.size(), 2u);
  EXPECT_TRUE(a.collectives[0].ranks.empty());
  EXPECT_TRUE(a.collectives[1].ranks.empty());
  // A page that is damaged makes no list that never ends, and none that fills the memory.
  EXPECT_THAT(Account::parse("c 1 1 4294967294-4294967295 x\n").collectives.at(0).ranks,
              ElementsAre(4294967294u, 4294967295u));
  EXPECT_TRUE(Account::parse("c 1 1 0-1048575,0-1048575 x\n").collectives.at(0).ranks.empty());
  EXPECT_FALSE(a.waits);
}

}  // namespace
}  // namespace ashlar::plugin
