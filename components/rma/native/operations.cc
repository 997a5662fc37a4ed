// What is under way in a transport, and waiting for it.
#include <mpi.h>

#include <cstdio>
#include <new>
#include <utility>

#include "components/rma/native/state.h"
#include "framework/base/failure.h"
#include "framework/plugin/account.h"
#include "framework/plugin/host.h"
#include "framework/rma/waiting.h"
#include "framework/rma/wire.h"

namespace ashlar::rma::native {
namespace {

/// A wait for the transport that leads to a rank: the rank's process has to be there, and need not do anything.
struct TransportWait : WindowWait {
  TransportWait(NativeWindow& in, Rank to, const char* reason) : state(in), rank(to), what(reason) {}
  bool needs(Rank other) const override { return other == rank; }
  void tell(plugin::AccountWriter& account) const override {
    char reason[160];
    std::snprintf(reason, sizeof reason, "%s rank %d", what, rank);
    tell_wait(account, state.window, rank, reason);
  }
  NativeWindow& state;
  const Rank rank;
  const char* const what;

 protected:
  ~TransportWait() = default;
};

struct LimitWait final : TransportWait {
  LimitWait(NativeWindow& in, Rank to)
      : TransportWait(in, to, "until fewer operations (rma.native.queue_limit) are under way, to start one to") {}
  bool over() override { return state.counters.under_way < state.config.queue_limit; }
  bool needs(Rank) const override { return false; }  // those to a process that is gone come to an end, too
};

struct RoomWait final : TransportWait {
  RoomWait(Operation& of, Part& one)
      : TransportWait(*of.window, of.target->rank, "for room in the transport to"), operation(of), part(one) {}
  bool over() override {
    result = part.issue(*operation.target->endpoint, &operation);
    return result != ASHLAR_AGAIN;
  }
  Operation& operation;
  Part& part;
  ashlar_result result = ASHLAR_AGAIN;
};

struct PartsWait final : TransportWait {
  PartsWait(const Operation& of, std::uint32_t parts)
      : TransportWait(*of.window, of.target->rank, "for the transport to finish pieces of an operation to"),
        operation(of),
        most(parts) {}
  bool over() override { return operation.parts <= most; }
  const Operation& operation;
  const std::uint32_t most;
};

/// Until nothing is under way that was started no later than `number`.
struct DrainWait final : TransportWait {
  DrainWait(NativeWindow& in, ToTarget& whose, std::uint64_t last)
      : TransportWait(in, whose.rank, "for the transport to finish operations to"), to(whose), number(last) {}
  bool over() override {
    const Operation* const oldest = to.under_way.front();
    return oldest == nullptr || oldest->number > number;
  }
  ToTarget& to;
  const std::uint64_t number;
};

Status failure_of(const Operation& operation, ashlar_result result) {
  const std::string reason = plugin::own_words(plugin::from(result, "the transport"));
  return fail(-result, "rma.native_failed",
              {{"operation", operation.what},
               {"peer", operation.target->rank},
               {"window", operation.window->window.label()},
               {"lower", reason}});
}

/// Nothing of it is under way, and its call has left it.
void finish(Operation& operation) {
  if (operation.window != nullptr) {
    List<Operation>::remove(&operation);
    operation.window->counters.under_way.subtract();
    if (operation.gate != nullptr) {
      operation.gate->arrive(operation.outcome);
    } else if (operation.target->failure.ok()) {
      operation.target->failure = operation.outcome;
    }
  }
  delete &operation;
}

void part_over(Operation& operation, ashlar_result result) {
  if (result < 0 && operation.outcome.ok() && operation.window != nullptr)
    operation.outcome = failure_of(operation, result);
  if (--operation.parts == 0 && operation.left) finish(operation);
}

void completed(ashlar_completion* self, ashlar_result result) { part_over(*static_cast<Operation*>(self), result); }

Status make(NativeWindow& state, ToTarget& to, const char* what, Gate* gate, Operation** out) {
  auto* const made = new (std::nothrow) Operation;
  if (made == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a one-sided operation"}, {"peer", to.rank}});
  made->done = completed;
  made->window = &state;
  made->target = &to;
  made->what = what;
  made->gate = gate;
  made->number = ++state.started;
  to.under_way.push_back(made);
  state.counters.under_way.add();
  *out = made;
  return {};
}

struct FlushPart final : Part {
  ashlar_result issue(ashlar_endpoint& to, ashlar_completion* done) override { return to.ops->flush(&to, done); }
};

}  // namespace

Status begin(NativeWindow& state, ToTarget& to, const char* what, Gate* gate, Operation** out) {
  if (state.counters.under_way >= state.config.queue_limit) [[unlikely]] {
    state.counters.full.add();
    LimitWait wait(state, to.rank);
    ASHLAR_TRY(state.window.wire->wait(wait));
  }
  return make(state, to, what, gate, out);
}

bool add_part(Operation& operation, Part& part) {
  ++operation.parts;
  ashlar_result result = part.issue(*operation.target->endpoint, &operation);
  if (result == ASHLAR_AGAIN) [[unlikely]] {
    RoomWait wait(operation, part);
    const Status room = operation.window->window.wire->wait(wait);
    result = wait.result;
    if (!room.ok() && result == ASHLAR_AGAIN) {
      --operation.parts;
      if (operation.outcome.ok()) operation.outcome = room;
      return false;
    }
  }
  if (result == ASHLAR_PENDING) return true;
  part_over(operation, result);
  return result >= 0;
}

Status leave(Operation& operation, Target& target) {
  RmaWindow& window = operation.window->window;
  if (operation.parts == 0) {
    const Status outcome = operation.outcome;
    operation.gate = nullptr;  // it knows from the call itself
    operation.outcome = {};
    if (operation.target->unflushed) target.outstanding = window.any_outstanding = true;
    finish(operation);
    return outcome;
  }
  target.outstanding = window.any_outstanding = true;
  if (operation.gate != nullptr) operation.gate->add();
  operation.left = true;
  return {};
}

Status await_parts(Operation& operation, std::uint32_t parts) {
  if (operation.parts <= parts) [[likely]]
    return {};
  PartsWait wait(operation, parts);
  return operation.window->window.wire->wait(wait);
}

Status drain(NativeWindow& state, ToTarget& to, Target& target, bool remote) {
  if (to.endpoint == nullptr) return {};  // this process's own memory
  DrainWait wait(state, to, state.started);
  if (!wait.over()) ASHLAR_TRY(state.window.wire->wait(wait));
  if (!remote || !std::exchange(to.unflushed, false) || to.endpoint->ops->flush == nullptr) return {};
  state.counters.flushes.add();
  Operation* operation = nullptr;
  ASHLAR_TRY(make(state, to, "flush", nullptr, &operation));
  FlushPart part;
  add_part(*operation, part);
  const std::uint64_t number = operation->number;
  ASHLAR_TRY(leave(*operation, target));
  DrainWait flushed(state, to, number);
  return flushed.over() ? Status() : state.window.wire->wait(flushed);
}

void abandon(NativeWindow& state) {
  for (const std::unique_ptr<ToTarget>& to : state.targets) {
    while (to != nullptr && !to->under_way.empty()) {
      Operation& operation = *to->under_way.pop_front();
      operation.window = nullptr;
      operation.left = true;
    }
  }
}

}  // namespace ashlar::rma::native
