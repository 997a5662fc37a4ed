#include "framework/io/access.h"

#include <mutex>

#include "framework/base/failure.h"
#include "framework/base/lane_lock.h"
#include "framework/coll/api.h"
#include "framework/datatype/reduce_op.h"
#include "framework/io/agree.h"
#include "framework/io/check.h"
#include "framework/io/choice_record.h"
#include "framework/io/collective.h"
#include "framework/io/engine.h"
#include "framework/io/moves.h"
#include "framework/io/request.h"
#include "framework/io/transfer.h"
#include "framework/io/window.h"
#include "framework/object/status_fields.h"
#include "framework/progress/user_call.h"
#include "framework/progress/waiting.h"

namespace ashlar::io {
namespace {

/// Held while the individual pointer changes.
class PointerGuard {
 public:
  explicit PointerGuard(OpenFile& file) : mutex_(LaneLock::threads_on() ? &file.moving : nullptr) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~PointerGuard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  PointerGuard(const PointerGuard&) = delete;
  PointerGuard& operator=(const PointerGuard&) = delete;

 private:
  std::mutex* const mutex_;
};

Status only_sequential(const OpenFile& file) {
  return fail(MPI_ERR_UNSUPPORTED_OPERATION, "io.sequential", {{"path", file.path}});
}

/// `from` + `etypes`, should that be a place in a file.
Status advance(MPI_Offset from, MPI_Offset etypes, MPI_Offset* to) {
  if (!__builtin_add_overflow(from, etypes, to)) return {};
  return fail(MPI_ERR_ARG, "io.pointer_too_large", {{"value", from}, {"count", etypes}});
}

/// The offset of this process's part when all take theirs in the order of the ranks.
Status take_turn(OpenFile& file, MPI_Offset etypes, MPI_Offset* at) {
  Comm& comm = *file.comm;
  Datatype& type = datatype::predefined(MPI_OFFSET);
  MPI_Offset before = 0, base = 0;
  ASHLAR_TRY(coll::exscan(&etypes, &before, 1, type, datatype::predefined_op(MPI_SUM), comm));
  if (comm.rank == 0) before = 0;
  const Rank last = comm.size - 1;
  Status own;
  if (comm.rank == last) own = file.pointers.add(file, before + etypes, &base);
  if (!own.ok()) base = -1;
  ASHLAR_TRY(coll::bcast(&base, 1, type, last, comm));
  if (base < 0) return own.ok() ? fail(MPI_ERR_OTHER, "io.elsewhere", {{"peer", last}, {"path", file.path}}) : own;
  return advance(base, before, at);
}

/// Finds out where the access begins, and moves the pointers by the amount asked for.
Status place(const Access& access, MPI_Offset etypes, MPI_Offset* at) {
  OpenFile& file = access.file;
  MPI_Offset behind = 0;
  switch (access.where) {
    case Where::kAt:
      if (file.sequential()) return only_sequential(file);
      if (access.at < 0)
        return fail(MPI_ERR_ARG, "argument.value",
                    {{"argument", "offset"}, {"value", access.at}, {"wanted", "0 or more"}});
      *at = access.at;
      return advance(*at, etypes, &behind);
    case Where::kOwn: {
      if (file.sequential()) return only_sequential(file);
      const PointerGuard guard(file);
      *at = file.position;
      return advance(*at, etypes, &file.position);
    }
    case Where::kShared:
      ASHLAR_TRY(check_shared_view(file));
      ASHLAR_TRY(file.pointers.add(file, etypes, at));
      return advance(*at, etypes, &behind);
    case Where::kOrdered:
      return take_turn(file, etypes, at);
  }
  return {};
}

/// A file without offsets: the ranks move their data one after the other.
Status move_in_turns(const Transfer& what, Status own, MPI_Count* moved) {
  Comm& comm = *what.file.comm;
  for (Rank rank = 0; rank < comm.size; ++rank) {
    if (rank == comm.rank && own.ok()) own = transfer(what, moved);
    const Status met = coll::barrier(comm);
    if (own.ok()) own = met;
  }
  return own;
}

/// Whether the processes of the file meet for collective accesses.
bool meets(const OpenFile& file) { return file.comm->size > 1 && file.seekable(); }

/// Whether an access in the order of the ranks finds its place when they meet for it (turns.cc).
bool placed_by_meeting(const Access& access) {
  return access.where == Where::kOrdered && meets(access.file) && access.file.shared != nullptr;
}

/// Whether the ranks exchange where they begin before they meet: calls that differ have to be told apart before that.
bool has_messages_first(const Access& access) { return access.where == Where::kOrdered && !placed_by_meeting(access); }

/// Checks the access, finds out where it begins, and moves the pointers by what it asks for. Where the ranks take their
/// turns all exchange, whatever is wrong.
Status settle(const Access& access, MPI_Offset* etypes, MPI_Offset* at) {
  OpenFile& file = access.file;
  Status own = check_access(file, access.writes, access.buffer, etypes);
  if (!own.ok()) *etypes = 0;
  if (placed_by_meeting(access)) return own.ok() ? check_shared_view(file) : own;
  if (access.where != Where::kOrdered) return own.ok() ? place(access, *etypes, at) : own;
  if (!file.pointers.there(file)) return file.pointers.read(file, at);  // why; on all processes alike
  ASHLAR_TRY(check_shared_view(file));                                  // so too
  const Status placed = place(access, *etypes, at);
  return own.ok() ? placed : own;
}

/// The file pointer of a blocking call moves by what was really moved.
void take_back(const Access& access, MPI_Offset etypes, MPI_Count moved) {
  if (access.where != Where::kOwn || moved >= access.buffer.bytes()) return;
  const PointerGuard guard(access.file);
  access.file.position -= etypes - moved / access.file.view.etype_data;
}

// Processes that meet read again what they have written when all have.
Transfer transfer_of(const Access& access, MPI_Offset at) {
  return {.file = access.file,
          .writes = access.writes,
          .verified = access.together && access.writes && Engine::current().verifies && !meets(access.file),
          .at = at,
          .in_turn = placed_by_meeting(access),
          .buffer = access.buffer};
}

/// The same after the call has returned. Functions of the program convert in the call.
bool goes_on(const OpenFile& file) { return meets(file) && file.view.rep->kind != Datarep::Kind::kUser; }

/// For --explain=io.
void record_way(const char* call, const Transfer& what) {
  if (!records_choices(what.file) || what.buffer.bytes() == 0 || what.file.view.tiles->contiguous()) return;
  std::uint64_t at = 0, bytes = 0;
  if (!stream_bytes(what, &at, &bytes).ok()) return;
  const LaneGuard guard(what.file.comm->lane->lock);
  record_own_choice(what.file, call, what.writes, at, bytes);
}

Status move(const Access& access, MPI_Count* moved) {
  MPI_Offset etypes = 0, at = 0;
  const Status own = settle(access, &etypes, &at);
  const Transfer what = transfer_of(access, at);
  if (access.together && meets(access.file)) {
    const Status done = run_together(access.call, what, own, moved);
    if (own.ok()) take_back(access, etypes, *moved);
    return done;
  }
  if (access.where == Where::kOrdered && !access.file.seekable() && access.file.shared != nullptr)
    return move_in_turns(what, own, moved);
  ASHLAR_TRY(own);
  if (!access.file.seekable()) wait_for_pending(access.file);
  record_way(access.call, what);
  const Status done = transfer(what, moved);
  take_back(access, etypes, *moved);
  return done;
}

/// An access of one process alone, of memory in a row, by a view of all bytes: there is nothing to choose.
bool is_plain(const Access& access) { return access.file.plain && !access.together && access.buffer.dense(); }

Status move_plain(const Access& access, MPI_Count* moved) {
  OpenFile& file = access.file;
  MPI_Offset etypes = 0, at = 0;
  ASHLAR_TRY(settle(access, &etypes, &at));
  const auto bytes = static_cast<std::uint64_t>(access.buffer.bytes());
  if (bytes == 0) return {};
  std::uint64_t offset = 0, done = 0;
  datatype::Span whole;
  if (!file.view.stream_byte(at, &offset)) return stream_bytes(transfer_of(access, at), &offset, &done);
  static_cast<void>(file.view.tiles->spans(offset, bytes, 1, &whole));
  const ashlar_io_piece piece = {
      .offset = static_cast<std::uint64_t>(whole.offset), .length = bytes, .memory = access.buffer.data};
  const Status outcome = move_pieces(file, access.writes, &piece, 1, &done);
  *moved = static_cast<MPI_Count>(done);
  (access.writes ? file.counts.written : file.counts.read).add(done);
  take_back(access, etypes, *moved);
  return outcome;
}

Status check_no_split(const OpenFile& file) {
  if (file.split.begun == nullptr) return {};
  return fail(MPI_ERR_IO, "io.split_open", {{"begun", file.split.begun}, {"path", file.path}});
}

Status move_together(const Access& access, MPI_Count* moved) {
  ASHLAR_TRY(check_no_split(access.file));
  OpenFile& file = access.file;
  const progress::UserCall call(access.call, file.comm);
  if (has_messages_first(access)) ASHLAR_TRY(check_same_call(file, access.call));
  const Status own = move(access, moved);
  return meets(file) ? own : agree(file, own);
}

}  // namespace

Status perform(const Access& access, MPI_Status* status) {
  MPI_Count moved = 0;
  ASHLAR_TRY(is_plain(access)  ? move_plain(access, &moved)
             : access.together ? move_together(access, &moved)
                               : move(access, &moved));
  fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved);
  return {};
}

