/* Operations on many short runs of memory that other processes cannot map: the target carries them out while it waits,
 * and no origin waits for one that computes. Then pairs of value and index, which several processes offer to one at the
 * same time. Last, offers of all processes to each other, beside accumulates of another form on the same elements. */
#include <unistd.h>

#include "counted.h"

enum { kRuns = 700, kWords = 3 * kRuns, kShort = 210, kShortCopy = 105 };

static int64_t memory[kWords]; /* none of the library's */
static MPI_Win win;
static MPI_Datatype every_third;

/* ---- a target that waits ------------------------------------------------------------------------------------------
 */

typedef enum { kPut, kGet, kAccumulate, kGetAccumulate, kReplace, kContiguous, kShortPut, kShortGet, kKinds } Kind;

/* What is contiguous and short is offered where the target has a core of its own; puts and gets only where the system's
 * copies are slow, or are said to be. */
static int slow_copies;
static int is_offered(Kind kind) {
  if (kind < kContiguous) return 1;
  return check_size <= sysconf(_SC_NPROCESSORS_ONLN) && (kind == kContiguous || slow_copies);
}

/* Of rank 0 to rank 1, whose word 3 * i is `before` + i. Returns what it is afterwards, less i. */
static int64_t operate(Kind kind, int64_t before) {
  int64_t origin[kRuns], result[kRuns], all[kShort], copy[kShortCopy];
  for (int i = 0; i < kRuns; i++) origin[i] = before + 3 + i, result[i] = -1;
  int64_t after = before;
  switch (kind) {
    case kPut:
      MUST(MPI_Put(origin, kRuns, MPI_INT64_T, 1, 0, 1, every_third, win));
      after = before + 3;
      break;
    case kGet:
      MUST(MPI_Get(result, kRuns, MPI_INT64_T, 1, 0, 1, every_third, win));
      break;
    case kAccumulate:
    case kGetAccumulate:
      for (int i = 0; i < kRuns; i++) origin[i] = 5;
      if (kind == kAccumulate)
        MUST(MPI_Accumulate(origin, kRuns, MPI_INT64_T, 1, 0, 1, every_third, MPI_SUM, win));
      else
        MUST(MPI_Get_accumulate(origin, kRuns, MPI_INT64_T, result, kRuns, MPI_INT64_T, 1, 0, 1, every_third, MPI_SUM,
                                win));
      after = before + 5;
      break;
    case kContiguous:
      for (int i = 0; i < kShort; i++) all[i] = i % 3 == 0 ? 5 : 0;
      for (int i = 0; i < kWords; i += kShort)
        MUST(MPI_Accumulate(all, kShort, MPI_INT64_T, 1, i, kShort, MPI_INT64_T, MPI_SUM, win));
      after = before + 5;
      break;
    case kShortPut:
      for (int i = 0; i < kWords; i += kShortCopy) {
        for (int k = 0; k < kShortCopy; k++) copy[k] = k % 3 == 0 ? before + 3 + (i + k) / 3 : -9;
        MUST(MPI_Put(copy, kShortCopy, MPI_INT64_T, 1, i, kShortCopy, MPI_INT64_T, win));
        MUST(MPI_Win_flush_local(1, win));
      }
      after = before + 3;
      break;
    case kShortGet:
      for (int i = 0; i < kWords; i += kShortCopy) {
        MUST(MPI_Get(copy, kShortCopy, MPI_INT64_T, 1, i, kShortCopy, MPI_INT64_T, win));
        MUST(MPI_Win_flush(1, win));
        for (int k = 0; k < kShortCopy; k++) CHECK_EQ(copy[k], k % 3 == 0 ? before + (i + k) / 3 : -9);
      }
      break;
    default:
      MUST(MPI_Get_accumulate(origin, kRuns, MPI_INT64_T, result, kRuns, MPI_INT64_T, 1, 0, 1, every_third, MPI_REPLACE,
                              win));
      after = before + 3;
      break;
  }
  MUST(MPI_Win_flush(1, win));
  if (kind == kGet || kind == kGetAccumulate || kind == kReplace)
    for (int i = 0; i < kRuns; i++)
      CHECK(result[i] == before + i, "kind %d, word %d: %lld", kind, i, (long long)result[i]);
  return after;
}

