#include "components/transport/shm/watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "components/transport/shm/address.h"

namespace ashlar::shm {
namespace {

pid_t sleeping_child() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  return child;
}

TEST(WatchTest, TellsADeathOnceEvenBeforeTheParentHasCollectedIt) {
  const pid_t child = sleeping_child();
  Watch watch;
  ASSERT_TRUE(watch.add(5, child, start_time_of(child)));
  ASSERT_TRUE(watch.add(5, child, start_time_of(child)));
  std::vector<std::uint64_t> dead;
  watch.look(&dead);
  EXPECT_TRUE(dead.empty());
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);  // a zombie now
  watch.look(&dead);
  EXPECT_EQ(dead, std::vector<std::uint64_t>{5});
  EXPECT_FALSE(Watch::process_alive(child, 0));
  EXPECT_FALSE(watch.add(6, child, 0)) << "a zombie cannot be watched";
  dead.clear();
  watch.look(&dead);
  EXPECT_TRUE(dead.empty());
  EXPECT_TRUE(watch.empty());
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(watch.add(6, child, 0));
}

TEST(WatchTest, WaitsForAnEndThatIsNear) {
  const pid_t child = fork();
  if (child == 0) {
    usleep(100'000);
    _exit(0);
  }
  Watch watch;
  ASSERT_TRUE(watch.add(5, child, start_time_of(child)));
  EXPECT_FALSE(watch.ends_within(6, 1000)) << "it is not watched";
  EXPECT_TRUE(watch.ends_within(5, 30'000));
  waitpid(child, nullptr, 0);

  const pid_t other = sleeping_child();
  ASSERT_TRUE(watch.add(7, other, start_time_of(other)));
  EXPECT_FALSE(watch.ends_within(7, 10));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

TEST(WatchTest, AReusedPidIsNotTakenForTheProcess) {
  const std::uint64_t started = start_time_of(getpid());
  EXPECT_TRUE(Watch::process_alive(getpid(), started));
  EXPECT_FALSE(Watch::process_alive(getpid(), started + 1));
  Watch watch;
  EXPECT_FALSE(watch.add(1, getpid(), started + 1));
}

TEST(WatchTest, RemovedOnesAreNotTold) {
  const pid_t child = sleeping_child();
  Watch watch;
  ASSERT_TRUE(watch.add(5, child, 0));
  watch.remove(5);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::vector<std::uint64_t> dead;
  watch.look(&dead);
  EXPECT_TRUE(dead.empty());
}

}  // namespace
}  // namespace ashlar::shm
