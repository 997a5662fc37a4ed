/* Operations on a few elements of memory that other processes cannot map, of every length around that which an offer's
 * mailbox holds, at aligned and other addresses: rank 0 makes them while rank 1 waits, and compares what it fetches,
 * and at last all of the memory, with a copy to which it has done the same. */
#include <unistd.h>

#include "counted.h"

enum { kBytes = 4096, kMost = 14, kTurns = 4000 };

typedef enum { kPut, kGet, kAccumulate, kGetAccumulate, kReplace, kNoOp, kFetchAndOp, kCompareAndSwap, kCalls } Call;

typedef struct {
  double value;
  int index;
} Pair; /* with a hole at its end */

static MPI_Win win;
static unsigned char model[kBytes]; /* of rank 1's memory */

/* An element type, and its sum or, of pairs, its maximum. */
typedef enum { kInt8, kInt64, kDouble, kComplex, kPair, kElements } Element;
static const size_t kSizes[] = {1, 8, 8, sizeof(double[2]), sizeof(Pair)};

static MPI_Datatype type_of(Element e) {
  const MPI_Datatype types[] = {MPI_INT8_T, MPI_INT64_T, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE_INT};
  return types[e];
}
static MPI_Op op_of(Element e) { return e == kPair ? MPI_MAXLOC : MPI_SUM; }

/* Small numbers, of which sums are exact; holes are zero. */
static void set(Element e, void* at, int value) {
  Pair pair;
  memset(&pair, 0, sizeof pair);
  pair.value = value, pair.index = value + 1;
  const int8_t i8 = (int8_t)value;
  const int64_t i64 = value;
  const double d = value;
  const double c[2] = {value, -value};
  const void* const from[] = {&i8, &i64, &d, c, &pair};
  memcpy(at, from[e], kSizes[e]);
}
static long get(Element e, const void* at) {
  Pair pair;
  int8_t i8;
  int64_t i64;
  double d;
  double c[2];
  void* const to[] = {&i8, &i64, &d, c, &pair};
  memcpy(to[e], at, kSizes[e]);
  return e == kInt8      ? i8
         : e == kInt64   ? (long)i64
         : e == kDouble  ? (long)d
         : e == kComplex ? (long)c[0]
                         : (long)pair.value;
}
static int combined(Element e, long is, long with) {
  return e == kPair ? (int)(is > with ? is : with) : e == kInt8 ? (int8_t)(is + with) : (int)(is + with);
}

/* One call on `count` elements at byte `at`. */
static void operate(Call call, Element e, int count, size_t at, Random* random) {
  const MPI_Datatype type = type_of(e);
  const size_t size = kSizes[e];
  _Alignas(16) unsigned char origin[kMost * sizeof(Pair)], result[kMost * sizeof(Pair)];
  unsigned char compare[sizeof(Pair)];
  const int fetches = call != kPut && call != kAccumulate;
  if (call == kFetchAndOp || call == kCompareAndSwap) count = 1;
  for (int i = 0; i < count; i++)
    set(e, origin + size * (size_t)i, random_below(random, 100) - 50), set(e, result + size * (size_t)i, 99);
  long before[kMost];
  for (int i = 0; i < count; i++) before[i] = get(e, model + at + size * (size_t)i);
  set(e, compare, (int)before[0] + random_below(random, 2));
  const MPI_Aint there = (MPI_Aint)at;
  switch (call) {
    case kPut:
      MUST(MPI_Put(origin, count, type, 1, there, count, type, win));
      break;
    case kGet:
      MUST(MPI_Get(result, count, type, 1, there, count, type, win));
      break;
    case kAccumulate:
      MUST(MPI_Accumulate(origin, count, type, 1, there, count, type, op_of(e), win));
      break;
    case kGetAccumulate:
      MUST(MPI_Get_accumulate(origin, count, type, result, count, type, 1, there, count, type, op_of(e), win));
      break;
    case kReplace:
      MUST(MPI_Get_accumulate(origin, count, type, result, count, type, 1, there, count, type, MPI_REPLACE, win));
      break;
    case kNoOp:
      MUST(MPI_Get_accumulate(NULL, 0, type, result, count, type, 1, there, count, type, MPI_NO_OP, win));
      break;
    case kFetchAndOp:
      MUST(MPI_Fetch_and_op(origin, result, type, 1, there, op_of(e), win));
      break;
    default:
      MUST(MPI_Compare_and_swap(origin, compare, result, type, 1, there, win));
      break;
  }
  MUST(MPI_Win_flush(1, win));
  for (int i = 0; i < count; i++) {
    const long with = get(e, origin + size * (size_t)i);
    if (fetches)
      CHECK(get(e, result + size * (size_t)i) == before[i],
            "call %d, element type %d, %d of them, byte %zu: fetched %ld and not %ld", call, e, count, at,
            get(e, result + size * (size_t)i), before[i]);
    unsigned char* const to = model + at + size * (size_t)i;
    if (call == kPut || call == kReplace) set(e, to, (int)with);
    if (call == kAccumulate || call == kGetAccumulate || call == kFetchAndOp) set(e, to, combined(e, before[i], with));
    if (call == kCompareAndSwap && get(e, compare) == before[i]) set(e, to, (int)with);
  }
}

