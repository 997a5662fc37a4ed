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
constinit thread_local Comm* blamed = nullptr;  // with a reference of its own

/// `failed_on`: the communicator to name, or null. `ended`: the one whose processes end; null: all.
[[noreturn]] void end_process(Status status, const char* call, Comm* failed_on, Comm* ended) {
  const char* meaning = error_class_meaning(status.mpi_class());
  if (error_hooks.report) {
    ashlar_error_record record{};
    record.size = sizeof record;
    record.call = call;
    record.class_name = error_class_name(status.mpi_class());
    record.mpi_class = record.mpi_code = status.mpi_class();
    record.text = *status.text() ? status.text() : meaning ? meaning : "added by the user";
    record.fatal = 1;
    if (failed_on) {
      record.has = ASHLAR_HAS_RANK;
      record.object_kind = "communicator";
      record.object_name = failed_on->name.c_str();
      record.rank = failed_on->rank;
      record.object_size = failed_on->size;
    }
    error_hooks.report(record);
  }
  char reason[768];
  std::snprintf(reason, sizeof reason, "%s%s%s%s failed: %s (%s): %s", call, failed_on ? " on communicator '" : "",
                failed_on ? failed_on->name.c_str() : "", failed_on ? "'" : "", error_class_name(status.mpi_class()),
                meaning ? meaning : "added by the user",
                status.text());
  if (error_hooks.abort) error_hooks.abort(ended, status.mpi_class(), reason);
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

void blame(Comm& comm) noexcept {
  if (blamed) error_hooks.release_comm(blamed);
  comm.references.fetch_add(1, std::memory_order_relaxed);
  blamed = &comm;
}

int raise(Status status, const char* call, Comm* comm) noexcept {
  Comm* const failed_on = std::exchange(blamed, nullptr);
  if (!comm) comm = failed_on;
  const int code = status.mpi_class();
  remember_failure(code, call, comm ? comm->name.c_str() : nullptr, status.text());
  Comm* handled_by = comm ? comm : (error_hooks.comm_self ? error_hooks.comm_self() : nullptr);
  Errhandler* handler = handled_by ? handled_by->errhandler.get() : error_hooks.initial;
  if (!handler) handler = &fatal;
  switch (handler->action) {
    case Errhandler::Action::kReturn:
      break;
    case Errhandler::Action::kAbortAll:
      end_process(status, call, comm, nullptr);
    case Errhandler::Action::kAbortObject:
      end_process(status, call, comm, handled_by);
    case Errhandler::Action::kCall: {
      // The handler may free itself or its communicator.
      const Ref<Errhandler> keep = Ref<Errhandler>::share(*handler);
      MPI_Comm handle = to_handle<MPI_Comm>(handled_by);
      int code_for_user = code;
      reinterpret_cast<MPI_Comm_errhandler_function*>(handler->function)(&handle, &code_for_user);
      break;
    }
  }
  if (failed_on) error_hooks.release_comm(failed_on);
  return code;
}

}  // namespace ashlar
