/* What making a window takes: exchanges between its processes, as the library counts its blocking collectives; with
 * bytes as an argument, memory that is not there: tests/hostile/rma.sh. */
#include "counted.h"

typedef enum { kCreated, kAllocated, kDynamic, kShared, kSharedApart, kKinds } Kind;

static MPI_Win make(Kind kind, MPI_Info apart) {
  static int64_t memory[8];
  void* base;
  MPI_Win win;
  switch (kind) {
    case kCreated:
      MUST(MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
      break;
    case kAllocated:
      MUST(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
      break;
    case kDynamic:
      MUST(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
      break;
    default:
      MUST(MPI_Win_allocate_shared(64, 8, kind == kShared ? MPI_INFO_NULL : apart, MPI_COMM_WORLD, &base, &win));
      break;
  }
  return win;
}

/* One exchange agrees on the number by which messages find the window, one is of the cards. Shared memory takes two
 * more: whether all can share, and whose part lies where. Making many or freeing them takes no other. */
static void exchanges(void) {
  enum { kWindows = 10 };
  MPI_Info apart;
  MPI_Win wins[kWindows];
  MUST(MPI_Info_create(&apart));
  MUST(MPI_Info_set(apart, "alloc_shared_noncontig", "true"));
  counting_begin("coll.blocking");
  for (int kind = 0; kind < kKinds; kind++) {
    const int each = kind == kShared || kind == kSharedApart ? 4 : 2;
    const unsigned long long before = counted();
    for (int i = 0; i < kWindows; i++) wins[i] = make((Kind)kind, apart);
    CHECK_EQ(counted() - before, each * kWindows);
    for (int i = 0; i < kWindows; i++) MUST(MPI_Win_free(&wins[i]));
    CHECK_EQ(counted() - before, each * kWindows);
  }
  counting_end();
  MUST(MPI_Info_free(&apart));
}

/* Of more bytes than the system has for this process: only the first and the last are touched. */
static void more_than_there_is(MPI_Aint bytes) {
  int64_t* base;
  MPI_Win win;
  const MPI_Aint words = bytes / 8;
  const int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
  MUST(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  base[0] = base[words - 1] = 0;
  MUST(MPI_Win_fence(0, win));
  const int64_t mine = 100 + check_rank;
  int64_t was = -1;
  MUST(MPI_Put(&mine, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win));
  for (int i = 0; i < check_size; i++)
    MUST(MPI_Accumulate(&mine, 1, MPI_INT64_T, i, words - 1, 1, MPI_INT64_T, MPI_SUM, win));
  MUST(MPI_Win_fence(0, win));
  MUST(MPI_Get(&was, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win));
  MUST(MPI_Win_fence(0, win));
  CHECK_EQ(was, mine);
  CHECK_EQ(base[0], 100 + from);
  CHECK_EQ(base[words - 1], 100 * check_size + check_size * (check_size - 1) / 2);
  MUST(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  if (argc > 1)
    more_than_there_is((MPI_Aint)atoll(argv[1]));
  else
    exchanges();
  return check_end();
}
