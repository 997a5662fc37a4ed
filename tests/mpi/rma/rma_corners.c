/* Uses of one-sided communication that programs seldom make and the standard allows: groups of every shape, requests
 * completed late and in any order, buffers that are windows themselves, unusual datatypes, epochs of several windows
 * beside each other, a fork inside an epoch. */
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rma.h"

static int right_of(const TestWindow* w) { return (w->rank + 1) % w->ranks; }
static int left_of(const TestWindow* w) { return (w->rank + w->ranks - 1) % w->ranks; }

/* ---- groups of MPI_Win_post and MPI_Win_start ----------------------------------------------------------------------
 */

typedef enum { kStar, kToOne, kChain, kSelves, kNobody, kHalves, kShapes } Shape;

/* Whether `from` accesses `to` in an epoch of this shape. */
static int accesses(Shape shape, int centre, int from, int to, int ranks) {
  switch (shape) {
    case kStar: /* one accesses all, itself too */
      return from == centre;
    case kToOne:
      return to == centre;
    case kChain:
      return to == from + 1;
    case kSelves:
      return to == from;
    case kHalves: /* each of the lower half accesses each of the upper one */
      return from < ranks / 2 && to >= ranks / 2;
    default:
      return 0;
  }
}

/* The others of this process, from the highest rank down: the order of a group says nothing. */
static MPI_Group others(const TestWindow* w, Shape shape, int centre, int as_origin, int* n) {
  MPI_Group all, some;
  int* const ranks = check_alloc((size_t)w->ranks * sizeof *ranks);
  *n = 0;
  for (int r = w->ranks - 1; r >= 0; r--)
    if (as_origin ? accesses(shape, centre, w->rank, r, w->ranks) : accesses(shape, centre, r, w->rank, w->ranks))
      ranks[(*n)++] = r;
  MUST(MPI_Win_get_group(w->win, &all));
  MUST(MPI_Group_incl(all, *n, ranks, &some));
  MUST(MPI_Group_free(&all));
  free(ranks);
  return some;
}

/* How the exposure epoch ends: by waiting, or by asking again and again. */
static void end_exposure(const TestWindow* w, int by_test) {
  if (!by_test) {
    MUST(MPI_Win_wait(w->win));
    return;
  }
  int over = 0;
  while (!over) MUST(MPI_Win_test(w->win, &over));
}

/* Each origin puts to all of its targets. Posts and starts may promise that the other side is ready, once a barrier has
 * made that so. Where nobody accesses a process it posts to nobody. */
static void one_shape(const TestWindow* w, Shape shape, int centre, int by_test, int unchecked) {
  int targets, origins;
  MPI_Group const to = others(w, shape, centre, 1, &targets), from = others(w, shape, centre, 0, &origins);
  int64_t* const slots = (int64_t*)w->base;
  for (int r = 0; r < w->ranks; r++) slots[r] = -1;
  const int64_t value = 1000 * (int64_t)shape + 10 * centre + w->rank;
  const int assert = unchecked ? MPI_MODE_NOCHECK : 0;
  MUST(MPI_Win_post(from, assert, w->win));
  if (unchecked) MUST(MPI_Barrier(w->comm));
  MUST(MPI_Win_start(to, assert, w->win));
  for (int r = 0; r < w->ranks; r++)
    if (accesses(shape, centre, w->rank, r, w->ranks))
      MUST(MPI_Put(&value, 1, MPI_INT64_T, r, disp_of(w, r, 8 * w->rank), 1, MPI_INT64_T, w->win));
  MUST(MPI_Win_complete(w->win));
  end_exposure(w, by_test);
  for (int r = 0; r < w->ranks; r++) {
    const int was_put = accesses(shape, centre, r, w->rank, w->ranks);
    CHECK_EQ(slots[r], was_put ? 1000 * (int64_t)shape + 10 * centre + r : -1);
  }
  MPI_Group a = to, b = from;
  MUST(MPI_Group_free(&a));
  MUST(MPI_Group_free(&b));
}

static void shapes(const TestWindow* w) {
  for (int centre = 0; centre < w->ranks; centre += 1 + w->ranks / 3)
    for (Shape shape = (Shape)0; shape < kShapes; shape++)
      for (int how = 0; how < 4; how++) one_shape(w, shape, centre, how & 1, how & 2);
}

