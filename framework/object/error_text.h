#pragma once
#include "framework/base/status.h"

namespace ashlar {

/// Name ("MPI_ERR_RANK") and meaning of a predefined class; nullptr for others.
const char* error_class_name(int mpi_class);
const char* error_class_meaning(int mpi_class);

/// What stands for the class in front of `sentence`, which describes one failure; nullptr when the class adds nothing.
const char* meaning_beside(int mpi_class, const char* sentence);

/// The class of an error code: itself for classes, the class it was added to for user codes, -1 for neither.
int error_class_of(int code);

/// Keeps, per thread and class, the sentence of the last failure, which MPI_Error_string adds to the class's meaning.
/// A code is its class (so a program may compare the two, as many do); the sentence is found through it.
void remember_failure(int code, const char* call, const char* communicator, const char* text);
/// That sentence, or "".
const char* last_failure_text(int code);

/// MPI_Error_string's text for any code: at most MPI_MAX_ERROR_STRING - 1 characters into `out`; false: unknown code.
bool describe_error(int code, char* out, int* length);

/// MPI_Add_error_class and its kin. Thread-safe, any time after initialisation.
Status add_error_class(int* mpi_class);
Status add_error_code(int mpi_class, int* code);
Status add_error_string(int code, const char* text);
Status remove_error_class(int mpi_class);
Status remove_error_code(int code);
Status remove_error_string(int code);
/// The value of MPI_LASTUSEDCODE.
int last_used_code();

}  // namespace ashlar
