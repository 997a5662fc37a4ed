// Duplicates without waiting: at once while the members have agreed on ids, else when an agreement of their own is
// over.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "framework/base/failure.h"
#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/duplicate.h"
#include "framework/comm/engine.h"
#include "framework/comm/hints.h"
#include "framework/comm/make.h"
#include "framework/comm/pvars.h"
#include "framework/datatype/data_view.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"
#include "framework/object/pool.h"
#include "framework/p2p/collective.h"
#include "framework/progress/gate.h"
#include "framework/progress/request.h"

namespace ashlar::comm {
namespace {

/// The agreement on ids of one duplicate in flight: the largest proposal goes up a binomial tree of the group, between
/// the two first ranks of an intercommunicator, and down again. Always with a second round that confirms, because other
/// agreements of this process may run beside it.
class Agreement final : public Request {
 public:
  Agreement(Comm& parent, Comm& made, Tag own_tag)
      : Request(kOps, parent), parent_(Ref<Comm>::share(parent)), made_(Ref<Comm>::share(made)), tag_(own_tag) {
    step_.run = &Agreement::next;
    step_.lane = parent.lane;
    step_.owner = this;
    Engine::current().ids.set_in_flight(+1);
  }

  void begin_round() ASHLAR_REQUIRES(comm->lane->lock) {
    if (!confirming_) values_[0] = std::max(Engine::current().ids.propose().next, floor_);
    stage_ = Stage::kUp;
    for (int child = 0; child < children(); ++child) receive(group(), me() + (1 << child), &from_child_[child]);
    proceed_when_open();
  }

 private:
  struct Step : Waiter {
    Agreement* owner;
  };
  enum class Stage { kUp, kTop, kDown, kTold };

  static const RequestOps kOps;

  Comm& group() const { return comm->inter ? *comm->local_comm : *comm; }
  Rank me() const { return comm->rank; }
  /// Of the binomial tree with root 0: children are me + 1, me + 2, me + 4 ... below my lowest set bit.
  int children() const {
    int n = 0;
    while ((me() & (1 << n)) == 0 && me() + (1 << n) < comm->size && (1 << n) < comm->size) ++n;
    return n;
  }
  Rank parent() const { return me() & (me() - 1); }

  void keep(Status result) {
    if (failure_.ok()) failure_ = result;
  }
  // `on` is comm, or its local group's communicator, which has comm's lane.
  void receive(Comm& on, Rank from, std::int64_t* word) ASHLAR_REQUIRES(comm->lane->lock) {
    on.lane->lock.held_by_caller();
    keep(p2p::post_recv(on, DataView::of(word, 1, *resolve(MPI_INT64_T)), from, tag_, gate_));
  }
  void send(Comm& on, Rank to, std::int64_t* word) ASHLAR_REQUIRES(comm->lane->lock) {
    on.lane->lock.held_by_caller();
    keep(p2p::post_send(on, DataView::of(word, 1, *resolve(MPI_INT64_T)), to, tag_, gate_));
  }

  void proceed_when_open() ASHLAR_REQUIRES(comm->lane->lock) {
    if (gate_.open())
      progress::make_ready(step_);
    else
      gate_.on_open(step_);
  }

  // Waiters run in a round of progress, which holds the lock of their lane; a Waiter cannot name that lock.
  static void next(Waiter& self) ASHLAR_NO_THREAD_SAFETY { static_cast<Step&>(self).owner->proceed(); }

  void proceed() ASHLAR_REQUIRES(comm->lane->lock) {
    keep(gate_.status());
    if (!failure_.ok()) return finish(failure_);
    switch (stage_) {
      case Stage::kUp:
        for (int child = 0; child < children(); ++child) values_[0] = std::max(values_[0], from_child_[child]);
        stage_ = Stage::kTop;
        if (me() != 0) {
          send(group(), parent(), &values_[0]);
          receive(group(), parent(), &values_[1]);
        } else if (comm->inter) {
          send(*comm, 0, &values_[0]);
          receive(*comm, 0, &values_[1]);
        } else {
          values_[1] = values_[0];
        }
        return proceed_when_open();
      case Stage::kTop:
        if (me() == 0) values_[1] = std::max(values_[0], values_[1]);
        stage_ = Stage::kDown;
        for (int child = 0; child < children(); ++child) send(group(), me() + (1 << child), &values_[1]);
        return proceed_when_open();
      default:
        return conclude();
    }
  }