/* Both sides of a process in turn, on a ring: what the left one adds is there when the exposure is over, whether that
 * was found out by waiting or by a test inside of the access epoch. */
static void interleaved(const TestWindow* w) {
  if (w->ranks < 2) return;
  MPI_Group all, next, before;
  const int right = right_of(w), left = left_of(w);
  MUST(MPI_Win_get_group(w->win, &all));
  MUST(MPI_Group_incl(all, 1, &right, &next));
  MUST(MPI_Group_incl(all, 1, &left, &before));
  int64_t* const slots = (int64_t*)w->base;
  slots[0] = 0;
  MUST(MPI_Barrier(w->comm));
  for (int64_t i = 1; i <= 20; i++) {
    MUST(MPI_Win_post(before, 0, w->win));
    MUST(MPI_Win_start(next, 0, w->win));
    MUST(MPI_Accumulate(&i, 1, MPI_INT64_T, right, disp_of(w, right, 0), 1, MPI_INT64_T, MPI_SUM, w->win));
    if (i % 2) {
      MUST(MPI_Win_complete(w->win));
      MUST(MPI_Win_wait(w->win));
    } else {
      int over = 0;
      MUST(MPI_Win_test(w->win, &over));
      MUST(MPI_Win_complete(w->win));
      if (!over) MUST(MPI_Win_wait(w->win));
    }
    CHECK_EQ(slots[0], i * (i + 1) / 2);
  }
  MUST(MPI_Group_free(&all));
  MUST(MPI_Group_free(&next));
  MUST(MPI_Group_free(&before));
}

/* ---- requests ------------------------------------------------------------------------------------------------------
 */

enum { kRequests = 60 };

/* Requests of all four kinds, completed after the epoch, in an order of their own, by every completion call; among them
 * those of messages and null ones. */
static void late_requests(const TestWindow* w, int seed) {
  Random random = {(uint64_t)seed * 977 + (uint64_t)w->rank};
  const int right = right_of(w), left = left_of(w);
  int64_t* const slots = (int64_t*)w->base;
  for (int i = 0; i < kRequests; i++) slots[i] = 10000 * w->rank + i;
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  MPI_Request request[kRequests];
  int64_t value[kRequests], result[kRequests], heard = -1;
  const int64_t said = w->rank;
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win));
  for (int i = 0; i < kRequests; i++) {
    const MPI_Aint at = disp_of(w, right, 8 * i);
    value[i] = 7 * i + w->rank, result[i] = -1;
    switch (i % 5) {
      case 0:
        MUST(MPI_Rput(&value[i], 1, MPI_INT64_T, right, at, 1, MPI_INT64_T, w->win, &request[i]));
        break;
      case 1:
        MUST(MPI_Rget(&result[i], 1, MPI_INT64_T, right, at, 1, MPI_INT64_T, w->win, &request[i]));
        break;
      case 2:
        MUST(MPI_Raccumulate(&value[i], 1, MPI_INT64_T, right, at, 1, MPI_INT64_T, MPI_SUM, w->win, &request[i]));
        break;
      case 3:
        MUST(MPI_Rget_accumulate(&value[i], 1, MPI_INT64_T, &result[i], 1, MPI_INT64_T, right, at, 1, MPI_INT64_T,
                                 MPI_SUM, w->win, &request[i]));
        break;
      default:
        request[i] = MPI_REQUEST_NULL;
    }
  }
  MUST(MPI_Irecv(&heard, 1, MPI_INT64_T, left, 5, w->comm, &request[4]));
  MUST(MPI_Isend(&said, 1, MPI_INT64_T, right, 5, w->comm, &request[9]));
  int flag = 0;
  MUST(MPI_Request_get_status(request[0], &flag, MPI_STATUS_IGNORE)); /* whatever it says, the request stays */
  CHECK(request[0] != MPI_REQUEST_NULL);
  MUST(MPI_Win_unlock(right, w->win)); /* complete everywhere; the requests are still to be waited for */
  for (int i = kRequests - 1; i > 0; i--) {
    const int j = random_below(&random, i + 1);
    if (j == i || i == 4 || i == 9 || j == 4 || j == 9) continue;
    const MPI_Request r = request[i];
    request[i] = request[j], request[j] = r;
  }
  int left_over = 0, index = 0, n = 0, indices[kRequests];
  for (int i = 0; i < kRequests; i++) left_over += request[i] != MPI_REQUEST_NULL;
  while (left_over > 0) {
    switch (random_below(&random, 5)) {
      case 0:
        MUST(MPI_Waitany(kRequests, request, &index, MPI_STATUS_IGNORE));
        CHECK(index != MPI_UNDEFINED);
        left_over--;
        break;
      case 1:
        MUST(MPI_Testsome(kRequests, request, &n, indices, MPI_STATUSES_IGNORE));
        CHECK(n != MPI_UNDEFINED);
        left_over -= n;
        break;
      case 2:
        MUST(MPI_Testany(kRequests, request, &index, &flag, MPI_STATUS_IGNORE));
        if (flag) left_over--;
        break;
      case 3: {
        MPI_Status status = {.MPI_ERROR = 0};
        const int at = random_below(&random, kRequests);
        const int was = request[at] != MPI_REQUEST_NULL;
        MUST(MPI_Wait(&request[at], &status));
        CHECK(request[at] == MPI_REQUEST_NULL);
        left_over -= was;
        break;
      }
      default:
        if (left_over > kRequests / 3) break;
        MUST(MPI_Waitall(kRequests, request, MPI_STATUSES_IGNORE));
        left_over = 0;
    }
  }
  CHECK_EQ(heard, left);
  for (int i = 0; i < kRequests; i++) {
    if (i % 5 == 1 || i % 5 == 3) CHECK_EQ(result[i], 10000 * right + i);
  }
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  for (int i = 0; i < kRequests; i++) {
    const int64_t was = 10000 * w->rank + i, given = 7 * i + left;
    const int64_t should = i % 5 == 0 ? given : i % 5 == 2 || i % 5 == 3 ? was + given : was;
    CHECK_EQ(slots[i], should);
  }
  MUST(MPI_Barrier(w->comm));
}

