#include <poll.h>

#include "tests/unit/transport_ofi/over_double.h"

// What providers of network cards may do and those over sockets do not, by a double of libfabric.
namespace ashlar::ofi::test {
namespace {

/// Messages of many sizes, until all have arrived; then their order and bytes are looked at.
void exchange(Pair& pair, std::uint64_t count) {
  const std::size_t sizes[] = {0, 8, 31, 32, 33, 100, 1024, 3000};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string bytes = pattern(i, sizes[i % std::size(sizes)]);
    ASSERT_TRUE(run({&pair.a, &pair.b}, [&] {
      return (bytes.size() <= pair.to->max_short ? Process::send(pair.to, i, bytes)
                                                 : Process::send_long(pair.to, i, bytes)) == ASHLAR_OK;
    })) << i;
  }
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.b.got.size() == count; }))
      << pair.b.got.size() << " of " << count << " arrived";
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(pair.b.got[i], i);
    ASSERT_EQ(pair.b.data[i], pattern(i, sizes[i % std::size(sizes)])) << i;
  }
  EXPECT_TRUE(pair.a.failures.empty() && pair.b.failures.empty());
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.a.iface->idle(); }));
  EXPECT_EQ(pair.to->bytes_out, 0u);
  EXPECT_EQ(pair.a.iface->counters.buffered.now, 0u);
}

/// a writes to the end of b's memory.
ashlar_result put(Pair& pair, const std::string& from, std::string* to) {
  ashlar_key key;
  EXPECT_EQ(pair.b.iface->expose(to->data(), to->size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  Got got;
  EXPECT_EQ(pair.to->ops->put(pair.to, from.data(), &key, to->size() - from.size(), from.size(), &got), ASHLAR_PENDING);
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return got.result != ASHLAR_PENDING; }));
  pair.b.iface->unexpose(key);
  return got.result;
}

std::uint32_t put_completion(const Process& process) { return plugin::attributes_of(*process.iface).put_completion; }

/// Exits with 10 for the log that libfabric was given, and 1 for the monitor of memory.
[[noreturn]] void load(bool hooks) {
  Config config = over_double();
  config.sessions.memory_hooks = hooks;
  const Process process(0, config);
  std::fprintf(stderr, "%s", last_record.c_str());
  std::_Exit(static_cast<int>(10 * seen().logs + seen().monitors));
}

// The first one that loads libfabric decides, so each is tried in a process of its own.
TEST_F(Double, LibfabricHasItsMonitorOfMemoryOnRequestAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(load(false), testing::ExitedWithCode(11),
              "memory of the program is registered for each message .transport.ofi.memory_hooks.");
  EXPECT_EXIT(load(true), testing::ExitedWithCode(10),
              "libfabric may patch mmap.. and its kin to learn of freed memory, as transport.ofi.memory_hooks says");
}

TEST_F(Double, PutsObeyEveryMemoryMode) {
  constexpr int kModes[] = {0, FI_MR_LOCAL, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY,
                            FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT};
  for (const int mode : kModes)
    for (const unsigned late : {0u, 3u}) {
      settings() = {};
      settings().mr_mode = mode;
      settings().puts = 1;
      settings().late = late;
      SCOPED_TRACE(mode);
      Pair pair;
      ASSERT_TRUE(pair.ready()) << last_failure;
      EXPECT_EQ(put_completion(pair.a), static_cast<std::uint32_t>(ASHLAR_PUT_AT_DONE));
      ASSERT_NE(pair.to->capabilities & ASHLAR_CAP_PUT, 0u);
      const std::string part = pattern(late, 70000);
      std::string whole(100000, 'x');
      ASSERT_EQ(put(pair, part, &whole), ASHLAR_OK);
      EXPECT_EQ(whole, std::string(30000, 'x') + part);
      EXPECT_EQ(pair.a.iface->counters.puts.get(), 1u);
      EXPECT_EQ(pair.a.iface->counters.put_bytes.get(), part.size());
      ASSERT_STREQ(seen().broken, "");
    }
}

