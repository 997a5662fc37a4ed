#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Errhandler;
class File;
class Session;
class Window;
struct Object;
}  // namespace ashlar
/// The error handling calls of MPI-5.0, chapter 9.3-9.5.
namespace ashlar::errhandler {

Status comm_create(MPI_Comm_errhandler_function* function, Errhandler** handler);
Status comm_set(Comm& comm, Errhandler& handler);
Status comm_get(Comm& comm, Errhandler** handler);
Status comm_call(Comm& comm, int code);
Status win_create(MPI_Win_errhandler_function* function, Errhandler** handler);
Status file_create(MPI_File_errhandler_function* function, Errhandler** handler);
Status win_set(Window& window, Errhandler& handler);
Status win_get(Window& window, Errhandler** handler);
Status win_call(Window& window, int code);
/// MPI_FILE_NULL comes as no_file().
Status file_set(File& file, Errhandler& handler);
Status file_get(File& file, Errhandler** handler);
Status file_call(File& file, int code);
Status session_create(MPI_Session_errhandler_function* function, Errhandler** handler);
Status session_set(Session& session, Errhandler& handler);
Status session_get(Session& session, Errhandler** handler);
Status session_call(Session& session, int code);
/// What the calls of every kind of object come down to; `call` is the name of the one that is made.
Status set(Object& on, Errhandler& handler);
Status get(Object& on, Errhandler** handler);
Status call_handler(Object& on, int code, const char* call);
Status free(Errhandler** handler);
Status error_class(int code, int* mpi_class);
Status error_string(int code, char* text, int* length);
Status add_error_class(int* mpi_class);
Status add_error_code(int mpi_class, int* code);
Status add_error_string(int code, const char* text);
Status remove_error_class(int mpi_class);
Status remove_error_code(int code);
Status remove_error_string(int code);

}  // namespace ashlar::errhandler
