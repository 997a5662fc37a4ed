#include "framework/coll/flight.h"

#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "framework/base/failure.h"
#include "framework/coll/events.h"
#include "framework/coll/lane_collectives.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"

namespace ashlar::coll {
namespace {

/// Keeps an object alive that the user may free while the collective is pending. Predefined objects live as long as the
/// collective anyway, and are not counted.
template <class T>
Ref<T> keep_alive(T* object) {
  return object != nullptr && object->predefined == 0 ? Ref<T>::share(*object) : Ref<T>();
}

}  // namespace

const RequestOps Flight::kOps{
    .release = &Flight::release, .start = nullptr, .cancel = nullptr, .describe = &Flight::describe};
const RequestOps Flight::kPersistentOps{
    .release = &Flight::release, .start = &Flight::start, .cancel = nullptr, .describe = &Flight::describe};

Flight::Flight(CommState& comm_state, const Call& call, const Choice& choice, Tag sequence, CallForm form)
    : Request(form == CallForm::kPersistent ? kPersistentOps : kOps, comm_state.comm),
      comm_(keep_alive(&comm_state.comm)),
      send_type_(keep_alive(call.send.type)),
      recv_type_(keep_alive(call.recv.type)),
      reduce_op_(keep_alive(call.op)),
      call_(call),
      choice_(choice),
      block_(memory_, sizeof memory_, comm_state.chunks),
      op_(comm_state.wire, comm_state.comm.rank, comm_state.comm.size, sequence, block_, false) {
  op_.set_place(&comm_state, choice.entry->component, *choice.entry->algorithm);
  if (choice.rule != nullptr) op_.set_arguments(choice.rule->arguments);
  over_.run = &Flight::over;
  over_.lane = comm_state.comm.lane;
  over_.flight = this;
  if (call_.recv_types != nullptr) keep_types();
  if (call_.vector()) keep_arrays();
  if (form != CallForm::kPersistent) return;
  flags |= kPersistent;
  state.store(State::kInactive, std::memory_order_relaxed);
  op_.set_own_slot(&own_slot_);
}

Flight::~Flight() {
  if (own_slot_.drop != nullptr) own_slot_.drop(own_slot_.data);
}

// How long the caller's arrays are.
struct Flight::Lengths {
  std::size_t in, out;

