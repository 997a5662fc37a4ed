#include "framework/object/error_text.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "framework/base/failure.h"

namespace ashlar {
namespace {

struct Row {
  int code;
  const char* name;
  const char* meaning;
};

constexpr Row kRows[] = {
    {MPI_SUCCESS, "MPI_SUCCESS", "no error"},
    {MPI_ERR_BUFFER, "MPI_ERR_BUFFER", "invalid buffer pointer"},
    {MPI_ERR_COUNT, "MPI_ERR_COUNT", "invalid count"},
    {MPI_ERR_TYPE, "MPI_ERR_TYPE", "invalid datatype"},
    {MPI_ERR_TAG, "MPI_ERR_TAG", "invalid tag"},
    {MPI_ERR_COMM, "MPI_ERR_COMM", "invalid communicator"},
    {MPI_ERR_RANK, "MPI_ERR_RANK", "invalid rank"},
    {MPI_ERR_REQUEST, "MPI_ERR_REQUEST", "invalid request"},
    {MPI_ERR_ROOT, "MPI_ERR_ROOT", "invalid root"},
    {MPI_ERR_GROUP, "MPI_ERR_GROUP", "invalid group"},
    {MPI_ERR_OP, "MPI_ERR_OP", "invalid reduction operation"},
    {MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY", "invalid topology"},
    {MPI_ERR_DIMS, "MPI_ERR_DIMS", "invalid dimension"},
    {MPI_ERR_ARG, "MPI_ERR_ARG", "invalid argument"},
    {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN", "unknown error"},
    {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE", "message longer than the receive buffer"},
    {MPI_ERR_OTHER, "MPI_ERR_OTHER", "another error"},
    {MPI_ERR_INTERN, "MPI_ERR_INTERN", "internal error of the library"},
    {MPI_ERR_PENDING, "MPI_ERR_PENDING", "request still pending"},
    {MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS", "the error codes are in the statuses"},
    {MPI_ERR_ACCESS, "MPI_ERR_ACCESS", "permission denied"},
    {MPI_ERR_AMODE, "MPI_ERR_AMODE", "invalid access mode of a file"},
    {MPI_ERR_ASSERT, "MPI_ERR_ASSERT", "invalid assertion of an RMA call"},
    {MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE", "invalid file name"},
    {MPI_ERR_BASE, "MPI_ERR_BASE", "invalid base address"},
    {MPI_ERR_CONVERSION, "MPI_ERR_CONVERSION", "a data conversion function failed"},
    {MPI_ERR_DISP, "MPI_ERR_DISP", "invalid displacement"},
    {MPI_ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP", "data representation registered already"},
    {MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS", "file exists"},
    {MPI_ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE", "file in use"},
    {MPI_ERR_FILE, "MPI_ERR_FILE", "invalid file handle"},
    {MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY", "invalid info key"},
    {MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY", "info key not there"},
    {MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE", "invalid info value"},
    {MPI_ERR_INFO, "MPI_ERR_INFO", "invalid info object"},
    {MPI_ERR_IO, "MPI_ERR_IO", "input or output failed"},
    {MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL", "invalid attribute key"},
    {MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE", "invalid lock type"},
    {MPI_ERR_NAME, "MPI_ERR_NAME", "service name not published"},
    {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM", "out of memory"},
    {MPI_ERR_NOT_SAME, "MPI_ERR_NOT_SAME", "argument differs among the processes"},
    {MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE", "no space on the device"},
    {MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE", "no such file"},
    {MPI_ERR_PORT, "MPI_ERR_PORT", "invalid port name"},
    {MPI_ERR_QUOTA, "MPI_ERR_QUOTA", "quota exceeded"},
    {MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY", "file or file system is read-only"},
    {MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window"},
    {MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"},
    {MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE", "target memory is outside the window"},
    {MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED", "memory cannot be shared"},
    {MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC", "RMA call outside its epoch"},
    {MPI_ERR_SERVICE, "MPI_ERR_SERVICE", "service name not published by this process"},
    {MPI_ERR_SIZE, "MPI_ERR_SIZE", "invalid size"},
    {MPI_ERR_SPAWN, "MPI_ERR_SPAWN", "processes could not be started"},
    {MPI_ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP", "data representation not supported"},
    {MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION", "operation not supported"},
    {MPI_ERR_WIN, "MPI_ERR_WIN", "invalid window"},
    {MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR", "wrong flavor of window"},
    {MPI_ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED", "a peer process ended"},
    {MPI_ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE", "value does not fit its type"},
    {MPI_ERR_SESSION, "MPI_ERR_SESSION", "invalid session"},
    {MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER", "invalid error handler"},
    {MPI_ERR_ABI, "MPI_ERR_ABI", "ABI mismatch"},
    {MPI_T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT", "the tool interface cannot be initialised"},
    {MPI_T_ERR_NOT_ACCESSIBLE, "MPI_T_ERR_NOT_ACCESSIBLE", "the tool interface is not accessible"},
    {MPI_T_ERR_NOT_INITIALIZED, "MPI_T_ERR_NOT_INITIALIZED", "the tool interface is not initialised"},
    {MPI_T_ERR_NOT_SUPPORTED, "MPI_T_ERR_NOT_SUPPORTED", "not supported by the tool interface"},
    {MPI_T_ERR_MEMORY, "MPI_T_ERR_MEMORY", "out of memory in the tool interface"},
    {MPI_T_ERR_INVALID, "MPI_T_ERR_INVALID", "invalid use of the tool interface"},
    {MPI_T_ERR_INVALID_INDEX, "MPI_T_ERR_INVALID_INDEX", "invalid index of a tool variable"},
    {MPI_T_ERR_INVALID_ITEM, "MPI_T_ERR_INVALID_ITEM", "invalid item of an enumeration"},
    {MPI_T_ERR_INVALID_SESSION, "MPI_T_ERR_INVALID_SESSION", "invalid tool session"},
    {MPI_T_ERR_INVALID_HANDLE, "MPI_T_ERR_INVALID_HANDLE", "invalid tool handle"},
    {MPI_T_ERR_INVALID_NAME, "MPI_T_ERR_INVALID_NAME", "no tool variable of that name"},
    {MPI_T_ERR_OUT_OF_HANDLES, "MPI_T_ERR_OUT_OF_HANDLES", "no tool handles left"},
    {MPI_T_ERR_OUT_OF_SESSIONS, "MPI_T_ERR_OUT_OF_SESSIONS", "no tool sessions left"},
    {MPI_T_ERR_CVAR_SET_NOT_NOW, "MPI_T_ERR_CVAR_SET_NOT_NOW", "the control variable cannot be set now"},
    {MPI_T_ERR_CVAR_SET_NEVER, "MPI_T_ERR_CVAR_SET_NEVER", "the control variable cannot be set"},
    {MPI_T_ERR_PVAR_NO_WRITE, "MPI_T_ERR_PVAR_NO_WRITE", "the performance variable cannot be written"},
    {MPI_T_ERR_PVAR_NO_STARTSTOP, "MPI_T_ERR_PVAR_NO_STARTSTOP",
     "the performance variable cannot be started or stopped"},
    {MPI_T_ERR_PVAR_NO_ATOMIC, "MPI_T_ERR_PVAR_NO_ATOMIC", "the performance variable cannot be read and reset at once"},
};

const Row* row_of(int code) {
  for (const Row& row : kRows)
    if (row.code == code) return &row;
  return nullptr;
}

struct Added {
  int mpi_class;  // equals the code when the entry is a class
  int users = 0;  // codes added to this class
  std::string text;
};

constinit std::mutex added_mutex;
std::map<int, Added>& added() {
  static std::map<int, Added> table;
  return table;
}
int next_code = MPI_ERR_LASTCODE + 1;

struct KeptSentence {
  int code = 0;
  char text[Status::kTextBytes] = {};
};
// Few classes fail in one program; the oldest entry gives way.
constexpr int kKept = 8;
struct KeptSentences {
  KeptSentence kept[kKept];
  int next = 0;
};
thread_local KeptSentences kept_sentences;

KeptSentence* kept_of(int code) {
  for (KeptSentence& f : kept_sentences.kept)
    if (f.code == code && code != MPI_SUCCESS) return &f;
  return nullptr;
}

}  // namespace

const char* error_class_name(int mpi_class) {
  const Row* row = row_of(mpi_class);
  return row ? row->name : "user error class";
}

const char* error_class_meaning(int mpi_class) {
  const Row* row = row_of(mpi_class);
  return row ? row->meaning : nullptr;
}

const char* meaning_beside(int mpi_class, const char* sentence) {
  if (mpi_class == MPI_ERR_OTHER && sentence[0] != '\0') return nullptr;
  const char* const meaning = error_class_meaning(mpi_class);
  return meaning ? meaning : "added by the user";
}

int error_class_of(int code) {
  if (row_of(code)) return code;
  const std::lock_guard guard(added_mutex);
  const auto found = added().find(code);
  return found == added().end() ? -1 : found->second.mpi_class;
}

void remember_failure(int code, const char* call, const char* communicator, const char* text) {
  KeptSentence* slot = kept_of(code);
  if (!slot) {
    slot = &kept_sentences.kept[kept_sentences.next];
    kept_sentences.next = (kept_sentences.next + 1) % kKept;
  }
  slot->code = code;
  if (communicator)
    std::snprintf(slot->text, sizeof slot->text, "%s on '%s': %s", call, communicator, text);
  else
    std::snprintf(slot->text, sizeof slot->text, "%s: %s", call, text);
}

const char* last_failure_text(int code) {
  const KeptSentence* found = kept_of(code);
  return found ? found->text : "";
}

bool describe_error(int code, char* out, int* length) {
  int n = 0;
  const int room = MPI_MAX_ERROR_STRING;
  if (const Row* row = row_of(code)) {
    const char* const last = last_failure_text(code);
    const char* const meaning = meaning_beside(code, last);
    if (!meaning)
      n = std::snprintf(out, room, "%s: %s", row->name, last);
    else if (last[0] != '\0')
      n = std::snprintf(out, room, "%s: %s (%s)", row->name, meaning, last);
    else
      n = std::snprintf(out, room, "%s: %s", row->name, meaning);
  } else {
    const std::lock_guard guard(added_mutex);
    const auto found = added().find(code);
    if (found == added().end()) return false;
    n = std::snprintf(out, room, "%s", found->second.text.c_str());
  }
  *length = std::min(n, room - 1);
  return true;
}

Status add_error_class(int* mpi_class) {
  const std::lock_guard guard(added_mutex);
  *mpi_class = next_code++;
  added()[*mpi_class] = Added{*mpi_class, 0, {}};
  return {};
}

Status add_error_code(int mpi_class, int* code) {
  const std::lock_guard guard(added_mutex);
  const auto found = added().find(mpi_class);
  const bool user_class = found != added().end() && found->second.mpi_class == mpi_class;
  if (!row_of(mpi_class) && !user_class)
    return fail(MPI_ERR_ARG, "code.unknown_class", {{"argument", "errorclass"}, {"value", mpi_class}});
  if (user_class) ++found->second.users;
  *code = next_code++;
  added()[*code] = Added{mpi_class, 0, {}};
  return {};
}

Status add_error_string(int code, const char* text) {
  const std::lock_guard guard(added_mutex);
  const auto found = added().find(code);
  if (found == added().end())
    return fail(MPI_ERR_ARG, "code.not_added",
                {{"argument", "errorcode"}, {"value", code}, {"call", "MPI_Add_error_class or MPI_Add_error_code"}});
  const std::size_t length = std::strlen(text);
  if (length >= MPI_MAX_ERROR_STRING)
    return fail(MPI_ERR_ARG, "argument.too_long",
                {{"argument", "string"}, {"length", length}, {"most", MPI_MAX_ERROR_STRING - 1}});
  found->second.text = text;
  return {};
}

Status remove_error_class(int mpi_class) {
  const std::lock_guard guard(added_mutex);
  const auto found = added().find(mpi_class);
  if (found == added().end() || found->second.mpi_class != mpi_class)
    return fail(MPI_ERR_ARG, "code.not_added",
                {{"argument", "errorclass"}, {"value", mpi_class}, {"call", "MPI_Add_error_class"}});
  if (found->second.users > 0)
    return fail(MPI_ERR_OTHER, "code.has_codes",
                {{"argument", "errorclass"}, {"value", mpi_class}, {"count", found->second.users}});
  if (!found->second.text.empty())
    return fail(MPI_ERR_OTHER, "code.has_text", {{"argument", "errorclass"}, {"value", mpi_class}});
  added().erase(found);
  return {};
}

Status remove_error_code(int code) {
  const std::lock_guard guard(added_mutex);
  const auto found = added().find(code);
  if (found == added().end() || found->second.mpi_class == code)
    return fail(MPI_ERR_ARG, "code.not_added",
                {{"argument", "errorcode"}, {"value", code}, {"call", "MPI_Add_error_code"}});
  if (!found->second.text.empty())
    return fail(MPI_ERR_OTHER, "code.has_text", {{"argument", "errorcode"}, {"value", code}});
  const auto owner = added().find(found->second.mpi_class);
  if (owner != added().end()) --owner->second.users;
  added().erase(found);
  return {};
}

Status remove_error_string(int code) {
  const std::lock_guard guard(added_mutex);
  const auto found = added().find(code);
  if (found == added().end() || found->second.text.empty())
    return fail(MPI_ERR_ARG, "code.no_text", {{"argument", "errorcode"}, {"value", code}});
  found->second.text.clear();
  return {};
}

int last_used_code() {
  const std::lock_guard guard(added_mutex);
  return next_code - 1;
}

}  // namespace ashlar
