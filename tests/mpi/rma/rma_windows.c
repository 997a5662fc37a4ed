/* Windows: every constructor, sizes and displacement units of all kinds, attributes, groups, names, info, memory that
 * can be asked for, many windows at once, their end. */
#include "rma.h"

/* Without memory, if none is wanted: NULL. */
static MPI_Win make(WindowKind kind, MPI_Comm comm, MPI_Aint size, int unit, MPI_Info info, void** base) {
  MPI_Win win = MPI_WIN_NULL;
  int rank;
  *base = NULL;
  MUST(MPI_Comm_rank(comm, &rank));
  if (kind == kAllocated)
    MUST(MPI_Win_allocate(size, unit, info, comm, base, &win));
  else if (is_shared(kind))
    MUST(MPI_Win_allocate_shared(size, unit, info, comm, base, &win));
  else if (kind == kDynamic)
    MUST(MPI_Win_create_dynamic(info, comm, &win));
  else {
    if (size) *base = memory_make(kind, rank, (size_t)size);
    MUST(MPI_Win_create(*base, size, unit, info, comm, &win));
  }
  CHECK(win != MPI_WIN_NULL);
  return win;
}

static void unmake(WindowKind kind, MPI_Comm comm, MPI_Win* win, void* base) {
  int rank;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Win_free(win));
  CHECK(*win == MPI_WIN_NULL);
  if (!brings_memory(kind) && base) memory_free(kind, rank, base);
}

/* ---- what a window knows of itself ---------------------------------------------------------------------------------
 */

static void check_attributes(MPI_Win win, WindowKind kind, void* base, MPI_Aint size, int unit) {
  const int flavor_should = kind == kAllocated ? MPI_WIN_FLAVOR_ALLOCATE
                            : is_shared(kind)  ? MPI_WIN_FLAVOR_SHARED
                            : kind == kDynamic ? MPI_WIN_FLAVOR_DYNAMIC
                                               : MPI_WIN_FLAVOR_CREATE;
  void* got_base = &size;
  MPI_Aint* got_size;
  int *got_unit, *flavor, *model, found;
  if (kind == kDynamic) base = MPI_BOTTOM, size = 0, unit = 1;
  MUST(MPI_Win_get_attr(win, MPI_WIN_BASE, &got_base, &found));
  CHECK(found && (got_base == base || size == 0), "%s: base %p, not %p", window_kind_name(kind), got_base, base);
  MUST(MPI_Win_get_attr(win, MPI_WIN_SIZE, &got_size, &found));
  CHECK(found && *got_size == size, "%s: size %ld, not %ld", window_kind_name(kind), (long)*got_size, (long)size);
  MUST(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &got_unit, &found));
  CHECK(found && *got_unit == unit, "%s: unit %d, not %d", window_kind_name(kind), *got_unit, unit);
  MUST(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &found));
  CHECK(found && *flavor == flavor_should, "%s: flavor %d", window_kind_name(kind), *flavor);
  MUST(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found));
  CHECK(found && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE));
}

static void check_group(MPI_Win win, MPI_Comm comm) {
  MPI_Group of_win, of_comm;
  int result;
  MUST(MPI_Win_get_group(win, &of_win));
  MUST(MPI_Comm_group(comm, &of_comm));
  MUST(MPI_Group_compare(of_win, of_comm, &result));
  CHECK_EQ(result, MPI_IDENT);
  MUST(MPI_Group_free(&of_win));
  MUST(MPI_Group_free(&of_comm));
}

static void check_name(MPI_Win win) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MUST(MPI_Win_get_name(win, name, &length));
  CHECK(length == 0 && name[0] == '\0', "\"%s\" to begin with", name);
  MUST(MPI_Win_set_name(win, "halo of the grid"));
  MUST(MPI_Win_get_name(win, name, &length));
  CHECK(length == 16 && strcmp(name, "halo of the grid") == 0, "\"%s\"", name);
}