Status start(const Access& access, Request** request) {
  MPI_Offset etypes = 0, at = 0;
  const Status own = settle(access, &etypes, &at);
  const Transfer what = transfer_of(access, at);
  if (access.together) {
    ASHLAR_TRY(check_no_split(access.file));
    if (goes_on(access.file)) return start_together(access.call, what, own, request);
  }
  ASHLAR_TRY(own);
  record_way(access.call, what);
  return start_transfer(access.call, what, request);
}

// Where the processes share no memory, or the file has no offsets, the first half moves the data.
Status begin(const Access& access) {
  OpenFile& file = access.file;
  ASHLAR_TRY(check_no_split(file));
  const progress::UserCall call(access.call, file.comm);
  Request* request = nullptr;
  MPI_Count moved = 0;
  if (goes_on(file)) {
    if (has_messages_first(access)) ASHLAR_TRY(check_same_call(file, access.call));
    MPI_Offset etypes = 0, at = 0;
    const Status own = settle(access, &etypes, &at);
    ASHLAR_TRY(start_together(access.call, transfer_of(access, at), own, &request));
  } else {
    ASHLAR_TRY(move_together(access, &moved));
  }
  file.split = {.begun = access.call, .buffer = access.buffer.data, .bytes = moved, .request = request};
  return {};
}

Status end(OpenFile& file, const char* begun, const void* buffer, MPI_Status* status) {
  if (file.split.begun == nullptr) return fail(MPI_ERR_IO, "io.split_none", {{"wanted", begun}, {"path", file.path}});
  if (std::string_view(file.split.begun) != begun)
    return fail(MPI_ERR_IO, "io.split_other", {{"begun", file.split.begun}, {"wanted", begun}, {"path", file.path}});
  if (file.split.buffer != buffer)
    return fail(MPI_ERR_BUFFER, "io.split_buffer", {{"begun", begun}, {"path", file.path}});
  const progress::UserCall call(begun, file.comm);
  MPI_Count moved = file.split.bytes;
  Status outcome;
  if (Request* const request = file.split.request; request != nullptr) {
    Lane& lane = request->lane();
    const LaneGuard guard(lane.lock);
    progress::wait(lane, [request] { return request->complete(); });
    outcome = request->outcome;
    moved = request->bytes;
    request->ops->release(*request);
  }
  file.split = {};
  if (outcome.ok()) fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved);
  return outcome;
}

}  // namespace ashlar::io
