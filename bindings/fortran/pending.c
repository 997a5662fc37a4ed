#include "pending.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "flavour.h"
#include "handles.h"

struct piece {
  const struct f_work* work;
  void* of;
  struct piece* next;
};

struct f_pending {
  MPI_Request request;
  enum f_life life;
  int active; /* it has been started and is not complete */
  struct piece* pieces;
  struct f_pending* next;
};

enum { kBuckets = 256 };
static struct f_pending* table[kBuckets];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
atomic_int f_pending_count;
_Atomic(f_int) f_plain_above = F_NONE_ABOVE;

/* The guard is held. */
static void count(int more) {
  const int pending = atomic_fetch_add(&f_pending_count, more) + more;
  atomic_store_explicit(&f_plain_above, pending ? F_NONE_ABOVE : f_rule_above(), memory_order_release);
}

void f_rule_for_requests(void) {
  pthread_mutex_lock(&guard);
  count(0);
  pthread_mutex_unlock(&guard);
}

static struct f_pending** bucket_of(MPI_Request request) {
  const uintptr_t bits = (uintptr_t)request;
  return &table[(bits >> 4 ^ bits >> 12) % kBuckets];
}

static struct f_pending** find(MPI_Request request) {
  struct f_pending** at = bucket_of(request);
  while (*at && (*at)->request != request) at = &(*at)->next;
  return at;
}

static void put(struct f_pending* entry) {
  struct f_pending** const bucket = bucket_of(entry->request);
  entry->next = *bucket;
  *bucket = entry;
  count(1);
}

/* Without memory the copy stays unknown, and what was received stays in it: the caller of MPI_Irecv gets no error for
 * this, so that it is better to end here. */
static void* need(size_t bytes) {
  void* const room = calloc(1, bytes);
  if (!room) PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
  return room;
}

void f_pending_add(MPI_Request request, enum f_life life, const struct f_work* work, void* of) {
  struct piece* const piece = need(sizeof *piece);
  piece->work = work;
  piece->of = of;
  pthread_mutex_lock(&guard);
  struct f_pending* entry = *find(request);
  if (!entry) {
    entry = need(sizeof *entry);
    *entry = (struct f_pending){.request = request, .life = life, .active = life == F_ONCE};
    put(entry);
  }
  piece->next = entry->pieces;
  entry->pieces = piece;
  pthread_mutex_unlock(&guard);
}

struct f_pending** f_take(const MPI_Request* requests, MPI_Count n) {
  if (n <= 0) return NULL;
  struct f_pending** const taken = need((size_t)n * sizeof *taken);
  pthread_mutex_lock(&guard);
  for (MPI_Count i = 0; i < n; ++i) {
    struct f_pending** const at = find(requests[i]);
    taken[i] = *at;
    if (!taken[i]) continue;
    *at = taken[i]->next;
    count(-1);
  }
  pthread_mutex_unlock(&guard);
  return taken;
}

static void destroy(struct f_pending* entry) {
  for (struct piece *piece = entry->pieces, *next; piece; piece = next) {
    next = piece->next;
    if (piece->work->release) piece->work->release(piece->of);
    free(piece);
  }
  free(entry);
}

void f_complete(struct f_pending** taken, MPI_Count index) {
  struct f_pending* const entry = taken ? taken[index] : NULL;
  if (!entry) return;
  for (struct piece* piece = entry->pieces; entry->active && piece; piece = piece->next)
    if (piece->work->finish) piece->work->finish(piece->of);
  entry->active = 0;
}

void f_start(struct f_pending** taken, MPI_Count n) {
  for (MPI_Count i = 0; taken && i < n; ++i) {
    if (!taken[i]) continue;
    for (struct piece* piece = taken[i]->pieces; piece; piece = piece->next)
      if (piece->work->start) piece->work->start(piece->of);
    taken[i]->active = 1;
  }
}

/* MPI may still use the copy of a request that is active; it stays for good then. */
void f_forget(struct f_pending** taken, MPI_Count n) {
  for (MPI_Count i = 0; taken && i < n; ++i) {
    if (taken[i] && !taken[i]->active) destroy(taken[i]);
    taken[i] = NULL;
  }
}

void f_give_back(struct f_pending** taken, const MPI_Request* requests, MPI_Count n) {
  if (!taken) return;
  pthread_mutex_lock(&guard);
  for (MPI_Count i = 0; i < n; ++i) {
    if (!taken[i]) continue;
    if (requests[i] == MPI_REQUEST_NULL && !taken[i]->active)
      destroy(taken[i]);
    else
      put(taken[i]);
  }
  pthread_mutex_unlock(&guard);
  free(taken);
}

/* --- memory
 * ------------------------------------------------------------------------------------------------------------- */

/* Ashlar MPI copies what it reads later; of other libraries it is not known. */
static int reads_later(void) { return !f_over_ashlar(); }

void f_pending_memory(MPI_Request request, enum f_life life, void* memory) {
  static const struct f_work work = {.release = free};
  if (request == MPI_REQUEST_NULL || !reads_later())
    free(memory);
  else
    f_pending_add(request, life, &work, memory);
}

static void store_comm(void* of) {
  const struct f_late_comm* const late = of;
  *late->to = f_comm_int(late->comm);
}

struct f_late_comm* f_late_comm(f_int* to, int* code) {
  struct f_late_comm* const late = malloc(sizeof *late);
  if (late)
    *late = (struct f_late_comm){MPI_COMM_NULL, to};
  else
    *code = MPI_ERR_NO_MEM;
  return late;
}

void f_late_comm_keep(struct f_late_comm* late, MPI_Request request, int code) {
  static const struct f_work work = {.finish = store_comm, .release = free};
  if (!late) return;
  store_comm(late);
  if (code == MPI_SUCCESS && request != MPI_REQUEST_NULL && reads_later())
    f_pending_add(request, F_ONCE, &work, late);
  else
    free(late);
}
