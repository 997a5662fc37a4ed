#include "framework/progress/background.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "framework/progress/peer.h"
#include "framework/progress/waiting.h"
#include "tests/unit/progress/fake_iface.h"

namespace ashlar {
namespace {

using test::FakeIface;

long switches() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

// While a thread of the program sleeps in a wait, the background thread has nothing to look for; afterwards the lane is
// its own again.
TEST(Background, SleepsWhileAWaitSleepsAndPollsAfterwards) ASHLAR_NO_THREAD_SAFETY {
  LaneLock::enable_threads();
  PeerTable peers({}, 1, 1);
  progress::Config config;
  config.thread = true;
  Lane lane(0, peers, config);
  FakeIface iface(false);
  lane.add_iface(&iface, false);
  progress::Background background;
  Lane* const lanes[] = {&lane};
  ASSERT_TRUE(background.start(lanes));
  long before = 0, during = 0;
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    before = switches();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    during = switches() - before;
    iface.arrive();
  });
  {
    const LaneGuard guard(lane.lock);
    progress::wait(lane, [&] { return iface.seen == 1; });
  }
  sender.join();
  EXPECT_LT(during, 200) << "two threads that look every 20 to 50 ms; one that looks every 0.5 ms makes 800";
  EXPECT_EQ(lane.attended.load(), 0u);
  EXPECT_EQ(lane.attended_asleep.load(), 0u);
  iface.arrive();
  for (int i = 0; i < 5000 && iface.news != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(iface.news, 0u) << "no other thread polls";
  background.stop();
}

}  // namespace
}  // namespace ashlar
