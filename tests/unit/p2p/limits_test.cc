#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "framework/plugin/records.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

void keep_records(Process& process, plugin::Records* records) {
  const LaneGuard guard(process.lane.lock);
  process.lane.records = records;
}

/// Sends `data` `count` times from process 0 to process 1, which takes them off the wire only.
std::vector<Request*> send(World& world, int count, std::vector<std::byte>& data) {
  std::vector<Request*> sends(static_cast<std::size_t>(count));
  for (Request*& r : sends) {
    const auto length = static_cast<MPI_Count>(data.size());
    EXPECT_TRUE(p2p::isend(data.data(), length, bytes(), 1, 0, world.comm(0), &r).ok());
    world[1].poll();
  }
  for (int i = 0; i < 100; ++i) world.poll();
  return sends;
}

void receive(World& world, const std::vector<Request*>& sends, std::size_t length) {
  std::vector<std::byte> in(length);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    Request* r = nullptr;
    ASSERT_TRUE(p2p::irecv(in.data(), static_cast<MPI_Count>(length), bytes(), 0, 0, world.comm(1), &r).ok());
    ASSERT_TRUE(world.finish(r).ok());
  }
  for (Request* r : sends) ASSERT_TRUE(world.finish(r).ok());
}

TEST(Limits, OneRecordForEachLinkSaysTheParameterThatDecided) {
  p2p::Config config;
  config.eager_limit = 128;
  config.single_copy = false;
  plugin::Records records;
  World world(2, {}, config);
  keep_records(world[0], &records);
  std::vector<std::byte> data(300);
  receive(world, send(world, 5, data), data.size());
  const std::vector<plugin::Decision> made = records.of("p2p");
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].subject, "peer 1");
  EXPECT_EQ(made[0].chosen, "eager to 128 bytes, rendezvous with fragments above");
  EXPECT_EQ(made[0].because, "p2p.eager_limit is 128 bytes");
  EXPECT_EQ(made[0].lost, "single copy: p2p.single_copy is false");
  EXPECT_NE(made[0].setting.find("p2p.eager_limit"), std::string::npos);
  keep_records(world[0], nullptr);
}

TEST(Limits, TheFirstThrottlingIsRecorded) {
  p2p::Config config;
  config.unexpected_limit = 20000;
  plugin::Records records;
  World world(2, {}, config);
  keep_records(world[0], &records);
  std::vector<std::byte> data(40);
  for (int round = 0; round < 3; ++round) receive(world, send(world, 600, data), data.size());
  const std::vector<plugin::Decision> made = records.of("p2p");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[1].subject, "peer 1");
  EXPECT_EQ(made[1].chosen, "rendezvous for messages of any size, until the peer resumes");
  EXPECT_NE(made[1].because.find("of this process, have more than 20000 bytes"), std::string::npos) << made[1].because;
  EXPECT_EQ(made[1].setting, "p2p.unexpected_limit");
  keep_records(world[0], nullptr);
}

}  // namespace
}  // namespace ashlar::test
