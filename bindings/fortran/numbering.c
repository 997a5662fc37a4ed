#include "numbering.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "flavour.h"
#include "handles.h"
#include "pending.h"

struct f_numbering f_numbering = {F_NOWHERE, F_NONE_ABOVE};

/* What `info` is, by the rule and as the library says, as a proof of both. */
static int holds(MPI_Info info, uintptr_t first) {
  const uintptr_t number = ((uintptr_t)info - first) / F_STEP + F_PREDEFINED;
  return first > 2 * F_PREDEFINED * F_STEP && f_is_number(number) && PMPI_Info_toint(info) == (int)number &&
         PMPI_Info_fromint((int)number) == info;
}

static int learn(void) {
  MPI_Info info = MPI_INFO_NULL;
  char step[16] = "";
  int length = sizeof step, found = 0;
  if (!f_over_ashlar() || PMPI_Abi_get_info(&info) != MPI_SUCCESS) return 0;
  PMPI_Info_get_string(info, "ashlar_handle_step", &length, step, &found);
  const uintptr_t first = (uintptr_t)PMPI_Info_fromint(F_PREDEFINED);
  const int known = found && atoi(step) == F_STEP && holds(info, first);
  PMPI_Info_free(&info);
  if (!known) return 0;
  __atomic_store_n(&f_numbering.zero, first - F_PREDEFINED * F_STEP, __ATOMIC_RELAXED);
  atomic_store_explicit(&f_numbering.above, F_PREDEFINED - 1, memory_order_release);
  f_rule_for_requests();
  return 1;
}

int f_numbering_known(void) {
  static atomic_int known; /* 1: no, 2: yes */
  int answer = atomic_load_explicit(&known, memory_order_acquire);
  if (answer == 0) atomic_store_explicit(&known, answer = learn() ? 2 : 1, memory_order_release);
  return answer == 2;
}

/* What handles.h has inline, for the handles that it leaves. */
#define F_HANDLE(name, Type, Class, often)                                                         \
  Type f_##name##_asked(f_int value) {                                                             \
    if (F_DIRECT(value)) return (Type)(uintptr_t)(f_number_bits)value;                             \
    if (f_numbering_known() && f_is_above(value, f_rule_above())) return (Type)f_handle_at(value); \
    return PMPI_##Class##_fromint(F_INT(value));                                                   \
  }                                                                                                \
  f_int f_##name##_int_asked(Type handle) {                                                        \
    const uintptr_t bits = (uintptr_t)handle;                                                      \
    if (bits < F_PREDEFINED) return (f_int)bits;                                                   \
    if (f_numbering_known() && f_is_number(f_number_at(bits))) return (f_int)f_number_at(bits);    \
    return PMPI_##Class##_toint(handle);                                                           \
  }
F_HANDLES(F_HANDLE)

void f_return_asked(f_int* request, MPI_Request handle, f_int* ierror, int code) {
  *request = f_request_int_asked(handle);
  f_return(ierror, code);
}