static void operate_often(Random* random) {
  for (int turn = 0; turn < kTurns; turn++) {
    const Element e = (Element)random_below(random, kElements);
    Call call = (Call)random_below(random, kCalls);
    if (call == kCompareAndSwap && e != kInt8 && e != kInt64) call = kFetchAndOp;
    const int aligned = random_below(random, 4) != 0;
    size_t at = (size_t)random_below(random, kBytes - kMost * (int)sizeof(Pair));
    if (aligned) at = at / 16 * 16 + (kSizes[e] < 16 ? kSizes[e] : 0);
    /* Bytes that were another type's are made this one's. */
    const int count = 1 + random_below(random, kMost);
    for (int i = 0; i < count; i++) set(e, model + at + kSizes[e] * (size_t)i, random_below(random, 40));
    MUST(MPI_Put(model + at, count * (int)kSizes[e], MPI_BYTE, 1, (MPI_Aint)at, count * (int)kSizes[e], MPI_BYTE, win));
    MUST(MPI_Win_flush(1, win));
    operate(call, e, count, at, random);
  }
}

/* ---- puts in a row ------------------------------------------------------------------------------------------------
 */

static MPI_Win other;
static unsigned char *memory, *other_memory; /* of this process */
static unsigned char other_model[2][kBytes]; /* of ranks 0 and 1 */

static void put(unsigned char* copy, const unsigned char* origin, int bytes, int rank, int at, MPI_Win to) {
  MUST(MPI_Put(origin, bytes, MPI_BYTE, rank, at, bytes, MPI_BYTE, to));
  memcpy(copy + at, origin, (size_t)bytes);
}

/* Puts of all of the memory but the last word, cut into blocks, some by MPI_Rput; some go to the other window, or to
 * rank 0 itself, between others. */
static void put_in_a_row(Random* random) {
  enum { kLongest = 200 };
  const int end = kBytes - 8;
  for (int at = 0, bytes; at < end; at += bytes) {
    bytes = 1 + random_below(random, random_below(random, 3) == 0 ? kLongest : 8);
    if (bytes > end - at) bytes = end - at;
    unsigned char origin[kLongest];
    for (int i = 0; i < bytes; i++) origin[i] = (unsigned char)random_next(random);
    const int how = random_below(random, 16);
    if (how == 0) {
      MPI_Request request;
      MUST(MPI_Rput(origin, bytes, MPI_BYTE, 1, at, bytes, MPI_BYTE, win, &request));
      MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
      memcpy(model + at, origin, (size_t)bytes);
    } else {
      put(model, origin, bytes, 1, at, win);
    }
    if (how == 1) put(other_model[1], origin, bytes, 1, at, other);
    if (how == 2) put(other_model[0], origin, bytes, 0, at, other);
    if (how == 3) MUST(MPI_Win_flush(1, win));
    if (how == 4) MUST(MPI_Win_flush_all(other));
    MUST(MPI_Win_flush_local_all(win));
    MUST(MPI_Win_flush_local_all(other));
    memset(origin, 0, sizeof origin);
  }
  if (random_below(random, 2) == 0)
    MUST(MPI_Win_flush(1, win));
  else
    MUST(MPI_Win_flush_all(win));
  MUST(MPI_Win_flush_all(other));
}

static void look(const char* where, const unsigned char* is, const unsigned char* should) {
  MUST(MPI_Win_sync(win));
  MUST(MPI_Win_sync(other));
  for (int i = 0; i < kBytes; i++) {
    if (is[i] == should[i]) continue;
    CHECK(0, "%s: byte %d is %d and not %d", where, i, is[i], should[i]);
    break;
  }
}

/* Rank 0 has made the operations of a round: rank 1 looks at its memory. */
static void compare(void) {
  if (check_rank == 0) {
    MUST(MPI_Send(model, kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    MUST(MPI_Send(other_model[1], kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    look("the other window at rank 0", other_memory, other_model[0]);
  } else if (check_rank == 1) {
    MUST(MPI_Recv(model, kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Recv(other_model[1], kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    look("the window", memory, model);
    look("the other window", other_memory, other_model[1]);
  }
}

/* Rank 1 calls nothing until it sees that all of them are complete. */
static void while_it_computes(Random* random) {
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) {
    unsigned char word[8] = {1};
    for (int turn = 0; turn < 20; turn++) put_in_a_row(random);
    put(model, word, 8, 1, kBytes - 8, win);
    MUST(MPI_Win_flush(1, win));
  } else if (check_rank == 1) {
    const volatile unsigned char* const flag = memory + kBytes - 8;
    const double start = MPI_Wtime();
    while (*flag != 1 && MPI_Wtime() - start < 60) continue;
    CHECK(*flag == 1, "puts waited for a target that computes");
  }
  compare();
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int counts = argc > 1 && strcmp(argv[1], "carried_out") == 0 && check_size <= sysconf(_SC_NPROCESSORS_ONLN);
  memory = check_alloc(kBytes);
  other_memory = check_alloc(kBytes);
  memset(memory, 0, kBytes);
  memset(other_memory, 0, kBytes);
  MUST(MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MUST(MPI_Win_create(other_memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
  if (counts) counting_begin("rma.shm.carried_out");
  MUST(MPI_Win_lock_all(0, win));
  MUST(MPI_Win_lock_all(0, other));
  Random random = {7};
  const double start = MPI_Wtime();
  for (int over = 0; !over;) {
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == 0) {
      operate_often(&random);
      for (int turn = 0; turn < 20; turn++) put_in_a_row(&random);
    }
    compare();
    if (check_rank == 1) {
      over = !counts || counted() > kTurns / 10 || MPI_Wtime() - start > 60;
      CHECK(MPI_Wtime() - start <= 60, "nearly nothing was carried out");
    }
    MUST(MPI_Bcast(&over, 1, MPI_INT, 1, MPI_COMM_WORLD));
  }
  while_it_computes(&random);
  MUST(MPI_Win_unlock_all(other));
  MUST(MPI_Win_unlock_all(win));
  MUST(MPI_Win_free(&other));
  MUST(MPI_Win_free(&win));
  free(other_memory);
  free(memory);
  if (counts) counting_end();
  return check_end();
}