/* Each process puts its rank into the first byte of the next one that has memory. */
static void check_works(MPI_Win win, WindowKind kind, MPI_Comm comm, const MPI_Aint* sizes, char* base) {
  int rank, ranks;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Comm_size(comm, &ranks));
  if (kind == kDynamic) return; /* nothing is attached */
  const char mine = (char)(rank + 1);
  if (sizes[rank]) base[0] = 0;
  MUST(MPI_Win_fence(0, win));
  const int target = (rank + 1) % ranks;
  if (sizes[target]) MUST(MPI_Put(&mine, 1, MPI_CHAR, target, 0, 1, MPI_CHAR, win));
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  if (sizes[rank]) CHECK_EQ(base[0], (rank + ranks - 1) % ranks + 1);
}

/* Sizes and units: all the same, none at all, different ones, one process alone has memory. */
static void constructors(MPI_Comm comm) {
  int rank, ranks;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Comm_size(comm, &ranks));
  FOR_EACH_WINDOW_KIND(kind, comm) {
    for (int how = 0; how < 4; how++) {
      MPI_Aint* sizes = check_alloc((size_t)ranks * sizeof *sizes);
      for (int r = 0; r < ranks; r++)
        sizes[r] = how == 0 ? 1000 : how == 1 ? 0 : how == 2 ? r % 3 * 777 : r == ranks / 2 ? 5000 : 0;
      const int unit = how < 2 ? 1 : 1 + rank % 8;
      void* base;
      MPI_Win win = make(kind, comm, sizes[rank], unit, MPI_INFO_NULL, &base);
      check_attributes(win, kind, base, sizes[rank], unit);
      check_group(win, comm);
      check_name(win);
      check_works(win, kind, comm, sizes, base);
      unmake(kind, comm, &win, base);
      free(sizes);
    }
  }
}

/* ---- communicators -------------------------------------------------------------------------------------------------
 */

/* A window is older than its communicator, and outlives it; messages of either do not mix with those of others. */
static void communicators(void) {
  MPI_Comm copy, part;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &part));
  constructors(copy);
  constructors(part);
  constructors(MPI_COMM_SELF);
  TestWindow a = window_make(kAllocated, copy, 64, 8), b = window_make(kCreated, part, 64, 8);
  MUST(MPI_Comm_free(&copy));
  MUST(MPI_Comm_free(&part));
  for (int i = 0; i < 2; i++) {
    TestWindow* const w = i ? &b : &a;
    const int64_t mine = 10 + w->rank;
    const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
    MUST(MPI_Win_fence(0, w->win));
    MUST(MPI_Put(&mine, 1, MPI_INT64_T, right, 1, 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    CHECK_EQ(((int64_t*)w->base)[1], 10 + left);
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win));
    MUST(MPI_Put(&mine, 1, MPI_INT64_T, right, 2, 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_unlock(right, w->win));
  }
  window_free(&a);
  window_free(&b);
}

/* ---- memory that can be asked for ----------------------------------------------------------------------------------
 */

static void check_query(MPI_Win win, int rank, MPI_Aint should_size, int should_unit, const char* what) {
  MPI_Aint size = -1, size_c = -1, unit_c = -1;
  int unit = -1;
  char *base = NULL, *base_c = NULL;
  MUST(MPI_Win_shared_query(win, rank, &size, &unit, &base));
  MUST(MPI_Win_shared_query_c(win, rank, &size_c, &unit_c, &base_c));
  CHECK(size == should_size && size_c == should_size, "%s, rank %d: size %ld and %ld, not %ld", what, rank, (long)size,
        (long)size_c, (long)should_size);
  CHECK(base == base_c);
  if (should_size) CHECK(unit == should_unit && unit_c == should_unit, "%s, rank %d: unit %d", what, rank, unit);
}

