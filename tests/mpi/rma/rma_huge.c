/* One-sided operations of more than 2^31 bytes, in memory of any kind: one run and with gaps, put, got and combined;
 * and few bytes at places, and with displacement units, that no int holds. The buffers are those of period.h. */
#include "period.h"
#include "rma.h"

static const size_t kBytes = (1ull << 31) + 4096;

static void look(const TestWindow* w, const unsigned char* in, const unsigned char* out, const char* how) {
  for (size_t i = 0; i < kPeriod; i++)
    if (in[i] != out[i]) {
      CHECK(0, "%s to rank %d: byte %zu is %d and should be %d", how, (w->rank + 1) % w->ranks, i, in[i], out[i]);
      return;
    }
}

/* A window over a long buffer. Rank 0 is the only origin; its right neighbour, itself if alone, the target. */
static void whole(void) {
  unsigned char *memory = make_buffer(), *origin = make_buffer(), *should = check_alloc(kPeriod);
  TestWindow w = {
      .comm = MPI_COMM_WORLD, .kind = kCreated, .base = (char*)memory, .rank = check_rank, .ranks = check_size};
  const int target = 1 % check_size, is_target = check_rank == target, is_origin = check_rank == 0;
  MUST(MPI_Win_create_c(memory, (MPI_Aint)kSpan, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
  memset(memory, 0, kPeriod);
  pattern_fill(origin, kPeriod, 3);
  pattern_fill(should, kPeriod, 3);

  MUST(MPI_Win_fence(0, w.win));
  if (is_origin) MUST(MPI_Put_c(origin, (MPI_Count)kBytes, MPI_BYTE, target, 0, (MPI_Count)kBytes, MPI_BYTE, w.win));
  MUST(MPI_Win_fence(0, w.win));
  if (is_target) look(&w, memory, should, "put");
  MUST(MPI_Win_fence(0, w.win));
  memset(origin, 0, kPeriod);
  if (is_origin) MUST(MPI_Get_c(origin, (MPI_Count)kBytes, MPI_BYTE, target, 0, (MPI_Count)kBytes, MPI_BYTE, w.win));
  MUST(MPI_Win_fence(0, w.win));
  if (is_origin) look(&w, origin, should, "get");

  /* Blocks of a page with gaps of 64 bytes at the target; in memory that repeats, gaps are written by other blocks: so
   * only what lies in no gap of any repetition says something. One period, then, and the type as long as the buffer. */
  enum { kBlock = 4096, kStride = 4096 + 64 };
  const MPI_Count blocks = (MPI_Count)(kBytes / kStride);
  MPI_Datatype gaps;
  MUST(MPI_Type_vector_c(blocks, kBlock, kStride, MPI_BYTE, &gaps));
  MUST(MPI_Type_commit(&gaps));
  memset(memory, 0, kPeriod);
  MUST(MPI_Win_fence(0, w.win));
  if (is_origin) MUST(MPI_Put_c(origin, 1, gaps, target, 0, 1, gaps, w.win)); /* the same places at both ends */
  MUST(MPI_Type_free(&gaps));
  MUST(MPI_Win_fence(0, w.win));
  if (is_target) look(&w, memory, should, "put with gaps at both ends"); /* all places are covered by some repetition */

  /* Every word is added to as often as it is repeated. */
  uint64_t* const words = (uint64_t*)memory;
  const size_t n = kBytes / 8, period = kPeriod / 8;
  memset(memory, 0, kPeriod);
  for (size_t i = 0; i < period; i++) ((uint64_t*)origin)[i] = 1 + i % 1000;
  MUST(MPI_Win_fence(0, w.win));
  if (is_origin)
    MUST(MPI_Accumulate_c(origin, (MPI_Count)n, MPI_UINT64_T, target, 0, (MPI_Count)n, MPI_UINT64_T, MPI_SUM, w.win));
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
  for (size_t i = 0; is_target && i < period; i++) {
    const uint64_t times = n / period + (i < n % period), sum = times * (1 + i % 1000);
    if (words[i] == sum) continue;
    CHECK(0, "word %zu is %llu, not %llu", i, (unsigned long long)words[i], (unsigned long long)sum);
    break;
  }
  MUST(MPI_Win_free(&w.win));
  munmap(memory, kSpan);
  munmap(origin, kSpan);
  free(should);
}

/* Windows of 5 GiB, of which a few pages are touched. */
static void far_places(WindowKind kind) {
  const MPI_Aint size = (MPI_Aint)5 << 30, far = ((MPI_Aint)9 << 29) + 8;
  char* base = NULL;
  MPI_Win win;
  if (kind == kShared)
    MUST(MPI_Win_allocate_shared_c(check_rank == 0 ? size : 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  else
    MUST(MPI_Win_allocate_c(check_rank == 0 ? size : 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  MPI_Aint* got_size;
  int found;
  MUST(MPI_Win_get_attr(win, MPI_WIN_SIZE, &got_size, &found));
  CHECK(found && *got_size == (check_rank == 0 ? size : 64));
  if (check_rank == 0) *(int64_t*)(base + far) = 5;
  const int64_t mine = 7, add = 1000;
  int64_t was = -1;
  MUST(MPI_Win_fence(0, win));
  if (check_rank == check_size - 1) {
    MUST(MPI_Put(&mine, 1, MPI_INT64_T, 0, far / 8 - 1, 1, MPI_INT64_T, win));
    MUST(MPI_Get_accumulate(&add, 1, MPI_INT64_T, &was, 1, MPI_INT64_T, 0, far / 8, 1, MPI_INT64_T, MPI_SUM, win));
  }
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  if (check_rank == 0) CHECK(*(int64_t*)(base + far - 8) == 7 && *(int64_t*)(base + far) == 1005);
  if (check_rank == check_size - 1) CHECK_EQ(was, 5);
  MUST(MPI_Win_free(&win));
}

/* A unit of 4 GiB: displacement 1 is the second half; as an int the attribute and the query have no form for it. */
static void large_unit(void) {
  const MPI_Aint unit = (MPI_Aint)1 << 32;
  char* base = NULL;
  MPI_Win win;
  MUST(MPI_Win_allocate_c(unit + 4096, unit, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win));
  MUST(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  MPI_Aint size = 0, got = 0;
  int narrow = 0, *attribute = NULL, found = 0;
  char* at = NULL;
  MUST(MPI_Win_shared_query_c(win, 0, &size, &got, &at));
  CHECK(size == 0 || (size == unit + 4096 && got == unit));
  if (size) CHECK(MPI_Win_shared_query(win, 0, &size, &narrow, &at) != MPI_SUCCESS);
  CHECK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &attribute, &found) != MPI_SUCCESS || !found);
  const int mine = 17;
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
  MUST(MPI_Put(&mine, 1, MPI_INT, 0, 1, 1, MPI_INT, win));
  MUST(MPI_Win_unlock(0, win));
  CHECK_EQ(*(int*)(base + unit), 17);
  MUST(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  whole();
  far_places(kAllocated);
  if (all_share_memory(MPI_COMM_WORLD)) far_places(kShared);
  if (check_rank == 0) large_unit();
  return check_end();
}
