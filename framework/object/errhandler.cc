#include "framework/object/errhandler.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "framework/base/log.h"
#include "framework/object/comm.h"
#include "framework/object/error_text.h"
#include "framework/object/handle.h"
#include "framework/object/pool.h"

namespace ashlar {

ErrorHooks error_hooks;

namespace {

constinit Pool<Errhandler> pool;
constinit Errhandler fatal{Errhandler::Action::kAbortAll, Kind::kComm, nullptr};
constinit Errhandler abort_object{Errhandler::Action::kAbortObject, Kind::kComm, nullptr};
constinit Errhandler give_back{Errhandler::Action::kReturn, Kind::kComm, nullptr};
constinit thread_local Ref<Comm> blamed;

[[noreturn]] void end_process(Comm* comm, int code, const char* call, const char* text) {
  char reason[768];
  if (comm)
    std::snprintf(reason, sizeof reason, "%s on communicator '%s' failed: %s: %s", call, comm->name.c_str(),
                  error_class_name(error_class_of(code)), text);
  else
    std::snprintf(reason, sizeof reason, "%s failed: %s: %s", call, error_class_name(error_class_of(code)), text);
  if (error_hooks.abort) error_hooks.abort(comm, code, reason);
  log::line(log::Level::error, "mpi", "%s", reason);
  ::_exit(1);
}

}  // namespace

Errhandler& errors_are_fatal() { return fatal; }
Errhandler& errors_abort() { return abort_object; }
Errhandler& errors_return() { return give_back; }

Errhandler* make_errhandler(Kind of, Errhandler::Function function) {
  return pool.take(Errhandler::Action::kCall, of, function);
}

void destroy(Errhandler* handler) {
  if (handler->predefined == 0) pool.put(handler);
}

void blame(Comm& comm) noexcept { blamed = Ref<Comm>::share(comm); }

int raise(Status status, const char* call, Comm* comm) noexcept {
  const Ref<Comm> failed_on = std::move(blamed);
  if (!comm) comm = failed_on.get();
  const int code = status.mpi_class();
  remember_failure(code, call, comm ? comm->name.c_str() : nullptr, status.text());
  Comm* handled_by = comm ? comm : (error_hooks.comm_self ? error_hooks.comm_self() : nullptr);
  Errhandler* handler = handled_by ? handled_by->errhandler.get() : error_hooks.initial;
  if (!handler) handler = &fatal;
  switch (handler->action) {
    case Errhandler::Action::kReturn:
      break;
    case Errhandler::Action::kAbortAll:
      end_process(nullptr, code, call, last_failure_text(code));
    case Errhandler::Action::kAbortObject:
      end_process(handled_by, code, call, last_failure_text(code));
    case Errhandler::Action::kCall: {
      // The handler may free itself or its communicator.
      const Ref<Errhandler> keep = Ref<Errhandler>::share(*handler);
      MPI_Comm handle = to_handle<MPI_Comm>(handled_by);
      int code_for_user = code;
      reinterpret_cast<MPI_Comm_errhandler_function*>(handler->function)(&handle, &code_for_user);
      break;
    }
  }
  return code;
}

}  // namespace ashlar
