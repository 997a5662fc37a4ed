#include <poll.h>

#include <chrono>

#include "tests/unit/transport_ucx/fixture.h"

// Messages over UCX's tcp, which needs no card.
namespace ashlar::ucx::test {
namespace {

/// Sends messages, numbered from 1, while the receiver makes no progress, until the sockets have taken nothing for a
/// while: systems widen the windows of a connection while it is in use, some after a pause. Returns how many were sent.
std::uint64_t fill(Process& from, Endpoint* to) {
  using Clock = std::chrono::steady_clock;
  const std::string data(16000, 'x');
  std::uint64_t sent = 0, waits = to->under_way;
  for (auto taken = Clock::now(); Clock::now() - taken < std::chrono::milliseconds(300);) {
    const bool accepted = Process::send_long(to, sent + 1, data) == ASHLAR_OK;
    if (accepted) ++sent;
    from.iface->progress();
    if (accepted || to->under_way < waits) taken = Clock::now();
    waits = to->under_way;
  }
  return sent;
}

TEST(Messages, LeaveWithoutTheReceiver) {
  Process a(0), b(1);
  ASSERT_EQ(a.opened, ASHLAR_OK) << last_failure;
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 0), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
  const std::string data(2000, 'x');
  for (std::uint64_t i = 1; i <= 20; ++i) ASSERT_EQ(Process::send_long(to, i, data), ASHLAR_OK);
  EXPECT_TRUE(run({&a}, [&] { return a.iface->idle(); })) << "it needs nothing of the receiver";
  ASSERT_TRUE(run({&b}, [&] { return b.got.size() == 21; }));
}

TEST(Messages, HaveNotLeftWhileTheSystemTakesNoMore) {
  Process a(0), b(1);
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 0), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
  const std::uint64_t sent = fill(a, to);
  ASSERT_GT(to->under_way, 0u) << sent << " were sent";
  EXPECT_FALSE(run(
      {&a}, [&] { return a.iface->idle(); }, 50));
  ASSERT_TRUE(run({&b, &a}, [&] { return b.got.size() == sent + 1; }));
  EXPECT_TRUE(run({&a}, [&] { return a.iface->idle(); }));
  for (std::uint64_t i = 0; i <= sent; ++i) ASSERT_EQ(b.got[i], i);
}

// A sender that may have no more bytes under way lets UCX work. Inside of a handler UCX is at work already.
TEST(Messages, StayInOrderWhenHandlersSend) {
  Process a(0), b(1);
  Endpoint *const to = a.connect(1, b.address()), *const back = b.connect(0, a.address());
  ASSERT_TRUE(to != nullptr && back != nullptr) << last_failure;
  ASSERT_TRUE(Process::send(to, 0) == ASHLAR_OK && Process::send(back, 100) == ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return a.got.size() == 1 && b.got.size() == 1; }));
  ASSERT_GT(fill(a, to), 0u);
  const std::string data(16000, 'x');
  const auto comes = [&](std::uint64_t word) { ASSERT_EQ(Process::send(back, word), ASHLAR_OK); };
  const auto sends_are_put_off = [&] {
    for (int i = 0; i < 100; ++i) ASSERT_EQ(Process::send_long(to, 1, data), ASHLAR_AGAIN);
  };
  comes(101);
  comes(102);
  sends_are_put_off();
  a.on_arrival = [&] {
    if (a.got.back() != 101 && a.got.back() != 104) return;
    comes(a.got.back() == 101 ? 103 : 105);
    sends_are_put_off();
  };
  ASSERT_TRUE(run({&a}, [&] { return a.got.size() == 4 || !a.failures.empty(); }));
  comes(104);
  ASSERT_TRUE(run({&a}, [&] { return a.got.size() == 6 || !a.failures.empty(); }));
  EXPECT_EQ(a.got, (std::vector<std::uint64_t>{100, 101, 102, 103, 104, 105}));
  EXPECT_TRUE(a.failures.empty()) << a.failures[0].second;
}