// One-sided communication does without puts that need the target's calls, and without those that are not what they say.
TEST_F(Double, PutsAreProvedOrNotOffered) {
  for (const unsigned puts : {0u, 2u}) {
    settings().puts = puts;
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    EXPECT_EQ(put_completion(pair.a), static_cast<std::uint32_t>(ASHLAR_PUT_UNKNOWN));
    EXPECT_EQ(pair.to->capabilities & ASHLAR_CAP_PUT, 0u);
    ASSERT_NO_FATAL_FAILURE(exchange(pair, 40));
  }
}

TEST_F(Double, APutThatFailsIsTold) {
  settings().puts = 1;
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  settings().fail_read = 1;
  std::string whole(1000, 'x');
  EXPECT_LT(put(pair, pattern(1, 100), &whole), 0);
  EXPECT_NE(last_failure.find("network.put peer=1"), std::string::npos) << last_failure;
  EXPECT_EQ(whole, std::string(1000, 'x'));
  ASSERT_EQ(put(pair, pattern(1, 100), &whole), ASHLAR_OK) << last_failure;
}

// A card without a link is refused, and one that is slower may be on another network.
TEST_F(Double, ProcessesTakeCardsOfOneKindInTurn) {
  settings().cards = 5;
  settings().card_without_link = 2;
  settings().slow_card = 3;
  constexpr const char* kTaken[] = {"memory0", "memory3", "memory4", "memory0"};
  for (std::uint32_t rank = 0; rank < std::size(kTaken); ++rank) {
    const Process process(rank, over_double());
    ASSERT_EQ(process.opened, ASHLAR_OK) << last_failure;
    EXPECT_NE(last_record.find(std::string("double over ") + kTaken[rank]), std::string::npos) << last_record;
    EXPECT_NE(last_record.find("processes of this node take 3 cards in turn"), std::string::npos) << last_record;
    EXPECT_NE(last_record.find("double over memory1: it has no link"), std::string::npos) << last_record;
  }
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_NO_FATAL_FAILURE(exchange(pair, 40));
}

/// Whether the process is woken.
bool sleeps_and_wakes(const Process& process, int most_ms) {
  pollfd wake = {.fd = process.iface->wake_fd(), .events = POLLIN, .revents = 0};
  return poll(&wake, 1, most_ms) == 1;
}

// With a library that has nothing to sleep on, and with one whose descriptor no arrival makes readable.
TEST_F(Double, TheClockWakesWhereArrivalsDoNot) {
  for (const unsigned wakes : {0u, 2u}) {
    settings().wakes = wakes;
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    EXPECT_NE(last_record.find("its arrivals do not wake a process that sleeps"), std::string::npos) << last_record;
    Process& sleeper = pair.b;
    ASSERT_TRUE(run({&sleeper}, [&] { return sleeper.iface->arm() == ASHLAR_OK; }));
    EXPECT_TRUE(sleeps_and_wakes(sleeper, 200)) << "within a millisecond";
    sleeper.iface->disarm();
    EXPECT_EQ(sleeper.iface->arm(), ASHLAR_AGAIN) << "what has come only a look tells";
    sleeper.iface->progress();
    EXPECT_EQ(sleeper.iface->arm(), ASHLAR_OK);
    sleeper.iface->disarm();
    ASSERT_NO_FATAL_FAILURE(exchange(pair, 10));
  }
}

TEST_F(Double, ArrivalsWakeWhereTheLibraryHasShownThatTheyDo) {
  settings().wakes = 1;
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  EXPECT_EQ(last_record.find("its arrivals do not wake a process that sleeps"), std::string::npos) << last_record;
  ASSERT_NO_FATAL_FAILURE(exchange(pair, 10));
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.b.iface->arm() == ASHLAR_OK; }));
  EXPECT_FALSE(sleeps_and_wakes(pair.b, 20)) << "the clock comes every half second";
  ASSERT_EQ(Process::send(pair.to, 1), ASHLAR_OK);
  EXPECT_TRUE(run({&pair.a}, [&] { return sleeps_and_wakes(pair.b, 0); }));
  pair.b.iface->disarm();
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.b.got.size() == 11; }));
}

