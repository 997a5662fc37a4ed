/* Wrong calls of one-sided communication: each gives its class to the right error handler, says in its text the call,
 * the window, the rank and what was wrong, and loses nothing: afterwards everything works. `rma_errors --classes` looks
 * at the classes alone. */
#include "rma.h"

static int texts = 1;

/* `words`: what the text has to contain, separated by bars. */
static void check_bad(int line, const char* call, int code, int should, const char* words) {
  char text[MPI_MAX_ERROR_STRING], list[256], should_text[MPI_MAX_ERROR_STRING];
  int length, is = 0;
  MPI_Error_class(code, &is);
  MPI_Error_string(code, text, &length);
  MPI_Error_string(should, should_text, &length);
  if (is != should) {
    check_failed(__FILE__, line, NULL, "%s gives class %d (%s), not %d (%s)", call, is, text, should, should_text);
    return;
  }
  snprintf(list, sizeof list, "%s", words);
  for (char* word = strtok(list, "|"); texts && word; word = strtok(NULL, "|"))
    if (!strstr(text, word)) check_failed(__FILE__, line, NULL, "%s: \"%s\" does not say \"%s\"", call, text, word);
}

#define BAD(mpi_class, words, call) check_bad(__LINE__, #call, (call), (mpi_class), (words))

static int value = 1, other = 2, result = 3;