/* Shared memory: contiguous by rank, unless told otherwise; what is stored there is loaded by all. */
static void shared_windows(void) {
  if (!all_share_memory(MPI_COMM_WORLD)) return;
  for (int noncontiguous = 0; noncontiguous < 2; noncontiguous++)
    for (int how = 0; how < 3; how++) {
      MPI_Info info;
      MUST(MPI_Info_create(&info));
      MUST(MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous ? "true" : "false"));
      const MPI_Aint size = how == 0 ? 128 : how == 1 ? check_rank % 2 * 1000 : 8 * (check_rank + 1);
      const int unit = 1 + check_rank;
      int* own;
      MPI_Win win;
      MUST(MPI_Win_allocate_shared(size, unit, info, MPI_COMM_WORLD, &own, &win));
      MUST(MPI_Info_free(&info));
      MUST(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
      if (size) own[0] = check_rank + 1000;
      MUST(MPI_Win_sync(win));
      MUST(MPI_Barrier(MPI_COMM_WORLD));
      MUST(MPI_Win_sync(win));
      char *next = NULL, *first = NULL;
      for (int r = 0; r < check_size; r++) {
        const MPI_Aint there = how == 0 ? 128 : how == 1 ? r % 2 * 1000 : 8 * (r + 1);
        check_query(win, r, there, 1 + r, "shared");
        MPI_Aint got;
        int got_unit;
        char* base = NULL;
        MUST(MPI_Win_shared_query(win, r, &got, &got_unit, &base));
        if (!there) continue;
        if (!first) first = base;
        CHECK_EQ(*(int*)base, r + 1000);
        if (r == check_rank) CHECK(base == (char*)own);
        if (!noncontiguous && next) CHECK(base == next, "the part of rank %d is not behind the one before", r);
        next = base + there;
      }
      /* MPI_PROC_NULL is the lowest rank that has memory. */
      MPI_Aint got = -1;
      int got_unit;
      char* base = NULL;
      MUST(MPI_Win_shared_query(win, MPI_PROC_NULL, &got, &got_unit, &base));
      const int lowest = how == 1 ? 1 : 0;
      if (lowest < check_size)
        CHECK(base == first && got == (how == 0 ? 128 : how == 1 ? 1000 : 8) && got_unit == 1 + lowest);
      else
        CHECK_EQ(got, 0);
      MUST(MPI_Win_unlock_all(win));
      MUST(MPI_Win_free(&win));
    }
}

/* MPI_PROC_NULL is the lowest rank that has memory; out of reach it is to all who cannot have that rank's, and whoever
 * has memory of its own, or of a later rank, within reach is not told of it instead. */
static void lowest_query(WindowKind kind, int lowest) {
  void* own;
  const MPI_Win win = make(kind, MPI_COMM_WORLD, check_rank < lowest ? 0 : 64, 4, MPI_INFO_NULL, &own);
  MPI_Aint size = -1, should = 0;
  int unit;
  char *base = NULL, *expected = NULL;
  if (lowest < check_size) MUST(MPI_Win_shared_query(win, lowest, &should, &unit, &expected));
  MUST(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &base));
  CHECK(size == should && base == expected, "%s, lowest rank %d: %ld bytes at %p, not %ld at %p",
        window_kind_name(kind), lowest, (long)size, (void*)base, (long)should, (void*)expected);
  MPI_Win freed = win;
  unmake(kind, MPI_COMM_WORLD, &freed, own);
}

/* The memory of other windows can be asked for, too, as far as it is shared: a process's own is, at least when the
 * library says so by its size. */
static void other_queries(void) {
  for (WindowKind kind = (WindowKind)0; kind < kDynamic; kind++) {
    if (is_shared(kind)) continue;
    TestWindow w = window_make(kind, MPI_COMM_WORLD, 64, 4);
    w.base[9] = (char)(check_rank + 3);
    settle_own(&w);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    for (int r = 0; r < check_size; r++) {
      MPI_Aint size = -1;
      int unit = -1;
      char* base = NULL;
      MUST(MPI_Win_shared_query(w.win, r, &size, &unit, &base));
      CHECK(size == 0 || (size == 64 && unit == 4), "%s, rank %d: %ld bytes, unit %d", window_kind_name(kind), r,
            (long)size, unit);
      if (size) CHECK_EQ(base[9], r + 3);
    }
    window_free(&w);
    for (int lowest = 0; lowest <= check_size; lowest++) lowest_query(kind, lowest);
  }
}

/* ---- info ----------------------------------------------------------------------------------------------------------
 */

static void check_key(MPI_Info info, const char* key, const char* should, const char* kind) {
  char value[MPI_MAX_INFO_VAL];
  int length = sizeof value, found = 0;
  MUST(MPI_Info_get_string(info, key, &length, value, &found));
  if (found) CHECK(strcmp(value, should) == 0, "%s: %s is \"%s\", not \"%s\"", kind, key, value, should);
}

