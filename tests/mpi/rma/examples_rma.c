/* What the examples of the standard's chapter on one-sided communication do (MPI 5.0, 12.2 to 12.8), as programs with
 * numbers: each in a few lines of our own, and with its result. */
#include "rma.h"

#include <stddef.h>

static int left_rank(void) { return (check_rank + check_size - 1) % check_size; }
static int right_rank(void) { return (check_rank + 1) % check_size; }

/* ---- 12.3: indirect assignment, A = B(map) -------------------------------------------------------------------------
 */

enum { kPart = 50 };

/* Where element `i` of this process comes from: any element of any process. */
static int mapped(int rank, int i) { return (rank * 31 + i * 17 + 5) % (kPart * check_size); }

/* With one derived datatype for each process from which elements come, at both ends. */
static void assignment_by_types(void) {
  double a[kPart], b[kPart];
  MPI_Win win;
  for (int i = 0; i < kPart; i++) b[i] = check_rank * kPart + i, a[i] = -1;
  MUST(MPI_Win_create(b, sizeof b, sizeof *b, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MUST(MPI_Win_fence(0, win));
  for (int r = 0; r < check_size; r++) {
    int here[kPart], there[kPart], n = 0;
    for (int i = 0; i < kPart; i++)
      if (mapped(check_rank, i) / kPart == r) here[n] = i, there[n++] = mapped(check_rank, i) % kPart;
    if (n == 0) continue;
    MPI_Datatype origin, target;
    MUST(MPI_Type_create_indexed_block(n, 1, here, MPI_DOUBLE, &origin));
    MUST(MPI_Type_create_indexed_block(n, 1, there, MPI_DOUBLE, &target));
    MUST(MPI_Type_commit(&origin));
    MUST(MPI_Type_commit(&target));
    MUST(MPI_Get(a, 1, origin, r, 0, 1, target, win));
    MUST(MPI_Type_free(&origin));
    MUST(MPI_Type_free(&target));
  }
  MUST(MPI_Win_fence(0, win));
  for (int i = 0; i < kPart; i++) CHECK_EQ(a[i], mapped(check_rank, i));
  MUST(MPI_Win_free(&win));
}

/* Element by element; and the sum of what is assigned to the same place, B(map) += A. */
static void assignment_and_sum(void) {
  int a[kPart], b[kPart], sum[kPart] = {0};
  MPI_Win win, sums;
  for (int i = 0; i < kPart; i++) b[i] = check_rank * kPart + i, a[i] = -1;
  MUST(MPI_Win_create(b, sizeof b, sizeof *b, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MUST(MPI_Win_create(sum, sizeof sum, sizeof *sum, MPI_INFO_NULL, MPI_COMM_WORLD, &sums));
  MUST(MPI_Win_fence(0, win));
  MUST(MPI_Win_fence(0, sums));
  int ones[kPart];
  for (int i = 0; i < kPart; i++) {
    const int from = mapped(check_rank, i);
    ones[i] = 1 + i;
    MUST(MPI_Get(&a[i], 1, MPI_INT, from / kPart, from % kPart, 1, MPI_INT, win));
    MUST(MPI_Accumulate(&ones[i], 1, MPI_INT, from / kPart, from % kPart, 1, MPI_INT, MPI_SUM, sums));
  }
  MUST(MPI_Win_fence(0, sums));
  MUST(MPI_Win_fence(0, win));
  int should[kPart] = {0};
  for (int r = 0; r < check_size; r++)
    for (int i = 0; i < kPart; i++)
      if (mapped(r, i) / kPart == check_rank) should[mapped(r, i) % kPart] += 1 + i;
  for (int i = 0; i < kPart; i++) {
    CHECK_EQ(a[i], mapped(check_rank, i));
    CHECK_EQ(sum[i], should[i]);
  }
  MUST(MPI_Win_free(&win));
  MUST(MPI_Win_free(&sums));
}

/* ---- 12.5, 12.8: loosely synchronous iterations --------------------------------------------------------------------
 */

enum { kCells = 20, kSteps = 8 };

/* A ring of cells with one halo cell at each end; a step is the sum of a cell and its two neighbours, modulo a prime.
 */
static void step_of(const int64_t* from, int64_t* to) {
  for (int i = 1; i <= kCells; i++) to[i] = (from[i - 1] + from[i] + from[i + 1]) % 1000003;
}

static void check_cells(const int64_t* cells, const char* how) {
  const int n = kCells * check_size;
  int64_t* now = check_alloc((size_t)n * sizeof *now);
  int64_t* next = check_alloc((size_t)n * sizeof *next);
  for (int i = 0; i < n; i++) now[i] = i * i % 101;
  for (int s = 0; s < kSteps; s++) {
    for (int i = 0; i < n; i++) next[i] = (now[(i + n - 1) % n] + now[i] + now[(i + 1) % n]) % 1000003;
    memcpy(now, next, (size_t)n * sizeof *now);
  }
  for (int i = 0; i < kCells; i++)
    CHECK(cells[i + 1] == now[check_rank * kCells + i], "%s: cell %d is %lld, not %lld", how, i,
          (long long)cells[i + 1], (long long)now[check_rank * kCells + i]);
  free(now);
  free(next);
}

static void first_cells(int64_t* cells) {
  memset(cells, 0, (kCells + 2) * sizeof *cells);
  for (int i = 0; i < kCells; i++) cells[i + 1] = (check_rank * kCells + i) * (check_rank * kCells + i) % 101;
}

/* Put of one's edges into the neighbours' halo, between two fences. */
static void fence_and_put(void) {
  int64_t cells[kCells + 2], next[kCells + 2];
  MPI_Win win;
  first_cells(cells);
  MUST(MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  for (int s = 0; s < kSteps; s++) {
    MUST(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    MUST(MPI_Put(&cells[1], 1, MPI_INT64_T, left_rank(), kCells + 1, 1, MPI_INT64_T, win));
    MUST(MPI_Put(&cells[kCells], 1, MPI_INT64_T, right_rank(), 0, 1, MPI_INT64_T, win));
    MUST(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win));
    step_of(cells, next);
    memcpy(cells + 1, next + 1, kCells * sizeof *cells);
  }
  check_cells(cells, "fence and put");
  MUST(MPI_Win_free(&win));
}

/* Get of the neighbours' edges, while the cells that need none are computed: the window has only what others read. */
static void fence_and_get(void) {
  int64_t cells[kCells + 2], next[kCells + 2], edges[2];
  MPI_Win win;
  first_cells(cells);
  MUST(MPI_Win_create(edges, sizeof edges, sizeof *edges, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  for (int s = 0; s < kSteps; s++) {
    edges[0] = cells[1], edges[1] = cells[kCells];
    MUST(MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE, win));
    MUST(MPI_Get(&cells[0], 1, MPI_INT64_T, left_rank(), 1, 1, MPI_INT64_T, win));
    MUST(MPI_Get(&cells[kCells + 1], 1, MPI_INT64_T, right_rank(), 0, 1, MPI_INT64_T, win));
    for (int i = 2; i < kCells; i++) next[i] = (cells[i - 1] + cells[i] + cells[i + 1]) % 1000003;
    MUST(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win));
    next[1] = (cells[0] + cells[1] + cells[2]) % 1000003;
    next[kCells] = (cells[kCells - 1] + cells[kCells] + cells[kCells + 1]) % 1000003;
    memcpy(cells + 1, next + 1, kCells * sizeof *cells);
  }
  check_cells(cells, "fence and get");
  MUST(MPI_Win_free(&win));
}

static void neighbours_group(MPI_Win win, MPI_Group* group) {
  MPI_Group all;
  const int ranks[2] = {left_rank(), right_rank()};
  MUST(MPI_Win_get_group(win, &all));
  MUST(MPI_Group_incl(all, ranks[0] == ranks[1] ? 1 : 2, ranks, group));
  MUST(MPI_Group_free(&all));
}

/* The same with epochs of the neighbours alone: put, and get. */
static void start_and_put(void) {
  int64_t cells[kCells + 2], next[kCells + 2];
  MPI_Win win;
  MPI_Group neighbours;
  first_cells(cells);
  MUST(MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  neighbours_group(win, &neighbours);
  for (int s = 0; s < kSteps; s++) {
    MUST(MPI_Win_post(neighbours, 0, win));
    MUST(MPI_Win_start(neighbours, 0, win));
    MUST(MPI_Put(&cells[1], 1, MPI_INT64_T, left_rank(), kCells + 1, 1, MPI_INT64_T, win));
    MUST(MPI_Put(&cells[kCells], 1, MPI_INT64_T, right_rank(), 0, 1, MPI_INT64_T, win));
    MUST(MPI_Win_complete(win));
    MUST(MPI_Win_wait(win));
    step_of(cells, next);
    memcpy(cells + 1, next + 1, kCells * sizeof *cells);
  }
  check_cells(cells, "start and put");
  MUST(MPI_Group_free(&neighbours));
  MUST(MPI_Win_free(&win));
}

/* Two halves in turn: while the neighbours read one, the other is computed. Two windows, each in its own kind of epoch.
 */
static void two_halves(void) {
  int64_t halves[2][kCells + 2];
  MPI_Win win[2];
  MPI_Group neighbours;
  first_cells(halves[0]);
  memset(halves[1], 0, sizeof halves[1]);
  for (int h = 0; h < 2; h++)
    MUST(MPI_Win_create(halves[h], sizeof halves[h], sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &win[h]));
  neighbours_group(win[0], &neighbours);
  MUST(MPI_Win_post(neighbours, 0, win[0]));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int s = 0; s < kSteps; s++) {
    const int now = s % 2, then = 1 - now;
    int64_t halo[2];
    MUST(MPI_Win_start(neighbours, s == 0 ? MPI_MODE_NOCHECK : 0, win[now]));
    MUST(MPI_Get(&halo[0], 1, MPI_INT64_T, left_rank(), kCells, 1, MPI_INT64_T, win[now]));
    MUST(MPI_Get(&halo[1], 1, MPI_INT64_T, right_rank(), 1, 1, MPI_INT64_T, win[now]));
    for (int i = 2; i < kCells; i++)
      halves[then][i] = (halves[now][i - 1] + halves[now][i] + halves[now][i + 1]) % 1000003;
    MUST(MPI_Win_complete(win[now]));
    halves[then][1] = (halo[0] + halves[now][1] + halves[now][2]) % 1000003;
    halves[then][kCells] = (halves[now][kCells - 1] + halves[now][kCells] + halo[1]) % 1000003;
    MUST(MPI_Win_post(neighbours, 0, win[then]));
    MUST(MPI_Win_wait(win[now]));
  }
  MUST(MPI_Win_start(neighbours, 0, win[kSteps % 2])); /* the last exposure ends as all begin: with an access */
  MUST(MPI_Win_complete(win[kSteps % 2]));
  MUST(MPI_Win_wait(win[kSteps % 2]));
  check_cells(halves[kSteps % 2], "two halves");
  MUST(MPI_Group_free(&neighbours));
  for (int h = 0; h < 2; h++) MUST(MPI_Win_free(&win[h]));
}

/* ---- 12.5.3: locks -------------------------------------------------------------------------------------------------
 */

/* A lock, two puts, an unlock; the target reads after a lock of its own. */
static void lock_and_put(void) {
  TestWindow w = window_make(kAllocated, MPI_COMM_WORLD, 64, 4);
  const int a = check_rank + 1, b = check_rank + 2, right = right_rank();
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w.win));
  MUST(MPI_Put(&a, 1, MPI_INT, right, 0, 1, MPI_INT, w.win));
  MUST(MPI_Put(&b, 1, MPI_INT, right, 1, 1, MPI_INT, w.win));
  MUST(MPI_Win_unlock(right, w.win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w.win));
  CHECK(((int*)w.base)[0] == left_rank() + 1 && ((int*)w.base)[1] == left_rank() + 2);
  MUST(MPI_Win_unlock(check_rank, w.win));
  window_free(&w);
}

/* ---- 12.7: what is seen when ---------------------------------------------------------------------------------------
 */

/* X is put under a lock, then a barrier, then read by its owner under a lock; and read by others with Get. */
static void put_barrier_get(void) {
  TestWindow w = window_make(kCreated, MPI_COMM_WORLD, 64, 8);
  const int64_t x = 4000 + check_rank;
  int64_t got = -1;
  const int right = right_rank(), two = (check_rank + 2) % check_size;
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, w.win));
  ((int64_t*)w.base)[0] = x; /* a store under a lock on oneself */
  MUST(MPI_Win_unlock(check_rank, w.win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w.win));
  MUST(MPI_Get(&got, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, w.win));
  MUST(MPI_Win_flush_local(right, w.win));
  CHECK_EQ(got, 4000 + right);
  MUST(MPI_Win_unlock(right, w.win));
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, two, 0, w.win));
  MUST(MPI_Get(&got, 1, MPI_INT64_T, two, 0, 1, MPI_INT64_T, w.win));
  MUST(MPI_Win_unlock(two, w.win));
  CHECK_EQ(got, 4000 + two);
  window_free(&w);
}

