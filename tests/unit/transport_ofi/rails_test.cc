#include "tests/unit/transport_ofi/over_double.h"

// Large messages over several cards, by a double of libfabric.
namespace ashlar::ofi::test {
namespace {

constexpr std::size_t kStripe = 4096, kLarge = 64 * kStripe;

Config with_rails(std::uint64_t rails = 2) {
  Config config = over_double();
  config.sessions.rails = rails;
  config.sessions.stripe_from = 4 * kStripe;
  config.sessions.stripe = kStripe;
  return config;
}

/// Two processes with a session each to the other, as the sender of a message has one to its reader. Of two cards both
/// take the first as their own.
struct Both : Pair {
  explicit Both(const Config& config) : Pair(config, 2) {
    if (ready() && b.connect(0, a.address()) == nullptr) to = nullptr;
  }
};

Config over_connections() {
  Config config = with_rails();
  config.provider = "double;tcp";
  return config;
}

class RailsTest : public Double {
 protected:
  void SetUp() override {
    Double::SetUp();
    settings().cards = 2;
  }
};

const network::Counters& of(const Process& process) { return process.iface->counters; }

/// Large reads until both cards of `pair.a` bring a part.
void use_both(Pair& pair, std::size_t bytes = kLarge) {
  const std::uint64_t before = of(pair.a).rail_bytes[1];
  for (int i = 0; i < 100 && of(pair.a).rail_bytes[1] == before; ++i) {
    const std::string whole = pattern(static_cast<std::uint64_t>(i), bytes);
    std::string copy(bytes, 0);
    ASSERT_EQ(read(pair, whole, &copy), ASHLAR_OK) << last_failure;
    ASSERT_EQ(copy, whole) << i;
  }
  ASSERT_GT(of(pair.a).rail_bytes[1], before);
}

/// Whether the second card brings a part of a large read, again.
bool use_again(Pair& pair) {
  const std::uint64_t before = of(pair.a).rail_bytes[1];
  const std::string whole = pattern(2, kLarge);
  std::string copy(kLarge, 0);
  EXPECT_EQ(read(pair, whole, &copy), ASHLAR_OK) << last_failure;
  EXPECT_EQ(copy, whole);
  return of(pair.a).rail_bytes[1] > before;
}

/// A read that has begun, over both cards.
struct Begun {
  explicit Begun(Pair& pair, std::size_t bytes = kLarge) : pair_(pair), whole(pattern(7, bytes)), copy(bytes, 0) {
    EXPECT_EQ(pair.b.iface->expose(whole.data(), bytes, ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
    EXPECT_EQ(pair.to->ops->get(pair.to, copy.data(), &key, 0, bytes, &got), ASHLAR_PENDING);
  }
  bool ends(int ms = 10000) {
    return run(
        {&pair_.a, &pair_.b}, [&] { return got.result != ASHLAR_PENDING; }, ms);
  }

  Pair& pair_;
  std::string whole, copy;
  ashlar_key key = {};
  Got got;
};

/// The second card of a is dead, with stripes of a read under way.
std::unique_ptr<Begun> begin_over_dead_card(Pair& pair) {
  settings().dead_card = 2;
  auto begun = std::make_unique<Begun>(pair);
  const unsigned before = seen().card_reads[2];
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return seen().card_reads[2] > before; }));
  return begun;
}

TEST_F(RailsTest, ALargeMessageTakesAllCardsInEveryMemoryMode) {
  constexpr int kSets[] = {0,
                           FI_MR_LOCAL,
                           FI_MR_VIRT_ADDR,
                           FI_MR_PROV_KEY,
                           FI_MR_LOCAL | FI_MR_ENDPOINT,
                           FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT};
  for (const int mode : kSets)
    for (const Config& config : {with_rails(), over_connections()}) {
      SCOPED_TRACE(mode);
      settings().mr_mode = mode;
      Both pair(config);
      ASSERT_TRUE(pair.ready()) << last_failure;
      ASSERT_NO_FATAL_FAILURE(use_both(pair));
      EXPECT_EQ(of(pair.a).rail_bytes[0] + of(pair.a).rail_bytes[1], of(pair.a).get_bytes);
      EXPECT_EQ(of(pair.a).gets, of(pair.a).striped);
      EXPECT_EQ(of(pair.a).rails.now, 1u);
      EXPECT_EQ(of(pair.a).rails_lost, 0u);
      EXPECT_NE(last_record.find("rails to peer 2: 2: memory0, memory1"), std::string::npos) << last_record;
      // A part of what is exposed, which begins and ends where no stripe does.
      const std::string whole = pattern(3, kLarge);
      std::string part(kLarge - 1001, 0);
      ASSERT_EQ(read(pair, whole, &part), ASHLAR_OK);
      EXPECT_EQ(part, whole.substr(1001));
      ASSERT_STREQ(seen().broken, "");
    }
}

TEST_F(RailsTest, ManyReadsAtOneTimeAreEachWhole) {
  settings().cards = 4;
  settings().late = 2;
  settings().again = 2;
  settings().mr_mode = FI_MR_LOCAL;
  Both pair(with_rails(4));
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
  std::vector<std::unique_ptr<Begun>> all;
  for (std::size_t i = 0; i < 8; ++i) all.push_back(std::make_unique<Begun>(pair, kLarge + 100 * i));
  for (const auto& one : all) {
    ASSERT_TRUE(one->ends());
    EXPECT_EQ(one->copy, one->whole);
    pair.b.iface->unexpose(one->key);
  }
  EXPECT_GT(of(pair.a).rail_bytes[2], 0u);
  EXPECT_GT(of(pair.a).rail_bytes[3], 0u);
}

TEST_F(RailsTest, ThePathIsAsFastAsAllCards) {
  Config config = with_rails();
  config.sessions.stripe = network::kMeasuredFrom;
  Both pair(config);
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair, 64 * network::kMeasuredFrom));
  EXPECT_EQ(pair.to->meter.due(), 0u) << "reads over the other card are none of this one's";
  // Both cards of the double are the same processor: make the first one a slow card.
  pair.to->meter.forget_speed();
  pair.to->meter.ask(1, 0);
  pair.to->meter.over(1, 1'000'000'000, network::kMeasuredFrom);
  ashlar_path_cost cost = {};
  pair.to->ops->measured(pair.to, &cost);
  EXPECT_GT(cost.bandwidth, pair.to->meter.speed());
}

