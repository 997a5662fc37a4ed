#include "framework/io/access.h"

#include <mutex>

#include "framework/base/failure.h"
#include "framework/base/lane_lock.h"
#include "framework/coll/api.h"
#include "framework/datatype/reduce_op.h"
#include "framework/io/agree.h"
#include "framework/io/request.h"
#include "framework/io/transfer.h"
#include "framework/object/status_fields.h"
#include "framework/progress/user_call.h"

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

Status no_shared(const OpenFile& file) {
  return fail(MPI_ERR_UNSUPPORTED_OPERATION, "io.no_shared", {{"path", file.path}, {"lower", file.why_not_shared}});
}

/// The offset of this process's part when all take theirs in the order of the ranks.
Status take_turn(OpenFile& file, MPI_Offset etypes, MPI_Offset* at) {
  Comm& comm = *file.comm;
  Datatype& type = datatype::predefined(MPI_OFFSET);
  MPI_Offset before = 0, base = 0;
  ASHLAR_TRY(coll::exscan(&etypes, &before, 1, type, datatype::predefined_op(MPI_SUM), comm));
  if (comm.rank == 0) before = 0;
  const Rank last = comm.size - 1;
  if (comm.rank == last)
    base = shared_pointer(*file.shared, file.generation).fetch_add(before + etypes, std::memory_order_relaxed);
  ASHLAR_TRY(coll::bcast(&base, 1, type, last, comm));
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
      if (file.shared == nullptr) return no_shared(file);
      *at = shared_pointer(*file.shared, file.generation).fetch_add(etypes, std::memory_order_relaxed);
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

Status move(const Access& access, bool blocking, MPI_Count* moved) {
  OpenFile& file = access.file;
  MPI_Offset etypes = 0, at = 0;
  Status own = check_access(file, access.writes, access.buffer, &etypes);
  if (access.where == Where::kOrdered) {
    if (file.shared == nullptr) return no_shared(file);  // on all processes alike
    const Status placed = place(access, own.ok() ? etypes : 0, &at);
    if (own.ok()) own = placed;
  } else if (own.ok()) {
    own = place(access, etypes, &at);
  }
  const Transfer what = {.file = file, .writes = access.writes, .at = at, .buffer = access.buffer};
  if (access.where == Where::kOrdered && !file.seekable()) return move_in_turns(what, own, moved);
  ASHLAR_TRY(own);
  ASHLAR_TRY(transfer(what, moved));
  if (access.where == Where::kOwn && blocking && *moved < access.buffer.bytes()) {
    const PointerGuard guard(file);
    file.position -= etypes - *moved / file.view.etype_data;
  }
  return {};
}

Status move_together(const Access& access, MPI_Count* moved) {
  OpenFile& file = access.file;
  if (file.split.begun != nullptr)
    return fail(MPI_ERR_IO, "io.split_open", {{"begun", file.split.begun}, {"path", file.path}});
  const progress::UserCall call(access.call, file.comm);
  return agree(*file.comm, file.path.c_str(), move(access, true, moved));
}

}  // namespace

Status perform(const Access& access, MPI_Status* status) {
  MPI_Count moved = 0;
  ASHLAR_TRY(access.together ? move_together(access, &moved) : move(access, true, &moved));
  fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved);
  return {};
}

Status start(const Access& access, Request** request) {
  MPI_Count moved = 0;
  ASHLAR_TRY(move(access, false, &moved));
  return give_out(access.file, moved, request);
}

Status begin(const Access& access) {
  MPI_Count moved = 0;
  ASHLAR_TRY(move_together(access, &moved));
  access.file.split = {.begun = access.call, .buffer = access.buffer.data, .bytes = moved};
  return {};
}

Status end(OpenFile& file, const char* begun, const void* buffer, MPI_Status* status) {
  if (file.split.begun == nullptr) return fail(MPI_ERR_IO, "io.split_none", {{"wanted", begun}, {"path", file.path}});
  if (std::string_view(file.split.begun) != begun)
    return fail(MPI_ERR_IO, "io.split_other", {{"begun", file.split.begun}, {"wanted", begun}, {"path", file.path}});
  if (file.split.buffer != buffer)
    return fail(MPI_ERR_BUFFER, "io.split_buffer", {{"begun", begun}, {"path", file.path}});
  fill_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, file.split.bytes);
  file.split = {};
  return {};
}

}  // namespace ashlar::io