TEST_F(Double, EveryMemoryModeIsObeyed) {
  constexpr int kModes[] = {FI_MR_LOCAL, FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY, FI_MR_ENDPOINT};
  for (unsigned set = 0; set < 1u << std::size(kModes); ++set) {
    settings().mr_mode = 0;
    for (std::size_t i = 0; i < std::size(kModes); ++i)
      if ((set >> i & 1) != 0) settings().mr_mode |= kModes[i];
    SCOPED_TRACE(settings().mr_mode);
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    ASSERT_NO_FATAL_FAILURE(exchange(pair, 40));
    const std::string whole = pattern(set, 100000);
    std::string part(70000, 0);
    ASSERT_EQ(read(pair, whole, &part), ASHLAR_OK);
    EXPECT_EQ(part, whole.substr(30000));
    ASSERT_STREQ(seen().broken, "");
  }
}

// Providers with FI_MR_ENDPOINT do not close an endpoint that has regions; memory that peers read may last longer.
TEST_F(Double, AnEndpointIsClosedThoughItHasRegions) {
  settings().mr_mode = FI_MR_ENDPOINT | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
  const std::string memory(100000, 'x');
  Process process(0, over_double());
  ashlar_key key;
  ASSERT_EQ(process.iface->expose(memory.data(), memory.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK) << last_failure;
  EXPECT_EQ(seen().endpoints, 1u);
  process.iface.reset();
  EXPECT_EQ(seen().endpoints, 0u);
}

TEST_F(Double, TransfersAreCutToWhatTheProviderTakes) {
  for (const int mode : {0, FI_MR_LOCAL}) {
    settings() = {};
    settings().mr_mode = mode;
    settings().puts = 1;
    settings().longest = 20000;
    seen() = {};
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    const std::string whole = pattern(1, 100000), part = pattern(2, 40001);
    std::string copy(70000, 0), target(100000, 'x');
    ASSERT_EQ(read(pair, whole, &copy), ASHLAR_OK) << last_failure;
    EXPECT_EQ(copy, whole.substr(30000));
    EXPECT_EQ(seen().reads, 4u);
    ASSERT_EQ(put(pair, part, &target), ASHLAR_OK) << last_failure;
    EXPECT_EQ(target, std::string(100000 - 40001, 'x') + part);
    EXPECT_EQ(pair.a.iface->counters.gets.get(), 1u);
    EXPECT_EQ(pair.a.iface->counters.get_bytes.get(), 70000u);
    // One of them fails: all is over before that is told, and it is told once.
    settings().fail_read = 2;
    EXPECT_LT(read(pair, whole, &copy), 0);
    EXPECT_TRUE(pair.to->transfers.empty());
    ASSERT_STREQ(seen().broken, "");
  }
}

// What a peer has sent over a socket beyond that waits in the system, and has left the caches when it is read.
TEST_F(Double, OverSocketsAFewBytesAreReadAtATime) {
  struct Case {
    const char* provider;
    std::uint64_t in_flight;
    unsigned at_once, pieces;
  };
  for (const Case& row : {Case{"double;tcp", 128 << 10, 2, 10}, Case{"double;tcp", 1000, 1, 20},
                          Case{"double;tcp", 0, 2, 2}, Case{"double", 128 << 10, 2, 2}}) {
    settings() = {};
    settings().late = 3;
    seen() = {};
    Config config = over_double();
    config.provider = row.provider;
    config.sessions.rails = 1;
    config.in_flight = row.in_flight;
    Pair pair(config);
    ASSERT_TRUE(pair.ready()) << last_failure;
    const std::string from = pattern(1, 320 << 10);
    std::string first(from.size(), 0), second(from.size(), 0);
    ashlar_key key;
    ASSERT_EQ(pair.b.iface->expose(from.data(), from.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
    Got one, two;
    ASSERT_EQ(pair.to->ops->get(pair.to, first.data(), &key, 0, from.size(), &one), ASHLAR_PENDING);
    ASSERT_EQ(pair.to->ops->get(pair.to, second.data(), &key, 0, from.size(), &two), ASHLAR_PENDING);
    std::size_t most = 0;
    EXPECT_TRUE(run({&pair.a, &pair.b}, [&] {
      most = std::max(most, pair.to->transfers.size());
      return one.result != ASHLAR_PENDING && two.result != ASHLAR_PENDING;
    }));
    EXPECT_EQ(one.result, ASHLAR_OK) << last_failure;
    EXPECT_EQ(two.result, ASHLAR_OK) << last_failure;
    EXPECT_TRUE(first == from && second == from);
    EXPECT_EQ(most, row.at_once) << row.provider << " " << row.in_flight;
    EXPECT_EQ(seen().reads, row.pieces) << row.provider << " " << row.in_flight;
    EXPECT_EQ(pair.to->reading, 0u);
    pair.b.iface->unexpose(key);
    ASSERT_STREQ(seen().broken, "");
  }
}

// A peer that is given up may be there still, and what it lets a read write comes late.
TEST_F(Double, AReadIsNotOverWhileItMayWrite) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  Endpoint* const back = pair.b.connect(0, pair.a.address());
  ASSERT_EQ(Process::send(pair.to, 1), ASHLAR_OK);
  ASSERT_EQ(Process::send(back, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.a.got.size() == 1 && pair.b.got.size() == 1; }));
  std::string memory = pattern(1, 100000), here(100000, 0);
  ashlar_key key;
  ASSERT_EQ(pair.b.iface->expose(memory.data(), memory.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  settings().late = 1'000'000'000;
  Got got;
  ASSERT_EQ(pair.to->ops->get(pair.to, here.data(), &key, 0, here.size(), &got), ASHLAR_PENDING);
  pair.a.iface->progress();
  settings().late = 0;
  ++back->number;  // one is missing
  ASSERT_EQ(Process::send(back, 2), ASHLAR_OK);
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return !pair.a.failures.empty(); }));
  EXPECT_EQ(got.result, ASHLAR_PENDING);
  ASSERT_TRUE(run({&pair.a}, [&] { return got.result != ASHLAR_PENDING; })) << "at last it is waited for no longer";
  EXPECT_LT(got.result, 0);
  pair.b.iface->unexpose(key);
}