TEST_F(RailsTest, ASmallMessageTakesOneCard) {
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  const std::string whole = pattern(1, 4 * kStripe - 1);
  std::string copy(whole.size(), 0);
  ASSERT_EQ(read(pair, whole, &copy), ASHLAR_OK);
  EXPECT_EQ(copy, whole);
  EXPECT_EQ(of(pair.a).striped, 0u);
  EXPECT_EQ(of(pair.a).rails.now + of(pair.b).rails.now, 0u) << "no rail is opened";
}

// A library that sends what is read before messages would send the answer last.
TEST_F(RailsTest, OneStripeIsUnderWayUntilTheOwnerAnswersOrItIsOver) {
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  use_both(pair);
  const auto asked = [](unsigned card) { return seen().card_reads[card]; };
  for (const bool answers : {false, true}) {
    const unsigned first = asked(1), second = asked(2);
    Begun begun(pair);
    pair.a.iface->progress();
    EXPECT_EQ(asked(1), first + 1);
    EXPECT_EQ(asked(2), second);
    if (answers) {
      EXPECT_TRUE(begun.ends());
      EXPECT_GT(asked(2), second);
    } else {
      EXPECT_TRUE(run({&pair.a}, [&] { return begun.got.result != ASHLAR_PENDING; }));
      EXPECT_EQ(asked(1), first + 1 + kLarge / kStripe) << "the first one is short";
      EXPECT_EQ(asked(2), second);
    }
    EXPECT_EQ(begun.copy, begun.whole);
  }
}

TEST_F(RailsTest, APeerWithoutRailsIsAskedOnce) {
  Both pair(with_rails());
  Process alone(4, with_rails(1));
  ASSERT_TRUE(pair.ready() && alone.opened == ASHLAR_OK) << last_failure;
  pair.to = pair.a.connect(4, alone.address());
  Endpoint* const back = alone.connect(0, pair.a.address());
  ASSERT_TRUE(pair.to != nullptr && back != nullptr) << last_failure;
  ASSERT_TRUE(run({&pair.a, &alone}, [&] { return back->way == Endpoint::Way::kOpen; }));
  std::swap(pair.b.iface, alone.iface);
  for (int i = 0; i < 4; ++i) {
    const std::string whole = pattern(1, kLarge);
    std::string copy(kLarge, 0);
    ASSERT_EQ(read(pair, whole, &copy), ASHLAR_OK);
    ASSERT_EQ(copy, whole);
  }
  EXPECT_EQ(of(pair.a).striped, 1u);
  EXPECT_EQ(of(pair.a).gets, 4u);
}

// The owner of a window's memory may have no session to those that read there.
TEST_F(RailsTest, AnOwnerWithoutASessionIsNotAskedForEver) {
  Pair pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  for (int i = 0; i < 6; ++i) {
    const std::string whole = pattern(1, kLarge);
    std::string copy(kLarge, 0);
    ASSERT_EQ(read(pair, whole, &copy), ASHLAR_OK);
    ASSERT_EQ(copy, whole);
  }
  EXPECT_EQ(of(pair.a).striped, 3u);
}