/* All keys of the standard can be given; those that the library knows come back with the values in force. */
static void info_keys(int all_told) {
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    void* base;
    MPI_Info used, given;
    MPI_Win win = make(kind, MPI_COMM_WORLD, 256, 1, MPI_INFO_NULL, &base);
    MUST(MPI_Win_get_info(win, &used));
    check_key(used, "no_locks", "false", window_kind_name(kind));
    check_key(used, "accumulate_ordering", "rar,raw,war,waw", window_kind_name(kind));
    check_key(used, "accumulate_ops", "same_op_no_op", window_kind_name(kind));
    check_key(used, "same_size", "false", window_kind_name(kind));
    check_key(used, "same_disp_unit", "false", window_kind_name(kind));
    if (all_told) {
      static const char* const keys[] = {
          "no_locks",       "accumulate_ordering",         "accumulate_ops", "mpi_accumulate_granularity", "same_size",
          "same_disp_unit", "mpi_minimum_memory_alignment"};
      for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int length = 0, found = 0;
        MUST(MPI_Info_get_string(used, keys[i], &length, NULL, &found));
        CHECK(found, "%s: %s does not come back", window_kind_name(kind), keys[i]);
      }
    }
    MUST(MPI_Info_free(&used));
    unmake(kind, MPI_COMM_WORLD, &win, base);

    MUST(MPI_Info_create(&given));
    MUST(MPI_Info_set(given, "no_locks", "true"));
    MUST(MPI_Info_set(given, "accumulate_ordering", "none"));
    MUST(MPI_Info_set(given, "accumulate_ops", "same_op"));
    MUST(MPI_Info_set(given, "mpi_accumulate_granularity", "8192"));
    MUST(MPI_Info_set(given, "same_size", "true"));
    MUST(MPI_Info_set(given, "same_disp_unit", "true"));
    MUST(MPI_Info_set(given, "a_key_of_somebody_else", "anything"));
    win = make(kind, MPI_COMM_WORLD, 256, 1, given, &base);
    MUST(MPI_Win_set_info(win, given));
    MUST(MPI_Info_free(&given));
    MUST(MPI_Win_get_info(win, &used));
    if (all_told) {
      check_key(used, "no_locks", "true", window_kind_name(kind));
      check_key(used, "accumulate_ordering", "none", window_kind_name(kind));
      check_key(used, "accumulate_ops", "same_op", window_kind_name(kind));
      check_key(used, "same_size", "true", window_kind_name(kind));
    }
    int length = 0, found = 0;
    MUST(MPI_Info_get_string(used, "a_key_of_somebody_else", &length, NULL, &found));
    CHECK(!found, "a key that no hint has");
    MUST(MPI_Info_free(&used));
    if (kind != kDynamic) {
      MPI_Aint* sizes = check_alloc((size_t)check_size * sizeof *sizes);
      for (int r = 0; r < check_size; r++) sizes[r] = 256;
      check_works(win, kind, MPI_COMM_WORLD, sizes, base);
      free(sizes);
    }
    unmake(kind, MPI_COMM_WORLD, &win, base);
  }
}

static void get_key(MPI_Win win, const char* key, char* value) {
  MPI_Info info;
  int length = MPI_MAX_INFO_VAL, found = 0;
  MUST(MPI_Win_get_info(win, &info));
  MUST(MPI_Info_get_string(info, key, &length, value, &found));
  MUST(MPI_Info_free(&info));
  CHECK(found, "%s does not come back", key);
}

