/* A counter of the library, as this process has it from counting_begin() on. */
#ifndef ASHLAR_TESTS_MPI_RMA_COUNTED_H
#define ASHLAR_TESTS_MPI_RMA_COUNTED_H

#include "check.h"

static MPI_T_pvar_session counted_session;
static MPI_T_pvar_handle counted_variable;

/* A counter of a component is there once the component is loaded. */
static void counting_begin(const char* name) {
  int provided, index, count, continuous;
  MUST(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  MUST(MPI_T_pvar_session_create(&counted_session));
  MUST(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
  MUST(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &continuous, NULL));
  MUST(MPI_T_pvar_handle_alloc(counted_session, index, NULL, &counted_variable, &count));
  if (!continuous) MUST(MPI_T_pvar_start(counted_session, counted_variable));
}

static unsigned long long counted(void) {
  unsigned long long value = 0;
  MUST(MPI_T_pvar_read(counted_session, counted_variable, &value));
  return value;
}

static void counting_end(void) {
  MUST(MPI_T_pvar_session_free(&counted_session));
  MUST(MPI_T_finalize());
}

#endif
