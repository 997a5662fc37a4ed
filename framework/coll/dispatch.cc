#include "framework/coll/dispatch.h"

#include <mpi.h>

#include "framework/coll/comm_state.h"
#include "framework/coll/flight.h"
#include "framework/coll/op.h"
#include "framework/object/comm.h"

namespace ashlar::coll {
namespace {

// Frames of the usual algorithms, and temporaries of small messages, lie on the caller's stack.
constexpr std::size_t kStackBytes = 3072;

Tag next_sequence(Comm& comm) { return static_cast<Tag>(comm.collective_sequence++ & 0x7fffffffu); }

/// Nothing moves and nobody waits: over at once.
bool is_nothing(const Call& call, int ranks) {
  switch (call.what) {
    case Collective::kBarrier:
      return ranks == 1;
    case Collective::kGatherv:
    case Collective::kScatterv:
    case Collective::kAlltoallv:
      return false;  // the quantity is not known everywhere
    default:
      return call.bytes == 0;
  }
}

}  // namespace

Status run(Comm& comm, const Call& call) {
  const LaneGuard guard(comm.lane->lock);
  CommState* state = nullptr;
  ASHLAR_TRY(state_of(comm, &state));
  const Tag sequence = next_sequence(comm);
  if (is_nothing(call, comm.size)) return {};
  Choice choice;
  ASHLAR_TRY(state->choose(call, &choice));
  state->wire.serve(call.what);
  alignas(64) std::byte memory[kStackBytes];
  Block block(memory, sizeof memory, state->chunks);
  Op op(state->wire, comm.rank, comm.size, sequence, block, true);
  op.set_place(state, choice.entry->component);
  if (choice.rule != nullptr) op.set_arguments(choice.rule->arguments);
  const Co co = choice.entry->algorithm->run(op, call);
  return co.started() ? co.status() : op.failure();
}

Status start(Comm& comm, const Call& call, Request** request) {
  const LaneGuard guard(comm.lane->lock);
  CommState* state = nullptr;
  ASHLAR_TRY(state_of(comm, &state));
  Choice choice;
  ASHLAR_TRY(state->choose(call, &choice));
  Slab<Flight>& flights = Room::current()->flights(comm.lane->index);
  Flight* const flight = flights.take(*state, call, choice, next_sequence(comm));
  if (flight == nullptr) return Status::fail(MPI_ERR_NO_MEM, "no memory for a request; %zu are active", flights.out());
  if (is_nothing(call, comm.size)) {
    flight->finish({});
  } else if (const Status started = flight->run(); !started.ok()) {
    flight->ops->release(*flight);
    return started;
  }
  *request = flight;
  return {};
}

Co instead(Op& op, const Call& call, unsigned component) {
  Choice choice;
  op.comm()->disable(component);
  const Status chosen = op.comm()->choose(call, &choice);
  if (!chosen.ok()) {
    op.fail(chosen);
    return Co();
  }
  op.set_place(op.comm(), choice.entry->component);
  if (choice.rule != nullptr) op.set_arguments(choice.rule->arguments);
  return choice.entry->algorithm->run(op, call);
}

}  // namespace ashlar::coll
