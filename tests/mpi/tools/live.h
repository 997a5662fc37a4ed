/* What the parts of tools_live.c share: writing control variables by name. */
#ifndef ASHLAR_TESTS_LIVE_H
#define ASHLAR_TESTS_LIVE_H
#include <time.h>

#include "hear.h"

enum { kText = 1024 };

static int index_of(const char* name) {
  int index = -1;
  CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS, "%s", name);
  return index;
}

/* Writes; returns what the library answers. `old`, if any, gets the value before. */
static int write_bytes(const char* name, const void* value, void* old) {
  MPI_T_cvar_handle handle;
  int count = 0;
  CHECK_EQ(MPI_T_cvar_handle_alloc(index_of(name), NULL, &handle, &count), MPI_SUCCESS);
  if (old) CHECK_EQ(MPI_T_cvar_read(handle, old), MPI_SUCCESS);
  const int code = MPI_T_cvar_write(handle, value);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  return code;
}
static Value put(const char* name, Value value) {
  Value old = 0;
  CHECK(write_bytes(name, &value, &old) == MPI_SUCCESS, "%s = %llu", name, value);
  return old;
}
static void put_choice(const char* name, int choice) {
  CHECK(write_bytes(name, &choice, NULL) == MPI_SUCCESS, "%s = %d", name, choice);
}

static void sleep_ms(int ms) {
  const struct timespec time = {.tv_sec = 0, .tv_nsec = ms * 1000000L};
  nanosleep(&time, NULL);
}

/* What `counter` of this process grows by while `work` runs. */
static Value grows_by(const char* counter, void (*work)(void)) {
  Pvar pvar = pvar_begin(counter, MPI_T_PVAR_CLASS_COUNTER, NULL);
  work();
  const Value grown = pvar_value(&pvar, 0);
  pvar_end(&pvar);
  return grown;
}

#endif
