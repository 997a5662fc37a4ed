/* What the programs of this chapter share: every kind of window and every kind of epoch behind one face, so that what
 * is checked is checked in all of them. */
#ifndef ASHLAR_TESTS_MPI_RMA_H
#define ASHLAR_TESTS_MPI_RMA_H

#include "check.h"

/* ---- windows ------------------------------------------------------------------------------------------------------
 */

typedef enum {
  kAllocated,       /* MPI_Win_allocate */
  kShared,          /* MPI_Win_allocate_shared, on a communicator that can */
  kSharedApart,     /* the same with alloc_shared_noncontig */
  kCreated,         /* MPI_Win_create over malloc */
  kCreatedAllocMem, /* MPI_Win_create over MPI_Alloc_mem */
  kCreatedMixed,    /* MPI_Win_create, over malloc in even ranks, in odd ones inside of memory of MPI_Alloc_mem */
  kDynamic,         /* MPI_Win_create_dynamic; attached is malloc memory in even ranks, of MPI_Alloc_mem in odd ones */
  kWindowKinds
} WindowKind;

static inline const char* window_kind_name(WindowKind kind) {
  static const char* const names[] = {
      "allocated", "shared", "shared apart", "created", "created over MPI_Alloc_mem", "created over mixed memory",
      "dynamic"};
  return names[kind];
}

/* `base` of `size` bytes is this process's part. Every process's part has its own size and displacement unit. */
typedef struct {
  MPI_Win win;
  MPI_Comm comm;
  WindowKind kind;
  int rank, ranks;
  char* base;
  char* memory; /* what is to be freed */
  MPI_Aint size;
  MPI_Aint* starts; /* by rank: the displacement in bytes of the first byte, an address if the window is dynamic */
  int* units;       /* by rank */
} TestWindow;

/* Hints for the windows that are made. */
static MPI_Info window_info = MPI_INFO_NULL;

static inline int is_shared(WindowKind kind) { return kind == kShared || kind == kSharedApart; }
static inline int brings_memory(WindowKind kind) { return kind == kAllocated || is_shared(kind); }

/* Memory for a window that brings none: 48 bytes before it, so that it is not what an allocation begins with. */
static inline char* memory_make(WindowKind kind, int rank, size_t bytes) {
  char* memory = NULL;
  if (kind == kCreatedAllocMem || (kind != kCreated && rank % 2))
    MUST(MPI_Alloc_mem((MPI_Aint)bytes + 48, MPI_INFO_NULL, &memory));
  else
    memory = check_alloc(bytes + 48);
  return memory;
}

static inline void memory_free(WindowKind kind, int rank, char* memory) {
  if (kind == kCreatedAllocMem || (kind != kCreated && rank % 2))
    MUST(MPI_Free_mem(memory));
  else
    free(memory);
}