  Lengths(const Comm& comm, const Call& call) {
    const Topology* const near = call.topology;
    const bool pieces = call.what == Collective::kReduceScatter;  // one for each rank of our own group
    const int others = pieces ? comm.size : comm.remote_size;
    in = static_cast<std::size_t>(near != nullptr ? near->indegree() : others);
    out = static_cast<std::size_t>(near != nullptr ? near->outdegree() : others);
  }
};

void Flight::keep_types() {
  const auto [in, out] = Lengths(*comm, call_);
  types_.reset(new (std::nothrow) Ref<Datatype>[in + out]);
  if (types_ == nullptr) {
    op_.fail(fail(MPI_ERR_NO_MEM, "memory.ranks", {{"what", "the datatypes of a collective"}, {"ranks", in + out}}));
    return;
  }
  Ref<Datatype>* kept = types_.get();
  for (std::size_t i = 0; i < in; ++i) *kept++ = keep_alive(resolve(call_.recv_types[i]));
  for (std::size_t i = 0; i < out && call_.send_types != nullptr; ++i)
    *kept++ = keep_alive(resolve(call_.send_types[i]));
}

// The standard has the caller keep these arrays until the operation is complete, or the persistent request freed.
// Callers that matter do not (docs/decisions/0042-argument-arrays.md), and a copy costs little beside the collective.
void Flight::keep_arrays() {
  const auto [in, out] = Lengths(*comm, call_);
  arrays_.reset(new (std::nothrow) std::byte[3 * (in + out) * sizeof(MPI_Count)]);
  if (arrays_ == nullptr) {
    op_.fail(
        fail(MPI_ERR_NO_MEM, "memory.ranks", {{"what", "the argument arrays of a collective"}, {"ranks", in + out}}));
    return;
  }
  std::byte* room = arrays_.get();
  const auto keep = [&room](IntArray& array, std::size_t n) {
    if (!array) return;
    auto* const copy = reinterpret_cast<MPI_Count*>(room);
    for (std::size_t i = 0; i < n; ++i) copy[i] = array[i];
    array = IntArray(copy);
    room += n * sizeof(MPI_Count);
  };
  keep(call_.send_counts, out);
  keep(call_.send_displs, out);
  keep(call_.recv_counts, in);
  keep(call_.recv_displs, in);
  const auto keep_types = [&room](const MPI_Datatype*& types, std::size_t n) {
    if (types == nullptr) return;
    types = static_cast<const MPI_Datatype*>(std::memcpy(room, types, n * sizeof(MPI_Datatype)));
    room += n * sizeof(MPI_Datatype);
  };
  keep_types(call_.send_types, out);
  keep_types(call_.recv_types, in);
}

Status Flight::start(Request& self) { return static_cast<Flight&>(self).run(); }

Co Flight::begin() {
  const Algorithm& algorithm = *choice_.entry->algorithm;
  if (!op_.comm()->engine.checks.any()) [[likely]]
    return algorithm.run(op_, call_);
  return checked(op_, call_, algorithm, persistent() ? CallForm::kPersistent : CallForm::kNonblocking);
}

Status Flight::run() ASHLAR_NO_THREAD_SAFETY {
  if (call_.recv_types != nullptr && types_ == nullptr) return op_.failure();
  if (call_.vector() && arrays_ == nullptr) return op_.failure();
  CommState& state_of_comm = *op_.comm();
  const bool check = state_of_comm.engine.checks.any();
  Counters& counters = lane().coll->counters;
  if (persistent()) ++starts_;
  (persistent() ? counters.starts : counters.nonblocking).add();
  LoggedCall& called = state_of_comm.enter(op_.tag(), call_, check, starts_);
  if (call_.is_nothing(comm->size, comm->inter) && !check) {
    counters.without_data.add();
    end_call(state_of_comm, op_.tag(), {});
    finish({});
    return {};
  }
  if (const Status begins = state_of_comm.may_begin(called); !begins.ok()) {
    end_call(state_of_comm, op_.tag(), begins);
    return begins;
  }
  counters.bytes.add(static_cast<std::uint64_t>(call_.bytes));
  if (event::heard(collective_begin)) [[unlikely]]
    tell_begin(*comm, op_.tag(), call_, persistent() ? CallForm::kPersistent : CallForm::kNonblocking, choice_);
  block_.reset();
  op_.forget_failure();
  state.store(State::kActive, std::memory_order_relaxed);
  co_ = begin();
  if (!co_.started()) {
    if (persistent()) state.store(State::kInactive, std::memory_order_relaxed);
    end_call(state_of_comm, op_.tag(), op_.failure());
    tell_over(op_.failure());
    return op_.failure();
  }
  if (co_.done()) {
    end_call(state_of_comm, op_.tag(), co_.status());
    tell_over(co_.status());
    finish(co_.status());
  } else {
    ++op_.comm()->in_flight;
    counters.in_flight.raise();
    finished_.add();
    co_.promise().joined = &finished_;
    finished_.on_open(over_);
  }
  return {};
}

void Flight::tell_over(Status with) const {
  if (event::heard(collective_end)) [[unlikely]]
    tell_end(*comm, op_.tag(), choice_, with);
}

void Flight::over(Waiter& self) ASHLAR_NO_THREAD_SAFETY {
  Flight& flight = *static_cast<Over&>(self).flight;
  --flight.op_.comm()->in_flight;
  flight.lane().coll->counters.in_flight.lower();
  const Status outcome = flight.finished_.status();
  end_call(*flight.op_.comm(), flight.op_.tag(), outcome);
  flight.tell_over(outcome);
  flight.finished_.reset();
  flight.block_.reset();
  flight.finish(outcome);
}

void Flight::release(Request& self) ASHLAR_NO_THREAD_SAFETY {
  auto& flight = static_cast<Flight&>(self);
  if (flight.persistent()) log_request_freed(*flight.op_.comm(), flight.op_.tag());
  LaneCollectives& own = *flight.lane().coll;
  const Ref<Comm> comm = std::move(flight.comm_);  // dropped last: the block belongs to the communicator's state
  own.flights.put(&flight);
}

void Flight::describe(const Request& self, char* out, std::size_t room) {
  const auto& flight = static_cast<const Flight&>(self);
  std::snprintf(out, room, "MPI_%s%s%s on '%s' (%s)", flight.persistent() ? "" : "I", name_of(flight.call_.what),
                flight.persistent() ? "_init" : "", flight.comm->name.c_str(), flight.choice_.entry->algorithm->name);
}

}  // namespace ashlar::coll
