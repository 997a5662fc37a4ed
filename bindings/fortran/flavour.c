/* What the MPI library learns about the compiler: sizes of the default types, which others exist, what a LOGICAL holds.
 */
#include "flavour.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "handles.h"

/* The sizes in bytes of the kinds that exist, as a sum. */
#ifndef ASHLAR_F_INTEGERS
#define ASHLAR_F_INTEGERS (1 | 2 | 4 | 8)
#endif
#ifndef ASHLAR_F_LOGICALS
#define ASHLAR_F_LOGICALS (1 | 2 | 4 | 8)
#endif
#ifndef ASHLAR_F_REALS
#define ASHLAR_F_REALS (4 | 8)
#endif
#ifndef ASHLAR_F_REAL10
#define ASHLAR_F_REAL10 0
#endif

#define F_FLAVOUR_KEY "ashlar_flavour"

static int set_number(MPI_Info info, const char* key, int number) {
  char text[16];
  snprintf(text, sizeof text, "%d", number);
  return PMPI_Info_set(info, key, text);
}

static int set_supported(MPI_Info info, const char* base, int size, int sizes, int factor) {
  char key[48];
  snprintf(key, sizeof key, "mpi_%s%d_supported", base, size * factor);
  return PMPI_Info_set(info, key, (sizes & size) ? "true" : "false");
}

static int describe(MPI_Info info) {
  set_number(info, "mpi_logical_size", ASHLAR_F_LOGICAL);
  set_number(info, "mpi_integer_size", ASHLAR_F_INT);
  set_number(info, "mpi_real_size", ASHLAR_F_REAL);
  set_number(info, "mpi_double_precision_size", ASHLAR_F_DOUBLE);
  for (int size = 1; size <= 16; size *= 2) {
    set_supported(info, "logical", size, ASHLAR_F_LOGICALS, 1);
    set_supported(info, "integer", size, ASHLAR_F_INTEGERS, 1);
    if (size >= 2) {
      set_supported(info, "real", size, ASHLAR_F_REALS, 1);
      set_supported(info, "complex", size, ASHLAR_F_REALS, 2);
    }
  }
  PMPI_Info_set(info, "mpi_double_complex_supported", "true");
  PMPI_Info_set(info, "ashlar_real10_supported", ASHLAR_F_REAL10 ? "true" : "false");
  return PMPI_Info_set(info, F_FLAVOUR_KEY, ASHLAR_F_FLAVOUR);
}

/* Whether the types that are registered are those of this flavour. */
static int same_types(MPI_Info info, char* other, int size) {
  char text[16];
  int length = size, number = sizeof text, found = 0, known = 0;
  PMPI_Info_get_string(info, F_FLAVOUR_KEY, &length, other, &known);
  if (known) return strcmp(other, ASHLAR_F_FLAVOUR) == 0;
  PMPI_Info_get_string(info, "mpi_integer_size", &number, text, &found);
  snprintf(other, (size_t)size, "another library, with %s-byte INTEGER", found ? text : "some");
  return !found || text[0] == '0' + ASHLAR_F_INT;
}

static void set_booleans(void) {
  f_logical yes = ASHLAR_F_TRUE, no = ASHLAR_F_FALSE, registered_yes, registered_no;
  int is_set = 0;
  if (PMPI_Abi_get_fortran_booleans(ASHLAR_F_LOGICAL, &registered_yes, &registered_no, &is_set) == MPI_SUCCESS &&
      !is_set)
    PMPI_Abi_set_fortran_booleans(ASHLAR_F_LOGICAL, &yes, &no);
}

int f_over_ashlar(void) {
  static atomic_int known; /* 1: no, 2: yes */
  int answer = atomic_load_explicit(&known, memory_order_relaxed);
  if (answer == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    answer = PMPI_Get_library_version(version, &length) == MPI_SUCCESS && strstr(version, "Ashlar") ? 2 : 1;
    atomic_store(&known, answer);
  }
  return answer == 2;
}

void f_register(enum f_when when, int* code) {
  if (when != (f_over_ashlar() ? F_BEFORE_START : F_AFTER_START)) return;
  MPI_Info info = MPI_INFO_NULL;
  char other[MPI_MAX_INFO_VAL + 1] = "";
  if (PMPI_Abi_get_fortran_info(&info) != MPI_SUCCESS) return; /* a library without this part of the ABI */
  if (info != MPI_INFO_NULL && info != (MPI_Info)0) {
    const int same = same_types(info, other, sizeof other);
    PMPI_Info_free(&info);
    if (same) return;
    fprintf(stderr,
            "libmpifort_abi: the Fortran library of %s was loaded before that of %s; a process can have one, so link"
            " all of the program with the mpifort of one of them (mpifort --fc COMPILER -show)\n",
            other, ASHLAR_F_FLAVOUR);
    *code = MPI_ERR_ABI;
    return;
  }
  if (PMPI_Info_create(&info) != MPI_SUCCESS) return;
  if (describe(info) == MPI_SUCCESS) PMPI_Abi_set_fortran_info(info);
  PMPI_Info_free(&info);
  set_booleans();
}