/* A window named 'halo' of 64 bytes whose errors come back, of each process. */
static TestWindow halo(WindowKind kind, MPI_Comm comm) {
  TestWindow w = window_make(kind, comm, 64, 4);
  MUST(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
  MUST(MPI_Win_set_name(w.win, "halo"));
  return w;
}

/* After every mistake: the window still works, in every kind of epoch. */
static void still_works(const TestWindow* w) {
  const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
  for (EpochKind e = (EpochKind)0; e < kEpochKinds; e++) {
    const int mine = 100 * (int)e + w->rank;
    epoch_begin(w, e, right);
    MUST(MPI_Put(&mine, 1, MPI_INT, right, disp_of(w, right, 8), 1, MPI_INT, w->win));
    epoch_end(w, e, right);
    CHECK(((int*)w->base)[2] == 100 * (int)e + left, "after errors: %s", epoch_kind_name(e));
    MUST(MPI_Barrier(w->comm));
  }
}

/* ---- epochs --------------------------------------------------------------------------------------------------------
 */

/* Every operation without an epoch; and the request-based ones outside of passive ones. */
static void outside_epochs(const TestWindow* w) {
  const MPI_Win win = w->win;
  MPI_Request r;
  const MPI_Aint d = disp_of(w, 0, 0);
  BAD(MPI_ERR_RMA_SYNC, "MPI_Put|rank 0|'halo'|epoch", MPI_Put(&value, 1, MPI_INT, 0, d, 1, MPI_INT, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Get|rank 0|'halo'", MPI_Get(&value, 1, MPI_INT, 0, d, 1, MPI_INT, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Accumulate|rank 0|'halo'",
      MPI_Accumulate(&value, 1, MPI_INT, 0, d, 1, MPI_INT, MPI_SUM, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Get_accumulate|'halo'",
      MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, 0, d, 1, MPI_INT, MPI_SUM, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Fetch_and_op|'halo'", MPI_Fetch_and_op(&value, &result, MPI_INT, 0, d, MPI_SUM, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Compare_and_swap|'halo'",
      MPI_Compare_and_swap(&value, &other, &result, MPI_INT, 0, d, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Rput|'halo'", MPI_Rput(&value, 1, MPI_INT, 0, d, 1, MPI_INT, win, &r));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Rget|'halo'", MPI_Rget(&value, 1, MPI_INT, 0, d, 1, MPI_INT, win, &r));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Raccumulate|'halo'",
      MPI_Raccumulate(&value, 1, MPI_INT, 0, d, 1, MPI_INT, MPI_SUM, win, &r));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Rget_accumulate|'halo'",
      MPI_Rget_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, 0, d, 1, MPI_INT, MPI_SUM, win, &r));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_flush|rank 0|'halo'", MPI_Win_flush(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_flush_local|'halo'", MPI_Win_flush_local(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_flush_all|'halo'", MPI_Win_flush_all(win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_flush_local_all|'halo'", MPI_Win_flush_local_all(win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock|rank 0|'halo'", MPI_Win_unlock(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all|'halo'|MPI_Win_lock_all", MPI_Win_unlock_all(win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_complete|'halo'|MPI_Win_start", MPI_Win_complete(win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_wait|'halo'|MPI_Win_post", MPI_Win_wait(win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_test|'halo'|MPI_Win_post", MPI_Win_test(win, &result));
  CHECK(value == 1 && other == 2);
}

static void inside_fence(const TestWindow* w) {
  const MPI_Win win = w->win;
  MPI_Request r;
  const MPI_Aint d = disp_of(w, w->rank, 16);
  MUST(MPI_Win_fence(0, win));
  MUST(MPI_Put(&value, 1, MPI_INT, w->rank, d, 1, MPI_INT, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Rput|'halo'|MPI_Win_fence", MPI_Rput(&value, 1, MPI_INT, w->rank, d, 1, MPI_INT, win, &r));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock|'halo'|MPI_Win_fence", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all|'halo'|MPI_Win_fence", MPI_Win_lock_all(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_start|'halo'|MPI_Win_fence", MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_post|'halo'|MPI_Win_fence", MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_flush|'halo'", MPI_Win_flush(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_free|'halo'|MPI_Win_fence", MPI_Win_free(&(MPI_Win){win}));
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Put|MPI_MODE_NOSUCCEED", MPI_Put(&value, 1, MPI_INT, w->rank, d, 1, MPI_INT, win));
}

static void inside_locks(const TestWindow* w) {
  const MPI_Win win = w->win;
  const int last = w->ranks - 1, second = w->rank == 0 && w->ranks > 1 ? 1 : 0;
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock|'halo'|already", MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all|'halo'|MPI_Win_lock", MPI_Win_lock_all(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_fence|'halo'|MPI_Win_lock", MPI_Win_fence(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_start|'halo'", MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_complete|'halo'|MPI_Win_start", MPI_Win_complete(win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all|'halo'", MPI_Win_unlock_all(win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_free|'halo'", MPI_Win_free(&(MPI_Win){win}));
  if (w->ranks > 1) {
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock|'halo'", MPI_Win_unlock(second, win));
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_flush|'halo'", MPI_Win_flush(second, win));
    BAD(MPI_ERR_RMA_SYNC, "MPI_Put|'halo'|MPI_Win_lock",
        MPI_Put(&value, 1, MPI_INT, second, disp_of(w, second, 0), 1, MPI_INT, win));
  }
  MUST(MPI_Win_unlock(w->rank, win));
  MUST(MPI_Win_lock_all(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all|'halo'|MPI_Win_lock_all", MPI_Win_lock_all(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock|'halo'|MPI_Win_lock_all", MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock|'halo'", MPI_Win_unlock(last, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_fence|'halo'|MPI_Win_lock_all", MPI_Win_fence(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_free|'halo'", MPI_Win_free(&(MPI_Win){win}));
  MUST(MPI_Win_unlock_all(win));
  /* Nothing is checked before it is needed, but what a lock is does not depend on the assertion. */
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, MPI_MODE_NOCHECK, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock|'halo'|already", MPI_Win_lock(MPI_LOCK_SHARED, w->rank, MPI_MODE_NOCHECK, win));
  MUST(MPI_Win_unlock(w->rank, win));
}

static void inside_start(const TestWindow* w) {
  const MPI_Win win = w->win;
  MPI_Group all, self;
  MUST(MPI_Win_get_group(win, &all));
  MUST(MPI_Group_incl(all, 1, &w->rank, &self));
  MUST(MPI_Win_post(self, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_post|'halo'|MPI_Win_post", MPI_Win_post(self, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_fence|'halo'|MPI_Win_post", MPI_Win_fence(0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_free|'halo'|MPI_Win_post", MPI_Win_free(&(MPI_Win){win}));
  MUST(MPI_Win_start(self, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_start|'halo'|MPI_Win_start", MPI_Win_start(self, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock|'halo'|MPI_Win_start", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  BAD(MPI_ERR_RMA_SYNC, "MPI_Win_flush_all|'halo'", MPI_Win_flush_all(win));
  MPI_Request r;
  BAD(MPI_ERR_RMA_SYNC, "MPI_Rget|'halo'",
      MPI_Rget(&value, 1, MPI_INT, w->rank, disp_of(w, w->rank, 0), 1, MPI_INT, win, &r));
  if (w->ranks > 1) { /* a target that is not in the group of the start */
    const int no = (w->rank + 1) % w->ranks;
    BAD(MPI_ERR_RMA_SYNC, "MPI_Put|'halo'|MPI_Win_start",
        MPI_Put(&value, 1, MPI_INT, no, disp_of(w, no, 0), 1, MPI_INT, win));
  }
  MUST(MPI_Win_complete(win));
  MUST(MPI_Win_wait(win));
  MUST(MPI_Group_free(&all));
  MUST(MPI_Group_free(&self));
}

/* ---- arguments -----------------------------------------------------------------------------------------------------
 */

static void arguments(const TestWindow* w) {
  const MPI_Win win = w->win;
  MPI_Datatype open;
  MUST(MPI_Type_contiguous(1, MPI_INT, &open));
  MUST(MPI_Win_lock_all(0, win));
  const MPI_Aint d = disp_of(w, 0, 0);
  BAD(MPI_ERR_RANK, "MPI_Put|target_rank|4711|'halo'", MPI_Put(&value, 1, MPI_INT, 4711, d, 1, MPI_INT, win));
  BAD(MPI_ERR_RANK, "MPI_Get|target_rank|-7", MPI_Get(&value, 1, MPI_INT, -7, d, 1, MPI_INT, win));
  BAD(MPI_ERR_RANK, "MPI_Fetch_and_op|target_rank",
      MPI_Fetch_and_op(&value, &result, MPI_INT, w->ranks, d, MPI_SUM, win));
  BAD(MPI_ERR_RANK, "MPI_Win_flush|rank", MPI_Win_flush(w->ranks, win));
  BAD(MPI_ERR_COUNT, "MPI_Put|origin_count|-1", MPI_Put(&value, -1, MPI_INT, 0, d, 1, MPI_INT, win));
  BAD(MPI_ERR_COUNT, "MPI_Get|target_count|-2", MPI_Get(&value, 1, MPI_INT, 0, d, -2, MPI_INT, win));
  BAD(MPI_ERR_TYPE, "MPI_Put|origin_datatype", MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, d, 1, MPI_INT, win));
  BAD(MPI_ERR_TYPE, "MPI_Get|target_datatype|commit", MPI_Get(&value, 1, MPI_INT, 0, d, 1, open, win));
  BAD(MPI_ERR_OP, "MPI_Accumulate|op", MPI_Accumulate(&value, 1, MPI_INT, 0, d, 1, MPI_INT, MPI_OP_NULL, win));
  BAD(MPI_ERR_OP, "MPI_Accumulate|MPI_NO_OP", MPI_Accumulate(&value, 1, MPI_INT, 0, d, 1, MPI_INT, MPI_NO_OP, win));
  BAD(MPI_ERR_OP, "MPI_Accumulate|MPI_BAND", MPI_Accumulate(&value, 1, MPI_FLOAT, 0, d, 1, MPI_FLOAT, MPI_BAND, win));
  BAD(MPI_ERR_TYPE, "MPI_Accumulate|MPI_FLOAT|MPI_INT",
      MPI_Accumulate(&value, 1, MPI_FLOAT, 0, d, 1, MPI_INT, MPI_SUM, win));
  BAD(MPI_ERR_TYPE, "MPI_Get_accumulate|result_datatype",
      MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_FLOAT, 0, d, 1, MPI_INT, MPI_SUM, win));
  BAD(MPI_ERR_TYPE, "MPI_Get_accumulate|origin_datatype",
      MPI_Get_accumulate(&value, 1, MPI_DATATYPE_NULL, &result, 1, MPI_INT, 0, d, 1, MPI_INT, MPI_SUM, win));
  BAD(MPI_ERR_TYPE, "MPI_Compare_and_swap|MPI_DOUBLE",
      MPI_Compare_and_swap(&value, &other, &result, MPI_DOUBLE, 0, d, win));
  BAD(MPI_ERR_TYPE, "MPI_Put", MPI_Put(&value, 1, MPI_INT, 0, d, 2, MPI_INT, win)); /* unequal amounts */
  BAD(MPI_ERR_BUFFER, "MPI_Put|origin_addr", MPI_Put(NULL, 1, MPI_INT, 0, d, 1, MPI_INT, win));
  BAD(MPI_ERR_WIN, "MPI_Put|win", MPI_Put(&value, 1, MPI_INT, 0, d, 1, MPI_INT, MPI_WIN_NULL));
  MUST(MPI_Win_unlock_all(win));
  MUST(MPI_Type_free(&open));

  BAD(MPI_ERR_LOCKTYPE, "MPI_Win_lock|lock_type|17", MPI_Win_lock(17, 0, 0, win));
  BAD(MPI_ERR_RANK, "MPI_Win_lock|rank|4711|'halo'", MPI_Win_lock(MPI_LOCK_SHARED, 4711, 0, win));
  BAD(MPI_ERR_ASSERT, "MPI_Win_lock|assert", MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win));
  BAD(MPI_ERR_ASSERT, "MPI_Win_lock_all|assert", MPI_Win_lock_all(MPI_MODE_NOSTORE, win));
  BAD(MPI_ERR_ASSERT, "MPI_Win_fence|assert|1048576", MPI_Win_fence(1 << 20, win));
  BAD(MPI_ERR_ASSERT, "MPI_Win_post|assert", MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOSUCCEED, win));
  BAD(MPI_ERR_ASSERT, "MPI_Win_start|assert", MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOPUT, win));
  BAD(MPI_ERR_GROUP, "MPI_Win_post|group", MPI_Win_post(MPI_GROUP_NULL, 0, win));
  BAD(MPI_ERR_WIN, "MPI_Win_fence|win", MPI_Win_fence(0, MPI_WIN_NULL));
  BAD(MPI_ERR_WIN, "MPI_Win_free", MPI_Win_free(&(MPI_Win){MPI_WIN_NULL}));
}

/* An operation of the user's own, and one of other types of the same size. */
static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; i++) ((int*)inout)[i] += ((int*)in)[i];
}

static void operations(const TestWindow* w) {
  MPI_Op op;
  MUST(MPI_Op_create(add, 1, &op));
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
  BAD(MPI_ERR_OP, "MPI_Accumulate|op", MPI_Accumulate(&value, 1, MPI_INT, 0, disp_of(w, 0, 0), 1, MPI_INT, op, w->win));
  BAD(MPI_ERR_OP, "MPI_Fetch_and_op|op", MPI_Fetch_and_op(&value, &result, MPI_INT, 0, disp_of(w, 0, 0), op, w->win));
  MUST(MPI_Win_unlock(0, w->win));
  MUST(MPI_Op_free(&op));
}

/* ---- what lies outside ---------------------------------------------------------------------------------------------
 */

static void ranges(const TestWindow* w) {
  const MPI_Win win = w->win;
  MPI_Datatype before, wide;
  MUST(MPI_Type_create_hindexed(1, &(int){1}, &(MPI_Aint){-4}, MPI_INT, &before));
  MUST(MPI_Type_vector(2, 1, 15, MPI_INT, &wide)); /* touches the first and the last int */
  MUST(MPI_Type_commit(&before));
  MUST(MPI_Type_commit(&wide));
  int two[2] = {5, 6};
  MUST(MPI_Win_lock_all(0, win));
  if (w->kind != kDynamic) {
    BAD(MPI_ERR_RMA_RANGE, "MPI_Put|displacement 16|rank 0|'halo'|64 bytes",
        MPI_Put(&value, 1, MPI_INT, 0, 16, 1, MPI_INT, win));
    BAD(MPI_ERR_RMA_RANGE, "MPI_Get|'halo'", MPI_Get(two, 2, MPI_INT, 0, 15, 2, MPI_INT, win));
    BAD(MPI_ERR_RMA_RANGE, "MPI_Put|-1", MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win));
    BAD(MPI_ERR_RMA_RANGE, "MPI_Put|'halo'", MPI_Put(&value, 1, MPI_INT, 0, (MPI_Aint)1 << 61, 1, MPI_INT, win));
    BAD(MPI_ERR_RMA_RANGE, "MPI_Put|'halo'", MPI_Put(&value, 1, MPI_INT, 0, 0, 1, before, win));
    BAD(MPI_ERR_RMA_RANGE, "MPI_Get|'halo'", MPI_Get(two, 2, MPI_INT, 0, 1, 1, wide, win));
    BAD(MPI_ERR_RMA_RANGE, "MPI_Fetch_and_op|'halo'", MPI_Fetch_and_op(&value, &result, MPI_INT, 0, 16, MPI_SUM, win));
    BAD(MPI_ERR_RMA_RANGE, "MPI_Compare_and_swap|'halo'",
        MPI_Compare_and_swap(&value, &other, &result, MPI_INT, 0, 16, win));
    BAD(MPI_ERR_RMA_RANGE, "MPI_Accumulate|'halo'",
        MPI_Accumulate(&value, 1, MPI_INT, 0, 99, 1, MPI_INT, MPI_SUM, win));
    MUST(MPI_Get(two, 2, MPI_INT, 0, 0, 1, wide, win));            /* just inside */
    MUST(MPI_Put(&value, 1, MPI_INT, w->rank, 2, 1, before, win)); /* the second int, from behind it */
    MUST(MPI_Put(&value, 0, MPI_INT, 0, 16, 0, MPI_INT, win));     /* nothing, behind the end */
  } else if (w->rank == 0) {
    /* Found where the memory lies, so at the latest when the operation has to be complete. */
    static int stray;
    MPI_Aint at;
    MUST(MPI_Get_address(&stray, &at));
    int code = MPI_Put(&value, 1, MPI_INT, w->ranks - 1, at, 1, MPI_INT, win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush(w->ranks - 1, win);
    BAD(MPI_ERR_RMA_RANGE, "'halo'|attached", code);
    CHECK_EQ(stray, 0);
    code = MPI_Get(&value, 1, MPI_INT, w->ranks - 1, 64, 1, MPI_INT, win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush(w->ranks - 1, win);
    BAD(MPI_ERR_RMA_RANGE, "'halo'|attached", code);
    MPI_Request request = MPI_REQUEST_NULL; /* its failure is the window's as well, found by the call or by its wait */
    code = MPI_Rget(&value, 1, MPI_INT, w->ranks - 1, 64, 1, MPI_INT, win, &request);
    const int at_wait = code == MPI_SUCCESS;
    if (at_wait) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    BAD(MPI_ERR_RMA_RANGE, at_wait ? "MPI_Wait on 'halo'|attached" : "MPI_Rget on 'halo'|attached", code);
    CHECK(request == MPI_REQUEST_NULL);
    code = MPI_Put(two, 2, MPI_INT, w->ranks - 1, disp_of(w, w->ranks - 1, 60), 2, MPI_INT, win); /* over its end */
    if (code == MPI_SUCCESS) code = MPI_Win_flush(w->ranks - 1, win);
    BAD(MPI_ERR_RMA_RANGE, "'halo'|attached", code);
  }
  MUST(MPI_Win_unlock_all(win));
  MUST(MPI_Type_free(&before));
  MUST(MPI_Type_free(&wide));
  MUST(MPI_Barrier(w->comm));
}

static void attaching(const TestWindow* w) {
  char memory[100], more[100];
  if (w->kind != kDynamic) {
    BAD(MPI_ERR_RMA_FLAVOR, "MPI_Win_attach|'halo'", MPI_Win_attach(w->win, memory, sizeof memory));
    BAD(MPI_ERR_RMA_FLAVOR, "MPI_Win_detach|'halo'", MPI_Win_detach(w->win, memory));
    return;
  }
  MPI_Aint size;
  int unit;
  void* base;
  BAD(MPI_ERR_RMA_FLAVOR, "MPI_Win_shared_query|'halo'", MPI_Win_shared_query(w->win, 0, &size, &unit, &base));
  MUST(MPI_Win_attach(w->win, memory, sizeof memory));
  BAD(MPI_ERR_RMA_ATTACH, "MPI_Win_attach|'halo'|100", MPI_Win_attach(w->win, memory, sizeof memory));
  BAD(MPI_ERR_RMA_ATTACH, "MPI_Win_attach|'halo'", MPI_Win_attach(w->win, memory + 99, 1));
  BAD(MPI_ERR_RMA_ATTACH, "MPI_Win_attach|'halo'", MPI_Win_attach(w->win, memory + 40, 2));
  BAD(MPI_ERR_RMA_ATTACH, "MPI_Win_detach|'halo'", MPI_Win_detach(w->win, memory + 1));
  BAD(MPI_ERR_RMA_ATTACH, "MPI_Win_detach|'halo'", MPI_Win_detach(w->win, more));
  BAD(MPI_ERR_SIZE, "MPI_Win_attach|size|-1", MPI_Win_attach(w->win, more, -1));
  MUST(MPI_Win_attach(w->win, more, sizeof more));
  MUST(MPI_Win_detach(w->win, memory));
  BAD(MPI_ERR_RMA_ATTACH, "MPI_Win_detach|'halo'", MPI_Win_detach(w->win, memory));
  MUST(MPI_Win_detach(w->win, more));
}

/* ---- constructors --------------------------------------------------------------------------------------------------
 */

/* Errors of constructors go to the handler of the communicator, and what fails in one process fails in all. */
static void constructors(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  char memory[64];
  void* base;
  MPI_Win win = MPI_WIN_NULL;
  BAD(MPI_ERR_DISP, "MPI_Win_create|disp_unit|0", MPI_Win_create(memory, 64, 0, MPI_INFO_NULL, world, &win));
  BAD(MPI_ERR_DISP, "MPI_Win_allocate|disp_unit|-4", MPI_Win_allocate(64, -4, MPI_INFO_NULL, world, &base, &win));
  BAD(MPI_ERR_SIZE, "MPI_Win_create|size|-1", MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, world, &win));
  BAD(MPI_ERR_SIZE, "MPI_Win_allocate|size|-9", MPI_Win_allocate(-9, 1, MPI_INFO_NULL, world, &base, &win));
  BAD(MPI_ERR_COMM, "MPI_Win_create|comm", MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win));
  BAD(MPI_ERR_COMM, "MPI_Win_create_dynamic|comm", MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win));
  if (check_size > 1) {
    MPI_Comm half, inter;
    const int side = check_rank % 2;
    MUST(MPI_Comm_split(world, side, check_rank, &half));
    MUST(MPI_Intercomm_create(half, 0, world, 1 - side, 3, &inter));
    MUST(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    BAD(MPI_ERR_COMM, "MPI_Win_create|comm", MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, inter, &win));
    BAD(MPI_ERR_COMM, "MPI_Win_allocate_shared", MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, inter, &base, &win));
    MUST(MPI_Comm_free(&inter));
    MUST(MPI_Comm_free(&half));
  }
  if (!all_share_memory(world)) {
    BAD(MPI_ERR_RMA_SHARED, "MPI_Win_allocate_shared|MPI_COMM_WORLD",
        MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, world, &base, &win));
    BAD(MPI_ERR_RMA_SHARED, "MPI_Win_allocate_shared|MPI_COMM_WORLD",
        MPI_Win_allocate_shared(check_rank ? 0 : 64, 1, MPI_INFO_NULL, world, &base, &win));
  }
  MPI_Info info;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "mpi_minimum_memory_alignment", "48"));
  BAD(MPI_ERR_INFO_VALUE, "MPI_Win_allocate|mpi_minimum_memory_alignment|48",
      MPI_Win_allocate(64, 1, info, world, &base, &win));
  MUST(MPI_Info_free(&info));
  CHECK(win == MPI_WIN_NULL);
}

/* One process alone gives what is wrong: that one gets the class, the others an error and no window; nobody waits. */
static void wrong_in_one(int which) {
  void* base;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Info info = MPI_INFO_NULL;
  const int wrong = check_rank == check_size - 1;
  int code, is, should = MPI_ERR_DISP;
  switch (which) {
    case 0:
      code = MPI_Win_allocate(64, wrong ? -1 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
      break;
    case 1:
      should = MPI_ERR_INFO_VALUE;
      MUST(MPI_Info_create(&info));
      MUST(MPI_Info_set(info, "mpi_minimum_memory_alignment", wrong ? "3" : "64"));
      code = MPI_Win_allocate_shared(64, 1, info, MPI_COMM_WORLD, &base, &win);
      MUST(MPI_Info_free(&info));
      break;
    case 2:
      should = MPI_ERR_NO_MEM;
      code = MPI_Win_allocate(wrong ? (MPI_Aint)1 << 46 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
      break;
    default:
      should = MPI_ERR_NO_MEM;
      code = MPI_Win_allocate_shared(wrong ? (MPI_Aint)1 << 46 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  }
  CHECK(code != MPI_SUCCESS, "case %d", which);
  CHECK(win == MPI_WIN_NULL, "case %d", which);
  MUST(MPI_Error_class(code, &is));
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MUST(MPI_Error_string(code, text, &length));
  if (wrong && !(which == 3)) CHECK(is == should, "case %d: class %d: %s", which, is, text);
  if (!wrong && texts) CHECK(strstr(text, "rank ") || strstr(text, "process"), "case %d: %s", which, text);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* ---- handlers ------------------------------------------------------------------------------------------------------
 */

static int handled, handled_code;
static MPI_Win handled_win;
static void on_error(MPI_Win* win, int* code, ...) { handled++, handled_win = *win, handled_code = *code; }

/* Errors go to the window's handler; without a window, to that of the process. */
static void handlers(void) {
  TestWindow w = window_make(kAllocated, MPI_COMM_WORLD, 64, 4);
  MPI_Errhandler handler, got;
  MUST(MPI_Win_get_errhandler(w.win, &got));
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  MUST(MPI_Errhandler_free(&got));
  MUST(MPI_Win_create_errhandler(on_error, &handler));
  MUST(MPI_Win_set_errhandler(w.win, handler));
  MUST(MPI_Errhandler_free(&handler));
  handled = 0;
  const int code = MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w.win);
  int is = 0;
  MUST(MPI_Error_class(code, &is));
  CHECK(handled == 1 && handled_win == w.win && handled_code == code && is == MPI_ERR_RMA_SYNC);
  MUST(MPI_Win_call_errhandler(w.win, MPI_ERR_RANK));
  CHECK(handled == 2 && handled_code == MPI_ERR_RANK);
  window_free(&w);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  texts = !(argc > 1 && strcmp(argv[1], "--classes") == 0);
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    TestWindow w = halo(kind, MPI_COMM_WORLD);
    outside_epochs(&w);
    inside_fence(&w);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    inside_locks(&w);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    inside_start(&w);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    arguments(&w);
    operations(&w);
    ranges(&w);
    attaching(&w);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    still_works(&w);
    window_free(&w);
  }
  constructors();
  for (int which = 0; texts && which < 4; which++) wrong_in_one(which);
  handlers();
  return check_end();
}
