/* With check.rma=true: one wrong program for each mistake that it finds, and right ones beside them that it must not
 * take for wrong. Rank 0's memory is what is accessed; ranks 1 and 2 do so. */
#include "rma.h"

static MPI_Win win;
static int* base;
static int value = 7, out[16];

static void check_class(int line, const char* what, int code, int should, const char* words) {
  char text[MPI_MAX_ERROR_STRING], list[256];
  int length, is = 0;
  MPI_Error_class(code, &is);
  MPI_Error_string(code, text, &length);
  if (is != should) {
    check_failed(__FILE__, line, NULL, "%s: class %d (%s), not %d", what, is, text, should);
    return;
  }
  snprintf(list, sizeof list, "%s", words);
  for (char* word = strtok(list, "|"); word; word = strtok(NULL, "|"))
    if (!strstr(text, word)) check_failed(__FILE__, line, NULL, "%s: \"%s\" does not say \"%s\"", what, text, word);
}

/* ---- one access each, of ranks 1 and 2 ----------------------------------------------------------------------------
 */

typedef void Access(int first, int n);

static void put(int first, int n) { MUST(MPI_Put(out, n, MPI_INT, 0, first, n, MPI_INT, win)); }
static void get(int first, int n) { MUST(MPI_Get(out, n, MPI_INT, 0, first, n, MPI_INT, win)); }
static void sum(int first, int n) { MUST(MPI_Accumulate(out, n, MPI_INT, 0, first, n, MPI_INT, MPI_SUM, win)); }
static void max(int first, int n) { MUST(MPI_Accumulate(out, n, MPI_INT, 0, first, n, MPI_INT, MPI_MAX, win)); }
static void sum_unsigned(int first, int n) {
  MUST(MPI_Accumulate(out, n, MPI_UNSIGNED, 0, first, n, MPI_UNSIGNED, MPI_SUM, win));
}
static void read_whole(int first, int n) {
  (void)n;
  MUST(MPI_Fetch_and_op(NULL, out, MPI_INT, 0, first, MPI_NO_OP, win));
}
static void fetch_sum(int first, int n) {
  (void)n;
  MUST(MPI_Fetch_and_op(&value, out, MPI_INT, 0, first, MPI_SUM, win));
}
static void swap(int first, int n) {
  (void)n;
  MUST(MPI_Compare_and_swap(&value, &value, out, MPI_INT, 0, first, win));
}
/* Every other int of 2 n. */
static void put_strided(int first, int n) {
  MPI_Datatype every_other;
  MUST(MPI_Type_vector(n, 1, 2, MPI_INT, &every_other));
  MUST(MPI_Type_commit(&every_other));
  MUST(MPI_Put(out, n, MPI_INT, 0, first, 1, every_other, win));
  MUST(MPI_Type_free(&every_other));
}

static const struct {
  const char* name;
  Access* one;
  int first, n;
  Access* two;
  int other_first, other_n;
  const char* words; /* NULL: no conflict */
} cases[] = {
    {"put and put", put, 0, 4, put, 2, 4, "'halo'|memory of rank 0|MPI_Put|bytes 0 to 15|bytes 8 to 23|rank 1|rank 2"},
    {"put and get", put, 0, 1, get, 0, 1, "MPI_Put|MPI_Get|bytes 0 to 3"},
    {"put and accumulate", put, 3, 1, sum, 0, 8, "MPI_Put|MPI_Accumulate|bytes 0 to 31|bytes 12 to 15"},
    {"get and accumulate", get, 0, 2, sum, 1, 2, "MPI_Get|MPI_Accumulate"},
    {"two operations", sum, 0, 1, max, 0, 1, "MPI_Accumulate"},
    {"two datatypes", sum, 0, 1, sum_unsigned, 0, 1, "MPI_Accumulate"},
    {"put and swap", put, 0, 1, swap, 0, 1, "MPI_Put|MPI_Compare_and_swap"},
    {"strided puts that meet", put_strided, 0, 4, put, 6, 1, "bytes 24 to 27"},
    {"strided puts that do not", put_strided, 0, 4, put_strided, 1, 4, NULL},
    {"puts side by side", put, 0, 4, put, 4, 4, NULL},
    {"get and get", get, 0, 8, get, 0, 8, NULL},
    {"sum and sum", sum, 0, 8, sum, 4, 8, NULL},
    {"sum and fetching sum", sum, 0, 8, fetch_sum, 4, 1, NULL},
    {"sum and whole read", sum, 0, 8, read_whole, 4, 1, NULL},
    {"swap and sum", swap, 0, 1, fetch_sum, 0, 1, NULL},
};
enum { kCases = sizeof cases / sizeof *cases };