/* A request outlives its epoch and its window: its operation is complete, and waiting for it is all that is left. */
static void request_outlives_window(WindowKind kind) {
  TestWindow w = window_make(kind, MPI_COMM_WORLD, 4096, 1);
  const int right = right_of(&w);
  char out[4096], in[4096];
  pattern_fill(out, sizeof out, (unsigned)w.rank);
  MPI_Request request[2];
  MUST(MPI_Win_lock_all(0, w.win));
  MUST(MPI_Rput(out, 2048, MPI_BYTE, right, disp_of(&w, right, 0), 2048, MPI_BYTE, w.win, &request[0]));
  MUST(MPI_Win_flush(right, w.win));
  MUST(MPI_Rget(in, 2048, MPI_BYTE, right, disp_of(&w, right, 0), 2048, MPI_BYTE, w.win, &request[1]));
  MUST(MPI_Win_unlock_all(w.win));
  window_free(&w);
  MUST(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  CHECK_PATTERN(in, 2048, (unsigned)w.rank);
}

/* ---- buffers -------------------------------------------------------------------------------------------------------
 */

static const int64_t constants[4] = {11, 22, 33, 44};

/* The origin is a part of the own window, or of the neighbour's as it is mapped here, or cannot be written. */
static void buffers_in_windows(const TestWindow* w) {
  const int right = right_of(w), left = left_of(w);
  int64_t* const slots = (int64_t*)w->base;
  for (int i = 0; i < 32; i++) slots[i] = 100 * w->rank + i;
  MUST(MPI_Win_fence(0, w->win));
  /* A shift: from one part of the own window to another part of the next one's. */
  MUST(MPI_Put(slots, 4, MPI_INT64_T, right, disp_of(w, right, 64), 4, MPI_INT64_T, w->win));
  MUST(MPI_Get(slots + 16, 4, MPI_INT64_T, right, disp_of(w, right, 32), 4, MPI_INT64_T, w->win));
  MUST(MPI_Put(constants, 4, MPI_INT64_T, right, disp_of(w, right, 160), 4, MPI_INT64_T, w->win));
  MUST(MPI_Accumulate(constants, 4, MPI_INT64_T, right, disp_of(w, right, 192), 4, MPI_INT64_T, MPI_SUM, w->win));
  MUST(MPI_Win_fence(0, w->win));
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(slots[8 + i], 100 * left + i);
    CHECK_EQ(slots[16 + i], 100 * right + 4 + i);
    CHECK_EQ(slots[20 + i], constants[i]);
    CHECK_EQ(slots[24 + i], 100 * w->rank + 24 + i + constants[i]);
  }
  MUST(MPI_Win_fence(0, w->win));
  /* To oneself, where nothing moves; and one part of the own window to another by accumulate and by get. */
  MUST(MPI_Put(slots, 4, MPI_INT64_T, w->rank, disp_of(w, w->rank, 0), 4, MPI_INT64_T, w->win));
  MUST(MPI_Get(slots + 12, 4, MPI_INT64_T, w->rank, disp_of(w, w->rank, 32), 4, MPI_INT64_T, w->win));
  MUST(MPI_Accumulate(slots + 20, 4, MPI_INT64_T, w->rank, disp_of(w, w->rank, 128), 4, MPI_INT64_T, MPI_REPLACE,
                      w->win));
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(slots[i], 100 * w->rank + i);
    CHECK_EQ(slots[12 + i], slots[4 + i]);
    CHECK_EQ(slots[16 + i], constants[i]);
  }
  if (!is_shared(w->kind)) return;
  /* Memory of the right neighbour, as it is mapped here, as the origin of a put to the left one. */
  MPI_Aint size;
  int unit;
  int64_t* there;
  MUST(MPI_Win_shared_query(w->win, right, &size, &unit, &there));
  MUST(MPI_Win_fence(0, w->win));
  MUST(MPI_Put(there + 1, 2, MPI_INT64_T, left, disp_of(w, left, 240), 2, MPI_INT64_T, w->win));
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
  const int from = (right + 1) % w->ranks;
  CHECK_EQ(slots[30], 100 * from + 1);
  CHECK_EQ(slots[31], 100 * from + 2);
}

