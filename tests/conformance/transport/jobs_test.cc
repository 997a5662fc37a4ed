// Processes of other jobs, which the kernel of a process knows for a while.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "tests/conformance/transport/pair.h"

namespace ashlar::test {
namespace {

constexpr std::uint32_t kChild = 7, kParent = 9;  // as the other process numbers it

/// Two processes of two jobs that have exchanged a message each.
class JobsTest : public TransportTest {
 protected:
  void SetUp() override {
    if (GetParam().name() == "self") GTEST_SKIP() << "reaches its own process only";
    GetParam().open({});
    parent_ = std::make_unique<Lane>(GetParam(), Place{.self = 0, .job = 1});
    child_ = std::make_unique<Lane>(GetParam(), Place{.self = 0, .job = 2});
    if (parent_->ops().forget == nullptr) GTEST_SKIP() << "it does not serve processes of other jobs";
    parent_->others = kChild;
    child_->others = kParent;
    to_child_ = parent_->connect(kChild, child_->address());
    ASSERT_NE(to_child_, nullptr) << last_failure();
    to_parent_ = child_->connect(kParent, parent_->address());
    ASSERT_NE(to_parent_, nullptr) << last_failure();
    parent_->on_message = [&](const ashlar_am& am) { at_parent_.emplace_back(am.peer, am.h0); };
    child_->on_message = [&](const ashlar_am& am) { at_child_.emplace_back(am.peer, am.h0); };
    send(to_child_, 1);
    send(to_parent_, 2);
    EXPECT_TRUE(progress_until(both(), [&] { return at_parent_.size() == 1 && at_child_.size() == 1; }));
    EXPECT_EQ(at_parent_, (Messages{{kChild, 2}}));
    EXPECT_EQ(at_child_, (Messages{{kParent, 1}}));
    at_parent_.clear();
    at_child_.clear();
  }
  void TearDown() override {
    for (const Lane* lane : {parent_.get(), child_.get()}) {
      if (lane == nullptr || lane->failures.empty()) continue;
      ADD_FAILURE() << "a process has failed: " << lane->failures[0].second;
    }
  }

  using Message = std::pair<std::uint32_t, std::uint64_t>;  // from whom, first word
  using Messages = std::vector<Message>;
  static bool has(const Messages& all, const Message& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }
  std::vector<Lane*> both() { return {parent_.get(), child_.get()}; }
  void send(ashlar_endpoint* to, std::uint64_t word) {
    EXPECT_EQ(send_short(to, 1, word, 0, nullptr, 0, both()), ASHLAR_OK) << last_failure();
  }
  void parent_forgets() {
    parent_->others = ASHLAR_NOBODY;
    parent_->ops().forget(parent_->get(), kChild);
  }
  void progress_for(std::chrono::milliseconds time) {
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
      progress_or_yield(both());
  }
  bool child_becomes_idle() {
    return progress_until(both(), [&] { return child_->ops().idle(child_->get()) != 0; });
  }

  std::unique_ptr<Lane> parent_, child_;
  ashlar_endpoint *to_child_ = nullptr, *to_parent_ = nullptr;
  Messages at_parent_, at_child_;
};

INSTANTIATE_TEST_SUITE_P(Installed, JobsTest, testing::ValuesIn(transports()), component_name);

// The sender leaves after its last message, whether or not it has heard that the receiver has parted from it. Its leave
// waits for that message.
TEST_P(JobsTest, AMessageToAProcessThatHasForgottenTheSenderIsDropped) {
  for (const bool has_heard : {true, false}) {
    parent_forgets();
    if (has_heard) progress_for(std::chrono::milliseconds(100));
    send(to_parent_, 3);
    child_->ops().disconnect(child_->get(), to_parent_);
    EXPECT_TRUE(child_becomes_idle()) << (has_heard ? "it had heard" : "it had not heard");
    EXPECT_TRUE(at_parent_.empty());
    // They meet again, and part. What came late of the last message may be heard then.
    parent_->others = kChild;
    to_parent_ = child_->connect(kParent, parent_->address());
    ASSERT_NE(to_parent_, nullptr) << last_failure();
    to_child_ = parent_->connect(kChild, child_->address());
    ASSERT_NE(to_child_, nullptr) << last_failure();
    send(to_parent_, 4);
    send(to_child_, 5);
    EXPECT_TRUE(progress_until(both(), [&] {
      return has(at_parent_, {kChild, 4}) && has(at_child_, {kParent, 5});
    })) << (has_heard ? "it had heard" : "it had not heard");
    at_parent_.clear();
    at_child_.clear();
  }
}

// The other process asks for nothing, so the transport finds out by itself that its kernel knows the sender again.
TEST_P(JobsTest, MessagesOfAProcessAreDroppedUntilItIsKnownAgain) {
  parent_forgets();
  progress_for(std::chrono::milliseconds(100));
  send(to_parent_, 3);
  EXPECT_TRUE(child_becomes_idle());
  progress_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(at_parent_.empty());
  parent_->others = kChild;
  send(to_parent_, 4);
  EXPECT_TRUE(progress_until(both(), [&] { return has(at_parent_, {kChild, 4}); }));
}

}  // namespace
}  // namespace ashlar::test
