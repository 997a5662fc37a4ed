#pragma once
#include <csignal>
#include <cstring>

#include "tests/unit/transport_common/fixture.h"

// Who is who, messages that are missing, frames of strangers, over a network that needs no card: the same tests for
// every transport over a library. TypeParam is its Process.
namespace ashlar::network::test {

template <class Process>
class Sessions : public testing::Test {};
TYPED_TEST_SUITE_P(Sessions);

TYPED_TEST_P(Sessions, NothingIsSentBeforeTheProof) {
  TypeParam a(0), b(1);
  ASSERT_EQ(a.opened, ASHLAR_OK) << last_failure;
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 5), ASHLAR_OK);
  for (int i = 0; i < 100; ++i) a.iface->progress();
  EXPECT_NE(to->way, Endpoint::Way::kOpen) << "b has made no progress";
  ASSERT_TRUE(run({&a, &b}, [&] { return !b.got.empty(); }));
  EXPECT_EQ(b.got[0], 5u);
  EXPECT_EQ(b.iface->counters.greeted, 1u);
}

TYPED_TEST_P(Sessions, WhoDoesNotKnowTheSecretIsNotHeard) {
  TypeParam a(0), b(1);
  Record record;
  const std::string good = b.address();
  ASSERT_EQ(parse(host(), 1, good.data(), static_cast<std::uint32_t>(good.size()), &record), ASHLAR_OK);
  record.secret[0] ^= 1;
  std::string guessed(1000, '\0');
  guessed.resize(write(record, guessed.data(), 1000));
  Endpoint* const to = a.connect(1, guessed);
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 5), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.iface->counters.refused > 0; }));
  (void)run(
      {&a, &b}, [] { return false; }, 50);
  EXPECT_NE(to->way, Endpoint::Way::kOpen);
  EXPECT_TRUE(b.got.empty());
}

TYPED_TEST_P(Sessions, AWrongTokenIsDroppedAndAGapEndsThePeer) {
  TypeParam a(0), b(1);
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr);
  ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
  const std::uint64_t token = to->keys.token, refused = b.iface->counters.refused;
  to->keys.token ^= 1;
  ASSERT_EQ(Process::send(to, 2), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.iface->counters.refused > refused; }));
  EXPECT_EQ(b.got.size(), 1u);
  EXPECT_TRUE(b.failures.empty());
  // That one is missing now.
  to->keys.token = token;
  ASSERT_EQ(Process::send(to, 3), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return !b.failures.empty(); }));
  EXPECT_EQ(b.failures[0].first, 0u);
  EXPECT_NE(b.failures[0].second.find("message 2 of it was lost"), std::string::npos) << b.failures[0].second;
  EXPECT_EQ(b.got.size(), 1u);
}

TYPED_TEST_P(Sessions, TwoNetworksDoNotMeet) {
  TypeParam a(0), b(1);
  Record record;
  const std::string good = b.address();
  ASSERT_EQ(parse(host(), 1, good.data(), static_cast<std::uint32_t>(good.size()), &record), ASHLAR_OK);
  const std::string own = record.name;
  record.name = "another";
  std::string other(1000, '\0');
  other.resize(write(record, other.data(), 1000));
  EXPECT_EQ(a.connect(1, other), nullptr);
  EXPECT_NE(last_failure.find("theirs=another own=" + own), std::string::npos) << last_failure;
}

inline struct sigaction action_of(int signal) {
  struct sigaction action = {};
  (void)sigaction(signal, nullptr, &action);
  return action;
}

inline constexpr int kSignals[] = {SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGTERM, SIGHUP, SIGFPE};
// As they were before any test loaded a library.
inline const std::vector<struct sigaction> signals_before = [] {
  std::vector<struct sigaction> actions;
  for (const int signal : kSignals) actions.push_back(action_of(signal));
  return actions;
}();

TYPED_TEST_P(Sessions, SignalsAreLeftAlone) {
  const TypeParam a(0);
  ASSERT_EQ(a.opened, ASHLAR_OK) << last_failure;
  for (std::size_t i = 0; i < signals_before.size(); ++i)
    EXPECT_EQ(action_of(kSignals[i]).sa_handler, signals_before[i].sa_handler) << strsignal(kSignals[i]);
}

REGISTER_TYPED_TEST_SUITE_P(Sessions, NothingIsSentBeforeTheProof, WhoDoesNotKnowTheSecretIsNotHeard,
                            AWrongTokenIsDroppedAndAGapEndsThePeer, TwoNetworksDoNotMeet, SignalsAreLeftAlone);

}  // namespace ashlar::network::test