/* What memory calls on the window may be given: as much as its communicator, until the program promises less. */
static void memory_kinds(void) {
  char of_comm[MPI_MAX_INFO_VAL] = "", of_window[MPI_MAX_INFO_VAL] = "";
  int length = sizeof of_comm, found = 0;
  void* base;
  MPI_Info info;
  MUST(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
  MUST(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, of_comm, &found));
  MUST(MPI_Info_free(&info));
  MPI_Win win = make(kCreated, MPI_COMM_WORLD, 8, 1, MPI_INFO_NULL, &base);
  get_key(win, "mpi_memory_alloc_kinds", of_window);
  CHECK(found && strcmp(of_window, of_comm) == 0, "\"%s\", not \"%s\"", of_window, of_comm);
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "of_somebody_else"));
  MUST(MPI_Win_set_info(win, info));
  get_key(win, "mpi_memory_alloc_kinds", of_window);
  CHECK(strcmp(of_window, of_comm) == 0, "\"%s\", not \"%s\"", of_window, of_comm);
  MUST(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system"));
  MUST(MPI_Win_set_info(win, info));
  get_key(win, "mpi_memory_alloc_kinds", of_window);
  CHECK(strcmp(of_window, "system") == 0, "\"%s\" after the promise", of_window);
  get_key(win, "mpi_assert_memory_alloc_kinds", of_window);
  CHECK(strcmp(of_window, "system") == 0, "\"%s\" after the promise", of_window);
  unmake(kCreated, MPI_COMM_WORLD, &win, base);
  win = make(kCreated, MPI_COMM_WORLD, 8, 1, info, &base);
  get_key(win, "mpi_memory_alloc_kinds", of_window);
  CHECK(strcmp(of_window, "system") == 0, "\"%s\" with the promise", of_window);
  unmake(kCreated, MPI_COMM_WORLD, &win, base);
  MUST(MPI_Info_free(&info));
}

/* Which way operations take is known once there was one, and who makes progress at any time. */
static void ways(void) {
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    char value[MPI_MAX_INFO_VAL];
    void* base;
    MPI_Win win = make(kind, MPI_COMM_WORLD, 8, 1, MPI_INFO_NULL, &base);
    get_key(win, "ashlar_progress", value);
    CHECK(strcmp(value, "calls") == 0 || strcmp(value, "background") == 0, "ashlar_progress: \"%s\"", value);
    get_key(win, "ashlar_way", value);
    CHECK(strcmp(value, "unresolved") == 0, "%s: ashlar_way: \"%s\"", window_kind_name(kind), value);
    if (kind != kDynamic) {
      char byte = 1;
      MUST(MPI_Win_lock_all(0, win));
      MUST(MPI_Get(&byte, 1, MPI_BYTE, (check_rank + 1) % check_size, 0, 1, MPI_BYTE, win));
      MUST(MPI_Win_unlock_all(win));
      get_key(win, "ashlar_way", value);
      CHECK(strcmp(value, "mapped") == 0 || strcmp(value, "copied") == 0 || strcmp(value, "native") == 0 ||
                strcmp(value, "asked") == 0,
            "%s: ashlar_way: \"%s\"", window_kind_name(kind), value);
    }
    unmake(kind, MPI_COMM_WORLD, &win, base);
  }
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MUST(MPI_Error_class(code, &class));
  return class;
}

/* What MPI_Win_set_info changes, on all processes alike, and what it does not; and that wrong info of one process
 * changes nothing. */
static void changed_info(int all_told) {
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    const char* const name = window_kind_name(kind);
    void* base;
    MPI_Info given, used;
    MPI_Win win = make(kind, MPI_COMM_WORLD, 256, 1, MPI_INFO_NULL, &base);
    MUST(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int turn = 0; turn < 4; turn++) {
      /* All promise; one takes it back; nobody says anything; one is wrong. */
      const int promised = turn == 0 || (turn == 3 && check_rank != 0);
      MUST(MPI_Info_create(&given));
      if (turn < 2 || turn == 3) {
        MUST(MPI_Info_set(given, "no_locks", promised || (turn == 1 && check_rank != 0) ? "true" : "false"));
        MUST(MPI_Info_set(given, "accumulate_ordering", promised ? "rar,waw" : "rar,raw,waw"));
        MUST(MPI_Info_set(given, "accumulate_ops", promised ? "same_op" : "same_op_no_op"));
        MUST(MPI_Info_set(given, "same_size", "true"));
        MUST(MPI_Info_set(given, "mpi_accumulate_granularity", "4096"));
      }
      if (turn == 3 && check_rank == 0) MUST(MPI_Info_set(given, "mpi_minimum_memory_alignment", "3"));
      const int code = MPI_Win_set_info(win, turn == 2 ? MPI_INFO_NULL : given);
      MUST(MPI_Info_free(&given));
      CHECK_EQ(class_of(code), turn == 3 && check_rank == 0 ? MPI_ERR_INFO_VALUE : MPI_SUCCESS);
      MUST(MPI_Win_get_info(win, &used));
      check_key(used, "no_locks", turn == 0 ? "true" : "false", name);
      check_key(used, "same_size", "false", name);
      if (all_told) {
        check_key(used, "accumulate_ordering", turn == 0 ? "rar,waw" : "rar,raw,waw", name);
        check_key(used, "accumulate_ops", turn == 0 ? "same_op" : "same_op_no_op", name);
        check_key(used, "mpi_accumulate_granularity", "0", name);
      }
      MUST(MPI_Info_free(&used));
      if (turn > 0) { /* without no_locks */
        MUST(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win));
        MUST(MPI_Win_unlock(check_rank, win));
      }
      MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    unmake(kind, MPI_COMM_WORLD, &win, base);
  }
}