/* ---- datatypes -----------------------------------------------------------------------------------------------------
 */

typedef struct {
  char c;
  double d;
  int i[3];
  short s;
} Mixed;

static MPI_Datatype mixed_type(void) {
  MPI_Datatype parts, whole;
  const int lengths[] = {1, 1, 0, 3, 1};
  const MPI_Aint at[] = {0, (MPI_Aint)offsetof(Mixed, d), 0, (MPI_Aint)offsetof(Mixed, i),
                         (MPI_Aint)offsetof(Mixed, s)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_FLOAT, MPI_INT, MPI_SHORT};
  MUST(MPI_Type_create_struct(5, lengths, at, types, &parts));
  MUST(MPI_Type_create_resized(parts, 0, sizeof(Mixed), &whole));
  MUST(MPI_Type_free(&parts));
  MUST(MPI_Type_commit(&whole));
  return whole;
}

/* Records of several types: only their data moves, what lies between stays. As they are, reversed, and packed. */
static void records(const TestWindow* w) {
  enum { kRecords = 5 };
  MPI_Datatype mixed = mixed_type(), reversed, one;
  const int right = right_of(w), left = left_of(w);
  MUST(MPI_Type_create_resized(mixed, 0, -(MPI_Aint)sizeof(Mixed), &one));
  MUST(MPI_Type_contiguous(kRecords, one, &reversed)); /* the last record first */
  MUST(MPI_Type_commit(&reversed));
  MUST(MPI_Type_free(&one));
  Mixed out[kRecords], in[kRecords];
  memset(out, 0x55, sizeof out);
  for (int i = 0; i < kRecords; i++) {
    out[i].c = (char)(i + w->rank), out[i].d = 1.5 * i + w->rank, out[i].s = (short)(300 * i);
    for (int k = 0; k < 3; k++) out[i].i[k] = 10 * i + k;
  }
  memset(w->base, 0x33, 2 * kRecords * sizeof(Mixed));
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win));
  MUST(MPI_Put(out, kRecords, mixed, right, disp_of(w, right, 0), kRecords, mixed, w->win));
  MUST(MPI_Put(out, kRecords, mixed, right, disp_of(w, right, (2 * kRecords - 1) * (MPI_Aint)sizeof(Mixed)), 1,
               reversed, w->win));
  MUST(MPI_Type_free(&reversed));
  MUST(MPI_Win_flush_local(right, w->win));
  memset(out, 0, sizeof out); /* may be used again */
  memset(in, 0x22, sizeof in);
  MUST(MPI_Win_flush(right, w->win));
  MUST(MPI_Get(in, kRecords, mixed, right, disp_of(w, right, 0), kRecords, mixed, w->win));
  MUST(MPI_Win_unlock(right, w->win));
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  const Mixed* const got = (const Mixed*)w->base;
  for (int i = 0; i < kRecords; i++)
    for (int back = 0; back < 2; back++) {
      const Mixed* const m = back ? &got[2 * kRecords - 1 - i] : &got[i];
      CHECK(m->c == (char)(i + left) && m->d == 1.5 * i + left && m->s == 300 * i && m->i[2] == 10 * i + 2,
            "record %d, reversed %d", i, back);
      CHECK(((const char*)m)[1] == 0x33 && ((const char*)m)[sizeof(Mixed) - 1] == 0x33, "the holes of record %d", i);
    }
  for (int i = 0; i < kRecords; i++) {
    CHECK(in[i].c == (char)(i + w->rank) && in[i].d == 1.5 * i + w->rank, "record %d that was got", i);
    CHECK(((const char*)&in[i])[1] == 0x22, "holes of what was got");
  }
  MUST(MPI_Type_free(&mixed));
  MUST(MPI_Barrier(w->comm));
}

