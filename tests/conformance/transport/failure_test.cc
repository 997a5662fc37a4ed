// What goes wrong around a transport: dead peers, damaged addresses, forbidden system calls. Each gives a sentence.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/conformance/transport/pair.h"
#include "tests/conformance/transport/process.h"

namespace ashlar::test {
namespace {

class FailureTest : public TransportTest {
 protected:
  bool only_itself() const { return GetParam().name() == "self"; }
};

INSTANTIATE_TEST_SUITE_P(Installed, FailureTest, testing::ValuesIn(transports()), component_name);

TEST_P(FailureTest, DamagedAddressesAreErrors) {
  GetParam().open({});
  Lane lane(GetParam(), Place{0, 2});
  Lane other(GetParam(), Place{1, 2});
  const std::string good = other.address();
  const auto refuses = [&](const std::string& address) {
    EXPECT_EQ(lane.connect(1, address), nullptr);
    EXPECT_STRNE(last_failure(), "");
  };
  for (std::size_t n = 0; n < good.size(); ++n) refuses(good.substr(0, n));
  refuses(good + "x");
  refuses(std::string(ASHLAR_ADDRESS_MAX, '\0'));
  refuses(std::string(good.size(), '\xff'));
  if (only_itself()) return;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    refuses(bad);
  }
  ASSERT_NE(lane.connect(1, good), nullptr) << last_failure();
}

TEST_P(FailureTest, DeathOfAPeerIsToldOnceAfterItsMessages) {
  if (only_itself()) GTEST_SKIP();
  // All processes are made before this one has an interface: some libraries work only in the process that loaded them.
  const auto offered = [](const Child::Channel&) {
    return (Pair(GetParam()).to_b->capabilities & ASHLAR_CAP_FAILURE) != 0 ? 0 : 1;
  };
  if (Child(offered).wait() != 0) GTEST_SKIP() << "not offered here";
  GetParam().open({{"death_check", "5ms"}});
  std::vector<std::unique_ptr<Child>> children, watchers;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>([](const Child::Channel& channel) {
      if (channel.hear() != "begin") return 1;
      Lane mine(GetParam(), Place{1, 2});
      channel.say(mine.address());
      ashlar_endpoint* to = mine.connect(0, hear(GetParam(), channel, mine));
      for (std::uint64_t sent = 0; to && sent < 200; ++sent) to->ops->am_short(to, 1, sent, 0, nullptr, 0);
      drain(mine);
      channel.say("sent");
      (void)hear(GetParam(), channel, mine);
      return 0;
    }));
    // The watching process itself runs in a child when its system calls are filtered.
    watchers.push_back(std::make_unique<Child>([](const Child::Channel& channel) {
      const std::string address = channel.hear();
      if (address.empty()) return 1;
      forbid(SYS_pidfd_open);
      Lane mine(GetParam(), Place{2, 3});
      if (!mine.connect(1, address)) return 1;
      channel.say("watching");
      return progress_until(mine, [&] { return !mine.failures.empty(); }) && mine.failures.size() == 1 ? 0 : 2;
    }));
  }
  std::size_t next = 0;
  for (const bool known : {true, false}) {  // whether we had connected to it as well
    for (const bool without_pidfd : {false, true}) {
      Lane lane(GetParam(), Place{0, 2});
      std::uint64_t got = 0;
      lane.on_message = [&](const ashlar_am&) { ++got; };
      Child& child = *children[next];
      Child& watcher = *watchers[next++];
      child.channel().say("begin");
      const std::string address = child.channel().hear();
      if (without_pidfd) {
        watcher.channel().say(address);
        EXPECT_EQ(watcher.channel().hear(), "watching");
        child.channel().say(lane.address());
        EXPECT_EQ(hear(GetParam(), child.channel(), lane), "sent");
        child.kill_now();
        EXPECT_EQ(child.wait(), 137);
        EXPECT_EQ(watcher.wait(), 0);
        continue;
      }
      ashlar_endpoint* to = known ? lane.connect(1, address) : nullptr;
      child.channel().say(lane.address());
      EXPECT_EQ(hear(GetParam(), child.channel(), lane), "sent");
      child.kill_now();
      EXPECT_EQ(child.wait(), 137);
      ASSERT_TRUE(progress_until(lane, [&] { return !lane.failures.empty(); })) << known;
      EXPECT_EQ(got, 200u);
      EXPECT_EQ(lane.failures[0].first, 1u);
      EXPECT_NE(lane.failures[0].second.find("ended"), std::string::npos) << lane.failures[0].second;
      for (int i = 0; i < 100000; ++i) lane.progress();
      EXPECT_EQ(lane.failures.size(), 1u);
      if (to) {
        EXPECT_LT(to->ops->am_short(to, 1, 0, 0, nullptr, 0), 0);
        EXPECT_STRNE(last_failure(), "") << "why, in words";
        lane.ops().disconnect(lane.get(), to);
      }
    }
  }
}

