#include "bindings/c/check.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "framework/base/failure.h"
#include "framework/base/slab.h"
#include "framework/datatype/api.h"
#include "framework/object/caller.h"
#include "framework/object/int_handles.h"

namespace ashlar::bindings {
namespace {

/// The null handle that belongs to a class of error.
const char* null_handle_of(int mpi_class) {
  switch (mpi_class) {
    case MPI_ERR_COMM:
      return "MPI_COMM_NULL";
    case MPI_ERR_TYPE:
      return "MPI_DATATYPE_NULL";
    case MPI_ERR_OP:
      return "MPI_OP_NULL";
    case MPI_ERR_GROUP:
      return "MPI_GROUP_NULL";
    case MPI_ERR_REQUEST:
      return "MPI_REQUEST_NULL";
    case MPI_ERR_ERRHANDLER:
      return "MPI_ERRHANDLER_NULL";
    case MPI_ERR_INFO:
      return "MPI_INFO_NULL";
    case MPI_ERR_WIN:
      return "MPI_WIN_NULL";
    case MPI_ERR_FILE:
      return "MPI_FILE_NULL";
    case MPI_ERR_SESSION:
      return "MPI_SESSION_NULL";
    default:
      return "the null handle";
  }
}

/// Any handle that is not good: the null handle, a constant of another class, or something that was freed.
int bad_value(const char* call, Object* on, const char* argument, const void* handle, const char* kind, int mpi_class,
              bool null) {
  // Infos and error handlers exist at any time, and their calls are allowed at any time.
  const bool any_time = mpi_class == MPI_ERR_INFO || mpi_class == MPI_ERR_ERRHANDLER;
  if (!any_time && !running()) return not_running(call);
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  char seen[24];  // by the program: Fortran's handles are integers
  if (bits >= kPredefinedLimit && called_from_fortran())
    std::snprintf(seen, sizeof seen, "%d", handle_to_int(handle));
  else
    std::snprintf(seen, sizeof seen, "%#zx", bits);
  const Fact name("argument", argument), value("value", seen), wanted("kind", kind);
  if (null)
    return raise(fail(mpi_class, "handle.null", {name, {"value", null_handle_of(mpi_class)}, wanted}), call, on);
  if (bits == 0) return raise(fail(mpi_class, "handle.unset", {name, {"value", 0}}), call, on);
  if (bits < kPredefinedLimit) return raise(fail(mpi_class, "handle.constant", {name, value, wanted}), call, on);
  if (Arena::contains(handle) && static_cast<const Object*>(handle)->kind == static_cast<Kind>(kDead))
    return raise(fail(mpi_class, "handle.freed", {name, value, wanted}), call, on);
  return raise(fail(mpi_class, "handle.foreign", {name, value, wanted}), call, on);
}

int bad_number(const char* call, Object* on, const char* argument, long long value, int mpi_class, const char* wanted) {
  return raise(
      fail(mpi_class, "argument.value", {{"argument", argument}, {"value", value}, {"wanted", wanted}, {"note", ""}}),
      call, on);
}

int bad_tag_value(const char* call, Object* on, const char* argument, int value, const char* note) {
  return raise(fail(MPI_ERR_TAG, "argument.range",
                    {{"argument", argument}, {"value", value}, {"first", 0}, {"last", Comm::kTagMax}, {"note", note}}),
               call, on);
}

int bad_rank(const char* call, Comm& on, const char* argument, int value, int mpi_class, const char* note) {
  const Fact name("argument", argument), rank("value", value), comm("communicator", on.name),
      last("last", on.remote_size - 1), more("note", note);
  return raise(on.inter ? fail(mpi_class, "argument.remote_rank", {name, rank, comm, last, more})
                        : fail(mpi_class, "argument.rank", {name, rank, comm, last, more}),
               call, &on);
}

int broken_promise(const char* call, Object* on, const char* argument, const char* wildcard, const char* promise,
                   int mpi_class) {
  return raise(fail(mpi_class, "argument.promise", {{"argument", argument}, {"value", wildcard}, {"promise", promise}}),
               call, on);
}

}  // namespace

void got_contents(const char* call, Datatype& of, const MPI_Datatype* types, const void* caller) noexcept {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, count = 0;
  int combiner = 0;
  if (!datatype::get_envelope(of, &integers, &addresses, &large_counts, &count, &combiner).ok()) return;
  for (MPI_Count i = 0; i < count; ++i)
    if (const Datatype* const type = resolve(types[i])) leaks::made(*type, call, caller);
}

int not_running(const char* call) noexcept {
  int finalized = 0;
  (void)runtime::finalized(&finalized).ok();
  prepare();
  return raise(finalized ? fail(MPI_ERR_OTHER, "call.after_finalize") : fail(MPI_ERR_OTHER, "call.before_init"), call);
}

int unsupported(const char* call, Object* on) noexcept {
  prepare();
  return raise(fail(MPI_ERR_UNSUPPORTED_OPERATION, "call.unsupported", {{"call", call}}), call, on);
}

int failed(const char* call, Object* on, Status outcome) noexcept { return raise(outcome, call, on); }

int bad_handle(const char* call, Object* on, const char* argument, MPI_Comm handle) noexcept {
  return bad_value(call, on, argument, handle, "communicator", MPI_ERR_COMM, handle == MPI_COMM_NULL);
}
int bad_handle(const char* call, Object* on, const char* argument, MPI_Group handle) noexcept {
  return bad_value(call, on, argument, handle, "group", MPI_ERR_GROUP, handle == MPI_GROUP_NULL);
}
int bad_handle(const char* call, Object* on, const char* argument, MPI_Datatype handle) noexcept {
  return bad_value(call, on, argument, handle, "datatype", MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL);
}
int bad_handle(const char* call, Object* on, const char* argument, MPI_Op handle) noexcept {
  return bad_value(call, on, argument, handle, "reduction operation", MPI_ERR_OP, handle == MPI_OP_NULL);
}
int bad_handle(const char* call, Object* on, const char* argument, MPI_Request handle) noexcept {
  return bad_value(call, on, argument, handle, "request", MPI_ERR_REQUEST, handle == MPI_REQUEST_NULL);
}
int bad_handle(const char* call, Object* on, const char* argument, MPI_Errhandler handle) noexcept {
  return bad_value(call, on, argument, handle, "error handler", MPI_ERR_ERRHANDLER, handle == MPI_ERRHANDLER_NULL);
}
int bad_handle(const char* call, Object* on, const char* argument, MPI_Info handle) noexcept {
  return bad_value(call, on, argument, handle, "info object", MPI_ERR_INFO, handle == MPI_INFO_NULL);
}
int bad_handle(const char* call, Object* on, const char* argument, MPI_Message handle) noexcept {
  return bad_value(call, on, argument, handle, "matched message", MPI_ERR_REQUEST, handle == MPI_MESSAGE_NULL);
}

int bad_handle(const char* call, Object* on, const char* argument, MPI_Session handle) noexcept {
  return bad_value(call, on, argument, handle, "session", MPI_ERR_SESSION, handle == MPI_SESSION_NULL);
}
int bad_handle(const char* call, Object* on, const char* argument, MPI_Win handle) noexcept {
  return bad_value(call, on, argument, handle, "window", MPI_ERR_WIN, handle == MPI_WIN_NULL);
}
// A failed MPI_File_open that the program did not look at is the usual reason for the null handle.
int bad_handle(const char* call, Object* on, const char* argument, MPI_File handle) noexcept {
  if (std::string path, words; handle == MPI_FILE_NULL && running()) {
    no_file().last_failure(&path, &words);
    if (!path.empty())
      return raise(fail(MPI_ERR_FILE, "handle.not_open", {{"argument", argument}, {"path", path}, {"lower", words}}),
                   call, on);
  }
  return bad_value(call, on, argument, handle, "file", MPI_ERR_FILE, handle == MPI_FILE_NULL);
}

int bad_errhandler(const char* call, Kind wanted, const char* argument) noexcept {
  return raise(fail(MPI_ERR_ARG, "argument.errhandler",
                    {{"argument", argument}, {"kind", wanted == Kind::kSession ? "session" : "communicator"}}),
               call);
}

int bad_type(const char* call, Object* on, const char* argument, MPI_Datatype handle) noexcept {
  const Datatype* const type = resolve(handle);
  if (type == nullptr || !running()) return bad_handle(call, on, argument, handle);
  return raise(fail(MPI_ERR_TYPE, "type.not_committed", {{"argument", argument}, {"value", type->described()}}), call,
               on);
}

int bad_origins(const char* call, Object* on, const char* argument, const Origin* first, const char* other_argument,
                const Origin* second) noexcept {
  const auto put = [](char* out, std::size_t room, const Origin& origin) {
    if (origin.of_session)
      std::snprintf(out, room, "session %d", origin.session);
    else
      std::snprintf(out, room, "the world model");
  };
  char of_first[32], of_second[32];
  put(of_first, sizeof of_first, *first);
  put(of_second, sizeof of_second, *second);
  return raise(
      fail(MPI_ERR_ARG, "session.mixed",
           {{"argument", argument}, {"origin", of_first}, {"other", other_argument}, {"other_origin", of_second}}),
      call, on);
}

int bad_count(const char* call, Object* on, const char* argument, MPI_Count value) noexcept {
  return bad_number(call, on, argument, value, MPI_ERR_COUNT, "0 or more");
}
int bad_size(const char* call, Object* on, const char* argument, MPI_Count value) noexcept {
  return bad_number(call, on, argument, value, MPI_ERR_SIZE, "0 or more");
}
int bad_length(const char* call, Object* on, const char* argument, int value) noexcept {
  const bool count = std::strstr(argument, "count") != nullptr;
  return bad_number(call, on, argument, value, count ? MPI_ERR_COUNT : MPI_ERR_ARG,
                    value < 0 ? "0 or more" : "1 or more");
}
int bad_tag(const char* call, Object* on, const char* argument, int value) noexcept {
  return bad_tag_value(call, on, argument, value, value == MPI_ANY_TAG ? "MPI_ANY_TAG is for receiving only" : "");
}
int bad_any_tag(const char* call, Object* on, const char* argument, int value) noexcept {
  if (value == MPI_ANY_TAG)
    return broken_promise(call, on, argument, "MPI_ANY_TAG", "mpi_assert_no_any_tag", MPI_ERR_TAG);
  return bad_tag_value(call, on, argument, value, "MPI_ANY_TAG is allowed too");
}

int bad_dest(const char* call, Comm* on, const char* argument, int value) noexcept {
  return bad_rank(call, *on, argument, value, MPI_ERR_RANK,
                  value == MPI_ANY_SOURCE ? "MPI_PROC_NULL is allowed too; MPI_ANY_SOURCE is for receiving only"
                                          : "MPI_PROC_NULL is allowed too");
}
int bad_source(const char* call, Comm* on, const char* argument, int value) noexcept {
  if (value == MPI_ANY_SOURCE)
    return broken_promise(call, on, argument, "MPI_ANY_SOURCE", "mpi_assert_no_any_source", MPI_ERR_RANK);
  return bad_rank(call, *on, argument, value, MPI_ERR_RANK, "MPI_ANY_SOURCE and MPI_PROC_NULL are allowed too");
}
int bad_root(const char* call, Comm* on, const char* argument, int value) noexcept {
  return bad_rank(call, *on, argument, value, MPI_ERR_ROOT,
                  on->inter ? "MPI_ROOT and MPI_PROC_NULL are allowed too" : "");
}
int too_large(const char* call, Object* on, const char* argument, MPI_Count value) noexcept {
  return raise(
      fail(MPI_ERR_VALUE_TOO_LARGE, "result.too_large", {{"argument", argument}, {"value", value}, {"call", call}}),
      call, on);
}

int bad_null(const char* call, Object* on, const char* argument) noexcept {
  return raise(fail(MPI_ERR_ARG, "argument.null", {{"argument", argument}}), call, on);
}
int bad_buffer(const char* call, Object* on, const char* argument, const void* value) noexcept {
  const Fact name("argument", argument);
  Status status;
  if (value == MPI_IN_PLACE)
    status = fail(MPI_ERR_BUFFER, "buffer.in_place", {name, {"value", "MPI_IN_PLACE"}});
  else if (value == MPI_BUFFER_AUTOMATIC)
    status = fail(MPI_ERR_BUFFER, "buffer.automatic", {name, {"value", "MPI_BUFFER_AUTOMATIC"}});
  else
    status = fail(MPI_ERR_BUFFER, "buffer.null", {name, {"value", "null"}});
  return raise(status, call, on);
}

bool may_be(const void* buffer, MPI_Count count, const Datatype& type) noexcept {
  if (buffer != MPI_BOTTOM) return false;
  // A derived datatype may hold absolute addresses; a null buffer with one whose data starts in the first page is a
  // mistake all the same.
  constexpr MPI_Count kFirstPage = 4096;
  return count == 0 || type.size() == 0 || type.true_lb() >= kFirstPage || type.true_lb() < 0;
}
bool may_be(const void* buffer, IntArray counts, int size, const Datatype& type) noexcept {
  MPI_Count most = 0;
  for (int i = 0; i < size; ++i)
    if (const MPI_Count count = counts[static_cast<std::size_t>(i)]; count > most) most = count;
  return may_be(buffer, most, type);
}

namespace {

/// Bytes from the buffer's address on; empty when there are gaps between them.
struct Run {
  MPI_Count begin = 0, end = 0;
};

Run run_of(const Side& side, int block) {
  const auto at = static_cast<std::size_t>(block);
  if (side.blocks > 0 && side.counts[at] == 0) return {};
  const Datatype* const type = side.types != nullptr ? resolve(side.types[at]) : side.type;
  if (!type->dense()) return {};
  if (side.blocks == 0) return Run{0, side.count * type->size()};
  const MPI_Count begin = side.displs[at] * (side.types != nullptr ? 1 : type->size());
  return Run{begin, begin + side.counts[at] * type->size()};
}

}  // namespace

bool overlap(const Side& send, const Side& recv) noexcept {
  if (send.blocks == 0 && recv.blocks == 0 && send.type == recv.type)  // whatever its gaps: item 0 is at one place
    return send.count > 0 && recv.count > 0 && send.type->size() > 0;
  const int blocks = send.blocks > recv.blocks ? send.blocks : recv.blocks;
  for (int i = 0; i < blocks || i == 0; ++i) {
    const Run out = run_of(send, i), in = run_of(recv, i);
    if (out.begin < out.end && in.begin < in.end && out.begin < in.end && in.begin < out.end) return true;
  }
  return false;
}

int same_buffer(const char* call, Comm* on, const char* send, const char* recv, const char* in_place) noexcept {
  return raise(fail(MPI_ERR_BUFFER, "buffer.same",
                    {{"argument", send}, {"other", recv}, {"in_place", on->inter ? "" : in_place}}),
               call, on);
}

int bad_counts(const char* call, Object* on, const char* argument, IntArray values, MPI_Count index) noexcept {
  if (!values) return bad_null(call, on, argument);
  return raise(fail(MPI_ERR_COUNT, "argument.element",
                    {{"argument", argument},
                     {"index", index},
                     {"value", values[static_cast<std::size_t>(index)]},
                     {"wanted", "0 or more"}}),
               call, on);
}
int bad_types(const char* call, Object* on, const char* argument, const MPI_Datatype* types, MPI_Count index) noexcept {
  if (types == nullptr) return bad_null(call, on, argument);
  char element[96];
  std::snprintf(element, sizeof element, "%s[%lld]", argument, static_cast<long long>(index));
  return bad_type(call, on, element, types[index]);
}
int bad_requests(const char* call, Object* on, const char* argument, const MPI_Request* requests,
                 MPI_Count index) noexcept {
  if (requests == nullptr) return bad_null(call, on, argument);
  char element[96];
  std::snprintf(element, sizeof element, "%s[%lld]", argument, static_cast<long long>(index));
  return bad_handle(call, on, element, requests[index]);
}

}  // namespace ashlar::bindings