struct Reader {
  explicit Reader(std::size_t bytes) : memory(bytes), copy(bytes) {
    for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<char>(i * 7 + i / 251);
    to = a.connect(1, b.address());
    EXPECT_NE(to, nullptr) << last_failure;
    EXPECT_EQ(b.iface->expose(memory.data(), bytes, ASHLAR_MEMORY_HOST, &key), ASHLAR_OK) << last_failure;
  }
  ashlar_result read() {
    Got got;
    EXPECT_EQ(to->ops->get(to, copy.data(), &key, 0, copy.size(), &got), ASHLAR_PENDING);
    EXPECT_TRUE(run({&a, &b}, [&] { return got.result != ASHLAR_PENDING; }));
    return got.result;
  }

  Process a{0}, b{1};
  Endpoint* to = nullptr;
  std::vector<char> memory, copy;
  ashlar_key key = {};
};

TEST(Reads, BringMemoryInSeveralPieces) {
  for (const std::size_t bytes : {1u, 1000u, 240u << 10, (240u << 10) + 1, 5u << 20}) {
    Reader reader(bytes);
    EXPECT_EQ(reader.read(), ASHLAR_OK) << last_failure;
    EXPECT_EQ(reader.copy, reader.memory) << bytes;
    reader.b.iface->unexpose(reader.key);
    EXPECT_LT(reader.read(), 0) << "what is no longer exposed is not read";
    EXPECT_NE(last_failure.find("network.get"), std::string::npos) << last_failure;
  }
}

TEST(Reads, AreRefusedWithoutTheSecret) {
  Reader reader(1000);
  network::Key key;
  std::memcpy(&key, reader.key.bytes, sizeof key);
  key.remote.bytes[offsetof(PackedKey, bytes) + 3] ^= 1;
  std::memcpy(reader.key.bytes, &key, sizeof key);
  EXPECT_LT(reader.read(), 0);
  EXPECT_EQ(reader.copy, std::vector<char>(1000, 0));
  EXPECT_GT(reader.b.iface->counters.refused, 0u);
}

TEST(Reads, ThatWereGivenUpWriteNothing) {
  Reader reader(1 << 20);
  Got got;
  ASSERT_EQ(Process::send(reader.to, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&reader.a, &reader.b}, [&] { return !reader.b.got.empty(); }));
  ASSERT_EQ(reader.to->ops->get(reader.to, reader.copy.data(), &reader.key, 0, 1 << 20, &got), ASHLAR_PENDING);
  ASSERT_TRUE(run({&reader.a}, [&] { return !reader.to->transfers.empty(); }));
  reader.a.iface->disconnect(*reader.to);
  EXPECT_TRUE(reader.to->transfers.empty());
  (void)run(
      {&reader.a, &reader.b}, [] { return false; }, 50);
  EXPECT_EQ(got.result, ASHLAR_PENDING) << "nothing is told after disconnect()";
  EXPECT_EQ(reader.copy, std::vector<char>(1 << 20, 0));
}

// UCX tells that the bytes have left, and they lie at the other side's door: a put has ended when they are there.
TEST(Puts, AreThereWhenTheyHaveEnded) {
  Writer writer(5 << 20);
  EXPECT_EQ(put_completion(writer.a), static_cast<std::uint32_t>(ASHLAR_PUT_AT_DONE));
  ASSERT_NE(writer.to->capabilities & ASHLAR_CAP_PUT, 0u);
  for (const std::size_t bytes : {1u, 8u, 1000u, 100000u, 4u << 20}) {
    std::string from(bytes, static_cast<char>('a' + bytes % 23));
    Got got;
    ASSERT_NO_FATAL_FAILURE(writer.put(from, 77, &got));
    EXPECT_FALSE(run(
        {&writer.a}, [&] { return got.result != ASHLAR_PENDING; }, 20))
        << "the other side has not looked";
    ASSERT_TRUE(run({&writer.a, &writer.b}, [&] { return got.result != ASHLAR_PENDING; })) << bytes;
    EXPECT_EQ(got.result, ASHLAR_OK) << last_failure;
    EXPECT_EQ(writer.memory.compare(77, bytes, from), 0) << bytes;
  }
}