TEST_F(Double, AModeThatIsNotKnownIsNotTaken) {
  settings().mr_mode = FI_MR_HMEM;
  EXPECT_FALSE(Pair().ready());
  EXPECT_NE(last_failure.find("ofi.no_provider provider=double"), std::string::npos) << last_failure;
}

TEST_F(Double, OperationsThatAreRefusedAreTriedAgain) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  settings().again = 9;
  exchange(pair, 400);
  const std::string whole = pattern(1, 5000);
  std::string copy(5000, 0);
  EXPECT_EQ(read(pair, whole, &copy), ASHLAR_OK);
  EXPECT_EQ(copy, whole);
  EXPECT_GT(seen().refused, 100u);
}

TEST_F(Double, MemoryIsLeftAloneUntilACompletionIsLate) {
  settings().mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT;
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  settings().late = 30;
  exchange(pair, 400);
}

TEST_F(Double, MessagesAreInjectedUpToTheProvidersSize) {
  for (const std::size_t size : {0u, 31u, 32u, 40u, 64u, 1000u}) {
    settings().inject = size;
    seen() = {};
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    exchange(pair, 100);
    // One in each round, so that none is collected.
    for (int i = 0; i < 10; ++i, pair.a.iface->progress()) ASSERT_EQ(Process::send(pair.to, 1, ""), ASHLAR_OK);
    EXPECT_EQ(seen().injects != 0, size >= sizeof(Frame)) << size;
  }
}

TEST_F(Double, InjectedMessagesAreCountedByOnesThatComplete) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 1);
  settings().late = 1000000;
  const unsigned before = seen().injects;
  std::uint64_t sent = 0;
  // a round each, so that none is collected
  for (int i = 0; i < 1000; ++i, pair.a.iface->progress()) sent += Process::send(pair.to, 5) == ASHLAR_OK;
  EXPECT_LE(seen().injects - before, 64u);
  EXPECT_FALSE(pair.a.iface->idle());
  EXPECT_GT(sent, 64u);
}

TEST_F(Double, AShortQueueOfTheProviderIsNotOverrun) {
  settings().sends = 4;
  settings().late = 3;
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 300);
  EXPECT_LE(pair.a.iface->counters.under_way.most, 4u);
}