// By itself, a process takes as rails what no other of its node needs.
TEST_F(RailsTest, CardsWithProcessesOfTheirOwnAreNoRails) {
  settings().cards = 4;
  const Process process(0, with_rails(0));
  ASSERT_EQ(process.opened, ASHLAR_OK);
  EXPECT_NE(last_record.find("large messages are read over 1 of 4 devices of this kind"), std::string::npos)
      << last_record;
}

TEST_F(RailsTest, ARailThatLeadsToAnotherProcessIsNotTaken) {
  settings().foreign_card = 2;
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(use_again(pair));
  EXPECT_GT(seen().card_reads[2], 0u) << "of the nonce";
  settings().foreign_card = 0;
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return use_again(pair); }));
}

TEST_F(RailsTest, WhatARailFailsToBringComesOverTheOther) {
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
  settings().failing_card = 2;
  const std::uint64_t before = of(pair.a).rail_bytes[1];
  const std::string whole = pattern(9, kLarge);
  std::string copy(kLarge, 0);
  ASSERT_EQ(read(pair, whole, &copy), ASHLAR_OK) << last_failure;
  EXPECT_EQ(copy, whole);
  EXPECT_EQ(of(pair.a).rail_bytes[1], before);
  EXPECT_EQ(of(pair.a).rails_lost, 1u);
  EXPECT_NE(last_record.find("memory1 failed (Input/output error (as the test wants it))"), std::string::npos)
      << last_record;
  EXPECT_TRUE(pair.a.failures.empty());
  // After a pause it is tried again, by a small read.
  settings().failing_card = 0;
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return use_again(pair); }));
}

// Connections of the system wait for a quarter of an hour for a host that is not there.
TEST_F(RailsTest, ARailThatStallsLosesItsStripes) {
  for (const int mode : {0, FI_MR_LOCAL | FI_MR_ENDPOINT}) {
    SCOPED_TRACE(mode);
    settings().mr_mode = mode;
    Both pair(over_connections());
    ASSERT_TRUE(pair.ready()) << last_failure;
    ASSERT_NO_FATAL_FAILURE(use_both(pair));
    const auto begun = begin_over_dead_card(pair);
    ASSERT_TRUE(begun->ends());
    EXPECT_EQ(begun->got.result, ASHLAR_OK) << last_failure;
    EXPECT_EQ(begun->copy, begun->whole);
    EXPECT_EQ(of(pair.a).rails_stalled, 1u);
    pair.b.iface->unexpose(begun->key);
    // What comes late is not written to memory that is the user's again.
    begun->copy.assign(kLarge, 'x');
    settings().dead_card = 0;
    (void)run(
        {&pair.a, &pair.b}, [] { return false; }, 50);
    EXPECT_EQ(begun->copy, std::string(kLarge, 'x'));
    ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return use_again(pair); }));
  }
}

// A card reads into the user's memory, so its own end of a transfer is waited for.
TEST_F(RailsTest, ACardThatStallsEndsItsTransfersItself) {
  for (const bool fails : {false, true}) {
    SCOPED_TRACE(fails);
    settings().mr_mode = FI_MR_LOCAL;
    Both pair(with_rails());
    ASSERT_TRUE(pair.ready()) << last_failure;
    ASSERT_NO_FATAL_FAILURE(use_both(pair));
    const auto begun = begin_over_dead_card(pair);
    EXPECT_FALSE(begun->ends(1500));
    EXPECT_EQ(of(pair.a).rails_stalled, 1u);
    EXPECT_EQ(begun->copy, begun->whole) << "all has been read over the other card";
    settings().failing_card = fails ? 2 : 0;
    settings().dead_card = 0;
    ASSERT_TRUE(begun->ends());
    EXPECT_EQ(begun->got.result, ASHLAR_OK);
    EXPECT_EQ(begun->copy, begun->whole);
    pair.b.iface->unexpose(begun->key);
    settings().failing_card = 0;
    ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return use_again(pair); }));
    EXPECT_EQ(of(pair.a).rail_bytes[0] + of(pair.a).rail_bytes[1], of(pair.a).get_bytes);
  }
}

TEST_F(RailsTest, AnOwnerThatTakesItsMemoryBackEndsNothingElse) {
  settings().mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  Both pair(over_connections());
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
  const auto begun = begin_over_dead_card(pair);
  pair.b.iface->unexpose(begun->key);
  ASSERT_TRUE(begun->ends());
  EXPECT_LT(begun->got.result, 0) << "what was not read by then cannot be";
  settings().dead_card = 0;
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return use_again(pair); }));
}

