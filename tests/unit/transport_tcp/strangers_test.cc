// What comes to the port of a process and is no peer: it learns nothing, and does not stay.
#include <sys/socket.h>

#include <cstring>

#include "tests/unit/transport_tcp/fixture.h"

namespace ashlar::tcp::test {
namespace {

/// A plain socket to the port of a process.
class Caller {
 public:
  explicit Caller(const Process& to) {
    const std::uint8_t lo[4] = {127, 0, 0, 1};
    const SocketAddress at(4, lo, to.address().port);
    socket_ = Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket_.get(), &at.any, at.length), 0);
  }
  void say(const void* bytes, std::size_t count) {
    EXPECT_EQ(::send(socket_.get(), bytes, count, MSG_NOSIGNAL), static_cast<ssize_t>(count));
  }
  template <class T>
  void say(const T& what) {
    say(&what, sizeof what);
  }
  /// What there is to read now; "closed" when the connection is over.
  std::string hear(std::size_t most = 4096) {
    std::string bytes(most, '\0');
    const ssize_t n = recv(socket_.get(), bytes.data(), most, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno == ECONNRESET)) return "closed";
    return n < 0 ? "" : bytes.substr(0, static_cast<std::size_t>(n));
  }
  int fd() const { return socket_.get(); }

 private:
  Descriptor socket_;
};

Hello hello_to(const Process& to, std::uint32_t rank = 1) {
  // As a process of the job says it.
  const Process self(rank);
  Hello hello = self.iface->hello_to(to.address().nonce);
  hello.nonce.fill(3);
  return hello;
}

bool closed_without_a_word(Process& process, Caller& caller, int ms = 2000) {
  std::string heard;
  EXPECT_TRUE(progress_until(
      {&process}, [&] { return !(heard = caller.hear()).empty(); }, ms));
  return heard == "closed";
}

class Strangers : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(process.opened, ASHLAR_OK) << last_failure; }
  void TearDown() override {
    EXPECT_EQ(process.iface->counters.connections.now.get(), 0u);
    EXPECT_TRUE(process.got.empty());
    EXPECT_TRUE(process.failures.empty());
  }
  Process process{0};
};

TEST_F(Strangers, OneThatSaysNothingIsClosedInTime) {
  Caller caller(process);
  progress_for({&process}, 50);
  EXPECT_EQ(process.iface->counters.strangers.now.get(), 1u);
  EXPECT_EQ(caller.hear(), "");
  EXPECT_TRUE(closed_without_a_word(process, caller));
  EXPECT_EQ(process.iface->counters.refused.get(), 1u);
  EXPECT_EQ(process.iface->counters.strangers.now.get(), 0u);
}

TEST_F(Strangers, HalfAHelloIsClosedInTime) {
  Caller caller(process);
  const Hello hello = hello_to(process);
  caller.say(&hello, sizeof hello / 2);
  EXPECT_TRUE(closed_without_a_word(process, caller));
}

TEST_F(Strangers, NoiseIsClosedAtOnce) {
  Caller caller(process);
  const std::string noise(64 << 10, 'x');
  caller.say(noise.data(), noise.size());
  EXPECT_TRUE(closed_without_a_word(process, caller, 100));
}

TEST_F(Strangers, AHelloToAnotherProcessIsNotAnswered) {
  Hello hello = hello_to(process);
  for (int which = 0; which < 3; ++which) {
    Hello wrong = hello;
    if (which == 0) wrong.target ^= 1;
    if (which == 1) ++wrong.version;
    if (which == 2) wrong.sender = process.address().nonce;
    Caller caller(process);
    caller.say(wrong);
    EXPECT_TRUE(closed_without_a_word(process, caller, 100)) << which;
  }
  EXPECT_EQ(process.iface->counters.refused.get(), 3u);
}

/// Says hello and hears the challenge.
Challenge challenged(Process& process, Caller& caller, const Hello& hello) {
  caller.say(hello);
  std::string heard;
  EXPECT_TRUE(progress_until({&process}, [&] { return !(heard = caller.hear()).empty(); }));
  EXPECT_EQ(heard.size(), sizeof(Challenge));
  Challenge challenge = {};
  std::memcpy(&challenge, heard.data(), std::min(heard.size(), sizeof challenge));
  return challenge;
}

TEST_F(Strangers, WhoDoesNotKnowTheSecretIsClosed) {
  for (const std::uint64_t other_job : {0U, 1U}) {
    Hello hello = hello_to(process);
    hello.job[0] ^= other_job;
    Caller caller(process);
    const Challenge challenge = challenged(process, caller, hello);
    EXPECT_EQ(challenge.magic, kMagic);
    Secret guess = {};
    caller.say(proof_of(Side::kDialling, guess, hello, challenge.nonce));
    EXPECT_TRUE(closed_without_a_word(process, caller, 100)) << other_job;
  }
}