TEST_F(Double, ASendThatFailsEndsThePeer) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  settings().fail_send = 3;
  for (int i = 0; i < 10 && Process::send_long(pair.to, 1, pattern(1, 2000)) == ASHLAR_OK; ++i) continue;
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return !pair.a.failures.empty(); }));
  EXPECT_NE(pair.a.failures[0].second.find("a message to it was lost"), std::string::npos) << pair.a.failures[0].second;
  EXPECT_NE(pair.a.failures[0].second.find("as the test wants it"), std::string::npos);
  EXPECT_LT(Process::send(pair.to, 1), 0);
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.to->bytes_out == 0; }));
}

TEST_F(Double, AReceiveThatFailsIsAMessageThatIsMissing) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  settings().fail_receive = 2;
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(Process::send_long(pair.to, i, pattern(i, 2000)), ASHLAR_OK);
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return !pair.b.failures.empty(); }));
  EXPECT_EQ(pair.b.got.size(), 9u);
  EXPECT_NE(pair.b.failures[0].second.find("message 10 of it was lost"), std::string::npos)
      << pair.b.failures[0].second;
}

// As providers do that fetch long messages from their sender's memory.
TEST_F(Double, LongMessagesMayEndAfterShortOnesBehindThem) {
  constexpr int kModes[] = {0, FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY};
  for (const int mode : kModes) {
    settings() = {};
    settings().mr_mode = mode;
    settings().slow_from = 1000;
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    exchange(pair, 300);
    EXPECT_GT(pair.b.iface->counters.out_of_order, 0u);
    EXPECT_EQ(pair.a.iface->counters.out_of_order, 0u);
  }
}

// FI_MULTI_RECV: its release is told with the last message or apart, and waits for messages that are late.
TEST_F(Double, ManyMessagesTakeOneReceiveBuffer) {
  constexpr int kModes[] = {0, FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY};
  for (const int mode : kModes)
    for (const unsigned release : {1u, 2u})
      for (const unsigned slow_from : {0u, 1000u}) {
        settings() = {};
        settings().mr_mode = mode;
        settings().multi_receive = release;
        settings().slow_from = slow_from;
        seen().multi_receives = 0;
        Pair pair;
        ASSERT_TRUE(pair.ready()) << last_failure;
        ASSERT_EQ(seen().multi_receives, 8u) << "four of each process";
        EXPECT_NE(last_record.find("frames share 4 receive buffers of 64 KiB"), std::string::npos) << last_record;
        ASSERT_NO_FATAL_FAILURE(exchange(pair, 3000));
        EXPECT_GT(seen().multi_receives, 8u) << "those that are consumed are posted again";
        EXPECT_EQ(pair.b.iface->counters.out_of_order.get() != 0, slow_from != 0);
        EXPECT_EQ(pair.b.iface->counters.refused.get(), 0u);
      }
}

TEST_F(Double, ReceiveBuffersAreForOneMessageEachWhereThatIsWantedOrAllThereIs) {
  for (const bool wanted : {false, true}) {
    settings().multi_receive = wanted ? 0 : 1;
    Config config = over_double();
    config.multi_receive = wanted ? kAlways : kNever;
    Pair pair(config);
    EXPECT_EQ(last_record.find("does not put many into one") != std::string::npos, wanted) << last_record;
    ASSERT_TRUE(pair.ready()) << last_failure;
    ASSERT_NO_FATAL_FAILURE(exchange(pair, 100));
    EXPECT_EQ(seen().multi_receives, 0u);
  }
}

// What strangers send has any length.
TEST_F(Double, MessagesAtOddAddressesArriveAsOthers) {
  for (const unsigned slow_from : {0u, 1000u}) {
    settings() = {};
    settings().multi_receive = 1;
    settings().slow_from = slow_from;
    settings().stray = 3;
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    ASSERT_NO_FATAL_FAILURE(exchange(pair, 1000));
    EXPECT_EQ(pair.b.iface->counters.out_of_order.get() != 0, slow_from != 0);
  }
}

TEST_F(Double, AFailureInAMultiReceiveIsAMessageThatIsMissing) {
  for (const unsigned release : {1u, 2u}) {
    settings().multi_receive = release;
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    exchange(pair, 8);
    settings().fail_receive = 2;
    for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(Process::send_long(pair.to, i, pattern(i, 2000)), ASHLAR_OK);
    ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return !pair.b.failures.empty(); }));
    EXPECT_EQ(pair.b.got.size(), 9u);
    EXPECT_NE(pair.b.failures[0].second.find("message 10 of it was lost"), std::string::npos)
        << pair.b.failures[0].second;
  }
}