/* Promises and alignments that only some make; values that nobody knows are as if they were not given. */
static void differing_info(void) {
  MPI_Info info;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "no_locks", check_rank % 2 ? "true" : "false"));
  MUST(MPI_Info_set(info, "accumulate_ordering", "what,ever"));
  MUST(MPI_Info_set(info, "accumulate_ops", "all_ops"));
  MUST(MPI_Info_set(info, "same_size", "perhaps"));
  void* base;
  MPI_Win win = make(kAllocated, MPI_COMM_WORLD, 64, 1, info, &base);
  unmake(kAllocated, MPI_COMM_WORLD, &win, base);
  MUST(MPI_Info_free(&info));
}

static void alignment(void) {
  for (unsigned wanted = 1; wanted <= 65536; wanted *= 4) {
    MPI_Info info;
    char text[20];
    snprintf(text, sizeof text, "%u", wanted);
    MUST(MPI_Info_create(&info));
    MUST(MPI_Info_set(info, "mpi_minimum_memory_alignment", text));
    void *base, *memory;
    MPI_Win win = make(kAllocated, MPI_COMM_WORLD, 100, 1, info, &base);
    CHECK((uintptr_t)base % wanted == 0, "%p is not aligned to %u", base, wanted);
    MUST(MPI_Alloc_mem(100, info, &memory));
    CHECK((uintptr_t)memory % wanted == 0, "%p of MPI_Alloc_mem is not aligned to %u", memory, wanted);
    MUST(MPI_Free_mem(memory));
    unmake(kAllocated, MPI_COMM_WORLD, &win, base);
    if (all_share_memory(MPI_COMM_WORLD)) {
      win = make(kShared, MPI_COMM_WORLD, 100, 1, info, &base);
      MPI_Aint size;
      int unit;
      MUST(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &base));
      CHECK((uintptr_t)base % 8 == 0);
      unmake(kShared, MPI_COMM_WORLD, &win, base);
    }
    MUST(MPI_Info_free(&info));
  }
}

/* ---- attributes of users -------------------------------------------------------------------------------------------
 */

static int deleted, failing;
static int on_delete(MPI_Win win, int keyval, void* value, void* extra) {
  (void)keyval;
  CHECK(win != MPI_WIN_NULL && extra == &deleted && *(int*)value == 17);
  deleted++;
  return failing ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Delete callbacks run when a window ends, while it still can be used; one that fails keeps it. */
static void callbacks(int refusals) {
  int keyval, value = 17, found;
  MUST(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, &deleted));
  TestWindow w = window_make(kAllocated, MPI_COMM_WORLD, 64, 1);
  MUST(MPI_Win_set_attr(w.win, keyval, &value));
  int* got = NULL;
  MUST(MPI_Win_get_attr(w.win, keyval, &got, &found));
  CHECK(found && got == &value);
  deleted = 0;
  if (refusals) {
    MUST(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    failing = 1;
    const MPI_Win before = w.win;
    CHECK(MPI_Win_free(&w.win) != MPI_SUCCESS);
    CHECK(w.win == before);
    CHECK_EQ(deleted, 1);
    failing = 0;
    deleted = 0;
    if (w.win != before) w.win = before;
    MUST(MPI_Win_get_attr(w.win, keyval, &got, &found));
    if (!found) MUST(MPI_Win_set_attr(w.win, keyval, &value));
    deleted = 0;
  }
  window_free(&w);
  CHECK_EQ(deleted, 1);
  MUST(MPI_Win_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
}

/* ---- the same memory, many windows, many lives ---------------------------------------------------------------------
 */

static void same_memory(void) {
  int64_t memory[8] = {0};
  MPI_Win win[3];
  for (int i = 0; i < 3; i++) /* the third one begins inside */
    MUST(MPI_Win_create(i == 2 ? memory + 4 : memory, i == 2 ? 32 : 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win[i]));
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < 3; i++) {
    const int64_t value = check_rank * 10 + i;
    MUST(MPI_Win_fence(0, win[i]));
    MUST(MPI_Put(&value, 1, MPI_INT64_T, right, i == 2 ? 3 : i, 1, MPI_INT64_T, win[i]));
    MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win[i]));
  }
  CHECK(memory[0] == left * 10 && memory[1] == left * 10 + 1 && memory[7] == left * 10 + 2);
  for (int i = 0; i < 3; i++) MUST(MPI_Win_free(&win[i]));
}