TEST_F(Strangers, WhatWasProvedOnceProvesNothingAgain) {
  Hello hello = hello_to(process);
  hello.exchange = 0;
  const Secret secret = process.address().secret;
  Digest proof;
  {
    Caller peer(process);
    const Challenge challenge = challenged(process, peer, hello);
    EXPECT_TRUE(same(challenge.proof, proof_of(Side::kListening, secret, hello, challenge.nonce)));
    proof = proof_of(Side::kDialling, secret, hello, challenge.nonce);
    peer.say(proof);
    std::string heard;
    EXPECT_TRUE(progress_until({&process}, [&] { return !(heard = peer.hear()).empty(); }));
    EXPECT_EQ(heard.size(), sizeof(Welcome)) << "the peer is welcome";
  }
  progress_for({&process}, 20);
  Caller again(process);
  again.say(hello);
  again.say(proof);
  std::string heard;
  EXPECT_TRUE(progress_until({&process}, [&] {
    heard = again.hear(sizeof(Challenge));
    return heard == "closed";
  }));
  EXPECT_EQ(process.iface->counters.refused.get(), 1u);
}

TEST_F(Strangers, ACrowdOfThemKeepsNoPeerOut) {
  std::vector<std::unique_ptr<Caller>> crowd;
  for (int i = 0; i < 40; ++i) crowd.push_back(std::make_unique<Caller>(process));
  Process peer(1);
  ashlar_endpoint* const to = peer.connect(0, process);
  ASSERT_NE(to, nullptr) << last_failure;
  peer.send(to, 5);
  EXPECT_TRUE(progress_until({&process, &peer}, [&] { return process.got.size() == 1; }));
  // Beside these one that the peer's interface, which has the same port, let in and passed on.
  EXPECT_LE(process.iface->counters.strangers.most.get(), usual().strangers + 1);
  process.got.clear();
  peer.iface->disconnect(*static_cast<Endpoint*>(to));
  EXPECT_TRUE(progress_until({&process, &peer}, [&] { return process.iface->counters.connections.now.get() == 0; }));
}

// Two hosts may have one address: what answers there is another process, or the caller itself.
TEST(Candidates, TheOneThatProvesItselfIsKept) {
  Process callee(0), caller(1);
  Address address = callee.address();
  const std::uint8_t other[4] = {127, 0, 0, 2};
  const SocketAddress at(4, other, address.port);
  const Descriptor stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ASSERT_EQ(bind(stranger.get(), &at.any, at.length), 0);
  ASSERT_EQ(listen(stranger.get(), 8), 0);
  Candidate wrong = address.candidates.front();
  std::memcpy(wrong.bytes, other, sizeof other);
  address.candidates.insert(address.candidates.begin(), wrong);
  char bytes[1024];
  const std::uint32_t length = write(address, bytes, sizeof bytes);
  decisions.clear();
  ashlar_endpoint* const to = caller.connect(0, std::string(bytes, length));
  ASSERT_NE(to, nullptr) << last_failure;
  caller.send(to, 1);
  EXPECT_TRUE(progress_until({&callee, &caller}, [&] { return callee.got.size() == 1; }));
  ASSERT_EQ(decisions.size(), 2u);  // of each side
  const std::string& told = decisions[0].find("dialled") == std::string::npos ? decisions[0] : decisions[1];
  EXPECT_NE(told.find("127.0.0.1:"), std::string::npos) << told;
  EXPECT_NE(told.find("127.0.0.2:"), std::string::npos) << told << ": it does not say what lost";
}

TEST(Candidates, AStrangerThatAnswersWronglyIsNotBelieved) {
  Process callee(0), caller(1);
  Address address = callee.address();
  const std::uint8_t other[4] = {127, 0, 0, 3};
  const SocketAddress at(4, other, address.port);
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ASSERT_EQ(bind(listener.get(), &at.any, at.length), 0);
  ASSERT_EQ(listen(listener.get(), 8), 0);
  std::memcpy(address.candidates.front().bytes, other, sizeof other);
  address.candidates.resize(1);
  char bytes[1024];
  const std::uint32_t length = write(address, bytes, sizeof bytes);
  ashlar_endpoint* const to = caller.connect(0, std::string(bytes, length));
  ASSERT_NE(to, nullptr) << last_failure;
  caller.send(to, 1);
  std::vector<Descriptor> accepted;
  const std::string answer(sizeof(Challenge), 'y');
  const auto serve = [&] {
    Descriptor one(accept(listener.get(), nullptr, nullptr));
    if (one) {
      (void)!::send(one.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      accepted.push_back(std::move(one));
    }
    return !caller.failures.empty();
  };
  ASSERT_TRUE(progress_until({&caller}, serve));
  EXPECT_EQ(caller.failures[0].first, 0u);
  EXPECT_NE(caller.failures[0].second.find("127.0.0.3"), std::string::npos) << caller.failures[0].second;
  EXPECT_NE(caller.failures[0].second.find("not the peer"), std::string::npos) << caller.failures[0].second;
  EXPECT_LT(to->ops->am_short(to, 1, 0, 0, nullptr, 0), 0);
}

}  // namespace
}  // namespace ashlar::tcp::test
