// Sleeping: no wake-up is ever lost, and the wake-up is prompt.
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "framework/base/background_thread.h"
#include "tests/conformance/transport/pair.h"
#include "tests/conformance/transport/process.h"

namespace ashlar::test {
namespace {

class SleepTest : public TransportTest {
 protected:
  void SetUp() override {
    if (GetParam().name() == "self") GTEST_SKIP() << "nothing arrives while it sleeps";
  }

  /// Arms b as soon as nothing arrives: what a network sends on its own account, such as credit, may come late.
  static bool arm(Pair& pair) {
    return pair.arrive([&] { return pair.b().ops().arm(pair.b().get()) == ASHLAR_OK; });
  }
  /// Whether b, which does not look meanwhile, cannot be armed: at once, or when the system hands over what a has sent.
  static bool refuses(Pair& pair) {
    const auto refused = [&] {
      if (pair.b().ops().arm(pair.b().get()) == ASHLAR_AGAIN) return true;
      pair.b().ops().disarm(pair.b().get());
      return false;
    };
    return needs_answers(GetParam()) ? progress_until(pair.a(), refused) : refused();
  }
};

INSTANTIATE_TEST_SUITE_P(Installed, SleepTest, testing::ValuesIn(transports()), component_name);

std::uint32_t* word_of(Lane& lane) { return lane.ops().wake_word ? lane.ops().wake_word(lane.get()) : nullptr; }
int descriptor_of(Lane& lane) { return lane.ops().wake_fd ? lane.ops().wake_fd(lane.get()) : -1; }

/// The wake-up that a sleep is for, of those that the interface offers.
enum class By { kAny, kDescriptor };

// As the kernel sleeps: remember the word, look once more, arm, wait for a change of the word or at the descriptor.
// False: it slept `limit` long.
bool sleep_once(Lane& lane, std::chrono::milliseconds limit, By by = By::kAny) {
  std::uint32_t* const word = by == By::kAny ? word_of(lane) : nullptr;
  const int descriptor = word == nullptr ? descriptor_of(lane) : -1;
  const std::uint32_t seen = word ? __atomic_load_n(word, __ATOMIC_SEQ_CST) : 0;
  if (lane.progress() > 0) return true;
  bool woken = true;
  if (lane.ops().arm(lane.get()) == ASHLAR_OK) {
    if (word) {
      timespec t{limit.count() / 1000, limit.count() % 1000 * 1000000};
      woken = !(syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, nullptr, 0) != 0 && errno == ETIMEDOUT);
    } else {
      pollfd readable{.fd = descriptor, .events = POLLIN, .revents = 0};
      woken = poll(&readable, 1, static_cast<int>(limit.count())) != 0;
    }
    lane.ops().disarm(lane.get());
  }
  return woken;
}

void pause_randomly(std::mt19937& random) {
  const int spins = static_cast<int>(random() % 4 == 0 ? random() % 20000 : random() % 300);
  for (int i = 0; i < spins; ++i) asm volatile("" ::: "memory");
  if (random() % 50 == 0) std::this_thread::yield();
}

// Ping-pong in which both sides always sleep; a lost wake-up shows as a timeout.
int ping_pong(Lane& lane, ashlar_endpoint* to, bool first, int rounds, unsigned seed, By by) {
  int got = 0, lost = 0;
  lane.on_message = [&](const ashlar_am&) { ++got; };
  std::mt19937 random(seed);
  for (int i = 1; i <= rounds && lost == 0; ++i) {
    if (first) {
      pause_randomly(random);
      while (to->ops->am_short(to, 1, 0, 0, nullptr, 0) == ASHLAR_AGAIN) lane.progress();
    }
    while (got < i && lost == 0) {
      pause_randomly(random);
      if (!sleep_once(lane, std::chrono::milliseconds(3000), by)) ++lost;
    }
    if (!first) {
      pause_randomly(random);
      while (to->ops->am_short(to, 1, 0, 0, nullptr, 0) == ASHLAR_AGAIN) lane.progress();
    }
  }
  return lost;
}

void stress(const Component& component, const std::function<void()>& prepare_child, int rounds, By by = By::kAny) {
  component.open({});
  Child child([&](const Child::Channel& channel) {
    prepare_child();
    Lane lane(component, Place{1, 2});
    channel.say(lane.address());
    ashlar_endpoint* to = lane.connect(0, channel.hear());
    const int lost = to ? ping_pong(lane, to, false, rounds, 17, by) : 1;
    channel.say("done");
    (void)channel.hear();
    return lost;
  });
  Lane lane(component, Place{0, 2});
  const std::string address = child.channel().hear();
  child.channel().say(lane.address());
  ashlar_endpoint* to = lane.connect(1, address);
  ASSERT_NE(to, nullptr) << last_failure();
  EXPECT_EQ(ping_pong(lane, to, true, rounds, 4, by), 0) << "a wake-up was lost";
  child.channel().hear();
  child.channel().say("go");
  EXPECT_EQ(child.wait(), 0);
}

TEST_P(SleepTest, NoWakeUpIsLost) {
  stress(
      GetParam(), [] {}, 30000);
}

TEST_P(SleepTest, NoWakeUpIsLostWhenOneSideHasNoMembarrier) {
  stress(
      GetParam(), [] { forbid(SYS_membarrier); }, 10000);
}

// Beside another transport whose arrivals only a descriptor tells of.
TEST_P(SleepTest, NoWakeUpOfADescriptorIsLostWhereAWordIsOfferedToo) {
  {
    GetParam().open({});
    Lane lane(GetParam(), Place{0, 2});
    if (word_of(lane) == nullptr || descriptor_of(lane) < 0) GTEST_SKIP() << "it does not offer both";
  }
  stress(
      GetParam(), [] {}, 10000, By::kDescriptor);
}

TEST_P(SleepTest, ArmRefusesWhenSomethingHasArrived) {
  Pair pair(GetParam());
  std::uint64_t got = 0;
  pair.b().on_message = [&](const ashlar_am&) { ++got; };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(arm(pair));
    pair.b().ops().disarm(pair.b().get());
    ASSERT_EQ(pair.to_b->ops->am_short(pair.to_b, 1, 0, 0, nullptr, 0), ASHLAR_OK);
    EXPECT_TRUE(refuses(pair));
    const std::uint64_t before = got;
    EXPECT_TRUE(pair.arrive([&] { return got > before; }));
    pair.settle();
  }
  EXPECT_EQ(got, 3u);
}