/* A block-cyclic array's part at the origin goes into a corner of a matrix at the target. */
static void arrays(const TestWindow* w) {
  MPI_Datatype cyclic, corner;
  const int sizes[] = {8, 6}, distribs[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int dargs[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, procs[] = {2, 1};
  const int big[] = {10, 12}, small[] = {4, 6}, starts[] = {3, 5};
  MUST(MPI_Type_create_darray(2, 1, 2, sizes, distribs, dargs, procs, MPI_ORDER_C, MPI_INT, &cyclic));
  MUST(MPI_Type_create_subarray(2, big, small, starts, MPI_ORDER_C, MPI_INT, &corner));
  MUST(MPI_Type_commit(&cyclic));
  MUST(MPI_Type_commit(&corner));
  int array[8][6], matrix[10][12], back[8][6];
  for (int i = 0; i < 48; i++) array[i / 6][i % 6] = 100 * w->rank + i;
  memset(back, 0xff, sizeof back);
  memset(w->base, 0xff, sizeof matrix);
  const int right = right_of(w), left = left_of(w);
  MUST(MPI_Win_fence(0, w->win));
  MUST(MPI_Put(array, 1, cyclic, right, disp_of(w, right, 0), 1, corner, w->win));
  MUST(MPI_Win_fence(0, w->win));
  MUST(MPI_Get(back, 1, cyclic, right, disp_of(w, right, 0), 1, corner, w->win));
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
  memcpy(matrix, w->base, sizeof matrix);
  const int rows[] = {2, 3, 6, 7}; /* of the second of two processes */
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 12; j++) {
      const int inside = i >= 3 && i < 7 && j >= 5 && j < 11;
      CHECK_EQ(matrix[i][j], inside ? 100 * left + 6 * rows[i - 3] + j - 5 : -1);
    }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 6; j++) CHECK_EQ(back[i][j], i / 2 % 2 ? array[i][j] : -1);
  MUST(MPI_Type_free(&cyclic));
  MUST(MPI_Type_free(&corner));
  MUST(MPI_Barrier(w->comm));
}

/* Types of no size, counts of nothing with absurd addresses, MPI_NO_OP without an origin, packed data, pairs as data.
 */