// At whatever step of connecting: the process that connects goes on, and is told once at most.
TEST_P(FailureTest, WhoEndsWhileItIsConnectedToEndsAlone) {
  if (only_itself()) GTEST_SKIP();
  GetParam().open({{"death_check", "5ms"}});
  constexpr int kEnds = 40;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kEnds; ++i) {
    children.push_back(std::make_unique<Child>([](const Child::Channel& channel) {
      if (channel.hear() != "begin") return 1;
      Lane mine(GetParam(), Place{1, 2});
      channel.say(mine.address());
      (void)hear(GetParam(), channel, mine);
      return 0;
    }));
  }
  for (int i = 0; i < kEnds; ++i) {
    Lane lane(GetParam(), Place{0, 2});
    Child& child = *children[static_cast<std::size_t>(i)];
    child.channel().say("begin");
    const std::string address = child.channel().hear();
    const bool meant = !address.empty();
    std::thread end([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 10));
      child.kill_now();
    });
    ashlar_endpoint* const to = lane.connect(1, address);
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
         std::chrono::steady_clock::now() < until;)
      progress_or_yield({&lane});
    end.join();
    EXPECT_TRUE(meant);
    EXPECT_EQ(child.wait(), 137);
    if (to == nullptr) continue;
    if ((to->capabilities & ASHLAR_CAP_FAILURE) != 0) {
      EXPECT_TRUE(progress_until(lane, [&] { return !lane.failures.empty(); })) << i;
    }
    for (int look = 0; look < 1000; ++look) lane.progress();
    EXPECT_LE(lane.failures.size(), 1u);
    lane.ops().disconnect(lane.get(), to);
  }
}

TEST_P(FailureTest, AnOrderlyEndIsNoFailure) {
  if (only_itself()) GTEST_SKIP();
  GetParam().open({{"death_check", "5ms"}});
  Child child([](const Child::Channel& channel) {
    Lane mine(GetParam(), Place{1, 2});
    channel.say(mine.address());
    ashlar_endpoint* to = mine.connect(0, channel.hear());
    if (!to || to->ops->am_short(to, 1, 0, 0, nullptr, 0) != ASHLAR_OK) return 1;
    drain(mine);
    mine.ops().disconnect(mine.get(), to);
    return 0;
  });
  Lane lane(GetParam(), Place{0, 2});
  std::uint64_t got = 0;
  lane.on_message = [&](const ashlar_am&) { ++got; };
  ASSERT_NE(lane.connect(1, child.channel().hear()), nullptr) << last_failure();
  child.channel().say(lane.address());
  if (needs_answers(GetParam())) {
    ASSERT_TRUE(progress_until(lane, [&] { return got == 1; }));
  }
  EXPECT_EQ(child.wait(), 0);
  ASSERT_TRUE(progress_until(lane, [&] { return got == 1; }));
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) progress_or_yield({&lane});
  EXPECT_TRUE(lane.failures.empty());
}

TEST_P(FailureTest, ADeadProcessCannotBeReached) {
  if (only_itself()) GTEST_SKIP();
  GetParam().open({});
  Child child([&](const Child::Channel& channel) {
    Lane mine(GetParam(), Place{1, 2});
    channel.say(mine.address());
    return 0;
  });
  const std::string address = child.channel().hear();
  EXPECT_EQ(child.wait(), 0);
  Lane lane(GetParam(), Place{0, 2});
  EXPECT_EQ(lane.connect(1, address), nullptr);
  EXPECT_STRNE(last_failure(), "") << "why, in words";
}

