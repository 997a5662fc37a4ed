#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/transport/lane.h"

namespace ashlar::test {

/// Two lanes of one process, connected both ways; or, for a transport that only reaches its own process, one lane that
/// is both.
class Pair {
 public:
  explicit Pair(const Component& component, const Settings& settings = {}) {
    component.open(settings);
    first_ = std::make_unique<Lane>(component, Place{0, 2});
    second_ = std::make_unique<Lane>(component, Place{1, 2});
    if (!first_->made() || !second_->made()) {
      ADD_FAILURE() << last_failure();
      return;
    }
    to_b = first_->connect(1, second_->address());
    if (to_b) {
      to_a = second_->connect(0, first_->address());
    } else {
      second_.reset();
      to_b = to_a = first_->connect(0, first_->address());
    }
    EXPECT_TRUE(to_a && to_b) << last_failure();
  }
  ~Pair() {
    if (to_b) a().ops().disconnect(a().get(), to_b);
    if (second_ && to_a) b().ops().disconnect(b().get(), to_a);
  }

  bool loopback() const { return !second_; }
  Lane& a() { return *first_; }
  Lane& b() { return second_ ? *second_ : *first_; }
  std::vector<Lane*> both() { return loopback() ? std::vector<Lane*>{&a()} : std::vector<Lane*>{&a(), &b()}; }
  void progress_both() {
    for (Lane* lane : both()) lane->progress();
  }
  /// What an operation of b has come to that returned `result`. `owner_moves`: a makes progress meanwhile.
  ashlar_result outcome(ashlar_result result, const Completion& done, bool owner_moves = false) {
    if (result != ASHLAR_PENDING) return result;
    for (int round = 0; round < 1000000 && !done.finished; ++round) {
      b().progress();
      if (owner_moves) a().progress();
    }
    EXPECT_TRUE(done.finished) << "a remote operation must not need the owner of the memory";
    return done.result;
  }

  ashlar_endpoint* to_b = nullptr;  // a's way to b
  ashlar_endpoint* to_a = nullptr;

 private:
  std::unique_ptr<Lane> first_, second_;
};

class TransportTest : public testing::TestWithParam<Component> {};

inline std::string component_name(const testing::TestParamInfo<Component>& info) { return info.param.name(); }
inline void PrintTo(const Component& c, std::ostream* os) { *os << c.name(); }

}  // namespace ashlar::test