static void odd_arguments(const TestWindow* w) {
  const int right = right_of(w);
  MPI_Datatype nothing;
  MUST(MPI_Type_contiguous(0, MPI_DOUBLE, &nothing));
  MUST(MPI_Type_commit(&nothing));
  struct {
    double value;
    int index;
  } pair = {2.5, w->rank}, * const there = (void*)w->base;
  memset(w->base, 0, 256);
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  char packed[64];
  int at = 0;
  const int three[] = {7, 8, 9};
  MUST(MPI_Pack(three, 3, MPI_INT, packed, sizeof packed, &at, w->comm));
  int64_t was[2] = {-1, -1};
  MPI_Request request = MPI_REQUEST_NULL;
  MUST(MPI_Win_lock_all(0, w->win));
  MUST(MPI_Put(NULL, 17, nothing, right, disp_of(w, right, 0), 4, nothing, w->win));
  MUST(MPI_Get(NULL, 0, MPI_INT, right, disp_of(w, right, w->size), 0, MPI_INT, w->win));
  MUST(MPI_Accumulate(NULL, 0, MPI_INT, right, disp_of(w, right, 0), 0, MPI_INT, MPI_MAX, w->win));
  MUST(MPI_Rput(NULL, 0, MPI_INT, right, disp_of(w, right, 0), 0, MPI_INT, w->win, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Put(&pair, 1, MPI_DOUBLE_INT, right, disp_of(w, right, 0), 1, MPI_DOUBLE_INT, w->win));
  MUST(MPI_Put(packed, at, MPI_PACKED, right, disp_of(w, right, 64), at, MPI_PACKED, w->win));
  MUST(MPI_Win_flush(right, w->win));
  MUST(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, was, 2, MPI_INT64_T, right, disp_of(w, right, 128), 2,
                          MPI_INT64_T, MPI_NO_OP, w->win));
  MUST(MPI_Fetch_and_op(NULL, was, MPI_INT64_T, right, disp_of(w, right, 128), MPI_NO_OP, w->win));
  MUST(MPI_Rget_accumulate(NULL, 4711, MPI_FLOAT, was, 2, MPI_INT64_T, right, disp_of(w, right, 128), 2, MPI_INT64_T,
                           MPI_NO_OP, w->win, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Win_unlock_all(w->win));
  CHECK(was[0] == 0 && was[1] == 0);
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  CHECK(there->value == 2.5 && there->index == left_of(w));
  int got[3] = {0};
  at = 0;
  MUST(MPI_Unpack(w->base + 64, 64, &at, got, 3, MPI_INT, w->comm));
  CHECK(got[0] == 7 && got[1] == 8 && got[2] == 9);
  MUST(MPI_Type_free(&nothing));
  MUST(MPI_Barrier(w->comm));
}

/* ---- several windows -----------------------------------------------------------------------------------------------
 */

/* Every window has its own kind of epoch open at the same time, on communicators with the ranks in another order, and
 * messages and collectives in between. */
static void beside_each_other(void) {
  MPI_Comm reversed, twin;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, check_size - check_rank, &reversed));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
  TestWindow w[4] = {window_make(kAllocated, MPI_COMM_WORLD, 1024, 8), window_make(kCreated, reversed, 1024, 8),
                     window_make(kDynamic, twin, 1024, 1), window_make(kCreatedAllocMem, MPI_COMM_SELF, 1024, 4)};
  MUST(MPI_Comm_free(&reversed)); /* windows keep what they need */
  MPI_Group group;
  MUST(MPI_Win_get_group(w[1].win, &group));
  for (int64_t i = 1; i <= 10; i++) {
    MUST(MPI_Win_fence(0, w[0].win));
    MUST(MPI_Win_post(group, 0, w[1].win));
    MUST(MPI_Win_start(group, 0, w[1].win));
    MUST(MPI_Win_lock_all(0, w[2].win));
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w[3].win));
    for (int k = 0; k < 4; k++) {
      const int right = right_of(&w[k]);
      MUST(MPI_Accumulate(&i, 1, MPI_INT64_T, right, disp_of(&w[k], right, 8), 1, MPI_INT64_T, MPI_SUM, w[k].win));
    }
    int64_t sum = 0, heard = 0;
    MUST(MPI_Allreduce(&i, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    MUST(MPI_Sendrecv(&i, 1, MPI_INT64_T, w[0].rank ? w[0].rank - 1 : check_size - 1, 1, &heard, 1, MPI_INT64_T,
                      right_of(&w[0]), 1, twin, MPI_STATUS_IGNORE));
    CHECK(sum == i * check_size && heard == i);
    MUST(MPI_Win_unlock_all(w[2].win));
    MUST(MPI_Win_complete(w[1].win));
    MUST(MPI_Win_unlock(0, w[3].win));
    MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w[0].win));
    MUST(MPI_Win_wait(w[1].win));
    MUST(MPI_Barrier(twin));
    settle_own(&w[2]);
    for (int k = 0; k < 4; k++) CHECK_EQ(((int64_t*)w[k].base)[1], i * (i + 1) / 2);
    MUST(MPI_Barrier(twin));
  }
  MUST(MPI_Group_free(&group));
  for (int k = 0; k < 4; k++) window_free(&w[k]);
  MUST(MPI_Comm_free(&twin));
}