// Two threads may sleep on one interface: what keeps the second from it leaves the first its wake-up.
TEST_P(SleepTest, WhoIsRefusedDoesNotDisarmAnother) {
  Pair pair(GetParam());
  if (pair.loopback() || !(pair.to_b->capabilities & ASHLAR_CAP_GET) || needs_answers(GetParam()))
    GTEST_SKIP() << "no single copies here";
  const auto source = pattern(5, 256 << 10);
  std::vector<unsigned char> target(source.size());
  ashlar_key key;
  ASSERT_EQ(pair.b().ops().expose(pair.b().get(), source.data(), source.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  std::uint32_t* word = pair.b().ops().wake_word(pair.b().get());
  const std::uint32_t before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  ASSERT_EQ(pair.b().ops().arm(pair.b().get()), ASHLAR_OK);
  Completion done;
  ASSERT_EQ(pair.to_b->ops->get(pair.to_b, target.data(), &key, 0, target.size(), &done), ASHLAR_OK) << last_failure();
  ASSERT_EQ(pair.b().ops().arm(pair.b().get()), ASHLAR_AGAIN) << "the owner is asked to copy along";
  ASSERT_EQ(pair.to_b->ops->am_short(pair.to_b, 1, 0, 0, nullptr, 0), ASHLAR_OK);
  EXPECT_NE(__atomic_load_n(word, __ATOMIC_SEQ_CST), before);
  pair.b().ops().disarm(pair.b().get());
  pair.b().ops().unexpose(pair.b().get(), &key);
}

// The program computes while a background thread sleeps: its core is not for copying, so nothing wakes it for that.
TEST_P(SleepTest, ABackgroundThreadIsNotAskedToCopy) {
  Pair pair(GetParam());
  if (pair.loopback() || !(pair.to_b->capabilities & ASHLAR_CAP_GET) || needs_answers(GetParam()))
    GTEST_SKIP() << "no single copies here";
  const auto in_background_thread = [](auto does) {
    std::thread thread([&] {
      enter_background();
      does();
    });
    thread.join();
  };
  const auto source = pattern(6, 4 << 20);
  std::vector<unsigned char> target(source.size());
  ashlar_key key;
  ASSERT_EQ(pair.b().ops().expose(pair.b().get(), source.data(), source.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  std::uint32_t* word = pair.b().ops().wake_word(pair.b().get());
  const std::uint32_t before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  in_background_thread([&] { EXPECT_EQ(pair.b().ops().arm(pair.b().get()), ASHLAR_OK); });
  Completion done;
  const ashlar_result got = pair.to_b->ops->get(pair.to_b, target.data(), &key, 0, target.size(), &done);
  ASSERT_EQ(got, ASHLAR_PENDING) << "more than is copied at a time";
  EXPECT_EQ(__atomic_load_n(word, __ATOMIC_SEQ_CST), before);
  in_background_thread([&] {
    pair.b().ops().disarm(pair.b().get());
    while (pair.b().progress() > 0) {
    }
    EXPECT_EQ(pair.b().ops().arm(pair.b().get()), ASHLAR_OK) << "it may sleep on";
    pair.b().ops().disarm(pair.b().get());
  });
  EXPECT_EQ(pair.b().ops().arm(pair.b().get()), ASHLAR_AGAIN) << "one that waits copies along";
  while (!done.finished) progress_or_yield({&pair.a()});
  EXPECT_EQ(done.result, ASHLAR_OK);
  EXPECT_EQ(target, source);
  pair.b().ops().unexpose(pair.b().get(), &key);
}

TEST_P(SleepTest, WakeMakesAnArmedSleeperLookAgain) {
  Pair pair(GetParam());
  std::uint32_t* const word = word_of(pair.b());
  const std::uint32_t before = word ? __atomic_load_n(word, __ATOMIC_SEQ_CST) : 0;
  ASSERT_TRUE(arm(pair));
  pair.to_b->ops->wake(pair.to_b);
  pollfd readable{.fd = descriptor_of(pair.b()), .events = POLLIN, .revents = 0};
  EXPECT_TRUE(word ? __atomic_load_n(word, __ATOMIC_SEQ_CST) != before : poll(&readable, 1, 1000) == 1);
  pair.b().ops().disarm(pair.b().get());
}

TEST_P(SleepTest, WakeUpIsPrompt) {
  GetParam().open({});
  Child child([&](const Child::Channel& channel) {
    Lane lane(GetParam(), Place{1, 2});
    channel.say(lane.address());
    ashlar_endpoint* to = lane.connect(0, channel.hear());
    bool stop = false;
    lane.on_message = [&](const ashlar_am& am) {
      stop = am.h0 == 1;
      to->ops->am_short(to, 1, 0, 0, nullptr, 0);
    };
    while (!stop) sleep_once(lane, std::chrono::milliseconds(1000));
    return 0;
  });
  Lane lane(GetParam(), Place{0, 2});
  const std::string address = child.channel().hear();
  child.channel().say(lane.address());
  ashlar_endpoint* to = lane.connect(1, address);
  ASSERT_NE(to, nullptr) << last_failure();
  int got = 0;
  lane.on_message = [&](const ashlar_am&) { ++got; };
  std::vector<double> us;
  for (int i = 1; i <= 200; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(to->ops->am_short(to, 1, i == 200 ? 1 : 0, 0, nullptr, 0), ASHLAR_OK);
    while (got < i) lane.progress();
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(us.begin(), us.end());
  std::printf("to a sleeper and back: median %.1f us, 90%% below %.1f us\n", us[100], us[180]);
  EXPECT_LT(us[20], 5000.0) << "even in quiet moments";
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace ashlar::test
