#include "callbacks.h"

#include <stdatomic.h>

#include "complain.h"
#include "handles.h"

enum { kReductions = 512, kHandlers = 128 };

/* The place of a procedure among those that are known, or a free one; -1 when there is none left. */
static int slot_of(_Atomic(f_procedure*)* known, int slots, f_procedure* procedure) {
  for (int slot = 0; slot < slots; ++slot) {
    f_procedure* expected = NULL;
    if (atomic_load(&known[slot]) == procedure) return slot;
    if (atomic_compare_exchange_strong(&known[slot], &expected, procedure) || expected == procedure) return slot;
  }
  return -1;
}

static int none_left(const char* call, int slots, const char* what) {
  return f_complain(MPI_COMM_NULL, MPI_WIN_NULL, MPI_ERR_NO_MEM, "%s: the program uses more than %d procedures as %s",
                    call, slots, what);
}

/* --- reductions
 * --------------------------------------------------------------------------------------------------------- */

typedef void reduction(void* in, void* inout, f_int* len, f_int* datatype);
typedef void reduction_large(void* in, void* inout, MPI_Count* len, f_int* datatype);
static _Atomic(f_procedure*) reductions[kReductions], reductions_large[kReductions];

static void reduce(int slot, void* in, void* inout, const int* len, const MPI_Datatype* type) {
  f_int n = *len, datatype = f_datatype_int(*type);
  ((reduction*)atomic_load_explicit(&reductions[slot], memory_order_relaxed))(in, inout, &n, &datatype);
}

static void reduce_large(int slot, void* in, void* inout, const MPI_Count* len, const MPI_Datatype* type) {
  MPI_Count n = *len;
  f_int datatype = f_datatype_int(*type);
  ((reduction_large*)atomic_load_explicit(&reductions_large[slot], memory_order_relaxed))(in, inout, &n, &datatype);
}

/* The numbers are octal digits, so that three of them make a name. */
#define REDUCTION(a, b, c)                                                                           \
  static void reduction_##a##b##c(void* in, void* inout, int* len, MPI_Datatype* type) {             \
    reduce(64 * a + 8 * b + c, in, inout, len, type);                                                \
  }                                                                                                  \
  static void reduction_large_##a##b##c(void* in, void* inout, MPI_Count* len, MPI_Datatype* type) { \
    reduce_large(64 * a + 8 * b + c, in, inout, len, type);                                          \
  }
#define NAME(a, b, c) reduction_##a##b##c,
#define NAME_LARGE(a, b, c) reduction_large_##a##b##c,
#define UNITS(X, a, b) X(a, b, 0) X(a, b, 1) X(a, b, 2) X(a, b, 3) X(a, b, 4) X(a, b, 5) X(a, b, 6) X(a, b, 7)
#define TENS(X, a) \
  UNITS(X, a, 0)   \
  UNITS(X, a, 1) UNITS(X, a, 2) UNITS(X, a, 3) UNITS(X, a, 4) UNITS(X, a, 5) UNITS(X, a, 6) UNITS(X, a, 7)
#define ALL(X) TENS(X, 0) TENS(X, 1) TENS(X, 2) TENS(X, 3) TENS(X, 4) TENS(X, 5) TENS(X, 6) TENS(X, 7)

ALL(REDUCTION)
static MPI_User_function* const reduction_entries[kReductions] = {ALL(NAME)};
static MPI_User_function_c* const reduction_large_entries[kReductions] = {ALL(NAME_LARGE)};

MPI_User_function* f_reduction(f_procedure* procedure, const char* call, int* code) {
  const int slot = slot_of(reductions, kReductions, procedure);
  if (slot >= 0) return reduction_entries[slot];
  *code = none_left(call, kReductions, "reduction operations");
  return NULL;
}

MPI_User_function_c* f_reduction_large(f_procedure* procedure, const char* call, int* code) {
  const int slot = slot_of(reductions_large, kReductions, procedure);
  if (slot >= 0) return reduction_large_entries[slot];
  *code = none_left(call, kReductions, "reduction operations");
  return NULL;
}

/* --- error handlers
 * ----------------------------------------------------------------------------------------------------- */

typedef void handler(f_int* object, f_int* code);

static void handle(f_procedure* procedure, f_int object, int code) {
  f_int f_code = code;
  ((handler*)procedure)(&object, &f_code);
}

#define HANDLER(name, Type, a, b, c)                                                           \
  static void name##_handler_##a##b##c(Type* object, int* code, ...) {                         \
    handle(atomic_load(&name##_handlers[64 * a + 8 * b + c]), f_##name##_int(*object), *code); \
  }
#define COMM_HANDLER(a, b, c) HANDLER(comm, MPI_Comm, a, b, c)
#define WIN_HANDLER(a, b, c) HANDLER(win, MPI_Win, a, b, c)
#define FILE_HANDLER(a, b, c) HANDLER(file, MPI_File, a, b, c)
#define SESSION_HANDLER(a, b, c) HANDLER(session, MPI_Session, a, b, c)
#define COMM_NAME(a, b, c) comm_handler_##a##b##c,
#define WIN_NAME(a, b, c) win_handler_##a##b##c,
#define FILE_NAME(a, b, c) file_handler_##a##b##c,
#define SESSION_NAME(a, b, c) session_handler_##a##b##c,

#define HANDLERS(name, NAME, Name)                                                                               \
  static _Atomic(f_procedure*) name##_handlers[kHandlers];                                                       \
  TENS(NAME##_HANDLER, 0)                                                                                        \
  TENS(NAME##_HANDLER, 1)                                                                                        \
  static MPI_##Name##_errhandler_function* const name##_handler_entries[kHandlers] = {TENS(NAME##_NAME, 0)       \
                                                                                          TENS(NAME##_NAME, 1)}; \
  MPI_##Name##_errhandler_function* f_##name##_handler(f_procedure* procedure, const char* call, int* code) {    \
    const int slot = slot_of(name##_handlers, kHandlers, procedure);                                             \
    if (slot >= 0) return name##_handler_entries[slot];                                                          \
    *code = none_left(call, kHandlers, "error handlers");                                                        \
    return NULL;                                                                                                 \
  }
HANDLERS(comm, COMM, Comm)
HANDLERS(win, WIN, Win)
HANDLERS(file, FILE, File)
HANDLERS(session, SESSION, Session)