/* Stores, a barrier, loads through lock_all and MPI_Win_sync on both sides of the message. */
static void sync_and_message(void) {
  if (!all_share_memory(MPI_COMM_WORLD)) return;
  TestWindow w = window_make(kShared, MPI_COMM_WORLD, 64, 8);
  int64_t* there;
  MPI_Aint size;
  int unit, token;
  MUST(MPI_Win_shared_query(w.win, left_rank(), &size, &unit, &there));
  MUST(MPI_Win_lock_all(0, w.win));
  *(int64_t*)w.base = 17 + check_rank;
  MUST(MPI_Win_sync(w.win));
  MUST(MPI_Sendrecv(&unit, 1, MPI_INT, right_rank(), 0, &token, 1, MPI_INT, left_rank(), 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  MUST(MPI_Win_sync(w.win));
  CHECK_EQ(*there, 17 + left_rank());
  MUST(MPI_Win_unlock_all(w.win));
  window_free(&w);
}

/* ---- 12.8: sums, mutual exclusion, requests ------------------------------------------------------------------------
 */

/* A collective sum without collectives: all add to one word and read it when all have. */
static void counting_by_accumulate(void) {
  TestWindow w = window_make(kAllocated, MPI_COMM_WORLD, 16, 8);
  const int64_t mine = check_rank + 1, one = 1;
  int64_t sum = 0, arrived = 0;
  MUST(MPI_Win_lock_all(0, w.win));
  MUST(MPI_Accumulate(&mine, 1, MPI_INT64_T, 0, disp_of(&w, 0, 0), 1, MPI_INT64_T, MPI_SUM, w.win));
  MUST(MPI_Win_flush(0, w.win));
  MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, disp_of(&w, 0, 8), 1, MPI_INT64_T, MPI_SUM, w.win));
  while (arrived < check_size) {
    MUST(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &arrived, 1, MPI_INT64_T, 0, disp_of(&w, 0, 8), 1, MPI_INT64_T,
                            MPI_NO_OP, w.win));
    MUST(MPI_Win_flush(0, w.win));
  }
  MUST(MPI_Get(&sum, 1, MPI_INT64_T, 0, disp_of(&w, 0, 0), 1, MPI_INT64_T, w.win));
  MUST(MPI_Win_unlock_all(w.win));
  CHECK_EQ(sum, (int64_t)check_size * (check_size + 1) / 2);
  window_free(&w);
}