  /// All members know the largest value of this round.
  void conclude() ASHLAR_REQUIRES(comm->lane->lock) {
    constexpr std::int64_t span = ContextIds::kStep;
    if (!confirming_) {
      begin_ = values_[1];
      if (const Status left = ids_left(begin_, span); !left.ok()) return finish(left);
      values_[0] = Engine::current().ids.claim(begin_, begin_ + span) ? 0 : 1;
      confirming_ = true;
      return begin_round();
    }
    confirming_ = false;
    if (values_[1] != 0) {
      floor_ = begin_ + span;
      return begin_round();
    }
    give_context(*made_, static_cast<std::uint32_t>(begin_));
    finish({});
  }

  static void put(Agreement& agreement);
  static void release_request(Request& self) {
    auto& agreement = static_cast<Agreement&>(self);
    // The communicators outlive the request's memory: its lane is the parent's.
    const Ref<Comm> parent = std::move(agreement.parent_), made = std::move(agreement.made_);
    Engine::current().ids.set_in_flight(-1);
    put(agreement);
  }
  static void describe(const Request& self, char* out, std::size_t room) {
    std::snprintf(out, room, "MPI_Comm_idup of '%s'", self.comm->name.c_str());
  }

  Ref<Comm> parent_;
  Ref<Comm> made_;  // the user may free the duplicate before it is complete
  const Tag tag_;
  Step step_;
  Gate gate_;
  Stage stage_ = Stage::kUp;
  bool confirming_ = false;
  Status failure_;
  std::int64_t floor_ = 0, begin_ = 0;
  std::int64_t values_[2] = {};  // the value of this subtree, and the largest of all
  std::int64_t from_child_[32] = {};
};

const RequestOps Agreement::kOps{&Agreement::release_request, nullptr, nullptr, &Agreement::describe};

/// A request that was complete when it was made.
class Done final : public Request {
 public:
  explicit Done(Comm& of) : Request(kOps, of), of_(Ref<Comm>::share(of)) {}

 private:
  static void put(Done& done);
  static void release_request(Request& self) {
    auto& done = static_cast<Done&>(self);
    const Ref<Comm> of = std::move(done.of_);
    put(done);
  }
  static void describe(const Request&, char* out, std::size_t room) { std::snprintf(out, room, "MPI_Comm_idup"); }
  static const RequestOps kOps;

  Ref<Comm> of_;
};
const RequestOps Done::kOps{&Done::release_request, nullptr, nullptr, &Done::describe};

constinit Pool<Agreement> agreements{PoolName::kDuplications};
constinit Pool<Done> finished{PoolName::kDuplications};
void Agreement::put(Agreement& agreement) { agreements.put(&agreement); }
void Done::put(Done& done) { finished.put(&done); }

Status no_request(const Counter& level) { return object::none_left("another request of MPI_Comm_idup", level); }

}  // namespace

std::uint64_t duplications() { return agreements.out_level().get() + finished.out_level().get(); }

Status idup_with_info(Comm& comm, Info* info, Comm** result, Request** request) {
  std::uint32_t context = 0;
  const bool agreed = take_agreed_id(comm, &context);
  const std::uint32_t number = comm.collective_sequence;
  __atomic_store_n(&comm.collective_sequence, number + 1, __ATOMIC_RELAXED);  // tools read it at any time
  const auto tag = static_cast<Tag>(0x40000000u | (number & 0x3fffffffu));
  // Attributes are copied here and now, as their functions are called in calls of the user only.
  ASHLAR_TRY(with_info(duplicate(comm, context, result), info, result));
  Request* made = nullptr;
  if (agreed) {
    made = finished.take(comm);
    if (!made) return no_request(finished.out_level());
    made->finish({});
  } else {
    Agreement* const agreement = agreements.take(comm, **result, tag);
    if (!agreement) return no_request(agreements.out_level());
    made = agreement;
    const LaneGuard guard(agreement->comm->lane->lock);
    agreement->begin_round();
  }
  *request = made;
  return {};
}

Status idup(Comm& comm, Comm** result, Request** request) { return idup_with_info(comm, nullptr, result, request); }

}  // namespace ashlar::comm