/* Memory of this process, of what it shares with the others its part. Not that of files: of the libraries' pages its
 * part grows when another job that has mapped them ends. */
static double bytes_used(void) {
  char line[128];
  long anonymous = 0, shared = 0;
  FILE* f = fopen("/proc/self/smaps_rollup", "r");
  while (f && fgets(line, sizeof line, f)) {
    sscanf(line, "Pss_Anon: %ld", &anonymous);
    sscanf(line, "Pss_Shmem: %ld", &shared);
  }
  if (f) fclose(f);
  return (double)(anonymous + shared) * 1024;
}

/* What a window takes beside its data, on average over the processes: less than `most` bytes. Each process's data is
 * 64 bytes. */
static void small_windows(int n, double most) {
  MPI_Win* const win = check_alloc((size_t)n * sizeof *win);
  void* base;
  double grown = 0, all = 0;
  for (int i = 0; i <= n; i++) { /* the first one brings what there is once */
    if (i == 1) {
      MUST(MPI_Win_free(&win[0]));
      MUST(MPI_Barrier(MPI_COMM_WORLD));
      grown = -bytes_used();
      MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    MUST(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win[i ? i - 1 : 0]));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  grown += bytes_used();
  MUST(MPI_Allreduce(&grown, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  const double each = all / n / check_size - 64;
  CHECK(each > 0 && each < most, "%.0f bytes a window and rank beside the data, not %.0f", each, most);
  for (int i = 0; i < n; i++) MUST(MPI_Win_free(&win[i]));
  free(win);
}

static void many_windows(int n) {
  TestWindow* const w = check_alloc((size_t)n * sizeof *w);
  for (int i = 0; i < n; i++) w[i] = window_make(i % 2 ? kCreated : kAllocated, MPI_COMM_WORLD, 64, 8);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < n; i += 1 + n / 100) {
    const int64_t value = 5 * i + check_rank;
    MUST(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w[i].win));
    MUST(MPI_Put(&value, 1, MPI_INT64_T, right, 1, 1, MPI_INT64_T, w[i].win));
    MUST(MPI_Win_unlock(right, w[i].win));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < n; i += 1 + n / 100) {
    settle_own(&w[i]);
    CHECK_EQ(((int64_t*)w[i].base)[1], 5 * i + left);
  }
  for (int i = 0; i < n; i++) window_free(&w[(i * 7 + 3) % n]); /* n has no factor 7 */
  free(w);
}

static long resident_kilobytes(void) {
  long pages = 0, resident = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
  if (f) fclose(f);
  return resident * 4;
}

static void create_and_free(int times) {
  long before = 0;
  for (int i = 0; i < times; i++) {
    void* base;
    MPI_Win win = make(i % 3 ? kAllocated : kCreatedAllocMem, MPI_COMM_WORLD, 4096, 1, MPI_INFO_NULL, &base);
    memset(base, i, 4096);
    MUST(MPI_Win_fence(0, win));
    MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    unmake(i % 3 ? kAllocated : kCreatedAllocMem, MPI_COMM_WORLD, &win, base);
    if (i == times / 4) before = resident_kilobytes();
  }
  const long grown = resident_kilobytes() - before;
  CHECK(grown < 4096, "%d windows later the process has %ld KiB more", times - times / 4, grown);
}

/* Windows of a session, without the world. */
static void of_a_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  MUST(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  MUST(MPI_Comm_create_from_group(group, "windows", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MUST(MPI_Group_free(&group));
  constructors(comm);
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Session_finalize(&session));
}

/* A window over what another window has: its own part, and that of the neighbour, mapped here. */
static void over_windows(void) {
  if (!all_share_memory(MPI_COMM_WORLD)) return;
  TestWindow below = window_make(kShared, MPI_COMM_WORLD, 64, 8);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  MPI_Aint size;
  int unit;
  int64_t* there;
  MUST(MPI_Win_shared_query(below.win, right, &size, &unit, &there));
  MPI_Win own, neighbours;
  MUST(MPI_Win_create(below.base, 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &own));
  MUST(MPI_Win_create(there, 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &neighbours));
  for (int i = 0; i < 2; i++) {
    const MPI_Win win = i ? neighbours : own;
    const int64_t mine = 70 * i + check_rank;
    MUST(MPI_Win_fence(0, win));
    MUST(MPI_Put(&mine, 1, MPI_INT64_T, right, 2 + i, 1, MPI_INT64_T, win));
    MUST(MPI_Accumulate(&mine, 1, MPI_INT64_T, right, 4 + i, 1, MPI_INT64_T, MPI_SUM, win));
    MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  const int64_t* const words = (const int64_t*)below.base;
  const int two = (left + check_size - 1) % check_size; /* its right neighbour's window is over this process's memory */
  CHECK(words[2] == left && words[4] == left, "%lld, %lld", (long long)words[2], (long long)words[4]);
  CHECK(words[3] == 70 + two && words[5] == 70 + two, "%lld, %lld", (long long)words[3], (long long)words[5]);
  MUST(MPI_Win_free(&neighbours));
  MUST(MPI_Win_free(&own));
  window_free(&below);
}

/* `rma_windows unfreed` ends with windows that were not freed, one of them in use to the last.
 * `rma_windows basic`: leaves out what the standard leaves open. `rma_windows many N TIMES`: windows at once, and
 * lives. */
/* Nothing builds on the promise no_locks: a program that breaks it gets its locks. */
static void locks_in_spite_of_no_locks(void) {
  MPI_Info info;
  MPI_Win win;
  int64_t* base;
  const int right = (check_rank + 1) % check_size;
  const int64_t one = 1;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "no_locks", "true"));
  MUST(MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &base, &win));
  MUST(MPI_Info_free(&info));
  base[0] = 0;
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
  MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, MPI_SUM, win));
  MUST(MPI_Win_unlock(right, win));
  MUST(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, MPI_SUM, win));
  MUST(MPI_Win_unlock_all(win));
  MUST(MPI_Win_fence(0, win));
  CHECK_EQ(base[0], 2);
  MUST(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int all = !(argc > 1 && strcmp(argv[1], "basic") == 0);
  if (argc > 3 && strcmp(argv[1], "many") == 0) {
    many_windows(atoi(argv[2]));
    create_and_free(atoi(argv[3]));
    return check_end();
  }
  if (argc > 3 && strcmp(argv[1], "small") == 0) {
    small_windows(atoi(argv[2]), atof(argv[3]));
    return check_end();
  }
  if (argc > 1 && strcmp(argv[1], "unfreed") == 0) {
    static TestWindow kept[kWindowKinds]; /* for a leak checker: what they hold is not lost */
    for (WindowKind kind = (WindowKind)0; kind < kWindowKinds; kind++) {
      if (is_shared(kind) && !all_share_memory(MPI_COMM_WORLD)) continue;
      TestWindow* const w = &kept[kind];
      *w = window_make(kind, MPI_COMM_WORLD, 64, 8);
      const int64_t one = 1;
      const int right = (check_rank + 1) % check_size;
      MUST(MPI_Win_lock_all(0, w->win));
      MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, right, disp_of(w, right, 8), 1, MPI_INT64_T, MPI_SUM, w->win));
      MUST(MPI_Win_unlock_all(w->win));
    }
    return check_end();
  }
  constructors(MPI_COMM_WORLD);
  communicators();
  if (all) of_a_session();
  if (all) locks_in_spite_of_no_locks();
  over_windows();
  shared_windows();
  other_queries();
  info_keys(all);
  changed_info(all);
  if (all) differing_info();
  if (all) memory_kinds();
  if (all) ways();
  alignment();
  callbacks(all);
  same_memory();
  many_windows(20);
  create_and_free(100);
  return check_end();
}
