#include "framework/coll/dispatch.h"

#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/coll/check.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/events.h"
#include "framework/coll/flight.h"
#include "framework/coll/lane_collectives.h"
#include "framework/coll/op.h"
#include "framework/coll/part.h"
#include "framework/object/comm.h"

namespace ashlar::coll {
namespace {

// Frames of the usual algorithms, and temporaries of small messages, lie on the caller's stack.
constexpr std::size_t kStackBytes = 3072;

// Tools read the number at any time.
Tag next_sequence(Comm& comm) {
  const std::uint32_t number = comm.collective_sequence;
  __atomic_store_n(&comm.collective_sequence, number + 1, __ATOMIC_RELAXED);
  return static_cast<Tag>(number & (Op::kPartTag - 1));
}

/// Makes the flight of a call that returns a request: chooses the algorithm and takes the next number.
Status make_flight(Comm& comm, const Call& call, CallForm form, Flight** out) ASHLAR_REQUIRES(comm.lane->lock) {
  CommState* state = nullptr;
  ASHLAR_TRY(state_of(comm, &state));
  Choice choice;
  ASHLAR_TRY(state->choose(call, &choice));
  Slab<Flight>& flights = comm.lane->coll->flights;
  *out = flights.take(*state, call, choice, next_sequence(comm), form);
  if (*out == nullptr) {
    if (flights.out() >= flights.limit()) return fail(MPI_ERR_NO_MEM, "coll.request_limit", {{"count", flights.out()}});
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the request of a collective"}});
  }
  return {};
}

/// What the rules say without algorithms of these traits, as a child of `op`.
Co another(Op& op, const Call& call, std::uint8_t without) ASHLAR_NO_THREAD_SAFETY {
  op.comm()->comm.lane->coll->counters.instead.add();
  Choice choice;
  const PartGroup* const part = op.part_group();
  const Status chosen =
      part == nullptr
          ? op.comm()->choose(call, &choice, Without{.traits = without})
          : choose(*part->plan, call, Without{.components = op.comm()->disabled, .traits = without}, &choice);
  if (!chosen.ok()) {
    op.fail(chosen);
    return Co();
  }
  op.set_place(op.comm(), choice.entry->component, *choice.entry->algorithm);
  if (part != nullptr) op.set_own_slot(&part->slots[choice.entry->component % CommState::kSlots]);
  if (choice.rule != nullptr) op.set_arguments(choice.rule->arguments);
  return choice.entry->algorithm->run(op, call);
}

}  // namespace

Status run(Comm& comm, const Call& call) {
  const LaneGuard guard(comm.lane->lock);
  CommState* state = nullptr;
  ASHLAR_TRY(state_of(comm, &state));
  const Tag sequence = next_sequence(comm);
  const bool check = state->engine.checks.any();
  LoggedCall& called = state->enter(sequence, call, check);
  Counters& counters = comm.lane->coll->counters;
  counters.blocking.add();
  if (call.is_nothing(comm.size, comm.inter) && !check) {
    counters.without_data.add();
    called.flags = LoggedCall::kOver;
    if (state->failures.any) [[unlikely]]
      end_call(*state, sequence, {});
    return {};
  }
  Choice choice;
  Status outcome = state->may_begin(called);
  if (call.bytes >= Network::kLeastBytes && outcome.ok() && is_due(*state, call)) [[unlikely]]
    outcome = agree_on_network(*state, call, sequence);
  if (outcome.ok()) [[likely]]
    outcome = state->choose(call, &choice);
  if (!outcome.ok()) [[unlikely]] {
    end_call(*state, sequence, outcome);
    return outcome;
  }
  state->wire.serve(call.what);
  counters.bytes.add(static_cast<std::uint64_t>(call.bytes));
  if (event::heard(collective_begin)) [[unlikely]]
    tell_begin(comm, sequence, call, CallForm::kBlocking, choice);
  alignas(64) std::byte memory[kStackBytes];
  Block block(memory, sizeof memory, state->chunks);
  Op op(state->wire, comm.rank, comm.size, sequence, block, true);
  op.set_place(state, choice.entry->component, *choice.entry->algorithm);
  if (choice.rule != nullptr) op.set_arguments(choice.rule->arguments);
  const Algorithm& algorithm = *choice.entry->algorithm;
  const Co co = check ? checked(op, call, algorithm, CallForm::kBlocking) : algorithm.run(op, call);
  outcome = co.started() ? co.status() : op.failure();
  if (outcome.ok() && !state->failures.any) [[likely]]
    called.flags |= LoggedCall::kOver;
  else
    end_call(*state, sequence, outcome);
  if (event::heard(collective_end)) [[unlikely]]
    tell_end(comm, sequence, choice, outcome);
  return outcome;
}

Status start(Comm& comm, const Call& call, Request** request) {
  const LaneGuard guard(comm.lane->lock);
  Flight* flight = nullptr;
  ASHLAR_TRY(make_flight(comm, call, CallForm::kNonblocking, &flight));
  if (const Status started = flight->run(); !started.ok()) {
    flight->ops->release(*flight);
    return started;
  }
  *request = flight;
  return {};
}

Status prepare(Comm& comm, const Call& call, Info*, Request** request) {
  const LaneGuard guard(comm.lane->lock);
  Flight* flight = nullptr;
  ASHLAR_TRY(make_flight(comm, call, CallForm::kPersistent, &flight));
  log_request(*comm.coll, flight->sequence(), call);
  *request = flight;
  return {};
}

Co instead(Op& op, const Call& call, unsigned component) {
  op.comm()->disable(component);
  return another(op, call, 0);
}

Co instead_of(Op& op, const Call& call, Trait trait) { return another(op, call, trait); }

}  // namespace ashlar::coll
