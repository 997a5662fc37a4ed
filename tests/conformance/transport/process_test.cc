// Two and more processes: the way a job uses a transport.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "framework/base/sanitizers.h"
#include "tests/conformance/transport/pair.h"
#include "tests/conformance/transport/process.h"

namespace ashlar::test {
namespace {

class ProcessTest : public TransportTest {
 protected:
  void SetUp() override {
    if (GetParam().name() == "self") GTEST_SKIP() << "reaches its own process only";
  }
};

INSTANTIATE_TEST_SUITE_P(Installed, ProcessTest, testing::ValuesIn(transports()), component_name);

// The child's end of a pair of processes; the parent is 0, the child 1.
struct Remote {
  Remote(const Component& component, const Child::Channel& channel, std::uint32_t self = 1, std::uint32_t size = 2)
      : lane(component, Place{self, size}) {
    channel.say(lane.address());
    to_parent = lane.connect(0, channel.hear());
  }
  Lane lane;
  ashlar_endpoint* to_parent;
};

ashlar_endpoint* greet(Lane& lane, const Child& child, std::uint32_t number = 1) {
  const std::string address = child.channel().hear();
  child.channel().say(lane.address());
  return lane.connect(number, address);
}

TEST_P(ProcessTest, FloodBothWaysKeepsOrderAndContent) {
  GetParam().open({});
  const std::uint64_t count = 100'000;
  const auto bytes = pattern(2, 8192);
  const auto length_of = [](std::uint64_t i) {
    return static_cast<std::uint32_t>(i * 2654435761 % (i % 50 ? 60 : 4000));
  };
  // Both run the same: send everything, take everything, count what is wrong.
  const auto flood = [&](Lane& lane, ashlar_endpoint* to) {
    std::uint64_t got = 0, wrong = 0;
    lane.on_message = [&](const ashlar_am& am) {
      if (am.h0 != got || am.length != length_of(got) || am.h1 != checksum(am.data, am.length)) ++wrong;
      ++got;
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint32_t length = length_of(i);
      const std::uint64_t sum = checksum(bytes.data(), length);
      const auto send = length > to->max_short ? send_bcopy : send_short;
      if (send(to, 1, i, sum, bytes.data(), length, {&lane}) != ASHLAR_OK) return std::uint64_t{999};
    }
    const auto over = [&] { return got == count && lane.ops().idle(lane.get()) != 0; };
    if (!progress_until(lane, over)) return std::uint64_t{998};
    return wrong;
  };
  Child child([&](const Child::Channel& channel) {
    Remote me(GetParam(), channel);
    const auto wrong = me.to_parent ? flood(me.lane, me.to_parent) : 1;
    channel.say("done");
    (void)hear(GetParam(), channel, me.lane);
    return wrong == 0 ? 0 : 1;
  });
  Lane lane(GetParam());
  ashlar_endpoint* to_child = greet(lane, child);
  ASSERT_NE(to_child, nullptr) << last_failure();
  EXPECT_EQ(flood(lane, to_child), 0u);
  EXPECT_EQ(hear(GetParam(), child.channel(), lane), "done");
  child.channel().say("go");
  EXPECT_EQ(child.wait(), 0);
}

TEST_P(ProcessTest, ManyProcessesSendToOne) {
  // A library for networks may take 70 MiB for each.
  const std::uint32_t senders = needs_answers(GetParam()) ? 16 : 64;
  constexpr std::uint64_t kEach = 2000;
  GetParam().open({});
  std::vector<std::unique_ptr<Child>> children;
  for (std::uint32_t i = 1; i <= senders; ++i) {
    children.push_back(std::make_unique<Child>([&, i](const Child::Channel& channel) {
      Remote me(GetParam(), channel, i, senders + 1);
      if (!me.to_parent) return 1;
      for (std::uint64_t n = 0; n < kEach; ++n) {
        if (needs_answers(GetParam())) {
          if (send_short(me.to_parent, 1, n, i, &n, 8, {&me.lane}) != ASHLAR_OK) return 2;
        } else {
          while (me.to_parent->ops->am_short(me.to_parent, 1, n, i, &n, 8) == ASHLAR_AGAIN) sched_yield();
        }
      }
      channel.say("sent");
      (void)hear(GetParam(), channel, me.lane);
      return 0;
    }));
  }
  Lane lane(GetParam(), Place{0, senders + 1, true});
  std::vector<std::uint64_t> got(senders + 1);
  std::uint64_t all = 0, wrong = 0;
  lane.on_message = [&](const ashlar_am& am) {
    if (am.peer != am.h1 || am.peer > senders || got[am.peer]++ != am.h0) ++wrong;
    ++all;
  };
  // Only half of the senders are also known as peers: the others' messages must still carry their number.
  for (std::uint32_t i = 1; i <= senders; ++i) {
    const std::string address = children[i - 1]->channel().hear();
    if (i % 2) {
      EXPECT_NE(lane.connect(i, address), nullptr) << last_failure();
    }
    children[i - 1]->channel().say(lane.address());
  }
  EXPECT_TRUE(progress_until(
      lane, [&] { return all == kEach * senders; }, 60))
      << all;
  EXPECT_EQ(wrong, 0u);
  for (auto& child : children) {
    child->channel().say("go");
    EXPECT_EQ(child->wait(), 0);
  }
}

// The owner of the memory is busy elsewhere, or helps; the content must not tell which.
TEST_P(ProcessTest, GetFromAnotherProcessWithAndWithoutItsHelp) {
  GetParam().open({});
  const std::size_t most = 8 << 20;
  Child child([&](const Child::Channel& channel) {
    Remote me(GetParam(), channel);
    if (!me.to_parent) return 1;
    const auto source = pattern(77, most + 64);
    ashlar_key key;
    if (me.lane.ops().expose(me.lane.get(), source.data() + 3, most, ASHLAR_MEMORY_HOST, &key) != ASHLAR_OK) return 2;
    bool stop = false;
    me.lane.on_message = [&](const ashlar_am&) { stop = true; };
    me.to_parent->ops->am_short(me.to_parent, 1, 0, 0, &key, sizeof key);
    (void)hear(GetParam(), channel, me.lane);  // passive until then
    while (!stop) me.lane.progress();
    return 0;
  });
  Lane lane(GetParam());
  ashlar_endpoint* to_child = greet(lane, child);
  ASSERT_NE(to_child, nullptr) << last_failure();
  if (!(to_child->capabilities & ASHLAR_CAP_GET)) GTEST_SKIP() << "single copies are not permitted here";
  ashlar_key key;
  bool have = false;
  lane.on_message = [&](const ashlar_am& am) {
    std::memcpy(&key, am.data, sizeof key);
    have = true;
  };
  ASSERT_TRUE(progress_until(lane, [&] { return have; }));
  const auto source = pattern(77, most + 64);
  for (const bool helped : {false, true}) {
    if (helped) child.channel().say("help");
    for (int round = 0; round < (helped ? 40 : 3); ++round) {
      for (const std::size_t length : {100ul, 65536ul, 200001ul, 1ul << 20, 3000001ul, most}) {
        const std::size_t offset = static_cast<std::size_t>(round) * 7919 % (most - length + 1);
        std::vector<unsigned char> target(length + 9, 0xee);
        Completion done;
        const ashlar_result r = to_child->ops->get(to_child, target.data() + 4, &key, offset, length, &done);
        ASSERT_GE(r, 0) << last_failure();
        if (r == ASHLAR_PENDING) {
          ASSERT_TRUE(progress_until(lane, [&] { return done.finished; }));
        }
        ASSERT_EQ(done.result, ASHLAR_OK);
        ASSERT_EQ(std::memcmp(target.data() + 4, source.data() + 3 + offset, length), 0) << length;
        ASSERT_EQ(target[3], 0xee);
        ASSERT_EQ(target[length + 4], 0xee);
      }
    }
  }
  ASSERT_EQ(send_short(to_child, 1, 0, 0, nullptr, 0, {&lane}), ASHLAR_OK);
  EXPECT_EQ(child.wait(), 0);
}

// Connecting, sending and leaving, more often than there are rings: rings are used again by later processes.
TEST_P(ProcessTest, RingsAreUsedAgain) {
  GetParam().open({{"extra_rings", "2"}});
  // All processes are made before this one has an interface: some libraries work only in the process that loaded them.
  std::vector<std::unique_ptr<Child>> children;
  for (std::uint32_t generation = 0; generation < 12; ++generation)
    children.push_back(std::make_unique<Child>([generation](const Child::Channel& channel) {
      const std::string address = channel.hear();
      if (address.empty()) return 1;
      Lane mine(GetParam(), Place{1, 2});
      ashlar_endpoint* to = mine.connect(0, address);
      if (!to) return 1;
      const auto bytes = pattern(generation, 2000);
      for (std::uint32_t i = 0; i < 500; ++i) {
        const std::uint32_t length = (i * 37 + generation * 101) % 2000;
        Source source;
        do {
          source = {bytes.data(), length};
        } while (to->ops->am_bcopy(to, 1, i, checksum(bytes.data(), length), fill_from, &source, length) ==
                     ASHLAR_AGAIN &&
                 (!needs_answers(GetParam()) || mine.progress() < 1000));
      }
      drain(mine);
      mine.ops().disconnect(mine.get(), to);
      return 0;
    }));
  Lane lane(GetParam(), Place{0, 2});
  std::uint64_t got = 0, wrong = 0;
  lane.on_message = [&](const ashlar_am& am) {
    ++got;
    if (am.h1 != checksum(am.data, am.length)) ++wrong;
  };
  for (std::uint32_t generation = 0; generation < 12; ++generation) {
    Child& child = *children[generation];
    child.channel().say(lane.address());
    ASSERT_TRUE(progress_until(lane, [&] { return got == 500u * (generation + 1); })) << generation << " " << got;
    EXPECT_EQ(child.wait(), 0);
    // The leaver is noticed when nothing else happens.
    for (int i = 0; i < 5000; ++i) lane.progress();
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(lane.failures.empty()) << lane.failures[0].second;
}

TEST_P(ProcessTest, NoRingLeftIsAnErrorThatNamesTheSetting) {
  if (!has_parameter(GetParam(), "extra_rings")) GTEST_SKIP() << "it has no parameter extra_rings";
  GetParam().open({{"extra_rings", "1"}});
  Lane lane(GetParam(), Place{0, 1});
  std::vector<std::unique_ptr<Lane>> others;
  bool refused = false;
  for (std::uint32_t i = 1; i < 5; ++i) {
    others.push_back(std::make_unique<Lane>(GetParam(), Place{i, 1}));
    if (!others.back()->connect(0, lane.address())) {
      refused = true;
      EXPECT_NE(std::string(last_failure()).find("extra_rings"), std::string::npos) << last_failure();
    }
  }
  EXPECT_TRUE(refused);
}

TEST_P(ProcessTest, WithoutTrafficAPeerCostsLittle) {
  GetParam().open({});
  // Without the pages of libraries, of which this process's part grows when others that have mapped them end.
  const auto resident = [] {
    std::FILE* f = std::fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long anonymous = 0, shared = 0;
    while (f && std::fgets(line, sizeof line, f)) {
      std::sscanf(line, "Pss_Anon: %ld", &anonymous);
      std::sscanf(line, "Pss_Shmem: %ld", &shared);
    }
    if (f) std::fclose(f);
    return anonymous + shared;
  };
  (void)resident();
  // What a library takes that the transport loads, once or for each lane, is no cost of peers.
  { Lane first(GetParam(), Place{0, 2}); }
  const long none = resident();
  Lane two(GetParam(), Place{0, 2});
  for (int i = 0; i < 5000; ++i) two.progress();
  const long before = resident();
  Lane many(GetParam(), Place{0, 128});
  for (int i = 0; i < 5000; ++i) many.progress();
  const long after = resident();
  std::printf("no traffic: %ld KiB with 2 ranks, %ld KiB with 128\n", before - none, after - before);
#if !defined(ASHLAR_TSAN) && !defined(ASHLAR_ASAN)
  EXPECT_LT((after - before) - (before - none), 1024);
#endif
}

}  // namespace
}  // namespace ashlar::test
