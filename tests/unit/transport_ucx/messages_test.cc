#include "tests/unit/transport_ucx/fixture.h"

// Messages over UCX's tcp, which needs no card.
namespace ashlar::ucx::test {
namespace {

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
  // More than two sockets hold.
  const std::string data(16000, 'x');
  std::uint64_t sent = 0;
  for (int round = 0; round < 20000; ++round) {
    if (Process::send_long(to, sent + 1, data) == ASHLAR_OK) ++sent;
    a.iface->progress();
  }
  ASSERT_GT(to->under_way, 0u) << sent << " were sent";
  EXPECT_FALSE(run(
      {&a}, [&] { return a.iface->idle(); }, 50));
  ASSERT_TRUE(run({&b, &a}, [&] { return b.got.size() == sent + 1; }));
  EXPECT_TRUE(run({&a}, [&] { return a.iface->idle(); }));
  for (std::uint64_t i = 0; i <= sent; ++i) ASSERT_EQ(b.got[i], i);
}

struct Got : ashlar_completion {
  Got() {
    done = [](ashlar_completion* self, ashlar_result how) { static_cast<Got*>(self)->result = how; };
  }
  ashlar_result result = ASHLAR_PENDING;
};

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

}  // namespace
}  // namespace ashlar::ucx::test
