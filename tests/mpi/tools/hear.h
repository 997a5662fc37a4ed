/* What the tests of single events and variables share: a listener that keeps the fields of what it hears, and reading
 * variables by name. */
#ifndef ASHLAR_TESTS_HEAR_H
#define ASHLAR_TESTS_HEAR_H
#include "check.h"

typedef unsigned long long Value;
enum { kHeardMost = 512, kFieldsMost = 8 };

typedef struct {
  const char* name;
  int index, fields, count;
  MPI_Datatype types[kFieldsMost];
  long long of[kHeardMost][kFieldsMost];
  MPI_T_event_registration registration;
} Hear;

static void hear_one(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void* data) {
  Hear* hear = data;
  (void)registration, (void)safety;
  if (hear->count == kHeardMost) return;
  for (int f = 0; f < hear->fields; ++f) {
    if (hear->types[f] == MPI_INT) {
      int value = 0;
      CHECK_EQ(MPI_T_event_read(instance, f, &value), MPI_SUCCESS);
      hear->of[hear->count][f] = value;
    } else {
      Value value = 0;
      CHECK_EQ(MPI_T_event_read(instance, f, &value), MPI_SUCCESS);
      hear->of[hear->count][f] = (long long)value;
    }
  }
  ++hear->count;
}

static inline void hear_begin(Hear* hear, const char* name) {
  memset(hear, 0, sizeof *hear);
  hear->name = name;
  hear->fields = kFieldsMost;
  CHECK_EQ(MPI_T_event_get_index(name, &hear->index), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_get_info(hear->index, NULL, NULL, NULL, hear->types, NULL, &hear->fields, NULL, NULL, NULL, NULL,
                                NULL),
           MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_handle_alloc(hear->index, NULL, MPI_INFO_NULL, &hear->registration), MPI_SUCCESS);
  CHECK_EQ(MPI_T_event_register_callback(hear->registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, hear,
                                         hear_one),
           MPI_SUCCESS);
}

static inline void hear_end(Hear* hear) {
  CHECK_EQ(MPI_T_event_handle_free(hear->registration, NULL, NULL), MPI_SUCCESS);
}

/* The number of the field called by its place in the list that the event's text gives; the n-th record with `value`
 * there, from `from` on, or -1. */
static inline int hear_find(const Hear* hear, int from, int field, long long value) {
  for (int i = from; i < hear->count; ++i)
    if (hear->of[i][field] == value) return i;
  return -1;
}

/* The word that the event's enumeration has for `value`. */
static inline const char* hear_word(const Hear* hear, long long value) {
  static char word[100];
  int length = sizeof word, number = 0;
  MPI_T_enum words = MPI_T_ENUM_NULL;
  CHECK_EQ(MPI_T_event_get_info(hear->index, NULL, NULL, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL),
           MPI_SUCCESS);
  CHECK_EQ(MPI_T_enum_get_item(words, (int)value, &number, word, &length), MPI_SUCCESS);
  CHECK_EQ(number, value);
  return word;
}

/* A variable of a session, started if it can be. `comm`: what it is bound to, or MPI_COMM_NULL. */
typedef struct {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  int count;
} Pvar;

static inline Pvar pvar_begin(const char* name, int class, MPI_Comm* comm) {
  Pvar pvar;
  int index = -1, continuous = 0;
  CHECK_EQ(MPI_T_pvar_session_create(&pvar.session), MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS, "%s", name);
  CHECK_EQ(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &continuous, NULL),
           MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_handle_alloc(pvar.session, index, comm, &pvar.handle, &pvar.count), MPI_SUCCESS);
  if (!continuous) CHECK_EQ(MPI_T_pvar_start(pvar.session, pvar.handle), MPI_SUCCESS);
  return pvar;
}

static inline Value pvar_value(const Pvar* pvar, int element) {
  Value values[1024];
  CHECK(pvar->count <= 1024, "%d", pvar->count);
  CHECK_EQ(MPI_T_pvar_read(pvar->session, pvar->handle, values), MPI_SUCCESS);
  return values[element];
}

static inline void pvar_end(Pvar* pvar) { CHECK_EQ(MPI_T_pvar_session_free(&pvar->session), MPI_SUCCESS); }

#endif
