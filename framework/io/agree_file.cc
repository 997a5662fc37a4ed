// Agreement of the processes of a file: in the memory that they share, without a message, or by messages (far.h).
#include <mpi.h>

#include <algorithm>

#include "framework/base/failure.h"
#include "framework/coll/op.h"
#include "framework/io/agree.h"
#include "framework/io/collective_request.h"
#include "framework/io/together.h"
#include "framework/progress/lane.h"

namespace ashlar::io {
namespace {

using coll::Co;
using coll::Op;
using Until = Meeting::Until;

/// What a process tells, and what all have told.
struct Talk {
  Together access;
  const AgreedValues& mine;
  AgreedValues most;
  Rank other = -1;  // a process that makes another call at the same time
};

constexpr const char* kAgreement = "a collective call that moves no data";

AgreedValues& values_of(const Together& access, Rank rank) {
  return access.far != nullptr ? access.far->told[static_cast<std::size_t>(rank)].agreed
                               : access.slot(rank).agreed[access.number % 2];
}

/// When all have told theirs.
void compare(Talk& talk) {
  const Together& access = talk.access;
  talk.most = talk.mine;
  for (Rank rank = access.file().comm->size; rank-- > 0;) {
    const AgreedValues& one = values_of(access, rank);
    if (one.number != access.number) {
      talk.other = rank;
      continue;
    }
    for (std::size_t i = 0; i < talk.mine.used; ++i) talk.most.values[i] = std::max(talk.most.values[i], one.values[i]);
  }
}

// A slot has two sets of values in turn: who stores the next but one knows that all have read these, because all have
// arrived at the next.
Co in_memory(Op& op, Talk& talk, Stay stay) {
  Together& access = talk.access;
  Meeting turn(access, Until::kTurn);
  Status met = co_await turn;
  if (!met.ok()) co_return met;
  AgreedValues& own = values_of(access, access.file().comm->rank);
  own = talk.mine;
  own.number = access.number;
  access.own().arrived.store(access.number, std::memory_order_release);
  wake(access, op.wire());
  Meeting arrived(access, Until::kArrived);
  met = co_await arrived;
  if (!met.ok()) co_return met;
  compare(talk);
  access.own().outcome = 0;
  access.own().over.store(access.number, std::memory_order_release);
  access.file().together_over = access.number;
  if (stay == Stay::kShort) co_return Status();
  wake(access, op.wire());
  if (access.file().comm->rank != 0) co_return Status();
  Meeting over(access, Until::kOver);
  met = co_await over;
  co_return met;
}

Co by_messages(Op& op, Talk& talk) {
  Together& access = talk.access;
  Meeting turn(access, Until::kTurn);
  Gate gate;
  Status met = co_await turn;
  if (!met.ok()) co_return met;
  if (!access.meet_far(false)) co_return no_memory_for_messages();
  AgreedValues& own = values_of(access, op.rank());
  own = talk.mine;
  own.number = access.number;
  Co told = exchange_told(op, *access.far);
  op.join(told, gate);
  met = co_await gate;
  if (!met.ok()) co_return met;
  compare(talk);
  access.file().together_over = access.number;
  co_return Status();
}

}  // namespace

Status exchange(OpenFile& file, const AgreedValues& mine, Stay stay, AgreedValues* most) {
  Comm& comm = *file.comm;
  const LaneGuard guard(comm.lane->lock);
  coll::CommState* state = nullptr;
  ASHLAR_TRY(coll::state_of(comm, &state));
  const Transfer nothing = {
      .file = file, .writes = false, .at = 0, .buffer = DataView::of(nullptr, 0, datatype::predefined(MPI_BYTE))};
  Talk talk = {.access = {kAgreement, nothing}, .mine = mine, .most = {}};
  talk.access.number = ++file.together_begun;
  alignas(64) std::byte memory[CollectiveRequest::kBlockBytes];
  coll::Block block(memory, sizeof memory, state->chunks);
  Op op(state->wire, comm.rank, comm.size, kMessages, block, true);
  const Co co = file.shared != nullptr ? in_memory(op, talk, stay) : by_messages(op, talk);
  const Status met = co.started() ? co.status() : op.failure();
  *most = talk.most;
  if (!met.ok() || talk.other < 0) return met;
  return fail(MPI_ERR_OTHER, "io.other_call", {{"wanted", kAgreement}, {"peer", talk.other}, {"path", file.path}});
}

}  // namespace ashlar::io
