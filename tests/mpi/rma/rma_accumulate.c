/* The operations that combine: every operation on every datatype, any layout at both ends, and that all of them
 * together are atomic on each element, whichever of the calls they are. */
#include "ops.h"
#include "rma.h"

static int a_number(int rank, int i, int seed) { return (rank * 7 + i * 3 + seed) % 23; }

/* What rank `r` gives for element `i`. Products see mostly ones, so that they stay exact; pairs have indices of their
 * own. */
static int given(const Case* c, int r, int i, int seed) {
  if (c->op == MPI_PROD) return r == i % 5 ? 1 + (i + seed) % 3 : 1;
  if (c->op == MPI_LAND || c->op == MPI_LOR || c->op == MPI_LXOR) return a_number(r, i, seed) % 4 != 0 ? 3 : 0;
  return a_number(r, i, seed) % 8;
}
static int initial(const Case* c, int i) { return c->op == MPI_PROD ? 2 : c->op == MPI_LAND ? 1 : (i * 5) % 7; }

static void fill_initial(const Case* c, char* to, int n) {
  memset(to, 0, (size_t)n * c->size);
  for (int i = 0; i < n; i++) c->put(to + (size_t)i * c->size, initial(c, i));
}
static void fill_given(const Case* c, char* to, int n, int rank, int seed) {
  memset(to, 0, (size_t)n * c->size);
  for (int i = 0; i < n; i++) c->put(to + (size_t)i * c->size, given(c, rank, i, seed));
}

/* ---- every operation on every datatype -----------------------------------------------------------------------------
 */

enum { kMostElements = 600, kElementBytes = 32, kWindowBytes = 2 * kMostElements * kElementBytes };

/* All processes combine `n` elements with those of every process. `strided`: every second element at the target. */
static void all_to_all(const TestWindow* w, const Case* c, int n, int strided, EpochKind epoch, int seed) {
  char* const origin = check_alloc((size_t)n * c->size);
  fill_given(c, origin, n, w->rank, seed);
  fill_initial(c, w->base, n * (strided ? 2 : 1));
  MPI_Datatype there = c->type;
  if (strided) {
    MUST(MPI_Type_vector(n, 1, 2, c->type, &there));
    MUST(MPI_Type_commit(&there));
  }
  MUST(MPI_Barrier(w->comm));
  const int all = !is_passive(epoch) || epoch == kLockAll;
  for (int step = 0; step < w->ranks; step++) {
    const int target = (w->rank + step) % w->ranks;
    if (step == 0 || !all) epoch_begin(w, epoch, target);
    const int count = strided ? 1 : n;
    if (is_passive(epoch) && step % 2) {
      MPI_Request request;
      MUST(MPI_Raccumulate(origin, n, c->type, target, disp_of(w, target, 0), count, there, c->op, w->win, &request));
      MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
      MUST(MPI_Accumulate(origin, n, c->type, target, disp_of(w, target, 0), count, there, c->op, w->win));
    }
    if (step == w->ranks - 1 || !all) epoch_end(w, epoch, target);
  }
  if (strided) MUST(MPI_Type_free(&there));
  for (int i = 0; i < n; i++) {
    char should[kElementBytes] = {0}, next[kElementBytes] = {0};
    const int place = strided ? 2 * i : i;
    c->put(should, initial(c, place));
    for (int r = 0; r < w->ranks; r++) {
      memset(next, 0, sizeof next);
      c->put(next, given(c, r, i, seed));
      c->fold(should, next);
    }
    if (same_value(c, w->base + (size_t)place * c->size, should)) {
      c->put(should, initial(c, place + 1));
      if (!strided || same_value(c, w->base + (size_t)(place + 1) * c->size, should)) continue;
    }
    CHECK(0, "%s, element %d of %d%s, window %s, %s", c->name, i, n, strided ? ", every second" : "",
          window_kind_name(w->kind), epoch_kind_name(epoch));
    break;
  }
  free(origin);
  MUST(MPI_Barrier(w->comm));
}

