#include "framework/coll/co.h"

#include "framework/base/failure.h"
#include "framework/coll/op.h"

namespace ashlar::coll {

void Promise::no_memory(Op& owner) noexcept {
  owner.fail(fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a collective"}}));
}

bool Promise::wait_now(Gate& gate) noexcept {
  // An operation that could not send does not wait for answers.
  if (!op->failure().ok()) [[unlikely]]
    op->wire().abandon(gate);
  if (!op->blocking()) return false;
  op->wire().wait(gate);
  return true;
}

bool Promise::wait_now(Condition& condition) noexcept {
  if (!op->blocking()) return false;
  condition.tag = op->tag();
  const Status waited = op->wire().wait(condition);
  if (condition.outcome.ok()) condition.outcome = waited;  // the condition may have come to an end of its own
  return true;
}

void Promise::suspend_on(Gate& gate) noexcept {
  run = &Promise::resume;
  lane = op->wire().lane();
  if (gate.open()) [[unlikely]]
    progress::make_ready(*this);
  else
    gate.on_open(*this);
}

void Promise::suspend_on(Condition& condition) noexcept {
  run = &Promise::resume;
  lane = op->wire().lane();
  condition.waiter = this;
  condition.tag = op->tag();
  op->wire().watch(condition);
}

void Promise::resume(Waiter& self) {
  std::coroutine_handle<Promise>::from_promise(static_cast<Promise&>(self)).resume();
}

}  // namespace ashlar::coll
