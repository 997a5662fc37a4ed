#pragma once
#include <concepts>
#include <coroutine>
#include <cstddef>

#include "framework/base/status.h"
#include "framework/coll/wire.h"
#include "framework/progress/gate.h"

/// The coroutine type of collectives. An algorithm is one function
///
///     Co some_algorithm(Op& op, const Call& call);
///
/// that serves the blocking, the nonblocking and the persistent form. It starts to run at the call. In blocking mode it
/// never suspends: an awaited gate makes progress until it is open. In nonblocking mode it suspends, and the progress
/// loop resumes it. Its frame lies in the operation's block and is given back with it, never destroyed by itself: so
/// locals are trivial to destroy.
///
/// g++ 12 translates some coroutine idioms wrongly; tests/gen/check_coroutines.py holds the code to those that it gets
/// right. In short: `co_await` stands alone (`st = co_await gate;`), and everything near it is a trivial type.
namespace ashlar::coll {

class Op;
struct Promise;

class [[nodiscard]] Co {
 public:
  using promise_type = Promise;
  Co() = default;
  explicit Co(std::coroutine_handle<Promise> handle) : handle_(handle) {}

  /// False when there was no memory for the frame: nothing has run.
  bool started() const { return static_cast<bool>(handle_); }
  bool done() const { return handle_.done(); }
  inline Status status() const;  // when done
  Promise& promise() const { return handle_.promise(); }

 private:
  std::coroutine_handle<Promise> handle_;
};

/// Awaiters. They are made by Promise::await_transform, and are plain data.
struct GateAwaiter {
  Gate* gate;
  Promise* promise;
  inline bool await_ready() const noexcept;
  inline void await_suspend(std::coroutine_handle<Promise>) const noexcept;
  inline Status await_resume() const noexcept;
};
struct ConditionAwaiter {
  Condition* condition;
  Promise* promise;
  inline bool await_ready() const noexcept;
  inline void await_suspend(std::coroutine_handle<Promise>) const noexcept;
  inline Status await_resume() const noexcept;
};
/// A condition that the wait polls directly, by seen(); over() is called when the wait has ended, however it ended.
template <class C>
concept WatchedCondition = std::derived_from<C, Condition> && requires(C& condition, Status outcome) {
  { condition.seen() } -> std::same_as<bool>;
  condition.over(outcome);
};
template <WatchedCondition C>
struct WatchedAwaiter {
  C* condition;
  Promise* promise;
  inline bool await_ready() const noexcept;
  inline void await_suspend(std::coroutine_handle<Promise>) const noexcept;
  inline Status await_resume() const noexcept;
};
struct FinalAwaiter {
  bool await_ready() const noexcept { return false; }
  inline void await_suspend(std::coroutine_handle<Promise>) const noexcept;
  void await_resume() const noexcept {}
};

struct Promise : Waiter {
  template <class... Rest>
  explicit Promise(Op& owner, Rest&&...) noexcept : op(&owner) {}

  template <class... Rest>
  static void* operator new(std::size_t bytes, Op& owner, Rest&&...) noexcept {
    return take_frame(owner, bytes);
  }
  static void operator delete(void*, std::size_t) noexcept {}
  static Co get_return_object_on_allocation_failure() noexcept { return Co(); }

  Co get_return_object() noexcept { return Co(std::coroutine_handle<Promise>::from_promise(*this)); }
  std::suspend_never initial_suspend() noexcept { return {}; }
  FinalAwaiter final_suspend() noexcept { return {}; }
  void return_value(Status outcome) noexcept { result = outcome; }
  [[noreturn]] void unhandled_exception() noexcept { __builtin_trap(); }

  GateAwaiter await_transform(Gate& gate) noexcept { return GateAwaiter{&gate, this}; }
  ConditionAwaiter await_transform(Condition& condition) noexcept { return ConditionAwaiter{&condition, this}; }
  template <WatchedCondition C>
  WatchedAwaiter<C> await_transform(C& condition) noexcept {
    return WatchedAwaiter<C>{&condition, this};
  }

  /// What the awaiters need of the operation: take_frame and resume_from are inline in op.h, which every source of a
  /// coroutine includes.
  static void* take_frame(Op& owner, std::size_t bytes) noexcept;
  [[gnu::cold]] static void no_memory(Op& owner) noexcept;
  bool wait_now(Gate& gate) noexcept;            // false: not blocking, so suspend
  bool wait_now(Condition& condition) noexcept;  // the same
  void suspend_on(Gate& gate) noexcept;
  void suspend_on(Condition& condition) noexcept;
  Status resume_from(Status outcome) noexcept;  // the outcome, or the operation's own earlier failure
  static void resume(Waiter& self);

  Op* const op;
  Status result;
  Gate* joined = nullptr;  // decremented when the coroutine is over
};

inline Status Co::status() const { return handle_.promise().result; }

inline bool GateAwaiter::await_ready() const noexcept { return gate->open() || promise->wait_now(*gate); }
inline void GateAwaiter::await_suspend(std::coroutine_handle<Promise>) const noexcept { promise->suspend_on(*gate); }
inline Status GateAwaiter::await_resume() const noexcept {
  const Status outcome = gate->status();
  gate->reset();
  return promise->resume_from(outcome);
}

inline bool ConditionAwaiter::await_ready() const noexcept {
  return condition->holds(*condition) || promise->wait_now(*condition);
}
inline void ConditionAwaiter::await_suspend(std::coroutine_handle<Promise>) const noexcept {
  promise->suspend_on(*condition);
}
inline Status ConditionAwaiter::await_resume() const noexcept { return promise->resume_from(condition->outcome); }

template <WatchedCondition C>
inline bool WatchedAwaiter<C>::await_ready() const noexcept {
  return condition->seen() || promise->wait_now(*condition);
}
template <WatchedCondition C>
inline void WatchedAwaiter<C>::await_suspend(std::coroutine_handle<Promise>) const noexcept {
  promise->suspend_on(*condition);
}
template <WatchedCondition C>
inline Status WatchedAwaiter<C>::await_resume() const noexcept {
  condition->over(condition->outcome);
  return promise->resume_from(condition->outcome);
}

inline void FinalAwaiter::await_suspend(std::coroutine_handle<Promise> self) const noexcept {
  // Queues the one that waits; it never runs from here.
  Gate* const joined = self.promise().joined;
  if (joined != nullptr) joined->arrive(self.promise().result);
}

}  // namespace ashlar::coll