/* One process's own slot at its right neighbour: what was there is given back, step by step. */
static void fetched(const TestWindow* w, const Case* c, int n, int seed) {
  const int target = (w->rank + 1) % w->ranks;
  char* const origin = check_alloc((size_t)n * c->size);
  char* const result = check_alloc((size_t)n * c->size + 1);
  char* const read = check_alloc((size_t)n * c->size);
  fill_given(c, origin, n, w->rank, seed);
  fill_initial(c, w->base, n);
  memset(result, 0x55, (size_t)n * c->size + 1);
  memset(read, 0x66, (size_t)n * c->size);
  epoch_begin(w, kLockAll, target);
  const MPI_Aint disp = disp_of(w, target, 0);
  MUST(MPI_Get_accumulate(origin, n, c->type, result, n, c->type, target, disp, n, c->type, c->op, w->win));
  /* In order after it, by the default accumulate_ordering. */
  MPI_Request request;
  MUST(MPI_Rget_accumulate(NULL, 0, MPI_DATATYPE_NULL, read, n, c->type, target, disp, n, c->type, MPI_NO_OP, w->win,
                           &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Win_flush(target, w->win));
  CHECK(result[(size_t)n * c->size] == 0x55, "%s: a byte behind the result", c->name);
  for (int i = 0; i < n; i++) {
    char first[kElementBytes] = {0}, next[kElementBytes] = {0};
    c->put(first, initial(c, i));
    CHECK(same_value(c, result + (size_t)i * c->size, first), "%s: fetched element %d of %d", c->name, i, n);
    c->put(next, given(c, w->rank, i, seed));
    c->fold(first, next);
    CHECK(same_value(c, read + (size_t)i * c->size, first), "%s: read element %d of %d", c->name, i, n);
    if (check_failures) break;
  }
  epoch_end(w, kLockAll, target);

  /* The same for one element by MPI_Fetch_and_op; then MPI_REPLACE. */
  fill_initial(c, w->base, 2);
  epoch_begin(w, kLockShared, target);
  char one[kElementBytes] = {0}, was[kElementBytes], should[kElementBytes] = {0};
  c->put(one, given(c, w->rank, 3, seed));
  MUST(MPI_Fetch_and_op(one, was, c->type, target, disp, c->op, w->win));
  MUST(MPI_Win_flush(target, w->win));
  c->put(should, initial(c, 0));
  CHECK(same_value(c, was, should), "%s: MPI_Fetch_and_op fetched", c->name);
  c->fold(should, one);
  MUST(MPI_Fetch_and_op(NULL, was, c->type, target, disp, MPI_NO_OP, w->win));
  MUST(MPI_Win_flush(target, w->win));
  CHECK(same_value(c, was, should), "%s: MPI_Fetch_and_op left", c->name);
  MUST(MPI_Fetch_and_op(one, was, c->type, target, disp, MPI_REPLACE, w->win));
  MUST(MPI_Win_flush_local(target, w->win));
  CHECK(same_value(c, was, should), "%s: MPI_REPLACE fetched", c->name);
  epoch_end(w, kLockShared, target);
  memset(should, 0, sizeof should);
  c->put(should, given(c, (w->rank + w->ranks - 1) % w->ranks, 3, seed));
  CHECK(same_value(c, w->base, should), "%s: MPI_REPLACE left", c->name);
  c->put(should, initial(c, 1));
  CHECK(same_value(c, w->base + c->size, should), "%s: the element beside", c->name);
  free(origin);
  free(result);
  free(read);
  MUST(MPI_Barrier(w->comm));
}

static void every_operation(const TestWindow* w, int part) {
  int n;
  const Case* const cases = op_cases(&n);
  for (int i = part; i < n; i += 3) {
    const EpochKind epoch = (EpochKind)((i + part) % kLockUnchecked); /* without the lock nothing would be different */
    all_to_all(w, &cases[i], 1, 0, epoch, i);
    all_to_all(w, &cases[i], 29, 0, kFence, i + 1);
    all_to_all(w, &cases[i], 13, 1, epoch, i + 2);
    if (i % 4 == 0) all_to_all(w, &cases[i], kMostElements, 0, kLockAll, i + 3);
    fetched(w, &cases[i], 1, i);
    fetched(w, &cases[i], 11, i);
  }
}

/* ---- MPI_REPLACE on what has no other operation, operations that do nothing ----------------------------------------
 */

static void replaced(const TestWindow* w) {
  const MPI_Datatype types[] = {MPI_CHAR, MPI_WCHAR, MPI_BYTE, MPI_C_BOOL, MPI_DOUBLE_INT, MPI_C_DOUBLE_COMPLEX};
  const int left = (w->rank + w->ranks - 1) % w->ranks, right = (w->rank + 1) % w->ranks;
  for (int t = 0; t < 6; t++) {
    int size;
    MPI_Aint lb, extent;
    MUST(MPI_Type_size(types[t], &size));
    MUST(MPI_Type_get_extent(types[t], &lb, &extent));
    unsigned char origin[16 * 8], result[16 * 8];
    memset(origin, types[t] == MPI_C_BOOL ? 1 : w->rank + 3, sizeof origin);
    memset(w->base, 0, 1024);
    epoch_begin(w, kFence, 0);
    MUST(MPI_Accumulate(origin, 8, types[t], right, disp_of(w, right, 16), 8, types[t], MPI_REPLACE, w->win));
    MUST(MPI_Get_accumulate(origin, 4, types[t], result, 4, types[t], right, disp_of(w, right, 256), 4, types[t],
                            MPI_REPLACE, w->win));
    epoch_end(w, kFence, 0);
    for (int i = 0; i < 8; i++)
      for (int b = 0; b < size; b++)
        CHECK((unsigned char)w->base[16 + i * extent + b] == (types[t] == MPI_C_BOOL ? 1 : left + 3),
              "type %d, byte %d", t, b);
    CHECK(w->base[15] == 0 && w->base[16 + 8 * extent] == 0);
    CHECK(result[0] == 0 && (unsigned char)w->base[256] == (types[t] == MPI_C_BOOL ? 1 : left + 3));
    MUST(MPI_Barrier(w->comm));
  }
}

static void nothing(const TestWindow* w) {
  const int right = (w->rank + 1) % w->ranks;
  int one = 1, result = 4711;
  memset(w->base, 0, 64);
  for (EpochKind e = (EpochKind)0; e < kEpochKinds; e++) {
    epoch_begin(w, e, right);
    const MPI_Aint disp = disp_of(w, right, 0);
    MUST(MPI_Accumulate(NULL, 0, MPI_INT, right, disp, 0, MPI_INT, MPI_SUM, w->win));
    MUST(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, right, disp, 0, MPI_INT, MPI_SUM, w->win));
    /* Of no items the datatype need not go with the operation. */
    MUST(MPI_Get_accumulate(NULL, 0, MPI_BYTE, NULL, 0, MPI_BYTE, right, disp, 0, MPI_BYTE, MPI_SUM, w->win));
    MUST(MPI_Accumulate(&one, 1, MPI_INT, MPI_PROC_NULL, 99999, 1, MPI_INT, MPI_SUM, w->win));
    MUST(MPI_Get_accumulate(&one, 1, MPI_INT, &result, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
    MUST(MPI_Fetch_and_op(&one, &result, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, w->win));
    MUST(MPI_Compare_and_swap(&one, &one, &result, MPI_INT, MPI_PROC_NULL, 0, w->win));
    if (is_passive(e)) {
      MPI_Request r[3];
      MUST(MPI_Raccumulate(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win, &r[0]));
      MUST(MPI_Rget_accumulate(&one, 1, MPI_INT, &result, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win,
                               &r[1]));
      MUST(MPI_Raccumulate(&one, 0, MPI_INT, right, disp, 0, MPI_INT, MPI_SUM, w->win, &r[2]));
      MUST(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    }
    epoch_end(w, e, right);
  }
  CHECK_EQ(result, 4711);
  CHECK_EQ(*(int*)w->base, 0);
  MUST(MPI_Barrier(w->comm));
}

/* ---- layouts -------------------------------------------------------------------------------------------------------
 */

/* Three derived datatypes, all different, of origin, result and target. */
static void layouts(const TestWindow* w) {
  enum { kN = 24 };
  MPI_Datatype origin_type, result_type, target_type, step;
  MUST(MPI_Type_vector(kN / 2, 2, 3, MPI_LONG, &origin_type));
  MUST(MPI_Type_create_subarray(2, (int[]){6, 8}, (int[]){6, 4}, (int[]){0, 3}, MPI_ORDER_C, MPI_LONG, &result_type));
  MUST(MPI_Type_create_hindexed(3, (int[]){8, 4, 12}, (MPI_Aint[]){400, -64, 80}, MPI_LONG, &step));
  MUST(MPI_Type_dup(step, &target_type));
  MUST(MPI_Type_free(&step));
  MUST(MPI_Type_commit(&origin_type));
  MUST(MPI_Type_commit(&result_type));
  MUST(MPI_Type_commit(&target_type));
  const int target = (w->rank + 1) % w->ranks, source = (w->rank + w->ranks - 1) % w->ranks;
  long origin[40], result[48], *const own = (long*)w->base;
  for (int i = 0; i < 40; i++) origin[i] = w->rank * 1000 + i;
  for (int i = 0; i < 48; i++) result[i] = -1;
  for (int i = 0; i < 100; i++) own[i] = 100000 * (w->rank + 1) + i;
  epoch_begin(w, kLockAll, 0);
  MUST(MPI_Get_accumulate(origin, 1, origin_type, result, 1, result_type, target, disp_of(w, target, 64), 1,
                          target_type, MPI_SUM, w->win));
  MUST(MPI_Type_free(&origin_type));
  MUST(MPI_Type_free(&result_type));
  MUST(MPI_Type_free(&target_type));
  epoch_end(w, kLockAll, 0);
  int places[kN], n = 0;
  for (int i = 0; i < 8; i++) places[n++] = 58 + i;
  for (int i = 0; i < 4; i++) places[n++] = i;
  for (int i = 0; i < 12; i++) places[n++] = 18 + i;
  long should[100];
  for (int i = 0; i < 100; i++) should[i] = 100000 * (w->rank + 1) + i;
  for (int i = 0; i < kN; i++) should[places[i]] += source * 1000 + i / 2 * 3 + i % 2;
  for (int i = 0; i < 100; i++) CHECK(own[i] == should[i], "word %d is %ld, not %ld", i, own[i], should[i]);
  for (int i = 0, k = 0; i < 48; i++) {
    const int inside = i % 8 >= 3 && i % 8 < 7;
    const long fetched_value = inside ? 100000 * (target + 1) + places[k] : -1;
    k += inside;
    CHECK(result[i] == fetched_value, "result %d is %ld, not %ld", i, result[i], fetched_value);
  }
  MUST(MPI_Barrier(w->comm));
}

/* ---- compare and swap ----------------------------------------------------------------------------------------------
 */

static void swapped(const TestWindow* w) {
  const MPI_Datatype types[] = {MPI_INT,
                                MPI_SHORT,
                                MPI_SIGNED_CHAR,
                                MPI_UNSIGNED_CHAR,
                                MPI_UNSIGNED_SHORT,
                                MPI_LONG,
                                MPI_UNSIGNED_LONG_LONG,
                                MPI_INT8_T,
                                MPI_UINT16_T,
                                MPI_INT32_T,
                                MPI_UINT64_T,
                                MPI_C_BOOL,
                                MPI_AINT,
                                MPI_COUNT,
                                MPI_OFFSET,
                                MPI_BYTE};
  const int target = (w->rank + 1) % w->ranks;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    int size;
    MUST(MPI_Type_size(types[t], &size));
    memset(w->base, 0, 64);
    epoch_begin(w, kLockShared, target);
    const MPI_Aint disp = disp_of(w, target, 16);
    unsigned char zero[8] = {0}, one[8] = {1}, was[9] = {77, 77, 77, 77, 77, 77, 77, 77, 77};
    MUST(MPI_Compare_and_swap(one, zero, was, types[t], target, disp, w->win));
    MUST(MPI_Win_flush(target, w->win));
    CHECK(memcmp(was, zero, (size_t)size) == 0, "type %zu: it was 0", t);
    CHECK_EQ(was[size], 77);
    MUST(MPI_Compare_and_swap(zero, zero, was, types[t], target, disp, w->win));
    MUST(MPI_Win_flush(target, w->win));
    CHECK(memcmp(was, one, (size_t)size) == 0, "type %zu: it was 1, and stays", t);
    MUST(MPI_Compare_and_swap(zero, one, was, types[t], target, disp_of(w, target, 24), w->win));
    MUST(MPI_Win_flush(target, w->win));
    epoch_end(w, kLockShared, target);
    CHECK(memcmp(w->base + 16, one, (size_t)size) == 0 && w->base[16 + size] == 0 && w->base[15] == 0, "type %zu", t);
    MUST(MPI_Barrier(w->comm));
  }
}

/* ---- all processes on the same words -------------------------------------------------------------------------------
 */

typedef int64_t Word;

/* All calls at once add to the same words; nothing is lost. Large ones beside small ones; misaligned, if told so. */
static void sums(const TestWindow* w, int at, MPI_Datatype type, int rounds) {
  enum { kWords = 1200 };
  int size;
  MUST(MPI_Type_size(type, &size));
  static Word ones[kWords];
  for (int i = 0; i < kWords * 8 / size; i++) size == 8 ? (ones[i] = 1) : (((int32_t*)ones)[i] = 1);
  memset(w->base, 0, (size_t)w->size);
  epoch_begin(w, kLockAll, 0);
  const int many = kWords;
  MPI_Datatype strided;
  MUST(MPI_Type_vector(many / 2, 1, 2, type, &strided));
  MUST(MPI_Type_commit(&strided));
  Word was;
  static Word result[kWords];
  for (int i = 0; i < rounds; i++)
    for (int t = 0; t < w->ranks; t++) {
      const MPI_Aint first = w->starts[t] + at / w->units[t];
      MUST(MPI_Accumulate(ones, many, type, t, first, many, type, MPI_SUM, w->win));                /* all */
      MUST(MPI_Accumulate(ones, 3, type, t, first, 3, type, MPI_SUM, w->win));                      /* words 0 to 2 */
      MUST(MPI_Fetch_and_op(ones, &was, type, t, first, MPI_SUM, w->win));                          /* word 0 */
      MUST(MPI_Get_accumulate(ones, 2, type, result, 2, type, t, first, 2, type, MPI_SUM, w->win)); /* words 0, 1 */
      MUST(MPI_Accumulate(ones, many / 2, type, t, first, 1, strided, MPI_SUM, w->win));            /* the even ones */
      MUST(MPI_Win_flush(t, w->win));
    }
  MUST(MPI_Type_free(&strided));
  epoch_end(w, kLockAll, 0);
  for (int i = 0; i < many; i++) {
    Word is = 0;
    memcpy(&is, w->base + at + (size_t)i * (size_t)size, (size_t)size);
    const Word should = (Word)rounds * w->ranks * (1 + (i < 3) + (i < 1) + (i < 2) + (i % 2 == 0));
    if (is == should) continue;
    CHECK(0, "word %d of %d bytes at %d is %lld, not %lld, window %s", i, size, at, (long long)is, (long long)should,
          window_kind_name(w->kind));
    break;
  }
  MUST(MPI_Barrier(w->comm));
}

/* Tickets of one word: all get different ones, each process growing ones. */
static void tickets(const TestWindow* w, int each) {
  memset(w->base, 0, 64);
  int64_t* const mine = check_alloc((size_t)each * sizeof *mine);
  epoch_begin(w, kLockAll, 0);
  const int64_t one = 1;
  for (int i = 0; i < each; i++) {
    MUST(MPI_Fetch_and_op(&one, &mine[i], MPI_INT64_T, 0, disp_of(w, 0, 8), MPI_SUM, w->win));
    MUST(MPI_Win_flush(0, w->win));
    CHECK(i == 0 || mine[i] > mine[i - 1], "ticket %d fell", i);
  }
  epoch_end(w, kLockAll, 0);
  const int n = each * w->ranks;
  int64_t* const all = check_alloc((size_t)n * sizeof *all);
  char* const seen = calloc((size_t)n, 1);
  MUST(MPI_Gather(mine, each, MPI_INT64_T, all, each, MPI_INT64_T, 0, w->comm));
  if (w->rank == 0) {
    int64_t last;
    memcpy(&last, w->base + 8, sizeof last);
    CHECK_EQ(last, n);
    for (int i = 0; i < n; i++) {
      CHECK(all[i] >= 0 && all[i] < n && !seen[all[i]], "ticket %lld twice or outside", (long long)all[i]);
      if (all[i] >= 0 && all[i] < n) seen[all[i]] = 1;
    }
  }
  free(seen);
  free(all);
  free(mine);
  MUST(MPI_Barrier(w->comm));
}

/* Each replaces the word by a value of its own: what they fetched and what is left is one chain, from 0 on. `pairs`: of
 * an element of 16 bytes, which no hardware operation covers. */
static void chain(const TestWindow* w, int each, int pairs) {
  typedef struct {
    double value;
    int index;
  } Pair;
  const MPI_Datatype type = pairs ? MPI_DOUBLE_INT : MPI_INT;
  int* const links = check_alloc((size_t)each * 2 * sizeof(int)); /* fetched, put */
  memset(w->base, 0, 64);
  epoch_begin(w, kLockAll, 0);
  for (int i = 0; i < each; i++) {
    const int value = 1 + w->rank * each + i;
    int was_int = -1;
    Pair was = {.value = -1, .index = -1}, next = {.value = value * 3.0, .index = value};
    MUST(MPI_Get_accumulate(pairs ? (const void*)&next : &value, 1, type, pairs ? (void*)&was : &was_int, 1, type, 0,
                            disp_of(w, 0, 16), 1, type, MPI_REPLACE, w->win));
    MUST(MPI_Win_flush(0, w->win));
    if (pairs) CHECK(was.value == was.index * 3.0, "a torn pair: %g and %d", was.value, was.index);
    links[2 * i] = pairs ? was.index : was_int;
    links[2 * i + 1] = value;
  }
  epoch_end(w, kLockAll, 0);
  const int n = each * w->ranks;
  int* const all = check_alloc((size_t)n * 2 * sizeof(int));
  MUST(MPI_Gather(links, 2 * each, MPI_INT, all, 2 * each, MPI_INT, 0, w->comm));
  if (w->rank == 0) {
    int* const after = check_alloc((size_t)(n + 1) * sizeof(int));
    for (int i = 0; i <= n; i++) after[i] = -1;
    for (int i = 0; i < n; i++) {
      const int from = all[2 * i];
      CHECK(from >= 0 && from <= n && after[from] == -1, "value %d was fetched twice, or never put", from);
      if (from >= 0 && from <= n) after[from] = all[2 * i + 1];
    }
    int at = 0, length = 0;
    while (length <= n && after[at] >= 0) at = after[at], length++;
    CHECK_EQ(length, n);
    int left = 0;
    if (pairs)
      left = ((Pair*)(w->base + 16))->index;
    else
      memcpy(&left, w->base + 16, sizeof left);
    CHECK_EQ(left, at);
    free(after);
  }
  free(all);
  free(links);
  MUST(MPI_Barrier(w->comm));
}

/* A counter kept by MPI_Compare_and_swap alone, beside one kept by MPI_Accumulate: and both on one word. */
static void swap_counters(const TestWindow* w, int each) {
  memset(w->base, 0, 64);
  const int64_t one = 1;
  epoch_begin(w, kLockAll, 0);
  for (int i = 0; i < each; i++) {
    int64_t guess = 0, was = -1;
    for (;;) {
      const int64_t next = guess + 1;
      MUST(MPI_Compare_and_swap(&next, &guess, &was, MPI_INT64_T, 0, disp_of(w, 0, 0), w->win));
      MUST(MPI_Win_flush(0, w->win));
      if (was == guess) break;
      guess = was;
    }
    MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, disp_of(w, 0, 0), 1, MPI_INT64_T, MPI_SUM, w->win));
  }
  epoch_end(w, kLockAll, 0);
  int64_t counted;
  memcpy(&counted, w->base, sizeof counted);
  if (w->rank == 0) CHECK_EQ(counted, (int64_t)2 * each * w->ranks);
  MUST(MPI_Barrier(w->comm));
}

