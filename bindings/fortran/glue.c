#include "bindings/fortran/glue.h"

#include <stdlib.h>

int ashlar_f08_bottom, ashlar_f08_in_place;

static void* special_or(void* address) {
  if (address == (void*)&ashlar_f08_bottom) return MPI_BOTTOM;
  if (address == (void*)&ashlar_f08_in_place) return MPI_IN_PLACE;
  return address;
}

static int wrong_buffer(MPI_Comm comm) {
  PMPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

/* The section as nested strided datatypes over `type`, innermost dimension first. */
static int describe(const CFI_cdesc_t* buffer, MPI_Datatype type, MPI_Datatype* made) {
  MPI_Datatype inner = type;
  for (int d = 0; d < buffer->rank; ++d) {
    MPI_Datatype outer;
    const int code = PMPI_Type_create_hvector_c(buffer->dim[d].extent, 1, buffer->dim[d].sm, inner, &outer);
    if (inner != type) PMPI_Type_free(&inner);
    if (code != MPI_SUCCESS) return code;
    inner = outer;
  }
  *made = inner;
  return PMPI_Type_commit(made);
}

int open_section(const CFI_cdesc_t* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm, struct section* out) {
  out->address = special_or(buffer->base_addr);
  out->count = count;
  out->type = type;
  out->made = 0;
  if (buffer->rank == 0 || CFI_is_contiguous(buffer)) return MPI_SUCCESS;
  MPI_Count elements = 1, bytes = 0;
  for (int d = 0; d < buffer->rank; ++d) elements *= buffer->dim[d].extent;
  const int code = PMPI_Type_size_c(type, &bytes);
  if (code != MPI_SUCCESS) return code;
  if (count != elements || bytes != (MPI_Count)buffer->elem_len) return wrong_buffer(comm);
  out->count = 1;
  out->made = 1;
  return describe(buffer, type, &out->type);
}

void close_section(struct section* section) {
  if (section->made) PMPI_Type_free(&section->type);
}

void* contiguous_address(const CFI_cdesc_t* buffer, MPI_Comm comm, int* code) {
  if (*code != MPI_SUCCESS) return NULL;
  if (buffer->rank == 0 || CFI_is_contiguous(buffer)) return special_or(buffer->base_addr);
  *code = wrong_buffer(comm);
  return NULL;
}

MPI_Datatype* datatypes_from_ints(const int* handles, int count) {
  MPI_Datatype* types = count > 0 ? malloc((size_t)count * sizeof *types) : NULL;
  for (int i = 0; types != NULL && i < count; ++i) types[i] = PMPI_Type_fromint(handles[i]);
  return types;
}

int peers_of(MPI_Comm comm) {
  int inter = 0, size = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  if (inter)
    PMPI_Comm_remote_size(comm, &size);
  else
    PMPI_Comm_size(comm, &size);
  return size;
}

/* A C reduction function gets no state of its own, so each Fortran function needs a C function that knows it. */
#define TRAMPOLINES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
enum { kTrampolines = 16 };
static fortran_user_function* targets[kTrampolines];

static void call_target(int slot, void* in, void* inout, int* len, MPI_Datatype* type) {
  int handle = PMPI_Type_toint(*type);
  targets[slot](in, inout, len, &handle);
}
#define TRAMPOLINE(n)                                                               \
  static void trampoline_##n(void* in, void* inout, int* len, MPI_Datatype* type) { \
    call_target(n, in, inout, len, type);                                           \
  }
TRAMPOLINES(TRAMPOLINE)
#define ENTRY(n) trampoline_##n,
static MPI_User_function* const entries[kTrampolines] = {TRAMPOLINES(ENTRY)};

MPI_User_function* user_function_for(fortran_user_function* function) {
  for (int slot = 0; slot < kTrampolines; ++slot) {
    fortran_user_function* expected = NULL;
    if (targets[slot] == function) return entries[slot];
    if (__atomic_compare_exchange_n(&targets[slot], &expected, function, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
        expected == function)
      return entries[slot];
  }
  return NULL;
}