TEST_F(RailsTest, AnOwnerThatEndsIsToldOnce) {
  settings().mr_mode = FI_MR_LOCAL;
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
  const auto begun = begin_over_dead_card(pair);
  pair.a.iface->process_ended(*pair.to, "it has ended");
  EXPECT_LT(begun->got.result, 0);
  begun->got.result = ASHLAR_PENDING;
  settings().dead_card = 0;
  (void)run(
      {&pair.a, &pair.b}, [] { return false; }, 50);
  EXPECT_EQ(begun->got.result, ASHLAR_PENDING);
  EXPECT_EQ(pair.a.failures.size(), 1u);
  pair.b.iface->unexpose(begun->key);
}

TEST_F(RailsTest, AReadIsForgottenWithItsPeer) {
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
  const auto begun = begin_over_dead_card(pair);
  pair.a.iface->disconnect(*pair.to);
  (void)run(
      {&pair.a, &pair.b}, [] { return false; }, 50);
  EXPECT_EQ(begun->got.result, ASHLAR_PENDING);
  settings().dead_card = 0;
  pair.b.iface->unexpose(begun->key);
  pair.to = pair.a.connect(1, pair.b.address());
  ASSERT_NE(pair.to, nullptr);
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
}

TEST_F(RailsTest, AnInterfaceEndsWithAReadUnderWay) {
  settings().mr_mode = FI_MR_LOCAL;
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
  const auto begun = begin_over_dead_card(pair);
  pair.a.iface.reset();
  EXPECT_EQ(begun->got.result, ASHLAR_PENDING);
}

// Libfabric's providers over connections do not survive the end of an endpoint with transfers that do not end.
TEST_F(RailsTest, AnInterfaceThatEndsLeavesADeadRailToTheLibrary) {
  settings().mr_mode = FI_MR_LOCAL;
  unsigned left = 0;
  {
    Both pair(over_connections());
    ASSERT_TRUE(pair.ready()) << last_failure;
    ASSERT_NO_FATAL_FAILURE(use_both(pair));
    const auto begun = begin_over_dead_card(pair);
    pair.a.iface.reset();
    pair.b.iface->unexpose(begun->key);
    pair.b.iface.reset();
    left = std::exchange(seen().regions, 0);
    EXPECT_EQ(std::exchange(seen().endpoints, 0), 1u);
  }
  EXPECT_GE(left, 2u) << "the nonce, and memory of a stripe at least";
}

TEST_F(RailsTest, ARailThatTakesNoMemoryIsLeftOut) {
  settings().mr_mode = FI_MR_LOCAL;
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
  const std::uint64_t before = of(pair.a).rail_bytes[1];
  settings().regions = seen().regions + 2;  // for the memory of both sides, over the first card
  const std::string whole = pattern(4, kLarge);
  std::string copy(kLarge, 0);
  ASSERT_EQ(read(pair, whole, &copy), ASHLAR_OK) << last_failure;
  EXPECT_EQ(copy, whole);
  EXPECT_EQ(of(pair.a).rail_bytes[1], before);
}

// Lasting memory is one region; parts of it that are exposed at one time are told apart.
TEST_F(RailsTest, PartsOfOneRegionAreToldApart) {
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  const std::string whole = pattern(5, 4 * kLarge);
  lasting_memory().add(whole.data(), whole.size());
  for (int round = 0; round < 10; ++round) {
    ashlar_key keys[4];
    std::string copies[4];
    Got got[4];
    for (std::size_t i = 0; i < 4; ++i) {
      copies[i].resize(kLarge);
      ASSERT_EQ(pair.b.iface->expose(whole.data() + i * kLarge, kLarge, ASHLAR_MEMORY_HOST, &keys[i]), ASHLAR_OK);
      ASSERT_EQ(pair.to->ops->get(pair.to, copies[i].data(), &keys[i], 0, kLarge, &got[i]), ASHLAR_PENDING);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return got[i].result != ASHLAR_PENDING; }));
      ASSERT_EQ(copies[i], whole.substr(i * kLarge, kLarge)) << i;
      pair.b.iface->unexpose(keys[i]);
    }
  }
  EXPECT_GT(of(pair.a).rail_bytes[1], 0u);
  lasting_memory().remove(whole.data());
}

TEST_F(RailsTest, RailsAreLookedAtWhileSomethingMayComeThere) {
  Both pair(with_rails());
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(use_both(pair));
  (void)run(
      {&pair.a, &pair.b}, [] { return false; }, 200);
  const unsigned first = seen().card_looks[1], second = seen().card_looks[2];
  (void)run(
      {&pair.a, &pair.b}, [] { return false; }, 100);
  EXPECT_GT(seen().card_looks[1] - first, 1000u);
  EXPECT_LT(seen().card_looks[2] - second, 100u);
}

}  // namespace
}  // namespace ashlar::ofi::test