/* The lowest of all pairs wins, whoever comes last. */
static void lowest_pair(const TestWindow* w) {
  typedef struct {
    double value;
    int index;
  } Pair;
  Pair* const own = (Pair*)w->base;
  for (int i = 0; i < 8; i++) own[i] = (Pair){.value = 1e9, .index = -1};
  epoch_begin(w, kLockAll, 0);
  for (int i = 0; i < 40; i++) {
    Pair mine[8];
    for (int k = 0; k < 8; k++) mine[k] = (Pair){.value = (w->rank * 40 + i) * 37 % 997, .index = w->rank * 40 + i};
    for (int t = 0; t < w->ranks; t++)
      MUST(MPI_Accumulate(mine, 8, MPI_DOUBLE_INT, t, disp_of(w, t, 0), 8, MPI_DOUBLE_INT, MPI_MINLOC, w->win));
    MUST(MPI_Win_flush_local_all(w->win)); /* `mine` is used until then */
  }
  epoch_end(w, kLockAll, 0);
  Pair best = {.value = 1e9, .index = -1};
  for (int i = 0; i < 40 * w->ranks; i++)
    if (i * 37 % 997 < best.value) best = (Pair){.value = i * 37 % 997, .index = i};
  for (int k = 0; k < 8; k++)
    CHECK(own[k].value == best.value && own[k].index == best.index, "%g by %d, not %g by %d", own[k].value,
          own[k].index, best.value, best.index);
  MUST(MPI_Barrier(w->comm));
}

