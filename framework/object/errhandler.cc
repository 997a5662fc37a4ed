#include "framework/object/errhandler.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "framework/base/failure_ring.h"
#include "framework/base/flush_streams.h"
#include "framework/base/log.h"
#include "framework/object/caller.h"
#include "framework/object/comm.h"
#include "framework/object/comm_owner.h"
#include "framework/object/error_record.h"
#include "framework/object/error_text.h"
#include "framework/object/events.h"
#include "framework/object/file.h"
#include "framework/object/handle.h"
#include "framework/object/pool.h"
#include "framework/object/pvars.h"
#include "framework/object/session.h"
#include "framework/object/window.h"

namespace ashlar {

ErrorHooks error_hooks;
constinit std::atomic<WindowOf> window_of = nullptr;

namespace {

constinit Pool<Errhandler> pool{PoolName::kErrhandlers};
constinit Errhandler fatal{Errhandler::Action::kAbortAll, Kind::kComm, nullptr};
constinit Errhandler abort_object{Errhandler::Action::kAbortObject, Kind::kComm, nullptr};
constinit Errhandler give_back{Errhandler::Action::kReturn, Kind::kComm, nullptr};
constinit thread_local Comm* blamed = nullptr;  // with a reference of its own

enum class Ends { kAll, kGroup, kThisProcess };

/// `subject`: the object to name, or nullptr.
[[noreturn]] void end_process(Status status, const char* call, const ErrorSubject* subject, Ends ends) {
  const bool alone = ends == Ends::kThisProcess || (ends == Ends::kGroup && subject && !subject->comm);
  const ErrorRecord record(status, call, subject, !alone);
  const bool reported = error_hooks.report && error_hooks.report(record.fields());
  if (error_hooks.abort && !alone)
    error_hooks.abort(ends == Ends::kGroup && subject ? subject->comm : nullptr, status.mpi_class(), record.words());
  flush_streams();  // _exit() does not; error_hooks.abort has its own
  if (!reported) log::paragraph(log::Level::error, "mpi", record.words());
  ::_exit(1);
}

/// A failure that the program gets back, and may never look at.
void report_returned(Status status, const char* call, const ErrorSubject* subject) {
  const ErrorRecord record(status, call, subject, false);
  if (!error_hooks.report || !error_hooks.report(record.fields()))
    log::paragraph(log::Level::error, "mpi", record.words());
}

void* null_handle_of(Kind kind) {
  switch (kind) {
    case Kind::kSession:
      return MPI_SESSION_NULL;
    case Kind::kWin:
      return MPI_WIN_NULL;
    case Kind::kFile:
      return MPI_FILE_NULL;
    default:
      return MPI_COMM_NULL;
  }
}

/// Calls the user's function with the handle of its kind, the null handle when `on` is null.
void call_user(const Errhandler& handler, Object* on, int code) {
  void* handle = on ? handle_bits(on) : null_handle_of(handler.of);
  switch (handler.of) {
    case Kind::kComm:
      return reinterpret_cast<MPI_Comm_errhandler_function*>(handler.function)(reinterpret_cast<MPI_Comm*>(&handle),
                                                                               &code);
    case Kind::kSession:
      return reinterpret_cast<MPI_Session_errhandler_function*>(handler.function)(
          reinterpret_cast<MPI_Session*>(&handle), &code);
    case Kind::kWin:
      return reinterpret_cast<MPI_Win_errhandler_function*>(handler.function)(reinterpret_cast<MPI_Win*>(&handle),
                                                                              &code);
    case Kind::kFile:
      return reinterpret_cast<MPI_File_errhandler_function*>(handler.function)(reinterpret_cast<MPI_File*>(&handle),
                                                                               &code);
    default:
      return;
  }
}

}  // namespace

Errhandler& errors_are_fatal() { return fatal; }
Errhandler& errors_abort() { return abort_object; }
Errhandler& errors_return() { return give_back; }

const Counter& errhandlers_alive() { return pool.out_level(); }

Errhandler* make_errhandler(Kind of, Errhandler::Function function) {
  return pool.take(Errhandler::Action::kCall, of, function);
}

void destroy(Errhandler* handler) {
  if (handler->predefined == 0) pool.put(handler);
}

void blame(Comm& comm) noexcept {
  if (blamed) error_hooks.release_comm(blamed);
  comm.references.fetch_add(1, std::memory_order_relaxed);
  blamed = &comm;
}

bool subject_of(Object& object, ErrorSubject* subject) {
  if (object.kind == Kind::kComm) {
    auto& comm = static_cast<Comm&>(object);
    *subject = {.handler = &comm.errhandler,
                .what = "communicator",
                .name = comm.name.c_str(),
                .rank = comm.rank,
                .size = comm.size,
                .comm = &comm,
                .world = comm.predefined != 0};
    return true;
  }
  if (object.kind == Kind::kSession) {
    auto& session = static_cast<Session&>(object);
    *subject = {.handler = &session.errhandler, .what = "session", .name = session.name};
    return true;
  }
  if (object.kind == Kind::kWin) {
    auto& window = static_cast<Window&>(object);
    // A window without a name is called as its communicator is: by a number that all of its processes know.
    const bool named = !window.name.empty() || window.comm == nullptr;
    *subject = {.handler = &window.errhandler,
                .what = "window",
                .name = named ? window.name.c_str() : window.comm->name.c_str(),
                .comm = window.comm};
    if (window.comm) subject->rank = window.comm->rank, subject->size = window.comm->size;
    return true;
  }
  if (object.kind == Kind::kFile) {
    auto& file = static_cast<File&>(object);
    const bool open = &file != &no_file();
    *subject = {
        .handler = &file.errhandler, .what = "file", .name = open ? file.name.c_str() : nullptr, .comm = file.comm};
    if (file.comm) subject->rank = file.comm->rank, subject->size = file.comm->size;
    return true;
  }
  return false;
}

void end_job(Status status, const char* call) noexcept { end_process(status, call, nullptr, Ends::kAll); }

namespace {

/// The file or window whose own communicator `comm` is, and otherwise `comm`.
Object& owner_of(Comm& comm) {
  if (File* const file = no_file().file_of(comm)) return *file;
  const WindowOf find = window_of.load(std::memory_order_acquire);
  Object* const window = find != nullptr ? find(comm) : nullptr;
  return window != nullptr ? *window : comm;
}

}  // namespace

int raise(Status status, const char* call, Object* on) noexcept {
  if (error_hooks.forked && status.mpi_class() == MPI_ERR_PROC_ABORTED) status = fail(MPI_ERR_OTHER, "process.forked");
  Comm* const failed_on = std::exchange(blamed, nullptr);
  if (!on) on = failed_on;
  if (on && on->kind == Kind::kComm) on = &owner_of(static_cast<Comm&>(*on));
  ErrorSubject subject;
  // A constructor was given the handler of an object that does not exist yet.
  Errhandler* const given = on && on->kind == Kind::kErrhandler ? static_cast<Errhandler*>(on) : nullptr;
  Object* handled_by = on && subject_of(*on, &subject) ? on : nullptr;
  const ErrorSubject* const named = handled_by && subject.name ? &subject : nullptr;
  const int code = status.mpi_class();
  if (std::strchr(status.text(), '[') && called_from_fortran()) name_elements_from_one(status);
  remember_failure(code, call, named ? named->name : nullptr, status.text());
  Errhandler* handler = error_hooks.initial;
  if (!handled_by && !given && error_hooks.without_object) handled_by = error_hooks.without_object();
  if (ErrorSubject of; handled_by && subject_of(*handled_by, &of)) handler = of.handler->get();
  if (given) handler = given;
  if (!handler) handler = &fatal;
  tell_handler_called(*handler, code, handled_by);
  switch (handler->action) {
    case Errhandler::Action::kReturn:
      if (handled_by && handled_by->kind == Kind::kFile && no_file().reports_returned.load(std::memory_order_relaxed))
        report_returned(status, call, named);
      break;
    case Errhandler::Action::kAbortAll:
      end_process(status, call, named, Ends::kAll);
    case Errhandler::Action::kAbortObject:
      end_process(status, call, named, given ? Ends::kThisProcess : Ends::kGroup);
    case Errhandler::Action::kCall: {
      // The handler may free itself or its object.
      const Ref<Errhandler> keep = Ref<Errhandler>::share(*handler);
      if (handled_by || given) call_user(*handler, handled_by, code);
      break;
    }
  }
  if (failed_on) error_hooks.release_comm(failed_on);
  return code;
}

}  // namespace ashlar