/* A mutex of MPI_Compare_and_swap that guards plain puts and gets of another word; FOP would do as well. */
static void mutual_exclusion(void) {
  TestWindow w = window_make(kAllocated, MPI_COMM_WORLD, 16, 8);
  const int64_t none = -1, me = check_rank;
  if (check_rank == 0) ((int64_t*)w.base)[0] = -1;
  settle_own(&w);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_lock_all(0, w.win));
  for (int i = 0; i < 20; i++) {
    int64_t holder = -2, value = -1;
    do {
      MUST(MPI_Compare_and_swap(&me, &none, &holder, MPI_INT64_T, 0, disp_of(&w, 0, 0), w.win));
      MUST(MPI_Win_flush(0, w.win));
    } while (holder != -1);
    MUST(MPI_Get(&value, 1, MPI_INT64_T, 0, disp_of(&w, 0, 8), 1, MPI_INT64_T, w.win));
    MUST(MPI_Win_flush(0, w.win));
    value++;
    MUST(MPI_Put(&value, 1, MPI_INT64_T, 0, disp_of(&w, 0, 8), 1, MPI_INT64_T, w.win));
    MUST(MPI_Win_flush(0, w.win));
    MUST(MPI_Fetch_and_op(&none, &holder, MPI_INT64_T, 0, disp_of(&w, 0, 0), MPI_REPLACE, w.win));
    MUST(MPI_Win_flush(0, w.win));
    CHECK_EQ(holder, check_rank);
  }
  MUST(MPI_Win_unlock_all(w.win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  settle_own(&w);
  if (check_rank == 0) CHECK_EQ(((int64_t*)w.base)[1], 20 * check_size);
  window_free(&w);
}

/* A queue lock (each waits on a word of its own), with the tail at rank 0: MCS by MPI_Fetch_and_op and compare and
 * swap. */
static void queue_lock(void) {
  enum { kWaiting, kNext, kTail, kCount, kWords };
  TestWindow w = window_make(kAllocated, MPI_COMM_WORLD, kWords * 8, 8);
  int64_t* const own = (int64_t*)w.base;
  own[kWaiting] = 0, own[kNext] = own[kTail] = -1, own[kCount] = 0;
  settle_own(&w);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_lock_all(0, w.win));
  const int64_t me = check_rank, none = -1, one = 1, zero = 0;
  for (int i = 0; i < 20; i++) {
    int64_t before = -2, word = -2;
    MUST(MPI_Accumulate(&none, 1, MPI_INT64_T, check_rank, kNext, 1, MPI_INT64_T, MPI_REPLACE, w.win));
    MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, check_rank, kWaiting, 1, MPI_INT64_T, MPI_REPLACE, w.win));
    MUST(MPI_Win_flush(check_rank, w.win));
    MUST(MPI_Fetch_and_op(&me, &before, MPI_INT64_T, 0, kTail, MPI_REPLACE, w.win));
    MUST(MPI_Win_flush(0, w.win));
    if (before != -1) {
      MUST(MPI_Accumulate(&me, 1, MPI_INT64_T, (int)before, kNext, 1, MPI_INT64_T, MPI_REPLACE, w.win));
      MUST(MPI_Win_flush((int)before, w.win));
      do {
        MUST(MPI_Fetch_and_op(NULL, &word, MPI_INT64_T, check_rank, kWaiting, MPI_NO_OP, w.win));
        MUST(MPI_Win_flush(check_rank, w.win));
      } while (word != 0);
    }
    int64_t count = -1;
    MUST(MPI_Get(&count, 1, MPI_INT64_T, 0, kCount, 1, MPI_INT64_T, w.win));
    MUST(MPI_Win_flush(0, w.win));
    count++;
    MUST(MPI_Put(&count, 1, MPI_INT64_T, 0, kCount, 1, MPI_INT64_T, w.win));
    MUST(MPI_Win_flush(0, w.win));
    MUST(MPI_Compare_and_swap(&none, &me, &word, MPI_INT64_T, 0, kTail, w.win));
    MUST(MPI_Win_flush(0, w.win));
    if (word == me) continue;
    int64_t next = -1;
    while (next == -1) {
      MUST(MPI_Fetch_and_op(NULL, &next, MPI_INT64_T, check_rank, kNext, MPI_NO_OP, w.win));
      MUST(MPI_Win_flush(check_rank, w.win));
    }
    MUST(MPI_Accumulate(&zero, 1, MPI_INT64_T, (int)next, kWaiting, 1, MPI_INT64_T, MPI_REPLACE, w.win));
    MUST(MPI_Win_flush((int)next, w.win));
  }
  MUST(MPI_Win_unlock_all(w.win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  settle_own(&w);
  if (check_rank == 0) CHECK_EQ(own[kCount], 20 * check_size);
  window_free(&w);
}

/* Blocks are fetched one ahead of the work, each with its request, into as many buffers as there are requests. */
static void requests_ahead(void) {
  enum { kBlocks = 12, kBlock = 100, kBuffers = 3 };
  TestWindow w = window_make(kAllocated, MPI_COMM_WORLD, kBlocks * kBlock * 4, 4);
  for (int i = 0; i < kBlocks * kBlock; i++) ((int*)w.base)[i] = check_rank * 10000 + i;
  settle_own(&w);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  static int buffers[kBuffers][kBlock];
  MPI_Request in[kBuffers], out[kBuffers];
  for (int i = 0; i < kBuffers; i++) in[i] = out[i] = MPI_REQUEST_NULL;
  TestWindow results = window_make(kAllocated, MPI_COMM_WORLD, kBlocks * kBlock * 4, 4);
  const int right = right_rank(), left = left_rank();
  MUST(MPI_Win_lock_all(0, w.win));
  MUST(MPI_Win_lock_all(0, results.win));
  for (int i = 0; i < kBlocks + 1; i++) {
    if (i < kBlocks) {
      MUST(MPI_Wait(&out[i % kBuffers], MPI_STATUS_IGNORE)); /* the buffer is free again */
      MUST(MPI_Rget(buffers[i % kBuffers], kBlock, MPI_INT, right, i * kBlock, kBlock, MPI_INT, w.win,
                    &in[i % kBuffers]));
    }
    if (i == 0) continue;
    const int b = (i - 1) % kBuffers;
    MUST(MPI_Wait(&in[b], MPI_STATUS_IGNORE));
    for (int k = 0; k < kBlock; k++) buffers[b][k] *= 2;
    MUST(MPI_Rput(buffers[b], kBlock, MPI_INT, left, (i - 1) * kBlock, kBlock, MPI_INT, results.win, &out[b]));
  }
  MUST(MPI_Waitall(kBuffers, out, MPI_STATUSES_IGNORE));
  MUST(MPI_Win_unlock_all(results.win));
  MUST(MPI_Win_unlock_all(w.win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  settle_own(&results);
  for (int i = 0; i < kBlocks * kBlock; i++)
    CHECK_EQ(((int*)results.base)[i], 2 * ((check_rank + 2) % check_size * 10000 + i));
  window_free(&results);
  window_free(&w);
}

/* A shared table per node, filled by one process and read by all with loads. */
static void table_of_a_node(void) {
  MPI_Comm node;
  MUST(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  int rank;
  MUST(MPI_Comm_rank(node, &rank));
  double* table;
  MPI_Win win;
  MPI_Aint size;
  int unit;
  MUST(MPI_Win_allocate_shared(rank == 0 ? 1000 * 8 : 0, 8, MPI_INFO_NULL, node, &table, &win));
  MUST(MPI_Win_shared_query(win, 0, &size, &unit, &table));
  CHECK(size == 8000 && unit == 8);
  MUST(MPI_Win_fence(0, win));
  if (rank == 0)
    for (int i = 0; i < 1000; i++) table[i] = 0.5 * i;
  MUST(MPI_Win_fence(0, win));
  for (int i = 0; i < 1000; i++) CHECK(table[i] == 0.5 * i);
  MUST(MPI_Win_free(&win));
  MUST(MPI_Comm_free(&node));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  assignment_by_types();
  assignment_and_sum();
  if (check_size > 1) { /* a ring of one has no neighbours that differ from it */
    fence_and_put();
    fence_and_get();
    start_and_put();
    two_halves();
  }
  lock_and_put();
  put_barrier_get();
  sync_and_message();
  counting_by_accumulate();
  mutual_exclusion();
  queue_lock();
  requests_ahead();
  table_of_a_node();
  return check_end();
}