/* ---- order ---------------------------------------------------------------------------------------------------------
 */

/* Operations of one process on one location take effect as the program has them, without a flush between. */
static void program_order(const TestWindow* w) {
  const int target = (w->rank + 1) % w->ranks;
  memset(w->base, 0, 2048);
  int values[100], read[100];
  epoch_begin(w, kLockAll, 0);
  for (int i = 0; i < 100; i++) {
    values[i] = 100 * w->rank + i;
    const int two = 2;
    const MPI_Aint disp = disp_of(w, target, 8);
    MUST(MPI_Accumulate(&values[i], 1, MPI_INT, target, disp, 1, MPI_INT, MPI_REPLACE, w->win));
    MUST(MPI_Accumulate(&two, 1, MPI_INT, target, disp, 1, MPI_INT, MPI_PROD, w->win));
    MUST(MPI_Get_accumulate(NULL, 0, MPI_INT, &read[i], 1, MPI_INT, target, disp, 1, MPI_INT, MPI_NO_OP, w->win));
    if (i % 10 == 9) MUST(MPI_Win_flush_local(target, w->win)); /* `two` of before is used until then */
  }
  epoch_end(w, kLockAll, 0);
  for (int i = 0; i < 100; i++)
    CHECK(read[i] == 2 * values[i], "read %d after replacing by %d and doubling", read[i], values[i]);
  MUST(MPI_Barrier(w->comm));
}