TEST(Puts, ManyAtOneTimeEnd) {
  constexpr std::size_t kPuts = 300;
  Writer writer(kPuts * 8);
  std::vector<std::string> from;
  for (std::size_t i = 0; i < kPuts; ++i) from.push_back(std::to_string(10'000'000 + i));
  std::vector<Got> got(kPuts);
  for (std::size_t i = 0; i < kPuts; ++i) ASSERT_NO_FATAL_FAILURE(writer.put(from[i], i * 8, &got[i]));
  ASSERT_TRUE(run({&writer.a, &writer.b}, [&] {
    return std::all_of(got.begin(), got.end(), [](const Got& one) { return one.result != ASHLAR_PENDING; });
  }));
  for (std::size_t i = 0; i < kPuts; ++i) {
    EXPECT_EQ(got[i].result, ASHLAR_OK) << i;
    EXPECT_EQ(writer.memory.substr(i * 8, 8), from[i]);
  }
  EXPECT_EQ(writer.a.iface->counters.puts.get(), kPuts);
  EXPECT_EQ(writer.a.iface->counters.put_bytes.get(), kPuts * 8);
}

// One-sided communication does without puts that need the target's calls, unless the parameter allows them.
TEST(Puts, ThatNeedTheTargetsCallsAreNotOffered) {
  const Process process(0, with_puts(kWhereProved));
  ASSERT_EQ(process.opened, ASHLAR_OK) << last_failure;
  EXPECT_EQ(put_completion(process), static_cast<std::uint32_t>(ASHLAR_PUT_UNKNOWN));
  EXPECT_NE(last_record.find("one-sided communication uses messages, not its puts"), std::string::npos) << last_record;
  const Process always(0, with_puts(kAlways));
  EXPECT_NE(last_record.find("puts wait for calls of the peer's program"), std::string::npos) << last_record;
  const Process never(0, with_puts(kNever));
  EXPECT_EQ(put_completion(never), static_cast<std::uint32_t>(ASHLAR_PUT_UNKNOWN));
}

// Puts that wait here, and those that UCX has, when the peer is gone.
TEST(Puts, ToAProcessThatHasEndedFail) {
  Writer writer(1 << 20);
  const std::string from(1 << 20, 'y');
  std::vector<Got> got(20);
  for (Got& one : got) ASSERT_NO_FATAL_FAILURE(writer.put(from, 0, &one));
  writer.a.iface->progress();
  writer.b.iface.reset();
  ASSERT_TRUE(run({&writer.a}, [&] {
    return std::all_of(got.begin(), got.end(), [](const Got& one) { return one.result != ASHLAR_PENDING; });
  }));
  EXPECT_LT(got.back().result, 0);
}

// UCX's descriptor is readable while a new connection is not answered.
TEST(Sleep, WhileAPeerComputesTheClockWakes) {
  Process a(0), b(1);
  ASSERT_EQ(a.opened, ASHLAR_OK) << last_failure;
  ASSERT_GE(a.iface->wake_fd(), 0);
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 7), ASHLAR_OK);
  for (int times = 0; times < 5; ++times) {
    ASSERT_TRUE(run({&a}, [&] { return a.iface->arm() == ASHLAR_OK; })) << times;
    pollfd wake = {.fd = a.iface->wake_fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&wake, 1, 5000), 1) << times;
    a.iface->disarm();
  }
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
  EXPECT_TRUE(run({&a, &b}, [&] { return a.iface->arm() == ASHLAR_OK; }));
  ASSERT_EQ(Process::send(b.connect(0, a.address()), 8), ASHLAR_OK);
  ASSERT_TRUE(run({&b}, [&] {
    pollfd wake = {.fd = a.iface->wake_fd(), .events = POLLIN, .revents = 0};
    return poll(&wake, 1, 0) == 1;
  })) << "an arrival wakes again";
}

}  // namespace
}  // namespace ashlar::ucx::test
