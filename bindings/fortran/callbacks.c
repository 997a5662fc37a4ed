#include "callbacks.h"

#include <stdatomic.h>

#include "complain.h"
#include "handles.h"
#include "stubs.h"

enum { kReductions = F_REDUCTION_STUBS, kHandlers = F_HANDLER_STUBS };

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

void f_reduce(void* in, void* inout, int* len, MPI_Datatype* type, int slot) {
  f_int n = *len, datatype = f_datatype_int(*type);
  ((reduction*)atomic_load_explicit(&reductions[slot], memory_order_relaxed))(in, inout, &n, &datatype);
}

void f_reduce_large(void* in, void* inout, MPI_Count* len, MPI_Datatype* type, int slot) {
  MPI_Count n = *len;
  f_int datatype = f_datatype_int(*type);
  ((reduction_large*)atomic_load_explicit(&reductions_large[slot], memory_order_relaxed))(in, inout, &n, &datatype);
}

MPI_User_function* f_reduction(f_procedure* procedure, const char* call, int* code) {
  const int slot = slot_of(reductions, kReductions, procedure);
  if (slot >= 0) return f_reduction_stub(slot);
  *code = none_left(call, kReductions, "reduction operations");
  return NULL;
}

MPI_User_function_c* f_reduction_large(f_procedure* procedure, const char* call, int* code) {
  const int slot = slot_of(reductions_large, kReductions, procedure);
  if (slot >= 0) return f_reduction_large_stub(slot);
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

#define HANDLERS(name, Name)                                                                                  \
  static _Atomic(f_procedure*) name##_handlers[kHandlers];                                                    \
  void f_##name##_handle(MPI_##Name* object, int* code, int slot) {                                           \
    handle(atomic_load(&name##_handlers[slot]), f_##name##_int(*object), *code);                              \
  }                                                                                                           \
  MPI_##Name##_errhandler_function* f_##name##_handler(f_procedure* procedure, const char* call, int* code) { \
    const int slot = slot_of(name##_handlers, kHandlers, procedure);                                          \
    if (slot >= 0) return f_##name##_stub(slot);                                                              \
    *code = none_left(call, kHandlers, "error handlers");                                                     \
    return NULL;                                                                                              \
  }
HANDLERS(comm, Comm)
HANDLERS(win, Win)
HANDLERS(file, File)
HANDLERS(session, Session)
