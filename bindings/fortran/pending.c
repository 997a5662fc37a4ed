#include "pending.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct piece {
  struct f_copy* copy;
  struct piece* next;
};

struct f_pending {
  MPI_Request request;
  enum f_life life;
  int active; /* copies are to go back when it completes */
  struct piece* pieces;
  struct f_pending* next;
};

enum { kBuckets = 256 };
static struct f_pending* table[kBuckets];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
atomic_int f_pending_count;

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
  atomic_fetch_add(&f_pending_count, 1);
}

/* Without memory the copy stays unknown, and what was received stays in it: the caller of MPI_Irecv gets no error for
 * this, so that it is better to end here. */
static void* need(size_t bytes) {
  void* const room = calloc(1, bytes);
  if (!room) PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
  return room;
}

void f_pending_add(MPI_Request request, enum f_life life, struct f_copy* copy) {
  struct piece* const piece = need(sizeof *piece);
  piece->copy = copy;
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
    atomic_fetch_sub(&f_pending_count, 1);
  }
  pthread_mutex_unlock(&guard);
  return taken;
}

static void each_copy(struct f_pending* entry, void (*what)(struct f_copy*)) {
  for (struct piece* piece = entry->pieces; piece; piece = piece->next) what(piece->copy);
}

static void destroy(struct f_pending* entry) {
  each_copy(entry, f_copy_free);
  for (struct piece *piece = entry->pieces, *next; piece; piece = next) {
    next = piece->next;
    free(piece);
  }
  free(entry);
}

void f_complete(struct f_pending** taken, MPI_Count index) {
  struct f_pending* const entry = taken ? taken[index] : NULL;
  if (!entry) return;
  if (entry->active) each_copy(entry, f_copy_back);
  entry->active = 0;
}

void f_start(struct f_pending** taken, MPI_Count n) {
  for (MPI_Count i = 0; taken && i < n; ++i) {
    if (!taken[i]) continue;
    each_copy(taken[i], f_copy_fetch);
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