/* What one of ranks 1 and 2 was told; the other one may have been earlier, and then was told nothing. */
static void told(int line, const char* what, const char* name, int code, const char* words) {
  char full[100];
  int found = code != MPI_SUCCESS, all;
  snprintf(full, sizeof full, "%s, %s", what, name);
  MUST(MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  if (all != (words ? 1 : 0)) check_failed(__FILE__, line, NULL, "%s: %d processes were told", full, all);
  if (found && words) check_class(line, full, code, MPI_ERR_RMA_CONFLICT, words);
}

static void access_as(int which) {
  if (check_rank == 1) cases[which].one(cases[which].first, cases[which].n);
  if (check_rank == 2) cases[which].two(cases[which].other_first, cases[which].other_n);
}

static void in_fences(int which) {
  MUST(MPI_Win_fence(0, win));
  access_as(which);
  told(__LINE__, "fence", cases[which].name, MPI_Win_fence(MPI_MODE_NOSUCCEED, win), cases[which].words);
}

static void in_groups(int which) {
  MPI_Group all, origins, target;
  MUST(MPI_Win_get_group(win, &all));
  MUST(MPI_Group_incl(all, 2, (int[]){1, 2}, &origins));
  MUST(MPI_Group_incl(all, 1, (int[]){0}, &target));
  int code = MPI_SUCCESS;
  if (check_rank == 0) {
    MUST(MPI_Win_post(origins, 0, win));
    MUST(MPI_Win_wait(win));
  } else if (check_rank < 3) {
    MUST(MPI_Win_start(target, 0, win));
    access_as(which);
    code = MPI_Win_complete(win);
  }
  told(__LINE__, "complete", cases[which].name, code, cases[which].words);
  MUST(MPI_Group_free(&all));
  MUST(MPI_Group_free(&origins));
  MUST(MPI_Group_free(&target));
}

/* Shared locks that are held at the same time. */
static void in_locks(int which, int all) {
  MPI_Comm world = MPI_COMM_WORLD;
  MUST(all ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  access_as(which);
  MUST(MPI_Barrier(world));
  told(__LINE__, "unlock", cases[which].name, all ? MPI_Win_unlock_all(win) : MPI_Win_unlock(0, win),
       cases[which].words);
}

/* Exclusive locks, and flushes with a barrier behind them, order what would conflict. */
static void in_order(int which) {
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
  access_as(which);
  told(__LINE__, "exclusive locks", cases[which].name, MPI_Win_unlock(0, win), NULL);
  MUST(MPI_Win_lock_all(0, win));
  for (int rank = 1; rank < 3; rank++) {
    if (check_rank == rank) access_as(which);
    told(__LINE__, "flush", cases[which].name, check_rank == rank ? MPI_Win_flush(0, win) : MPI_SUCCESS, NULL);
  }
  MUST(MPI_Win_unlock_all(win));
}

/* One process: its own operations are not ordered either, until it flushes; accumulates are. */
static void alone(void) {
  MUST(MPI_Win_lock_all(0, win));
  if (check_rank == 1) {
    put(0, 2), put(1, 2);
    check_class(__LINE__, "own puts", MPI_Win_flush(0, win), MPI_ERR_RMA_CONFLICT, "rank 1|MPI_Put|bytes 4 to 11");
    put(0, 2);
    MUST(MPI_Win_flush(0, win));
    put(1, 2);
    MUST(MPI_Win_flush_all(win));
    sum(0, 2), max(0, 2), fetch_sum(0, 1);
    MUST(MPI_Win_flush(0, win));
  }
  MUST(MPI_Win_unlock_all(win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* ---- what is asserted ---------------------------------------------------------------------------------------------
 */

static void asserts(void) {
  const int odd = check_rank == 1;
  MUST(MPI_Win_fence(0, win));
  check_class(__LINE__, "unequal asserts", MPI_Win_fence(odd ? MPI_MODE_NOSUCCEED : 0, win), MPI_ERR_ASSERT,
              "MPI_MODE_NOSUCCEED|'halo'|rank 1");
  MUST(MPI_Win_fence(0, win));
  check_class(__LINE__, "unequal asserts", MPI_Win_fence(odd ? MPI_MODE_NOPRECEDE : 0, win), MPI_ERR_ASSERT,
              "MPI_MODE_NOPRECEDE|'halo'|rank 1");
  MUST(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win));
  if (odd) put(0, 1);
  const int code = MPI_Win_fence(0, win);
  if (check_rank == 0) check_class(__LINE__, "no put", code, MPI_ERR_ASSERT, "MPI_MODE_NOPUT|'halo'|MPI_Put|rank 1");
  if (check_rank != 0) MUST(code);
  if (odd) base[3] += 5;
  const int stored = MPI_Win_fence(MPI_MODE_NOSTORE, win);
  if (odd) check_class(__LINE__, "store", stored, MPI_ERR_ASSERT, "MPI_MODE_NOSTORE|'halo'");
  if (!odd) MUST(stored);
  put(4 + check_rank, 1); /* by an operation it may change */
  MUST(MPI_Win_fence(MPI_MODE_NOSTORE, win));
  if (odd) put(0, 1);
  const int preceded = MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  if (odd) check_class(__LINE__, "preceded", preceded, MPI_ERR_ASSERT, "MPI_MODE_NOPRECEDE");
  if (!odd) MUST(preceded);
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* ---- hints ---------------------------------------------------------------------------------------------------------
 */

static void hint(int line, const char* key, const char* here, const char* there, MPI_Aint size, int unit,
                 const char* words) {
  MPI_Info info;
  MPI_Win made = MPI_WIN_NULL;
  void* memory;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, key, check_rank == 1 ? there : here));
  const int code = MPI_Win_allocate(size, unit, info, MPI_COMM_WORLD, &memory, &made);
  MUST(MPI_Info_free(&info));
  if (words)
    check_class(line, key, code, MPI_ERR_INFO_VALUE, words);
  else
    MUST(code);
  if (made != MPI_WIN_NULL) MUST(MPI_Win_free(&made));
}

static void hints(void) {
  const int odd = check_rank == 1;
  hint(__LINE__, "no_locks", "true", "false", 64, 1, "no_locks|rank 0|rank 1");
  hint(__LINE__, "same_size", "true", "false", 64, 1, "same_size|rank 1");
  hint(__LINE__, "same_disp_unit", "false", "true", 64, 1, "same_disp_unit");
  hint(__LINE__, "accumulate_ordering", "none", "rar,raw", 64, 1, "accumulate_ordering");
  hint(__LINE__, "accumulate_ops", "same_op", "same_op_no_op", 64, 1, "accumulate_ops");
  hint(__LINE__, "mpi_accumulate_granularity", "64", "128", 64, 1, "mpi_accumulate_granularity");
  hint(__LINE__, "same_size", "true", "true", odd ? 128 : 64, 1, "same_size|true|rank 1");
  hint(__LINE__, "same_disp_unit", "true", "true", 64, odd ? 2 : 1, "same_disp_unit|true");
  hint(__LINE__, "same_size", "true", "true", 64, odd ? 2 : 1, NULL);
  hint(__LINE__, "alloc_shared_noncontig", "true", "false", 64, 1, NULL);
}

/* Programs promise no_locks and lock all the same. */
static void promise(void) {
  MPI_Info info;
  MPI_Win made;
  void* memory;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "no_locks", "true"));
  MUST(MPI_Win_allocate(64, 4, info, MPI_COMM_WORLD, &memory, &made));
  MUST(MPI_Info_free(&info));
  MUST(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
  check_class(__LINE__, "no_locks", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, made), MPI_ERR_RMA_SYNC, "no_locks");
  check_class(__LINE__, "no_locks", MPI_Win_lock_all(0, made), MPI_ERR_RMA_SYNC, "no_locks");
  MUST(MPI_Win_free(&made));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MUST(MPI_Win_allocate(256, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  MUST(MPI_Win_set_name(win, "halo"));
  MUST(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  for (int which = 0; which < kCases; which++) {
    in_fences(which);
    in_groups(which);
    in_locks(which, 0);
    in_locks(which, 1);
    in_order(which);
  }
  alone();
  asserts();
  MUST(MPI_Win_free(&win));
  hints();
  promise();
  return check_end();
}
