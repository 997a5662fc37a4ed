// The origin's side of operations: the way "asked".
#include "components/rma/am/ways.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "components/rma/am/window.h"
#include "framework/base/failure.h"
#include "framework/plugin/account.h"
#include "framework/rma/waiting.h"

namespace ashlar::rma::am {
namespace {

/// As many operations are kept for a target as may be.
struct RoomWait final : WindowWait {
  RoomWait(const Requests& of, AmWindow& in) : requests(of), window(in) {}
  bool over() override { return requests.operations() < window.config.queue_limit; }
  bool needs(Rank rank) const override { return rank == requests.to(); }
  void tell(plugin::AccountWriter& account) const override {
    char reason[120];
    std::snprintf(reason, sizeof reason, "until fewer than %llu operations (rma.am.queue_limit) wait for rank %d,",
                  static_cast<unsigned long long>(window.config.queue_limit), requests.to());
    tell_wait(account, window.window, requests.to(), reason);
  }
  Rank asked() const override { return requests.to(); }
  const Requests& requests;
  AmWindow& window;
};

/// Queues the operation, and sends what can leave at once. The lane's lock is held.
Status start(AmWindow& window, Channel& channel, Target& target, Operation* operation, Gate* done) {
  Requests& requests = channel.requests;
  if (requests.operations() >= window.config.queue_limit) [[unlikely]] {
    window.counters.full.add();
    RoomWait wait(requests, window);
    const Status room = window.wire().wait(wait);
    if (!room.ok()) {
      delete operation;
      return room;
    }
  }
  target.outstanding = window.window.any_outstanding = true;
  window.counters.operations.add();
  if (done != nullptr) {
    operation->done = done;
    done->add();
  }
  requests.add(*operation);
  const Status sent = window.wire().kick(requests);
  if (!sent.ok()) requests.end();
  return sent;
}

Status no_memory(Rank rank) {
  return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a one-sided operation"}, {"peer", rank}});
}

Status start_copy(Sub sub, const Access& access) {
  if (access.place.count == 0 || access.place.type->size() == 0) return {};
  AmWindow& window = AmWindow::of(access.window);
  const LaneGuard guard(access.window.lane().lock);
  Channel* channel = nullptr;
  ASHLAR_TRY(window.channel(access.target.rank, &channel));
  auto* const operation =
      new (std::nothrow) Operation(sub, access.origin, access.place, datatype::predefined(MPI_BYTE));
  if (operation == nullptr) return no_memory(access.target.rank);
  operation->fetches = sub == Sub::kGet;
  operation->carries = sub == Sub::kPut;
  return start(window, *channel, access.target, operation, access.done);
}

Status put(const Access& access) { return start_copy(Sub::kPut, access); }
Status get(const Access& access) { return start_copy(Sub::kGet, access); }

Status update(const Update& update) {
  if (update.place.count == 0 || update.place.type->size() == 0) return {};
  AmWindow& window = AmWindow::of(update.window);
  const LaneGuard guard(update.window.lane().lock);
  Channel* channel = nullptr;
  ASHLAR_TRY(window.channel(update.target.rank, &channel));
  const bool swaps = update.compare != nullptr;
  auto* const operation =
      new (std::nothrow) Operation(swaps ? Sub::kSwap : Sub::kUpdate,
                                   update.reads_origin() ? update.origin : DataView{}, update.place, update.element);
  if (operation == nullptr) return no_memory(update.target.rank);
  operation->op = static_cast<std::uint16_t>(update.op.predefined);
  operation->carries = update.reads_origin();
  operation->fetches = update.fetches();
  if (update.fetches()) {
    operation->result = update.result;
    operation->result_type = Ref<Datatype>::share(*update.result.type);
  }
  if (swaps) std::memcpy(operation->compare, update.compare, static_cast<std::size_t>(update.element.size()));
  return start(window, *channel, update.target, operation, update.done);
}

Status flush(RmaWindow& of, Target& target, bool remote) {
  AmWindow& window = AmWindow::of(of);
  const LaneGuard guard(of.lane().lock);
  Channel* const channel = window.channels[static_cast<std::size_t>(target.rank)].get();
  return channel != nullptr ? window.flush(*channel, remote) : Status();
}

}  // namespace

const Way asked = {.name = "asked", .put = put, .get = get, .update = update, .flush = flush};

}  // namespace ashlar::rma::am