/* ---- handles, attributes, a child ----------------------------------------------------------------------------------
 */

static void handles(const TestWindow* w) {
  CHECK(MPI_Win_f2c(MPI_Win_c2f(w->win)) == w->win);
  CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
  CHECK(MPI_Win_fromint(MPI_Win_toint(w->win)) == w->win);
  char name[MPI_MAX_OBJECT_NAME] = "x";
  int length = -1, flag = -1;
  MUST(MPI_Win_get_name(w->win, name, &length));
  CHECK(length == 0 && name[0] == '\0');
  MPI_Errhandler before;
  MUST(MPI_Win_get_errhandler(w->win, &before));
  MUST(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
  int value = 0;
  CHECK(MPI_Win_set_attr(w->win, MPI_WIN_BASE, &value) != MPI_SUCCESS); /* the library's own */
  CHECK(MPI_Win_delete_attr(w->win, MPI_WIN_SIZE) != MPI_SUCCESS);
  void* got = NULL;
  MUST(MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &got, &flag));
  CHECK(flag && *(int*)got == MPI_WIN_UNIFIED);
  MUST(MPI_Win_set_errhandler(w->win, before));
  MUST(MPI_Errhandler_free(&before));
  /* A key that is freed while a value is attached to it serves until the value goes. */
  int key = MPI_KEYVAL_INVALID;
  MUST(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL));
  MUST(MPI_Win_set_attr(w->win, key, &value));
  const int old = key;
  MUST(MPI_Win_free_keyval(&key));
  CHECK(key == MPI_KEYVAL_INVALID);
  MUST(MPI_Win_get_attr(w->win, old, &got, &flag));
  CHECK(flag && got == &value);
  MUST(MPI_Win_delete_attr(w->win, old));
}

/* A child that touches nothing of MPI comes and goes inside of an epoch. */
static void fork_inside(const TestWindow* w) {
  const int right = right_of(w), left = left_of(w);
  int64_t value = 5 + w->rank;
  memset(w->base, 0, 64);
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win));
  MUST(MPI_Put(&value, 1, MPI_INT64_T, right, disp_of(w, right, 0), 1, MPI_INT64_T, w->win));
  const pid_t child = fork();
  if (child == 0) {
    value = 0;
    _exit(3);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
  MUST(MPI_Put(&value, 1, MPI_INT64_T, right, disp_of(w, right, 8), 1, MPI_INT64_T, w->win));
  MUST(MPI_Win_unlock(right, w->win));
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  CHECK(((int64_t*)w->base)[0] == 5 + left && ((int64_t*)w->base)[1] == 5 + left);
  MUST(MPI_Barrier(w->comm));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    TestWindow w = window_make(kind, MPI_COMM_WORLD, 1024 + 8 * check_size, 8);
    handles(&w);
    shapes(&w);
    interleaved(&w);
    for (int seed = 0; seed < 5; seed++) late_requests(&w, seed);
    buffers_in_windows(&w);
    records(&w);
    arrays(&w);
    odd_arguments(&w);
    fork_inside(&w);
    window_free(&w);
    request_outlives_window(kind);
  }
  beside_each_other();
  return check_end();
}
