#pragma once
#include <gtest/gtest.h>

#include <poll.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/conformance/transport/lane.h"
#include "tests/conformance/transport/process.h"

namespace ashlar::test {

/// Makes progress on `lanes` until `done` holds. False: it does not within `seconds`.
template <class Done>
bool progress_until(const std::vector<Lane*>& lanes, Done done, int seconds = 20) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!done()) {
    for (int i = 0; i < 100 && !done(); ++i) progress_or_yield(lanes);
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

template <class Done>
bool progress_until(Lane& lane, Done done, int seconds = 20) {
  return progress_until(std::vector<Lane*>{&lane}, done, seconds);
}

/// Everything that `lane` has sent has left.
inline void drain(Lane& lane) {
  EXPECT_TRUE(progress_until(lane, [&] { return lane.ops().idle(lane.get()) != 0; }));
}

/// The next message of the channel. Meanwhile the lane makes progress, if its transport needs that: with others the
/// process is passive, and everything has to work all the same.
inline std::string hear(const Component& component, const Child::Channel& channel, Lane& lane) {
  const auto nothing_yet = [&] {
    pollfd readable = {.fd = channel.fd(), .events = POLLIN, .revents = 0};
    return poll(&readable, 1, 0) == 0;
  };
  while (needs_answers(component) && nothing_yet()) progress_or_yield({&lane});
  return channel.hear();
}

/// Two lanes of one process, connected both ways; or, for a transport that only reaches its own process, one lane that
/// is both. Throws std::runtime_error when they cannot be made or connected.
class Pair {
 public:
  explicit Pair(const Component& component, const Settings& settings = {}, bool tags = false) {
    component.open(settings);
    first_ = std::make_unique<Lane>(component, Place{.self = 0, .tags = tags});
    second_ = std::make_unique<Lane>(component, Place{.self = 1, .tags = tags});
    to_b = first_->connect(1, second_->address());
    if (to_b) {
      to_a = second_->connect(0, first_->address());
    } else {
      second_.reset();
      to_b = to_a = first_->connect(0, first_->address());
    }
    if (to_a == nullptr || to_b == nullptr) throw std::runtime_error(std::string("no way is made: ") + last_failure());
    needs_answers_ = needs_answers(component);
    if (needs_answers_) open_ways();
  }
  ~Pair() {
    a().ops().disconnect(a().get(), to_b);
    if (second_) b().ops().disconnect(b().get(), to_a);
  }

  bool loopback() const { return !second_; }
  Lane& a() { return *first_; }
  Lane& b() { return second_ ? *second_ : *first_; }
  std::vector<Lane*> both() { return loopback() ? std::vector<Lane*>{&a()} : std::vector<Lane*>{&a(), &b()}; }
  void progress_both() {
    for (Lane* lane : both()) lane->progress();
  }
  /// Whatever is under way has arrived, unless a busy system keeps it.
  void settle() {
    for (auto quiet_from = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() - quiet_from < std::chrono::milliseconds(20);)
      for (Lane* lane : both())
        if (lane->progress() != 0) quiet_from = std::chrono::steady_clock::now();
  }
  /// Makes progress on the receiving lane, and on both where the transport needs it, until `done`.
  template <class Done>
  bool arrive(Done done) {
    return progress_until(needs_answers_ ? both() : std::vector<Lane*>{&b()}, done);
  }
  /// What an operation of b has come to that returned `result`. `owner_moves`: a makes progress meanwhile.
  ashlar_result outcome(ashlar_result result, const Completion& done, bool owner_moves = false) {
    if (result != ASHLAR_PENDING) return result;
    const bool both_move = owner_moves || needs_answers_;
    EXPECT_TRUE(progress_until(both_move ? both() : std::vector<Lane*>{&b()}, [&done] { return done.finished; }))
        << (both_move ? "" : "a remote operation must not need the owner of the memory");
    return done.result;
  }

  ashlar_endpoint* to_b = nullptr;  // a's way to b
  ashlar_endpoint* to_a = nullptr;

 private:
  /// A message goes each way: behind it lies all that opens a connection, however long that takes.
  void open_ways() {
    const auto open = [&](ashlar_endpoint* to, Lane& there) {
      bool arrived = false;
      there.on_message = [&](const ashlar_am&) { arrived = true; };
      EXPECT_EQ(send_short(to, 1, 0, 0, nullptr, 0, both()), ASHLAR_OK) << last_failure();
      EXPECT_TRUE(progress_until(both(), [&] { return arrived; }));
      there.on_message = nullptr;
    };
    open(to_b, b());
    open(to_a, a());
    settle();
  }

  std::unique_ptr<Lane> first_, second_;
  bool needs_answers_ = false;
};

class TransportTest : public testing::TestWithParam<Component> {};

inline std::string component_name(const testing::TestParamInfo<Component>& info) { return info.param.name(); }
inline void PrintTo(const Component& c, std::ostream* os) { *os << c.name(); }

}  // namespace ashlar::test