/* Rank 1 waits in MPI_Recv while rank 0 operates; then it says what it has carried out. Until it has carried out some
 * of each kind: one that gets no core for some time misses offers. */
static void while_it_waits(int counts) {
  for (int kind = 0; kind < kKinds; kind++) {
    const int carried_out_is_wanted = counts && is_offered((Kind)kind);
    for (int i = 0; i < kWords; i++) memory[i] = i % 3 == 0 ? 7 + i / 3 : -9;
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    const double start = MPI_Wtime();
    const unsigned long long before = carried_out_is_wanted ? counted() : 0;
    int64_t is = 7;
    for (int over = 0; !over;) {
      if (check_rank == 0) {
        for (int i = 0; i < 20; i++) is = operate((Kind)kind, is);
        MUST(MPI_Send(&is, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD));
      } else if (check_rank == 1) {
        MUST(MPI_Recv(&is, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MUST(MPI_Win_sync(win));
        for (int i = 0; i < kWords; i++) {
          const int64_t should = i % 3 == 0 ? is + i / 3 : -9;
          if (memory[i] == should) continue;
          CHECK(0, "kind %d: word %d is %lld and not %lld", kind, i, (long long)memory[i], (long long)should);
          break;
        }
        over = !carried_out_is_wanted || counted() > before || MPI_Wtime() - start > 30;
        if (carried_out_is_wanted) CHECK(MPI_Wtime() - start <= 30, "kind %d: nothing was carried out", kind);
      }
      MUST(MPI_Bcast(&over, 1, MPI_INT, 1, MPI_COMM_WORLD));
    }
  }
}

/* ---- a target that computes ----------------------------------------------------------------------------------------
 */

static void while_it_computes(void) {
  memset(memory, 0, sizeof memory);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 1) {
    const volatile int64_t* const flag = &memory[1];
    const double start = MPI_Wtime();
    while (*flag == 0 && MPI_Wtime() - start < 60) continue;
    CHECK(*flag == 1, "operations waited for a target that computes");
  }
  if (check_rank == 0) {
    int64_t ones[kRuns];
    const int64_t one = 1;
    for (int i = 0; i < kRuns; i++) ones[i] = 1;
    for (int turn = 0; turn < 10; turn++)
      MUST(MPI_Accumulate(ones, kRuns, MPI_INT64_T, 1, 0, 1, every_third, MPI_SUM, win));
    MUST(MPI_Win_flush(1, win));
    MUST(MPI_Put(&one, 1, MPI_INT64_T, 1, 1, 1, MPI_INT64_T, win));
    MUST(MPI_Win_flush(1, win));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; check_rank == 1 && i < kRuns; i++) CHECK_EQ(memory[3 * i], 10);
}

/* ---- long runs ---------------------------------------------------------------------------------------------------
 */

enum { kLong = 300 * 1000, kEdge = 5 }; /* words, not as many as whole parts; words before and after them */
static int64_t *long_memory, *long_origin;
static MPI_Win long_win;

typedef enum { kLongPut, kLongGet, kLongSum, kLongMisaligned, kLongKinds } LongKind;

/* Of `words` words of rank 0 to rank 1, which are what() of `turn`; afterwards those of `turn` + 1. */
static int64_t what(int turn, int i) { return turn * 1000003ll + 7ll * i; }

static void operate_long(LongKind kind, int turn, int words) {
  const MPI_Aint at = kEdge;
  for (int i = 0; i < words; i++)
    long_origin[i] = kind == kLongPut ? what(turn + 1, i) : kind == kLongGet ? -1 : 1000003;
  switch (kind) {
    case kLongPut:
      MUST(MPI_Put(long_origin, words, MPI_INT64_T, 1, 8 * at, words, MPI_INT64_T, long_win));
      break;
    case kLongGet:
      MUST(MPI_Get(long_origin, words, MPI_INT64_T, 1, 8 * at, words, MPI_INT64_T, long_win));
      break;
    default:
      MUST(MPI_Accumulate(long_origin, words, MPI_INT64_T, 1, 8 * at + (kind == kLongMisaligned), words, MPI_INT64_T,
                          MPI_SUM, long_win));
      break;
  }
  MUST(MPI_Win_flush(1, long_win));
  for (int i = 0; kind == kLongGet && i < words; i++) {
    if (long_origin[i] == what(turn, i)) continue;
    CHECK(0, "long get, %d words: word %d is %lld", words, i, (long long)long_origin[i]);
    break;
  }
}

/* The memory of rank 1, whose edges nobody touches. */
static void look_at_long(LongKind kind, int turn, int words) {
  const char* const bytes = (const char*)(long_memory + kEdge) + (kind == kLongMisaligned);
  for (int i = -kEdge + 1; i < words + kEdge - 1; i++) {
    int64_t is;
    memcpy(&is, bytes + 8 * i, 8);
    if (is == (i < 0 || i >= words ? -9 : what(turn, i))) continue;
    CHECK(0, "long runs of kind %d, %d words: word %d is %lld", (int)kind, words, i, (long long)is);
    break;
  }
}

static void set_long(LongKind kind, int words) {
  char* const bytes = (char*)(long_memory + kEdge) + (kind == kLongMisaligned);
  memset(long_memory, 0xff, sizeof(int64_t) * (kLong + 2 * kEdge));
  for (int i = -kEdge; i < words + kEdge - 1; i++) {
    const int64_t is = i < 0 || i >= words ? -9 : what(0, i);
    memcpy(bytes + 8 * i, &is, 8);
  }
}

/* Rank 1 waits, or does not call the library until it sees that the operation is complete. */
static void long_runs(int counts) {
  static const int sizes[] = {513, 8192, 8193, 50 * 1000, kLong};
  const int enough = check_size <= sysconf(_SC_NPROCESSORS_ONLN);
  long_memory = check_alloc(sizeof(int64_t) * (kLong + 2 * kEdge));
  long_origin = check_alloc(sizeof(int64_t) * kLong);
  MUST(MPI_Win_create(long_memory, sizeof(int64_t) * (kLong + 2 * kEdge), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &long_win));
  MUST(MPI_Win_lock_all(0, long_win));
  for (int kind = 0; kind < kLongKinds; kind++)
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++) {
      const int words = sizes[k];
      /* Long sums are offered from 4 KiB on; puts and gets that both copy are from 64 KiB on. */
      const int wanted = counts && enough && kind != kLongMisaligned && (kind == kLongSum || words >= 8192);
      const double start = MPI_Wtime();
      const unsigned long long before = wanted ? counted() : 0;
      set_long((LongKind)kind, words);
      MUST(MPI_Win_sync(long_win));
      MUST(MPI_Barrier(MPI_COMM_WORLD));
      for (int turn = 0, over = 0; !over; turn++) {
        if (check_rank == 0) operate_long((LongKind)kind, kind == kLongGet ? 0 : turn, words);
        MUST(MPI_Barrier(MPI_COMM_WORLD)); /* where rank 1 waits */
        if (check_rank == 1) {
          MUST(MPI_Win_sync(long_win));
          look_at_long((LongKind)kind, kind == kLongGet ? 0 : turn + 1, words);
          const double took = MPI_Wtime() - start;
          over = turn >= 2 && (!wanted || counted() > before || took > 30);
          CHECK(took <= 30 || !wanted || counted() > before, "long runs of kind %d, %d words: nothing was carried out",
                kind, words);
        }
        MUST(MPI_Bcast(&over, 1, MPI_INT, 1, MPI_COMM_WORLD));
      }
    }
  set_long(kLongPut, kLong);
  MUST(MPI_Win_sync(long_win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) {
    operate_long(kLongPut, 0, kLong);
    operate_long(kLongGet, 1, kLong);
    operate_long(kLongSum, 1, kLong);
    const int64_t done = 1;
    MUST(MPI_Put(&done, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, long_win));
    MUST(MPI_Win_flush(1, long_win));
  }
  if (check_rank == 1) {
    const volatile int64_t* const flag = &long_memory[0];
    const double start = MPI_Wtime();
    while (*flag != 1 && MPI_Wtime() - start < 60) continue;
    CHECK(*flag == 1, "long operations waited for a target that computes");
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_sync(long_win));
  if (check_rank == 1) look_at_long(kLongPut, 2, kLong);
}

/* Each process puts a part of its own to all others and adds to another part of all, at the same time. */
static void long_to_all(void) {
  const int words = kLong / 2 / check_size;
  int64_t* const mine = long_origin + kLong / 2;
  memset(long_memory, 0, sizeof(int64_t) * (kLong + 2 * kEdge));
  for (int i = 0; i < words; i++) mine[i] = what(check_rank, i);
  for (int i = 0; i < kLong / 2; i++) long_origin[i] = i;
  MUST(MPI_Win_sync(long_win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int turn = 0; turn < 4; turn++)
    for (int k = 0; k < check_size; k++) {
      const int to = (check_rank + k) % check_size;
      MUST(MPI_Put(mine, words, MPI_INT64_T, to, 8ll * words * check_rank, words, MPI_INT64_T, long_win));
      MUST(MPI_Accumulate(long_origin, kLong / 2, MPI_INT64_T, to, 4ll * kLong, kLong / 2, MPI_INT64_T, MPI_SUM,
                          long_win));
    }
  MUST(MPI_Win_flush_all(long_win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_sync(long_win));
  for (int i = 0; i < kLong; i++) {
    const int64_t should = i < words * check_size ? what(i / words, i % words)
                           : i < kLong / 2        ? 0
                                                  : 4ll * check_size * (i - kLong / 2);
    if (long_memory[i] == should) continue;
    CHECK(0, "long runs of all: word %d is %lld and not %lld", i, (long long)long_memory[i], (long long)should);
    break;
  }
  MUST(MPI_Win_unlock_all(long_win));
  MUST(MPI_Win_free(&long_win));
  free(long_memory);
  free(long_origin);
}

/* ---- pairs, from several processes to one ---------------------------------------------------------------------------
 */

typedef struct {
  double value;
  int index;
} Pair; /* with a hole at its end */

/* What a process brings in a round for the pair 3 * i. Values are met again, so that indices decide. */
static Pair brought(int rank, int round, int i) {
  const Pair pair = {(rank * 31 + round * 17 + i * 7) % 23, rank + 10 * round};
  return pair;
}

/* MPI_MAXLOC, or MPI_MINLOC. */
static Pair better(Pair a, Pair b, int max) {
  if (a.value == b.value) return a.index < b.index ? a : b;
  return (a.value > b.value) == max ? a : b;
}

static int same(Pair a, Pair b) { return a.value == b.value && a.index == b.index; }

/* All but `target` at the same time. `is`: what the pairs are; afterwards, what they have become. */
static void one_round(int target, int round, MPI_Datatype every_third_pair, MPI_Win pairs, Pair* is) {
  Pair origin[kRuns], result[kRuns];
  const int max = round % 2;
  for (int i = 0; i < kRuns; i++) origin[i] = brought(check_rank, round, i);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank != target) {
    if (max)
      MUST(MPI_Get_accumulate(origin, kRuns, MPI_DOUBLE_INT, result, kRuns, MPI_DOUBLE_INT, target, 0, 1,
                              every_third_pair, MPI_MAXLOC, pairs));
    else
      MUST(MPI_Accumulate(origin, kRuns, MPI_DOUBLE_INT, target, 0, 1, every_third_pair, MPI_MINLOC, pairs));
    MUST(MPI_Win_flush(target, pairs));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD)); /* where the target waits */
  for (int i = 0; i < kRuns; i++) {
    int seen = !max || check_rank == target || same(result[i], is[i]);
    for (int rank = 0; rank < check_size; rank++) {
      if (rank == target) continue;
      seen = seen || (rank != check_rank && same(result[i], brought(rank, round, i)));
      is[i] = better(is[i], brought(rank, round, i), max);
    }
    CHECK(seen, "round %d: pair %d was %g, %d", round, i, result[i].value, result[i].index);
    if (!seen) break;
  }
}

static void several_to_one(int carried_out_is_wanted) {
  static Pair memory_of_pairs[kWords], is[kRuns];
  const Pair untouched = {-1, -2};
  MPI_Win pairs;
  MPI_Datatype every_third_pair;
  MUST(MPI_Type_vector(kRuns, 1, 3, MPI_DOUBLE_INT, &every_third_pair));
  MUST(MPI_Type_commit(&every_third_pair));
  MUST(MPI_Win_create(memory_of_pairs, sizeof memory_of_pairs, sizeof(Pair), MPI_INFO_NULL, MPI_COMM_WORLD, &pairs));
  for (int i = 0; i < kWords; i++) memory_of_pairs[i] = untouched;
  for (int i = 0; i < kRuns; i++) memory_of_pairs[3 * i].value = 22, memory_of_pairs[3 * i].index = 1000000;
  MUST(MPI_Win_lock_all(0, pairs));
  for (int target = 0; target < check_size; target++) {
    for (int i = 0; i < kRuns; i++) is[i].value = 22, is[i].index = 1000000;
    const double start = MPI_Wtime();
    const unsigned long long before = carried_out_is_wanted ? counted() : 0;
    for (int over = 0, round = 0; !over;) {
      for (const int until = round + 10; round < until; round++) one_round(target, round, every_third_pair, pairs, is);
      if (check_rank == target) {
        MUST(MPI_Win_sync(pairs));
        for (int i = 0; i < kWords; i++) {
          const Pair should = i % 3 == 0 ? is[i / 3] : untouched;
          if (same(memory_of_pairs[i], should)) continue;
          CHECK(0, "pair %d is %g, %d and not %g, %d", i, memory_of_pairs[i].value, memory_of_pairs[i].index,
                should.value, should.index);
          break;
        }
        const double took = MPI_Wtime() - start;
        over = !carried_out_is_wanted || counted() > before || took > 30;
        CHECK(took <= 30 || !carried_out_is_wanted || counted() > before, "no pairs were carried out");
      }
      MUST(MPI_Bcast(&over, 1, MPI_INT, target, MPI_COMM_WORLD));
    }
  }
  MUST(MPI_Win_unlock_all(pairs));
  MUST(MPI_Win_free(&pairs));
  MUST(MPI_Type_free(&every_third_pair));
}

/* ---- everybody to everybody ----------------------------------------------------------------------------------------
 */

static void all_to_all(void) {
  enum { kTurns = 60 };
  int64_t ones[kWords], was[kTurns];
  for (int i = 0; i < kWords; i++) ones[i] = 1;
  memset(memory, 0, sizeof memory);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int turn = 0; turn < kTurns; turn++)
    for (int to = 0; to < check_size; to++) {
      MUST(MPI_Accumulate(ones, kRuns, MPI_INT64_T, to, 0, 1, every_third, MPI_SUM, win));
      if (turn % 4 == 0) MUST(MPI_Accumulate(ones, kWords, MPI_INT64_T, to, 0, kWords, MPI_INT64_T, MPI_SUM, win));
      if (turn % 4 == 1) MUST(MPI_Fetch_and_op(ones, &was[turn], MPI_INT64_T, to, 3 * turn, MPI_SUM, win));
    }
  MUST(MPI_Win_flush_all(win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_sync(win));
  for (int i = 0; i < kWords; i++) {
    const int fetched = i % 3 == 0 && i / 3 < kTurns && i / 3 % 4 == 1;
    const int64_t should = check_size * (kTurns / 4 + (i % 3 == 0 ? kTurns : 0) + fetched);
    if (memory[i] == should) continue;
    CHECK(0, "word %d is %lld and not %lld", i, (long long)memory[i], (long long)should);
    break;
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int counts = argc > 1 && strcmp(argv[1], "carried_out") == 0;
  slow_copies = argc > 2 && strcmp(argv[2], "slow_copies") == 0;
  MUST(MPI_Type_vector(kRuns, 1, 3, MPI_INT64_T, &every_third));
  MUST(MPI_Type_commit(&every_third));
  MUST(MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  if (counts) counting_begin("rma.shm.carried_out");
  MUST(MPI_Win_lock_all(0, win));
  while_it_waits(counts);
  while_it_computes();
  if (check_size > 1) {
    long_runs(counts);
    long_to_all();
  }
  several_to_one(counts);
  all_to_all();
  MUST(MPI_Win_unlock_all(win));
  MUST(MPI_Win_free(&win));
  MUST(MPI_Type_free(&every_third));
  if (counts) counting_end();
  return check_end();
}
