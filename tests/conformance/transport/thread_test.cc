// Two interfaces of one process in two threads: what the thread sanitizer can see of a transport.
#include <atomic>
#include <thread>

#include "tests/conformance/transport/pair.h"

namespace ashlar::test {
namespace {

class ThreadTest : public TransportTest {};

INSTANTIATE_TEST_SUITE_P(Installed, ThreadTest, testing::ValuesIn(transports()), component_name);

TEST_P(ThreadTest, FloodBetweenThreads) {
  Pair pair(GetParam(), {{"ring_bytes", "8KiB"}});
  if (pair.loopback()) GTEST_SKIP() << "one lane belongs to one thread";
  const std::uint64_t count = 30'000;
  const auto bytes = pattern(11, 2048);
  std::uint64_t wrong[2] = {0, 0}, got[2] = {0, 0};
  std::atomic<int> over{0};
  const auto run = [&](Lane& lane, ashlar_endpoint* to, int me) {
    lane.on_message = [&, me](const ashlar_am& am) {
      if (am.h0 != got[me]++ || am.h1 != checksum(am.data, am.length)) ++wrong[me];
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto length = static_cast<std::uint32_t>(i * 2654435761 % (i % 8 ? 90 : 1500));
      const auto send = length > to->max_short ? send_bcopy : send_short;
      if (send(to, 1, i, checksum(bytes.data(), length), bytes.data(), length, {&lane}) != ASHLAR_OK) ++wrong[me];
    }
    while (got[me] < count || lane.ops().idle(lane.get()) == 0) progress_or_yield({&lane});
    // The other lane may need this one's progress to become idle.
    for (++over; over != 2;) progress_or_yield({&lane});
  };
  std::thread other([&] { run(pair.b(), pair.to_a, 1); });
  run(pair.a(), pair.to_b, 0);
  other.join();
  EXPECT_EQ(wrong[0] + wrong[1], 0u);
}

TEST_P(ThreadTest, BothThreadsCopyOneRegion) {
  Pair pair(GetParam());
  if (pair.loopback()) GTEST_SKIP() << "one lane belongs to one thread";
  if (!(pair.to_a->capabilities & ASHLAR_CAP_GET)) GTEST_SKIP() << "single copies are not permitted here";
  const auto source = pattern(12, 1 << 20);
  ashlar_key key;
  ASSERT_EQ(pair.a().ops().expose(pair.a().get(), source.data(), source.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  std::atomic<bool> stop{false};
  std::thread owner([&] {
    while (!stop) progress_or_yield({&pair.a()});
  });
  std::vector<unsigned char> target(source.size());
  for (int round = 0; round < 100; ++round) {
    std::fill(target.begin(), target.end(), 0);
    Completion done;
    const ashlar_result r = pair.to_a->ops->get(pair.to_a, target.data(), &key, 0, target.size(), &done);
    ASSERT_GE(r, 0) << last_failure();
    while (r == ASHLAR_PENDING && !done.finished) progress_or_yield({&pair.b()});
    ASSERT_EQ(done.result, ASHLAR_OK);
    ASSERT_EQ(target, source);
  }
  stop = true;
  owner.join();
  pair.a().ops().unexpose(pair.a().get(), &key);
}

}  // namespace
}  // namespace ashlar::test