TEST_F(Double, WhatWaitsForALostMessageEndsWithItsPeer) {
  Config config = over_double();
  config.sessions.handshake_timeout = 100'000'000;
  Pair pair(config);
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  settings().slow_from = 1000;
  settings().fail_receive = 4;
  ASSERT_EQ(Process::send_long(pair.to, 8, pattern(8, 2000)), ASHLAR_OK);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(Process::send(pair.to, 9 + i), ASHLAR_OK);
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return !pair.b.failures.empty(); }));
  EXPECT_EQ(pair.b.got.size(), 8u) << "what came behind it is not delivered";
  EXPECT_EQ(pair.b.iface->counters.out_of_order, 3u);
  EXPECT_NE(pair.b.failures[0].second.find("message 9 of it was lost"), std::string::npos) << pair.b.failures[0].second;
}

// What comes of one peer damaged is no reason to wait a shorter time for another one's message.
TEST_F(Double, ADamagedMessageEndsNoOtherPeer) {
  Config config = over_double();
  config.sessions.handshake_timeout = 60'000'000'000;
  Pair pair(config);
  Process other(2, config);
  ASSERT_TRUE(pair.ready() && other.opened == ASHLAR_OK) << last_failure;
  Endpoint* const from_other = other.connect(1, pair.b.address());
  ASSERT_NE(from_other, nullptr);
  exchange(pair, 8);
  settings().fail_receive = 1;
  ASSERT_EQ(Process::send(from_other, 1), ASHLAR_OK);
  ASSERT_EQ(Process::send(from_other, 2), ASHLAR_OK);
  ASSERT_TRUE(run({&other, &pair.b}, [&] { return pair.b.iface->counters.refused.get() != 0; }));
  settings().slow_from = 1000;
  settings().slow_stay = true;
  ASSERT_EQ(Process::send_long(pair.to, 8, pattern(8, 2000)), ASHLAR_OK);
  ASSERT_EQ(Process::send(pair.to, 9), ASHLAR_OK);
  EXPECT_FALSE(run(
      {&pair.a, &pair.b}, [&] { return !pair.b.failures.empty(); }, 1200));
  EXPECT_EQ(pair.b.iface->counters.out_of_order.get(), 1u);
  settings().slow_stay = false;
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.b.got.size() == 10; }));
  EXPECT_EQ(pair.b.got.back(), 9u);
}

TEST_F(Double, FramesAreNoLongerThanTheReceiverTakes) {
  Config shorter = over_double();
  shorter.sessions.frame_bytes = 1 << 10;
  last_adjustment.clear();
  Process a(0, over_double());
  EXPECT_EQ(last_adjustment, "");
  Process b(1, shorter);
  EXPECT_EQ(last_adjustment, "transport.ofi.frame_bytes=4KiB");
  Endpoint *const to = a.connect(1, b.address()), *const back = b.connect(0, a.address());
  ASSERT_TRUE(to != nullptr && back != nullptr) << last_failure;
  EXPECT_EQ(to->max_bcopy, (4u << 10) - sizeof(Frame));
  EXPECT_EQ(back->max_bcopy, (4u << 10) - sizeof(Frame));
  for (std::uint64_t i = 0; i < 500; ++i) ASSERT_EQ(Process::send(to, i, pattern(i, 40)), ASHLAR_OK);
  const std::string longest = pattern(500, to->max_bcopy);
  ASSERT_EQ(Process::send_long(to, 500, longest), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 501 || !b.failures.empty(); }));
  ASSERT_EQ(b.got.size(), 501u);
  EXPECT_EQ(b.data.back(), longest);
}

