#include "kept.h"

#include <pthread.h>
#include <stdlib.h>

_Atomic(struct f_kept*) f_kept_sets[F_KEPT_SETS][F_KEPT_WAYS];

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static enum { kNotAsked, kKeeping, kNotKeeping } state; /* under the guard */
static unsigned next_way;                               /* the same */

static void take_out(_Atomic(struct f_kept*)* slot) {
  struct f_kept* const kept = atomic_exchange(slot, NULL);
  if (!kept) return;
  PMPI_Type_free(&kept->made);
  free(kept);
}

int f_kept_fits_above(const struct f_kept* kept, const f_section* section) {
  int d = section->rank;
  while (--d > 0 && f_kept_fits(kept, section, d)) continue;
  return d == 0;
}

/* MPI_Finalize begins with the attributes of MPI_COMM_SELF, while everything still works. */
static int finalize(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  (void)comm, (void)keyval, (void)value, (void)extra_state;
  pthread_mutex_lock(&guard);
  state = kNotKeeping;
  for (int set = 0; set < F_KEPT_SETS; ++set)
    for (int way = 0; way < F_KEPT_WAYS; ++way) take_out(&f_kept_sets[set][way]);
  pthread_mutex_unlock(&guard);
  return MPI_SUCCESS;
}

/* Whether there is an MPI_COMM_SELF that says when to stop. A program with sessions alone has none, and keeps nothing.
 */
static int keeping(void) {
  int keyval, started = 0, ended = 0;
  if (state != kNotAsked) return state == kKeeping;
  if (PMPI_Initialized(&started) != MPI_SUCCESS || PMPI_Finalized(&ended) != MPI_SUCCESS || !started || ended) return 0;
  state = kNotKeeping;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &keyval, NULL) != MPI_SUCCESS) return 0;
  if (PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL) == MPI_SUCCESS) state = kKeeping;
  PMPI_Comm_free_keyval(&keyval);
  return state == kKeeping;
}

/* Another thread may be in a call with what it found. */
static int others_may_look(void) {
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/* A free place in the set, else one whose entry goes; NULL if none may go. */
static _Atomic(struct f_kept*)* place_in(_Atomic(struct f_kept*)* set) {
  for (int way = 0; way < F_KEPT_WAYS; ++way)
    if (!atomic_load(&set[way])) return &set[way];
  if (others_may_look()) return NULL;
  _Atomic(struct f_kept*)* const place = &set[next_way++ % F_KEPT_WAYS];
  take_out(place);
  return place;
}

int f_keep_type(const f_section* section, MPI_Count count, f_int of, MPI_Count blocks, MPI_Datatype made) {
  if (!F_DIRECT(of) || section->rank > F_KEPT_RANKS) return 0;
  struct f_kept* const kept = malloc(sizeof *kept);
  if (!kept) return 0;
  *kept = (struct f_kept){made, count, f_kept_what(section, of, blocks), section->elem_len};
  for (int d = 0; d < section->rank; ++d) {
    kept->dim[d].distance = f_distance(section, d);
    kept->dim[d].steps = f_steps(section, d);
  }
  pthread_mutex_lock(&guard);
  /* Another thread may have been here with the same. */
  const int wanted = keeping() && !f_kept_of(section, count, of, blocks);
  _Atomic(struct f_kept*)* const place = wanted ? place_in(f_kept_set(section, count)) : NULL;
  if (place) atomic_store_explicit(place, kept, memory_order_release);
  pthread_mutex_unlock(&guard);
  if (!place) free(kept);
  return place != NULL;
}
