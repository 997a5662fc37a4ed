// What is written into the buffer of a rank, and what is read from it, whole or damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "components/tool/common/advice.h"
#include "components/tool/common/figures.h"
#include "framework/base/clock.h"
#include "tests/unit/tool/job.h"

namespace ashlar::recording {
namespace {

TEST(SizeClass, BordersAreInTheLowerClass) {
  EXPECT_EQ(size_class(0), 0u);
  EXPECT_EQ(size_class(1), 1u);
  for (std::uint32_t c = 1; c + 1 < kSizeClasses; ++c) {
    EXPECT_EQ(size_class(most_of_class(c)), c);
    EXPECT_EQ(size_class(most_of_class(c) + 1), c + 1);
  }
  EXPECT_EQ(size_class(UINT64_MAX), kSizeClasses - 1);
}

TEST(Span, KeepsWhatItIsGiven) {
  constexpr std::uint64_t kBase = std::uint64_t{1} << 50;
  const Span::Facts facts{.began = kBase - 77,
                          .ticks = (std::uint64_t{1} << 44) - 1,
                          .bytes = (std::uint64_t{1} << 40) - 1,
                          .thread = 200,
                          .procedure = Span::kMostProcedures - 1,
                          .comm = Span::kMostComms - 1,
                          .peer = (1 << 24) - 2,
                          .algorithm = Span::kMostAlgorithms,
                          .protocol = Span::kMostProtocols};
  const Span::Facts read = Span(facts, kBase).facts(kBase);
  EXPECT_EQ(read.began, facts.began);
  EXPECT_EQ(read.ticks, facts.ticks);
  EXPECT_EQ(read.bytes, facts.bytes);
  EXPECT_EQ(read.thread, facts.thread);
  EXPECT_EQ(read.procedure, facts.procedure);
  EXPECT_EQ(read.comm, facts.comm);
  EXPECT_EQ(read.peer, facts.peer);
  EXPECT_EQ(read.algorithm, facts.algorithm);
  EXPECT_EQ(read.protocol, facts.protocol);
}

TEST(Span, WhatIsTooLargeIsTheLargest) {
  const std::uint64_t hours = (std::uint64_t{1} << 50) + 12345;
  const Span::Facts facts{.began = 5,
                          .ticks = hours,
                          .bytes = UINT64_MAX,
                          .thread = 70'000,
                          .procedure = 0,
                          .comm = 0,
                          .peer = ASHLAR_TOOL_NONE,
                          .algorithm = 0,
                          .protocol = 0};
  const Span::Facts read = Span(facts, 5).facts(5);
  EXPECT_EQ(read.ticks, hours >> 16 << 16);
  EXPECT_EQ(read.bytes, (std::uint64_t{1} << 40) - 1);
  EXPECT_EQ(read.thread, Span::kMostThreads - 1);
  EXPECT_EQ(read.peer, ASHLAR_TOOL_NONE);
  EXPECT_EQ(read.algorithm, 0);
}

// A chunk holds what began near its base, before it and behind; what lies further away begins another one.
TEST(Recorder, LongSilenceKeepsTheTimes) {
  FakeJob job(1);
  const std::uint64_t now = ticks(), far = std::uint64_t{1} << 45;
  const std::uint64_t began[] = {now, now + far, now + far - 1000, now + 2 * far};
  for (const std::uint64_t at : began) job.make(0, job.call(FakeJob::kBarrier, at));
  job.close();
  const std::vector<TimedCall> calls = job.read().calls_of(0);
  ASSERT_EQ(calls.size(), 4u);
  const double of_far = calls[3].began - calls[2].began;
  EXPECT_NEAR(calls[2].began - calls[0].began, of_far, of_far / 1e6);
  EXPECT_LT(calls[1].began, calls[2].began);
}

TEST(Recorder, EventsTellOfTheCallThatTheThreadIsIn) {
  FakeJob job(1);
  EXPECT_FALSE(job.rank(0).wants_event(0));
  EXPECT_TRUE(job.rank(0).wants_event(FakeJob::kCollectiveBegins));
  EXPECT_TRUE(job.rank(0).wants_event(FakeJob::kRendezvousEnds));
  const std::uint64_t begin = ticks();
  ashlar_tool_call barrier = job.call(FakeJob::kBarrier, begin);
  job.rank(0).enter(barrier);
  job.raise(0, FakeJob::kCollectiveBegins, {0, 2});
  job.raise(0, FakeJob::kCollectiveBegins, {0, 1});  // a part of the first
  job.rank(0).leave(barrier);
  job.raise(0, FakeJob::kCollectiveBegins, {0, 1});  // in a call that is not watched
  ashlar_tool_call send = job.call(FakeJob::kSend, begin + 10'000);
  job.rank(0).enter(send);
  job.raise(0, FakeJob::kCollectiveBegins, {0, 1});  // a send has none
  job.raise(0, FakeJob::kRendezvousEnds, {1, 0, 5000});
  std::thread([&] { job.raise(0, FakeJob::kRendezvousEnds, {0, 0, 70}); }).join();  // progress of another thread
  job.rank(0).leave(send);
  job.make(0, job.call(FakeJob::kSend, begin + 20'000));
  job.close();
  const Records records = job.read();
  const RankRecord& rank = records.ranks[0];
  std::vector<std::string> notes;
  for (const TimedCall& call : records.calls_of(0)) notes.push_back(rank.note(call.algorithm, call.protocol));
  EXPECT_THAT(notes, testing::ElementsAre("double_tree", "rendezvous, in fragments", ""));
  ASSERT_EQ(rank.protocols.size(), 2u);
  EXPECT_EQ(rank.protocols[0].bytes, 70u);
  EXPECT_EQ(rank.protocols[1].messages, 1u);
  EXPECT_EQ(rank.protocols[1].bytes, 5000u);
  EXPECT_EQ(rank.threads, 1u) << "a thread that makes no call is none of the program's";
}

TEST(Recorder, CountsMessagesByPeerAndCallsBySize) {
  FakeJob job(3);
  ASSERT_EQ(job.opened, ASHLAR_OK);
  for (int i = 0; i < 5; ++i) {
    ashlar_tool_call send = job.call(FakeJob::kSend, ticks());
    send.to_world = 2;
    send.bytes_out = 100;
    job.make(1, send);
    send.result = 6;  // not a message
    job.make(1, send);
    send.result = 0;
    send.to_world = -3;  // MPI_PROC_NULL
    job.make(1, send);
  }
  job.close();
  const Records records = job.read();
  EXPECT_EQ(records.ranks[1].peers[2].messages, 5u);
  EXPECT_EQ(records.ranks[1].peers[2].bytes, 500u);
  EXPECT_EQ(records.ranks[1].peers[0].messages, 0u);
  EXPECT_EQ(records.procedures[0].name, "MPI_Send");
  EXPECT_EQ(records.ranks[1].totals[0][size_class(100)].calls, 15u);
  EXPECT_EQ(records.ranks[1].calls_kept, 15u);
}

TEST(Recorder, PersistentSendsCountWhenTheyAreStarted) {
  FakeJob job(2);
  ashlar_tool_call prepare = job.call(FakeJob::kSendInit, ticks());
  prepare.to_world = 1;
  prepare.bytes_out = 8;
  prepare.request = 77;
  job.make(0, prepare);
  const std::uint64_t requests[] = {76, 77};
  ashlar_tool_call start = job.call(FakeJob::kStartAll, ticks());
  start.requests = requests;
  start.request_count = 2;
  for (int i = 0; i < 3; ++i) job.make(0, start);
  ashlar_tool_call release = job.call(FakeJob::kFree, ticks());
  release.request = 77;
  job.make(0, release);
  job.make(0, start);  // another request of this number
  job.close();
  EXPECT_EQ(job.read().ranks[0].peers[1].messages, 3u);
  EXPECT_EQ(job.read().ranks[0].peers[1].bytes, 24u);
}

TEST(Recorder, TheOldestCallsAreOverwritten) {
  FakeJob job(1, 2 << 20);
  const std::uint64_t begin = ticks();
  constexpr std::uint64_t kCalls = 100'000;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    ashlar_tool_call barrier = job.call(FakeJob::kBarrier, begin + i * 10'000);
    barrier.bytes_out = i;
    job.make(0, barrier);
  }
  job.close();
  const Records records = job.read();
  const std::vector<TimedCall> calls = records.calls_of(0);
  ASSERT_GT(calls.size(), 10'000u);
  EXPECT_LT(calls.size(), kCalls);
  EXPECT_EQ(calls.back().bytes, kCalls - 1);
  for (std::size_t i = 1; i < calls.size(); ++i) ASSERT_EQ(calls[i].bytes, calls[i - 1].bytes + 1);
  EXPECT_EQ(records.ranks[0].calls_recorded, kCalls);
  const Figures figures(records);
  EXPECT_EQ(figures.calls, kCalls);
  EXPECT_THAT(warnings_of(records, figures), testing::Contains(testing::HasSubstr("are not in the timeline")));
}

TEST(Recorder, TestsInARowAreOneCallInTheRing) {
  FakeJob job(1);
  std::uint64_t at = ticks();
  for (int i = 0; i < 1000; ++i, at += 100) job.make(0, job.call(FakeJob::kTest, at, 50));
  job.make(0, job.call(FakeJob::kTest, at + 1'000'000, 50));  // the program has done something in between
  job.close();
  const Records records = job.read();
  EXPECT_EQ(records.calls_of(0).size(), 2u);
  EXPECT_EQ(records.ranks[0].totals[FakeJob::kTest][0].calls, 1001u);
}

TEST(Recorder, ThreadsLoseNothing) {
  FakeJob job(1, 16 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 20; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        ashlar_tool_call send = job.call(FakeJob::kSend, ticks());
        send.to_world = 0;
        send.bytes_out = 3;
        job.make(0, send);
      }
    });
  for (std::thread& t : threads) t.join();
  job.close();
  const Records records = job.read();
  const std::uint64_t dropped = records.ranks[0].dropped;  // counted nowhere, and told
  EXPECT_EQ(records.ranks[0].peers[0].messages + dropped, 40'000u);
  EXPECT_EQ(records.ranks[0].calls_recorded + dropped, 40'000u);
  EXPECT_EQ(records.ranks[0].calls_kept + records.ranks[0].unplaced + dropped, 40'000u);
  EXPECT_GE(records.ranks[0].threads, 20u);
}

TEST(Recorder, NamesOfCommunicatorsAreTheLast) {
  FakeJob job(1);
  job.make(0, job.call(FakeJob::kBarrier, ticks()));
  comm_name_of_test = "ocean";
  job.make(0, job.call(FakeJob::kSetName, ticks()));
  comm_name_of_test = "MPI_COMM_WORLD";
  job.close();
  const Records records = job.read();
  ASSERT_EQ(records.ranks[0].comms.size(), 2u);
  EXPECT_EQ(records.ranks[0].comms[1].name, "ocean");
}

TEST(Recorder, MoreCommunicatorsThanTheTableHas) {
  FakeJob job(1);
  for (std::uint64_t id = 1; id < 3 * kMostComms; ++id) {
    ashlar_tool_call barrier = job.call(FakeJob::kBarrier, ticks());
    barrier.comm = id;
    job.make(0, barrier);
    job.make(0, barrier);
  }
  job.close();
  const Records records = job.read();
  EXPECT_EQ(records.ranks[0].comms.size(), kMostComms);
  EXPECT_EQ(records.ranks[0].comms.back().name, "(further communicators)");
  EXPECT_EQ(records.calls_of(0).size(), 2u * (3 * kMostComms - 1));
  EXPECT_EQ(records.calls_of(0).back().comm, kMostComms - 1);
}

#ifdef MADV_POPULATE_WRITE
// Bytes of the buffer that pages stand behind.
int resident(std::span<const std::byte> buffer) {
  constexpr int kPage = 4096;
  std::vector<unsigned char> pages((buffer.size() + kPage - 1) / kPage);
  EXPECT_EQ(mincore(const_cast<std::byte*>(buffer.data()), buffer.size(), pages.data()), 0);
  return kPage *
         std::accumulate(pages.begin(), pages.end(), 0, [](int n, unsigned char page) { return n + (page & 1); });
}

TEST(Recorder, MemoryOfTheRingIsTakenBeforehandAsFarAsTheSettingSays) {
  constexpr int kBuffer = 8 << 20, kCalls = 40'000;
  FakeJob as_filled(1, kBuffer), some(1, kBuffer, {.kept = true, .populated = 512 << 10}),
      all(1, kBuffer, {.kept = true, .populated = kBuffer}), no_ring(1, kBuffer, {.kept = false, .populated = kBuffer});
  const int without = resident(as_filled.buffer(0)), whole = resident(all.buffer(0));
  EXPECT_LT(without, 1 << 20);
  EXPECT_NEAR(resident(some.buffer(0)), without + (512 << 10), 8192);
  EXPECT_LT(resident(no_ring.buffer(0)), 1 << 20);
  EXPECT_GT(whole, kBuffer * 3 / 4);
  for (FakeJob* job : {&as_filled, &some, &all})
    for (int i = 0; i < kCalls; ++i) job->make(0, job->call(FakeJob::kBarrier, ticks()));
  constexpr int kStep = 128 << 10;  // and totals, which calls are counted in
  EXPECT_NEAR(resident(all.buffer(0)), whole, kStep);
  EXPECT_NEAR(resident(as_filled.buffer(0)), without + kCalls * 25, kStep);
  EXPECT_NEAR(resident(some.buffer(0)), resident(as_filled.buffer(0)), kStep);
  for (FakeJob* job : {&as_filled, &some, &all}) {
    job->close();
    EXPECT_EQ(job->read().calls_of(0).size(), static_cast<std::size_t>(kCalls));
  }
}
#endif

TEST(Recorder, ABufferThatIsTooSmallIsRefused) {
  FakeJob job(1, 64 << 10);
  EXPECT_LT(job.opened, 0);
  EXPECT_FALSE(job.read().ranks[0].present);
}

TEST(Recorder, AKilledRankIsRead) {
  FakeJob job(2);
  job.make(0, job.call(FakeJob::kBarrier, ticks(), 1000));
  ashlar_tool_call send = job.call(FakeJob::kSend, ticks());
  send.to_world = 1;
  job.rank(0).enter(send);
  const Records records = job.read();  // nothing was closed
  EXPECT_TRUE(records.ranks[0].present);
  ASSERT_EQ(records.ranks[0].in_progress.size(), 1u);
  EXPECT_EQ(records.procedures[records.ranks[0].in_progress[0].procedure].name, "MPI_Send");
  EXPECT_EQ(records.ranks[0].in_progress[0].peer, 1);
  EXPECT_EQ(records.calls_of(0).size(), 1u);
}

// A program may write over the records; nothing of it may bring the report down.
// The same call at the same moment, on a host whose clock is 5 s behind and half as fast.
TEST(Records, TimesOfAnotherHostAreThoseOfTheJob) {
  FakeJob job(2);
  const Moment now = moment_now();
  for (std::uint32_t rank : {0u, 1u}) job.make(rank, job.call(FakeJob::kSend, now.ticks, 1'000'000));
  const std::uint64_t second = 1'000'000'000;
  job.set_clock(1, {.rate = 2,
                    .there_ns = now.ns,
                    .here_ns = now.ns + 5 * second,
                    .error_ns = 700,
                    .counter = {.ticks = now.ticks + 4'000 * second, .ns = now.ns + 1'000 * second}});
  const Records records = job.read();
  const std::vector<TimedCall> here = records.calls_of(0), there = records.calls_of(1);
  ASSERT_EQ(there.size(), 1u);
  EXPECT_NEAR(there[0].began - here[0].began, 5e9, 1e6);
  // Nothing but the other host's counter tells how fast it is: four ticks a nanosecond there.
  EXPECT_NEAR(there[0].took, 1'000'000 / 4 * 2, 100);
  EXPECT_EQ(records.ranks[0].clock_error, 0);
  EXPECT_EQ(records.ranks[1].clock_error, 700);
}

TEST(Figures, ClocksOfTwoHostsDifferByTheErrorsOfBoth) {
  FakeJob job(4);
  std::uint64_t error = 1'000;
  for (const char* host : {"b", "c", "d"}) {
    const auto rank = static_cast<std::uint32_t>(*host - 'a');
    job.set_host(rank, host);
    job.set_clock(rank, {.rate = 1, .there_ns = 1, .here_ns = 1, .error_ns = error *= 2, .counter = {}});
  }
  const Records records = job.read();
  const Figures figures(records);
  EXPECT_NEAR(figures.clock_error, 12e-6, 1e-12);
  EXPECT_THAT(figures.hosts, testing::ElementsAre("host", "b", "c", "d"));
  EXPECT_EQ(hosts_text(figures.hosts), "host and 3 more hosts");
  EXPECT_EQ(hosts_text({"a", "b"}), "a and b");
  EXPECT_EQ(hosts_text({"a"}), "a");
}

TEST(Records, DamagedBuffersAreReadWithoutHarm) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    FakeJob job(2, 2 << 20);
    for (int i = 0; i < 50; ++i) job.make(0, job.call(FakeJob::kSend, ticks()));
    job.close();
    const std::span<std::byte> bytes = job.buffer(0);
    const std::size_t reach = round % 2 ? 512 : bytes.size();
    for (int i = 0; i < 40; ++i) bytes[random() % reach] = static_cast<std::byte>(random());
    const Records records = job.read();
    const Figures figures(records);
    (void)advice_from(records, figures);
    (void)records.calls_of(0);
    EXPECT_TRUE(records.ranks[1].present);
  }
}

}  // namespace
}  // namespace ashlar::recording