// A sender that may have no more bytes under way reads completions, arrivals among them, which are handled later.
TEST_F(Double, WhatASendReadsInAHandlerStaysInOrder) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  Endpoint* const back = pair.b.connect(0, pair.a.address());
  ASSERT_NE(back, nullptr);
  exchange(pair, 8);
  ASSERT_EQ(Process::send(back, 100), ASHLAR_OK);
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.a.got.size() == 1; }));
  const std::string bytes = pattern(1, 8000);
  const auto comes = [&](std::uint64_t word) {
    EXPECT_EQ(Process::send(back, word), ASHLAR_OK);
    pair.b.iface->progress();
  };
  const auto send_is_put_off = [&] { EXPECT_EQ(Process::send_long(pair.to, 9, bytes), ASHLAR_AGAIN); };
  settings().late = 100'000;
  while (Process::send_long(pair.to, 8, bytes) == ASHLAR_OK) continue;
  settings().late = 0;
  comes(101);
  send_is_put_off();
  pair.a.on_arrival = [&] {
    if (pair.a.got.back() != 101) return;
    comes(102);
    send_is_put_off();
    comes(103);
  };
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.a.got.size() == 4 || !pair.a.failures.empty(); }));
  EXPECT_EQ(pair.a.got, (std::vector<std::uint64_t>{100, 101, 102, 103}));
  EXPECT_TRUE(pair.a.failures.empty()) << pair.a.failures[0].second;
}

TEST_F(Double, AReadThatFailsIsTold) {
  settings().mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  settings().fail_read = 1;
  std::string copy(100, 0);
  EXPECT_EQ(read(pair, pattern(1, 100), &copy), -ASHLAR_ERR_OTHER);
  EXPECT_NE(last_failure.find("network.get peer=1"), std::string::npos) << last_failure;
  // The peer is there all the same.
  EXPECT_EQ(read(pair, pattern(1, 100), &copy), ASHLAR_OK);
  EXPECT_EQ(copy, pattern(1, 100));
}

// Modes that change what is registered, or how peers name it.
constexpr int kModes[] = {0, FI_MR_LOCAL, FI_MR_VIRT_ADDR, FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY,
                          FI_MR_LOCAL | FI_MR_ENDPOINT};

TEST_F(Double, LastingMemoryIsRegisteredOnceForManyReads) {
  for (const int mode : kModes) {
    SCOPED_TRACE(mode);
    settings().mr_mode = mode;
    Pair pair;
    ASSERT_TRUE(pair.ready()) << last_failure;
    ASSERT_NO_FATAL_FAILURE(exchange(pair, 8));
    const std::string whole = pattern(3, 100000);
    std::string copy(whole.size(), 0);
    lasting_memory().add(whole.data(), whole.size());
    lasting_memory().add(copy.data(), copy.size());
    const unsigned before = seen().registrations;
    for (std::size_t i = 0; i < 20; ++i) {
      // Another part each time.
      ashlar_key key;
      ASSERT_EQ(pair.b.iface->expose(whole.data() + 1000 * i, 5000, ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
      Got got;
      ASSERT_EQ(pair.to->ops->get(pair.to, copy.data() + 1000 * i, &key, 0, 5000, &got), ASHLAR_PENDING);
      ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return got.result != ASHLAR_PENDING; }));
      ASSERT_EQ(got.result, ASHLAR_OK) << last_failure;
      ASSERT_EQ(copy.substr(1000 * i, 5000), whole.substr(1000 * i, 5000)) << i;
      pair.b.iface->unexpose(key);
    }
    EXPECT_EQ(seen().registrations - before, (mode & FI_MR_LOCAL) != 0 ? 2u : 1u);
    EXPECT_EQ(pair.b.iface->counters.registered.now, whole.size());
    EXPECT_EQ(pair.b.iface->counters.registered_again, 19u);
    lasting_memory().remove(whole.data());
    lasting_memory().remove(copy.data());
    EXPECT_TRUE(run({&pair.a, &pair.b}, [&] {
      return pair.a.iface->counters.registered.now == 0 && pair.b.iface->counters.registered.now == 0;
    })) << "what was freed is given up";
  }
}

TEST_F(Double, MemoryOfTheProgramIsRegisteredForEachRead) {
  settings().mr_mode = FI_MR_LOCAL;
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  const std::string whole = pattern(3, 100000);
  std::string copy(whole.size(), 0);
  const unsigned before = seen().registrations;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(read(pair, whole, &copy), ASHLAR_OK);
  EXPECT_EQ(copy, whole);
  EXPECT_EQ(seen().registrations - before, 10u);
  EXPECT_EQ(pair.a.iface->counters.registered.now + pair.b.iface->counters.registered.now, 0u);
}

