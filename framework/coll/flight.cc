#include "framework/coll/flight.h"

#include <cstdio>

#include "framework/object/comm.h"

namespace ashlar::coll {
namespace {

// The user may free a communicator, a type or an operation while the collective is pending.
template <class T>
void hold(T* object) {
  if (object != nullptr && object->predefined == 0) object->references.fetch_add(1, std::memory_order_relaxed);
}
template <class T>
void let_go(T* object) {
  if (object != nullptr && object->predefined == 0) ashlar::release(object);
}

}  // namespace

const RequestOps Flight::kOps{&Flight::release, nullptr, nullptr, &Flight::describe};

Flight::Flight(CommState& comm_state, const Call& call, const Choice& choice, Tag sequence)
    : Request(kOps, comm_state.comm),
      call_(call),
      choice_(choice),
      block_(memory_, sizeof memory_, comm_state.chunks),
      op_(comm_state.wire, comm_state.comm.rank, comm_state.comm.size, sequence, block_, false) {
  op_.set_place(&comm_state, choice.entry->component);
  if (choice.rule != nullptr) op_.set_arguments(choice.rule->arguments);
  over_.run = &Flight::over;
  over_.lane = comm_state.comm.lane;
  over_.flight = this;
  hold(comm);
  hold(call_.send.type);
  hold(call_.recv.type);
  hold(call_.op);
}

Flight::~Flight() {
  let_go(call_.send.type);
  let_go(call_.recv.type);
  let_go(call_.op);
}

Status Flight::run() {
  block_.reset();
  op_.forget_failure();
  state.store(State::kActive, std::memory_order_relaxed);
  co_ = choice_.entry->algorithm->run(op_, call_);
  if (!co_.started()) return op_.failure();
  if (co_.done()) {
    finish(co_.status());
  } else {
    finished_.add();
    co_.promise().joined = &finished_;
    finished_.on_open(over_);
  }
  return {};
}

void Flight::over(Waiter& self) {
  Flight& flight = *static_cast<Over&>(self).flight;
  const Status outcome = flight.finished_.status();
  flight.finished_.reset();
  flight.block_.reset();
  flight.finish(outcome);
}

void Flight::release(Request& self) {
  auto& flight = static_cast<Flight&>(self);
  Comm* const comm = flight.comm;
  Room::current()->flights(comm->lane->index).put(&flight);
  let_go(comm);  // last: the block belongs to its state
}

void Flight::describe(const Request& self, char* out, std::size_t room) {
  const auto& flight = static_cast<const Flight&>(self);
  std::snprintf(out, room, "MPI_I%s on '%s' (%s)", name_of(flight.call_.what), flight.comm->name.c_str(),
                flight.choice_.entry->algorithm->name);
}

}  // namespace ashlar::coll