/* Rank 0 replaces eight words by growing numbers, in order; the others read them: no reading falls, no word is torn,
 * and a word put later is never ahead. */
static void growing(const TestWindow* w) {
  const int last = w->ranks - 1;
  memset(w->base, 0, 2048);
  epoch_begin(w, kLockAll, 0);
  const MPI_Aint disp = disp_of(w, last, 0);
  if (w->rank == 0) {
    for (int64_t i = 1; i <= 300; i++) {
      const int64_t value = i * 0x100000001;
      MUST(MPI_Accumulate(&value, 1, MPI_INT64_T, last, disp, 1, MPI_INT64_T, MPI_REPLACE, w->win));
      MUST(MPI_Win_flush(last, w->win));
    }
  } else {
    int64_t before = 0, now = 0;
    for (int i = 0; i < 300 || now != 300 * (int64_t)0x100000001; i++) {
      MUST(MPI_Fetch_and_op(NULL, &now, MPI_INT64_T, last, disp, MPI_NO_OP, w->win));
      MUST(MPI_Win_flush(last, w->win));
      CHECK(now >= before, "a reading fell");
      CHECK((now >> 32) == (now & 0xffffffff), "a torn word");
      before = now;
    }
  }
  epoch_end(w, kLockAll, 0);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int few = check_size > 4;
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    TestWindow w = window_make(kind, MPI_COMM_WORLD, kWindowBytes, kind == kAllocated ? 8 : kind == kShared ? 4 : 1);
    every_operation(&w, (int)kind % 3);
    replaced(&w);
    nothing(&w);
    layouts(&w);
    swapped(&w);
    sums(&w, 0, MPI_INT64_T, few ? 5 : 30);
    sums(&w, 8, MPI_INT32_T, few ? 5 : 30);
    if (w.units[0] == 1) sums(&w, 13, MPI_INT64_T, few ? 2 : 10);
    tickets(&w, few ? 50 : 400);
    chain(&w, few ? 30 : 200, 0);
    chain(&w, few ? 30 : 200, 1);
    swap_counters(&w, few ? 20 : 200);
    lowest_pair(&w);
    program_order(&w);
    growing(&w);
    window_free(&w);
  }
  return check_end();
}