TEST_F(Double, ABufferThatSeveralPeersReadIsRegisteredOnce) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  const std::string whole = pattern(3, 100000);
  const unsigned before = seen().registrations;
  ashlar_key keys[4];
  for (ashlar_key& key : keys)
    ASSERT_EQ(pair.b.iface->expose(whole.data(), whole.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  EXPECT_EQ(seen().registrations - before, 1u);
  for (int i = 0; i < 3; ++i) pair.b.iface->unexpose(keys[i]);
  std::string copy(whole.size(), 0);
  Got got;
  ASSERT_EQ(pair.to->ops->get(pair.to, copy.data(), &keys[3], 0, copy.size(), &got), ASHLAR_PENDING);
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return got.result != ASHLAR_PENDING; }));
  EXPECT_EQ(got.result, ASHLAR_OK);
  EXPECT_EQ(copy, whole);
  pair.b.iface->unexpose(keys[3]);
  EXPECT_EQ(pair.b.iface->counters.regions.now, 0u);
}

TEST_F(Double, MemoryThatIsNotRegisteredFailsTheReadAndNotThePeer) {
  settings().mr_mode = FI_MR_LOCAL;
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  const std::string whole = pattern(1, 5000);
  std::string copy(5000, 0);
  ashlar_key key;
  ASSERT_EQ(pair.b.iface->expose(whole.data(), whole.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  settings().regions = seen().regions;
  Got got;
  EXPECT_EQ(pair.to->ops->get(pair.to, copy.data(), &key, 0, copy.size(), &got), -ASHLAR_ERR_OTHER);
  EXPECT_NE(last_failure.find("network.region"), std::string::npos) << last_failure;
  ashlar_key other;
  EXPECT_EQ(pair.b.iface->expose(copy.data(), copy.size(), ASHLAR_MEMORY_HOST, &other), -ASHLAR_ERR_OTHER);
  EXPECT_TRUE(pair.a.failures.empty());
  settings().regions = 1000;
  EXPECT_EQ(pair.to->ops->get(pair.to, copy.data(), &key, 0, copy.size(), &got), ASHLAR_PENDING);
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return got.result != ASHLAR_PENDING; }));
  EXPECT_EQ(copy, whole);
  pair.b.iface->unexpose(key);
}

TEST_F(Double, ARowOfShortMessagesLeavesTogether) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  const unsigned sends = seen().sends, injects = seen().injects;
  const std::uint64_t before = pair.a.iface->counters.coalesced;
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(Process::send(pair.to, 100 + i, "12345"), ASHLAR_OK);
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.b.got.size() == 108; }));
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(pair.b.got[8 + i], 100 + i);
  EXPECT_EQ(seen().injects - injects, 8u);
  EXPECT_EQ(seen().sends - sends, 1u);
  EXPECT_EQ(pair.a.iface->counters.coalesced - before, 91u);
}

TEST_F(Double, AnotherSessionCountsFromOne) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  exchange(pair, 8);
  pair.a.iface->disconnect(*pair.to);
  (void)run({&pair.a, &pair.b}, [&] { return pair.a.iface->idle(); });
  pair.to = pair.a.connect(1, pair.b.address());
  ASSERT_TRUE(pair.ready()) << last_failure;
  pair.b.got.clear();
  pair.b.data.clear();
  exchange(pair, 8);
}

TEST_F(Double, AProofThatNothingWaitsForGoes) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  EXPECT_NE(pair.a.iface->counters.buffered.now, 0u);
  pair.a.iface->disconnect(*pair.to);
  EXPECT_EQ(pair.a.iface->counters.buffered.now, 0u);
  EXPECT_EQ(pair.to->way, Endpoint::Way::kDown);
}

TEST_F(Double, WhomTheKernelHasPartedFromHasNoAddress) {
  Pair pair;
  ASSERT_TRUE(pair.ready()) << last_failure;
  ASSERT_EQ(Process::send(pair.to, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&pair.a, &pair.b}, [&] { return pair.b.got.size() == 1; }));
  pair.a.part_from(1);
  pair.b.part_from(0);
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return seen().removed == 2; }));
}

}  // namespace
}  // namespace ashlar::ofi::test
