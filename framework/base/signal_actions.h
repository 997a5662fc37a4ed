#pragma once
#include <signal.h>

#include <array>
#include <cstddef>

namespace ashlar {

/// What the process does on each signal, as it is when this is made. Some libraries install handlers when they are
/// loaded or first used; the process's own come back with restore().
class SignalActions {
 public:
  SignalActions() {
    for (std::size_t i = 1; i < actions_.size(); ++i)
      known_[i] = sigaction(static_cast<int>(i), nullptr, &actions_[i]) == 0;
    has_stack_ = sigaltstack(nullptr, &stack_) == 0;
  }
  void restore() const {
    for (std::size_t i = 1; i < actions_.size(); ++i)
      if (known_[i]) (void)sigaction(static_cast<int>(i), &actions_[i], nullptr);
    stack_t now = {};
    if (!has_stack_ || sigaltstack(nullptr, &now) != 0 || now.ss_sp == stack_.ss_sp) return;
    stack_t before = stack_;
    before.ss_flags &= SS_DISABLE;
    (void)sigaltstack(&before, nullptr);
  }

 private:
  std::array<struct sigaction, NSIG> actions_ = {};
  std::array<bool, NSIG> known_ = {};
  stack_t stack_ = {};
  bool has_stack_ = false;
};

}  // namespace ashlar