static inline void shared_make(TestWindow* w, int unit) {
  MPI_Info info;
  MUST(window_info == MPI_INFO_NULL ? MPI_Info_create(&info) : MPI_Info_dup(window_info, &info));
  if (w->kind == kSharedApart) MUST(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
  MUST(MPI_Win_allocate_shared(w->size, unit, info, w->comm, &w->base, &w->win));
  MUST(MPI_Info_free(&info));
}

__attribute__((unused)) static TestWindow window_make(WindowKind kind, MPI_Comm comm, MPI_Aint size, int unit) {
  TestWindow w = {.win = MPI_WIN_NULL, .comm = comm, .kind = kind, .size = size};
  MUST(MPI_Comm_rank(comm, &w.rank));
  MUST(MPI_Comm_size(comm, &w.ranks));
  if (kind == kDynamic) unit = 1;
  if (!brings_memory(kind)) {
    w.memory = memory_make(kind, w.rank, (size_t)size);
    w.base = kind == kCreated ? w.memory : w.memory + 48;
  }
  if (kind == kAllocated)
    MUST(MPI_Win_allocate(size, unit, window_info, comm, &w.base, &w.win));
  else if (is_shared(kind))
    shared_make(&w, unit);
  else if (kind == kDynamic)
    MUST(MPI_Win_create_dynamic(window_info, comm, &w.win));
  else
    MUST(MPI_Win_create(w.base, size, unit, window_info, comm, &w.win));
  if (kind == kDynamic && size) MUST(MPI_Win_attach(w.win, w.base, size));
  MPI_Aint start = 0;
  if (kind == kDynamic) MUST(MPI_Get_address(w.base, &start));
  w.starts = check_alloc((size_t)w.ranks * sizeof *w.starts);
  w.units = check_alloc((size_t)w.ranks * sizeof *w.units);
  MUST(MPI_Allgather(&start, 1, MPI_AINT, w.starts, 1, MPI_AINT, comm));
  MUST(MPI_Allgather(&unit, 1, MPI_INT, w.units, 1, MPI_INT, comm));
  if (size) memset(w.base, 0, (size_t)size);
  MUST(MPI_Barrier(comm));
  return w;
}

__attribute__((unused)) static void window_free(TestWindow* w) {
  MUST(MPI_Win_free(&w->win));
  CHECK(w->win == MPI_WIN_NULL);
  if (!brings_memory(w->kind)) memory_free(w->kind, w->rank, w->memory);
  free(w->starts);
  free(w->units);
}

/* The target_disp of byte `offset` of `rank`'s part, which the displacement unit there divides. */
__attribute__((unused)) static MPI_Aint disp_of(const TestWindow* w, int rank, MPI_Aint offset) {
  return w->starts[rank] + offset / w->units[rank];
}

/* Windows of shared memory exist where all processes share it. */
__attribute__((unused)) static int all_share_memory(MPI_Comm comm) {
  MPI_Comm node;
  int here, all, rank;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Comm_size(comm, &all));
  MUST(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  MUST(MPI_Comm_size(node, &here));
  MUST(MPI_Comm_free(&node));
  int same = here == all, everywhere = 0;
  MUST(MPI_Allreduce(&same, &everywhere, 1, MPI_INT, MPI_MIN, comm));
  return everywhere;
}

#define FOR_EACH_WINDOW_KIND(kind, comm)                             \
  for (WindowKind kind = (WindowKind)0; kind < kWindowKinds; kind++) \
    if (!is_shared(kind) || all_share_memory(comm))

/* ---- epochs -------------------------------------------------------------------------------------------------------
 */

typedef enum { kFence, kPscw, kLockShared, kLockExclusive, kLockAll, kLockUnchecked, kEpochKinds } EpochKind;

static inline const char* epoch_kind_name(EpochKind kind) {
  static const char* const names[] = {"fence",          "post and start", "shared lock",
                                      "exclusive lock", "lock_all",       "unchecked lock"};
  return names[kind];
}

static inline int is_passive(EpochKind kind) { return kind >= kLockShared; }

/* What this process stored in its own part is seen by the operations of the others after their next barrier, and what
 * theirs did by its loads. */
__attribute__((unused)) static void settle_own(const TestWindow* w) {
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
  MUST(MPI_Win_unlock(w->rank, w->win));
}

/* Collective. Until epoch_end every process may access the part of `target`, and with fence, PSCW and lock_all that of
 * every process. */
__attribute__((unused)) static void epoch_begin(const TestWindow* w, EpochKind kind, int target) {
  MPI_Group group;
  if (is_passive(kind)) {
    settle_own(w);
    MUST(MPI_Barrier(w->comm));
  }
  switch (kind) {
    case kFence:
      MUST(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
      break;
    case kPscw:
      MUST(MPI_Win_get_group(w->win, &group));
      MUST(MPI_Win_post(group, 0, w->win));
      MUST(MPI_Win_start(group, 0, w->win));
      MUST(MPI_Group_free(&group));
      break;
    case kLockShared:
      MUST(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
      break;
    case kLockExclusive:
      MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
      break;
    case kLockUnchecked:
      MUST(MPI_Win_lock(MPI_LOCK_SHARED, target, MPI_MODE_NOCHECK, w->win));
      break;
    default:
      MUST(MPI_Win_lock_all(0, w->win));
  }
}

/* Collective: afterwards every process's loads see what all have put. */
__attribute__((unused)) static void epoch_end(const TestWindow* w, EpochKind kind, int target) {
  switch (kind) {
    case kFence:
      MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
      return;
    case kPscw:
      MUST(MPI_Win_complete(w->win));
      MUST(MPI_Win_wait(w->win));
      return;
    case kLockAll:
      MUST(MPI_Win_unlock_all(w->win));
      break;
    default:
      MUST(MPI_Win_unlock(target, w->win));
  }
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
}

#endif