// Runs two processes, each after `prepare`; messages must flow both ways. Returns the capabilities that the child saw,
// -1 when it failed. Large pieces through the ring are sent too: they are the way when single copies are forbidden.
int capabilities_after(const Component& component, const std::function<void()>& prepare,
                       const Settings& settings = {}) {
  const auto body = [&](Lane& lane, ashlar_endpoint* to) {
    if (!to) return false;
    std::uint64_t got = 0, wrong = 0;
    lane.on_message = [&](const ashlar_am& am) {
      if (am.h0 != got++ || am.h1 != checksum(am.data, am.length)) ++wrong;
    };
    const auto bytes = pattern(6, to->max_bcopy);
    const std::uint64_t sum = checksum(bytes.data(), bytes.size());
    for (std::uint64_t i = 0; i < 1000; ++i) {
      if (send_bcopy(to, 1, i, sum, bytes.data(), to->max_bcopy, {&lane}) != ASHLAR_OK) return false;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while ((got < 1000 || lane.ops().idle(lane.get()) == 0) && std::chrono::steady_clock::now() < end)
      progress_or_yield({&lane});
    return got == 1000 && wrong == 0;
  };
  component.open(settings);
  Child one([&](const Child::Channel& channel) {
    prepare();
    Lane lane(component, Place{0, 2});
    channel.say(lane.address());
    const bool good = body(lane, lane.connect(1, channel.hear()));
    if (!good) std::printf("first: %s\n", last_failure());
    channel.say("done");
    (void)channel.hear();
    return good ? 0 : 1;
  });
  Child two([&](const Child::Channel& channel) {
    prepare();
    Lane lane(component, Place{1, 2});
    channel.say(lane.address());
    ashlar_endpoint* to = lane.connect(0, channel.hear());
    const bool good = body(lane, to);
    if (!good) std::printf("second: %s\n", last_failure());
    channel.say(std::to_string(good ? static_cast<int>(to->capabilities) : -1));
    (void)channel.hear();
    return good ? 0 : 1;
  });
  const std::string first = one.channel().hear();
  const std::string second = two.channel().hear();
  one.channel().say(second);
  two.channel().say(first);
  const std::string capabilities = two.channel().hear();
  (void)one.channel().hear();
  one.channel().say("go");
  two.channel().say("go");
  EXPECT_EQ(one.wait(), 0);
  EXPECT_EQ(two.wait(), 0);
  return capabilities.empty() ? -1 : std::stoi(capabilities);
}

TEST_P(FailureTest, WithoutSingleCopiesRingsCarryEverything) {
  if (only_itself()) GTEST_SKIP();
  if (!has_parameter(GetParam(), "single_copy")) GTEST_SKIP() << "it has no parameter single_copy";
  const int plain = capabilities_after(GetParam(), [] {});
  ASSERT_GE(plain, 0);
  const int no_read = capabilities_after(GetParam(), [] { forbid(SYS_process_vm_readv); });
  ASSERT_GE(no_read, 0);
  EXPECT_EQ(no_read & ASHLAR_CAP_GET, 0);
  const int no_write = capabilities_after(GetParam(), [] { forbid(SYS_process_vm_writev); });
  ASSERT_GE(no_write, 0);
  EXPECT_EQ(no_write & ASHLAR_CAP_GET, plain & ASHLAR_CAP_GET) << "each direction is proved apart";
  EXPECT_EQ(no_write & ASHLAR_CAP_PUT, 0);
  const int switched_off = capabilities_after(GetParam(), [] {}, {{"single_copy", "false"}});
  EXPECT_EQ(switched_off & (ASHLAR_CAP_GET | ASHLAR_CAP_PUT), 0);
}

TEST_P(FailureTest, WorksWithoutMembarrierPidfdFallocate) {
  if (only_itself()) GTEST_SKIP();
  EXPECT_GE(capabilities_after(GetParam(),
                               [] {
                                 forbid(SYS_membarrier);
                                 forbid(SYS_pidfd_open);
                                 forbid(SYS_fallocate);
                                 forbid(SYS_getrandom);
                               }),
            0);
}

TEST_P(FailureTest, DescriptorsArePassedWhereProcIsClosed) {
  if (only_itself()) GTEST_SKIP();
  if (!has_parameter(GetParam(), "descriptor_passing")) GTEST_SKIP() << "it has no parameter descriptor_passing";
  // Without the right to open /proc/PID/fd of a process that is not dumpable; for root that right is a capability, so
  // the opening itself is filtered: the third argument is not looked at, the address says /proc.
  const auto close_proc = [] {
    if (geteuid() == 0) {
      if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) std::abort();
    }
    prctl(PR_SET_DUMPABLE, 0);
  };
  const int capabilities = capabilities_after(GetParam(), close_proc);
  ASSERT_GE(capabilities, 0);
  EXPECT_EQ(capabilities & ASHLAR_CAP_GET, 0) << "such a process cannot be read either";
}

TEST_P(FailureTest, WhereNothingPassesTheSentenceSaysBoth) {
  if (!has_parameter(GetParam(), "descriptor_passing")) GTEST_SKIP() << "it has no parameter descriptor_passing";
  GetParam().open({{"descriptor_passing", "false"}});
  Child owner([&](const Child::Channel& channel) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) return 1;
    prctl(PR_SET_DUMPABLE, 0);
    Lane lane(GetParam(), Place{0, 2});
    channel.say(lane.address());
    (void)channel.hear();
    return 0;
  });
  const std::string address = owner.channel().hear();
  Child asker([&](const Child::Channel& channel) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) return 1;
    Lane lane(GetParam(), Place{1, 2});
    const bool refused = lane.connect(0, address) == nullptr;
    channel.say(refused ? last_failure() : "reached");
    return 0;
  });
  const std::string sentence = asker.channel().hear();
  EXPECT_NE(sentence.find("shm.unreachable"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("Permission denied"), std::string::npos) << sentence;
  EXPECT_EQ(asker.wait(), 0);
  owner.channel().say("go");
  EXPECT_EQ(owner.wait(), 0);
}

}  // namespace
}  // namespace ashlar::test
