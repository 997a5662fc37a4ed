#include "bindings/c/check.h"

#include <cstdio>
#include <cstring>

#include "framework/base/slab.h"
#include "framework/datatype/api.h"

namespace ashlar::bindings {
namespace {

/// "communicator 'MPI_COMM_WORLD' has ranks 0..3", or remote ranks.
struct Ranks {
  explicit Ranks(const Comm& comm) {
    std::snprintf(text, sizeof text, "communicator '%s' has %sranks 0..%d", comm.name.c_str(),
                  comm.inter ? "remote " : "", comm.remote_size - 1);
  }
  char text[192];
};

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

/// Every handle that is not good: the null handle, a constant of another class, or something that was freed.
int bad_value(const char* call, Object* on, const char* argument, const void* handle, const char* what, int mpi_class,
              bool null) {
  // Infos and error handlers there are at any time, and their calls come here at any time.
  const bool any_time = mpi_class == MPI_ERR_INFO || mpi_class == MPI_ERR_ERRHANDLER;
  if (!any_time && !running()) return not_running(call);
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  Status status;
  if (null)
    status = Status::fail(mpi_class, "argument %s is %s, but a valid %s is wanted here", argument,
                          null_handle_of(mpi_class), what);
  else if (bits == 0)
    status = Status::fail(mpi_class, "argument %s is 0, which is no handle: its variable was never set", argument);
  else if (bits < kPredefinedLimit)
    status = Status::fail(mpi_class, "argument %s is %#zx, which is no predefined %s", argument, bits, what);
  else if (Arena::contains(handle) && static_cast<const Object*>(handle)->kind == static_cast<Kind>(kDead))
    status = Status::fail(mpi_class, "argument %s is %#zx, a handle that was freed already (a %s is wanted)", argument,
                          bits, what);
  else
    status = Status::fail(mpi_class, "argument %s is %#zx, which is not the handle of a %s", argument, bits, what);
  return raise(status, call, on);
}

int bad_number(const char* call, Object* on, const char* argument, long long value, int mpi_class, const char* wanted) {
  return raise(Status::fail(mpi_class, "argument %s is %lld, but it must be %s", argument, value, wanted), call, on);
}

int broken_promise(const char* call, Object* on, const char* argument, const char* wildcard, const char* promise,
                   int mpi_class) {
  return raise(Status::fail(mpi_class, "argument %s is %s, though %s is true on this communicator (check.hints)",
                            argument, wildcard, promise),
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
  return raise(Status::fail(MPI_ERR_OTHER,
                            finalized ? "called after MPI_Finalize" : "called before MPI_Init or MPI_Session_init"),
               call);
}

int unsupported(const char* call, Object* on) noexcept {
  prepare();
  return raise(Status::fail(MPI_ERR_UNSUPPORTED_OPERATION, "%s is not part of this version of Ashlar MPI yet", call),
               call, on);
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
int bad_handle(const char* call, Object* on, const char* argument, MPI_File handle) noexcept {
  return bad_value(call, on, argument, handle, "file", MPI_ERR_FILE, handle == MPI_FILE_NULL);
}

int bad_errhandler(const char* call, Kind wanted, const char* argument) noexcept {
  return raise(Status::fail(MPI_ERR_ARG, "argument %s was made for objects of another kind, but the call makes a %s",
                            argument, wanted == Kind::kSession ? "session" : "communicator"),
               call);
}

int bad_type(const char* call, Object* on, const char* argument, MPI_Datatype handle) noexcept {
  const Datatype* const type = resolve(handle);
  if (type == nullptr || !running()) return bad_handle(call, on, argument, handle);
  return raise(Status::fail(MPI_ERR_TYPE, "argument %s is %s that was not committed; call MPI_Type_commit first",
                            argument, type->described()),
               call, on);
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
      Status::fail(MPI_ERR_ARG,
                   "argument %s comes from %s and argument %s from %s, but one call takes objects of one origin "
                   "only (check.sessions)",
                   argument, of_first, other_argument, of_second),
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
  char wanted[64];
  std::snprintf(wanted, sizeof wanted, "in 0..%d%s", Comm::kTagMax,
                value == MPI_ANY_TAG ? " (MPI_ANY_TAG is for receiving only)" : "");
  return bad_number(call, on, argument, value, MPI_ERR_TAG, wanted);
}
int bad_any_tag(const char* call, Object* on, const char* argument, int value) noexcept {
  if (value == MPI_ANY_TAG)
    return broken_promise(call, on, argument, "MPI_ANY_TAG", "mpi_assert_no_any_tag", MPI_ERR_TAG);
  char wanted[64];
  std::snprintf(wanted, sizeof wanted, "in 0..%d (or MPI_ANY_TAG)", Comm::kTagMax);
  return bad_number(call, on, argument, value, MPI_ERR_TAG, wanted);
}

int bad_dest(const char* call, Comm* on, const char* argument, int value) noexcept {
  return raise(Status::fail(MPI_ERR_RANK, "argument %s is %d, but %s (or MPI_PROC_NULL)%s", argument, value,
                            Ranks(*on).text, value == MPI_ANY_SOURCE ? "; MPI_ANY_SOURCE is for receiving only" : ""),
               call, on);
}
int bad_source(const char* call, Comm* on, const char* argument, int value) noexcept {
  if (value == MPI_ANY_SOURCE)
    return broken_promise(call, on, argument, "MPI_ANY_SOURCE", "mpi_assert_no_any_source", MPI_ERR_RANK);
  return raise(Status::fail(MPI_ERR_RANK, "argument %s is %d, but %s (or MPI_ANY_SOURCE, MPI_PROC_NULL)", argument,
                            value, Ranks(*on).text),
               call, on);
}
int bad_root(const char* call, Comm* on, const char* argument, int value) noexcept {
  return raise(Status::fail(MPI_ERR_ROOT, "argument %s is %d, but %s%s", argument, value, Ranks(*on).text,
                            on->inter ? " (or MPI_ROOT, MPI_PROC_NULL)" : ""),
               call, on);
}
int too_large(const char* call, Object* on, const char* argument, MPI_Count value) noexcept {
  return raise(Status::fail(MPI_ERR_VALUE_TOO_LARGE, "result %s is %lld, more than an int holds; call %s_c", argument,
                            static_cast<long long>(value), call),
               call, on);
}

int bad_null(const char* call, Object* on, const char* argument) noexcept {
  return raise(Status::fail(MPI_ERR_ARG, "argument %s is a null pointer", argument), call, on);
}
int bad_buffer(const char* call, Object* on, const char* argument, const void* value) noexcept {
  const char* reason = "is null, but there is data to transfer and its datatype holds no absolute addresses";
  if (value == MPI_IN_PLACE) reason = "is MPI_IN_PLACE, which this argument of this call may not be";
  if (value == MPI_BUFFER_AUTOMATIC)
    reason = "is MPI_BUFFER_AUTOMATIC, which is for MPI_Buffer_attach and its kin only";
  return raise(Status::fail(MPI_ERR_BUFFER, "argument %s %s", argument, reason), call, on);
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
  char advice[64] = "";
  if (!on->inter) std::snprintf(advice, sizeof advice, "; for that there is MPI_IN_PLACE as %s", in_place);
  return raise(Status::fail(MPI_ERR_BUFFER, "arguments %s and %s are the same memory, but they must not overlap%s",
                            send, recv, advice),
               call, on);
}

int bad_counts(const char* call, Object* on, const char* argument, IntArray values, MPI_Count index) noexcept {
  if (!values) return bad_null(call, on, argument);
  return raise(
      Status::fail(MPI_ERR_COUNT, "argument %s[%lld] is %lld, but it must be 0 or more", argument,
                   static_cast<long long>(index), static_cast<long long>(values[static_cast<std::size_t>(index)])),
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
