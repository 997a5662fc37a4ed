#include "framework/object/errhandler_api.h"

#include "framework/base/failure.h"
#include "framework/object/comm.h"
#include "framework/object/errhandler.h"
#include "framework/object/error_text.h"
#include "framework/object/file.h"
#include "framework/object/limit.h"
#include "framework/object/pvars.h"
#include "framework/object/session.h"
#include "framework/object/window.h"

namespace ashlar {

Errhandler* make_errhandler(Kind of, Errhandler::Function function);

namespace errhandler {

namespace {

template <class Function>
Status create(Kind of, Function* function, Errhandler** handler) {
  *handler = make_errhandler(of, reinterpret_cast<Errhandler::Function>(function));
  return *handler ? Status{} : object::none_left("another error handler", errhandlers_alive());
}

}  // namespace

Status comm_create(MPI_Comm_errhandler_function* function, Errhandler** handler) {
  return create(Kind::kComm, function, handler);
}
Status win_create(MPI_Win_errhandler_function* function, Errhandler** handler) {
  return create(Kind::kWin, function, handler);
}
Status file_create(MPI_File_errhandler_function* function, Errhandler** handler) {
  return create(Kind::kFile, function, handler);
}
Status session_create(MPI_Session_errhandler_function* function, Errhandler** handler) {
  return create(Kind::kSession, function, handler);
}

Status set(Object& on, Errhandler& handler) {
  ErrorSubject subject;
  if (!subject_of(on, &subject))
    return fail(MPI_ERR_INTERN, "internal.state", {{"what", "an object without an error handler"}});
  if (handler.action == Errhandler::Action::kCall && handler.of != on.kind)
    return fail(MPI_ERR_ARG, "argument.errhandler", {{"argument", "errhandler"}, {"kind", subject.what}});
  *subject.handler = Ref<Errhandler>::share(handler);
  if (on.kind == Kind::kComm) static_cast<Comm&>(on).errhandler_set = true;
  return {};
}

Status get(Object& on, Errhandler** handler) {
  ErrorSubject subject;
  if (!subject_of(on, &subject))
    return fail(MPI_ERR_INTERN, "internal.state", {{"what", "an object without an error handler"}});
  *handler = Ref<Errhandler>(*subject.handler).detach();
  return {};
}

Status call_handler(Object& on, int code, const char* call) {
  if (error_class_of(code) < 0) return fail(MPI_ERR_ARG, "code.unknown", {{"argument", "errorcode"}, {"value", code}});
  const Status given = fail(code, "code.raised", {{"value", code}, {"call", call}});
  // The call itself succeeds when the handler returns (MPI-5.0, 9.5).
  [[maybe_unused]] const int returned = raise(given, call, &on);
  return {};
}

Status comm_set(Comm& comm, Errhandler& handler) { return set(comm, handler); }
Status comm_get(Comm& comm, Errhandler** handler) { return get(comm, handler); }
Status comm_call(Comm& comm, int code) { return call_handler(comm, code, "MPI_Comm_call_errhandler"); }
Status session_set(Session& session, Errhandler& handler) { return set(session, handler); }
Status session_get(Session& session, Errhandler** handler) { return get(session, handler); }
Status session_call(Session& session, int code) { return call_handler(session, code, "MPI_Session_call_errhandler"); }

Status win_set(Window& window, Errhandler& handler) { return set(window, handler); }
Status win_get(Window& window, Errhandler** handler) { return get(window, handler); }
Status win_call(Window& window, int code) { return call_handler(window, code, "MPI_Win_call_errhandler"); }
Status file_set(File& file, Errhandler& handler) { return set(file, handler); }
Status file_get(File& file, Errhandler** handler) { return get(file, handler); }
Status file_call(File& file, int code) { return call_handler(file, code, "MPI_File_call_errhandler"); }

Status free(Errhandler** handler) {
  release(*handler);
  *handler = nullptr;
  return {};
}

Status error_class(int code, int* mpi_class) {
  *mpi_class = error_class_of(code);
  if (*mpi_class >= 0) return {};
  *mpi_class = MPI_ERR_UNKNOWN;
  return fail(MPI_ERR_ARG, "code.unknown", {{"argument", "errorcode"}, {"value", code}});
}

Status error_string(int code, char* text, int* length) {
  if (describe_error(code, text, length)) return {};
  text[0] = '\0';
  *length = 0;
  return fail(MPI_ERR_ARG, "code.unknown", {{"argument", "errorcode"}, {"value", code}});
}

Status add_error_class(int* mpi_class) { return ashlar::add_error_class(mpi_class); }
Status add_error_code(int mpi_class, int* code) { return ashlar::add_error_code(mpi_class, code); }
Status add_error_string(int code, const char* text) { return ashlar::add_error_string(code, text); }
Status remove_error_class(int mpi_class) { return ashlar::remove_error_class(mpi_class); }
Status remove_error_code(int code) { return ashlar::remove_error_code(code); }
Status remove_error_string(int code) { return ashlar::remove_error_string(code); }

}  // namespace errhandler
}  // namespace ashlar
