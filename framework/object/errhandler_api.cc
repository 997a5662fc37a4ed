#include "framework/object/errhandler_api.h"

#include "framework/object/comm.h"
#include "framework/object/errhandler.h"
#include "framework/object/error_text.h"

namespace ashlar {

Errhandler* make_errhandler(Kind of, Errhandler::Function function);

namespace errhandler {

Status comm_create(MPI_Comm_errhandler_function* function, Errhandler** handler) {
  *handler = make_errhandler(Kind::kComm, reinterpret_cast<Errhandler::Function>(function));
  return *handler ? Status{} : Status::fail(MPI_ERR_NO_MEM, "no memory for another error handler");
}

Status comm_set(Comm& comm, Errhandler& handler) {
  if (handler.action == Errhandler::Action::kCall && handler.of != Kind::kComm)
    return Status::fail(MPI_ERR_ARG, "argument errhandler was not made for communicators");
  comm.errhandler = Ref<Errhandler>::share(handler);
  return {};
}

Status comm_get(Comm& comm, Errhandler** handler) {
  *handler = Ref<Errhandler>(comm.errhandler).detach();
  return {};
}

Status comm_call(Comm& comm, int code) {
  const int mpi_class = error_class_of(code);
  if (mpi_class < 0) return Status::fail(MPI_ERR_ARG, "argument errorcode is %d, which is no error code", code);
  const Status given = Status::fail(code, "error code %d given to MPI_Comm_call_errhandler", code);
  // The call itself succeeds when the handler returns (MPI-5.0, 9.5).
  [[maybe_unused]] const int returned = raise(given, "MPI_Comm_call_errhandler", &comm);
  return {};
}

Status free(Errhandler** handler) {
  release(*handler);
  *handler = nullptr;
  return {};
}

Status error_class(int code, int* mpi_class) {
  *mpi_class = error_class_of(code);
  if (*mpi_class >= 0) return {};
  *mpi_class = MPI_ERR_UNKNOWN;
  return Status::fail(MPI_ERR_ARG, "argument errorcode is %d, which is no error code", code);
}

Status error_string(int code, char* text, int* length) {
  if (describe_error(code, text, length)) return {};
  text[0] = '\0';
  *length = 0;
  return Status::fail(MPI_ERR_ARG, "argument errorcode is %d, which is no error code", code);
}

Status add_error_class(int* mpi_class) { return ashlar::add_error_class(mpi_class); }
Status add_error_code(int mpi_class, int* code) { return ashlar::add_error_code(mpi_class, code); }
Status add_error_string(int code, const char* text) { return ashlar::add_error_string(code, text); }
Status remove_error_class(int mpi_class) { return ashlar::remove_error_class(mpi_class); }
Status remove_error_code(int code) { return ashlar::remove_error_code(code); }
Status remove_error_string(int code) { return ashlar::remove_error_string(code); }

}  // namespace errhandler
}  // namespace ashlar
