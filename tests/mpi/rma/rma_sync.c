/* Synchronization: fences with every assertion, epochs between changing groups, locks of every kind, flushes, shared
 * memory with loads and stores. And that passive targets need not take part: they compute until a flag says that all is
 * done. */
#include "rma.h"

static double began;

/* Bounds the waits that would never end if the library did not keep its promise, so that the program can say which. */
static int patience_is_over(void) { return MPI_Wtime() - began > 45; }

static MPI_Group group_of(const TestWindow* w, const int* ranks, int n) {
  MPI_Group all, some;
  MUST(MPI_Win_get_group(w->win, &all));
  MUST(MPI_Group_incl(all, n, ranks, &some));
  MUST(MPI_Group_free(&all));
  return some;
}

/* ---- fence ---------------------------------------------------------------------------------------------------------
 */

/* A ring in which each number moves on by one process at each fence. */
static void fences(const TestWindow* w) {
  const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
  int64_t* const own = (int64_t*)w->base;
  own[0] = own[1] = -1;
  MUST(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
  int64_t token = w->rank;
  for (int i = 0; i < 50; i++) {
    MUST(MPI_Put(&token, 1, MPI_INT64_T, right, disp_of(w, right, 8 * (i % 2)), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_fence(i % 3 == 0 ? MPI_MODE_NOSTORE : 0, w->win));
    CHECK(own[i % 2] == (w->rank - i - 1 + 50 * w->ranks) % w->ranks, "fence %d: %lld", i, (long long)own[i % 2]);
    token = own[i % 2];
  }
  /* Only gets between these. */
  own[3] = w->rank * 11;
  MUST(MPI_Win_fence(MPI_MODE_NOPUT, w->win));
  int64_t got = -1;
  MUST(MPI_Get(&got, 1, MPI_INT64_T, left, disp_of(w, left, 24), 1, MPI_INT64_T, w->win));
  MUST(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, w->win));
  CHECK_EQ(got, left * 11);
  MUST(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win));
  /* A slow process's stores before its fence are older than what a fast one puts after it. */
  for (int i = 0; i < 5; i++) {
    if (w->rank == w->ranks - 1) {
      const double until = MPI_Wtime() + 0.002;
      while (MPI_Wtime() < until) continue;
    }
    own[5] = -2;
    const int64_t value = 100 * i + w->rank;
    MUST(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    MUST(MPI_Put(&value, 1, MPI_INT64_T, right, disp_of(w, right, 40), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    CHECK_EQ(own[5], 100 * i + left);
  }
}

/* A fence that nothing follows does not stand in the way of epochs of other kinds, nor they in its way. */
static void fence_then_others(const TestWindow* w) {
  const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
  int64_t* const own = (int64_t*)w->base;
  const int64_t mine = w->rank + 500;
  own[0] = own[1] = own[2] = own[3] = 0;
  MUST(MPI_Win_fence(0, w->win));
  MUST(MPI_Put(&mine, 1, MPI_INT64_T, right, disp_of(w, right, 0), 1, MPI_INT64_T, w->win));
  MUST(MPI_Win_fence(0, w->win));
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win));
  MUST(MPI_Put(&mine, 1, MPI_INT64_T, right, disp_of(w, right, 8), 1, MPI_INT64_T, w->win));
  MUST(MPI_Win_unlock(right, w->win));
  MUST(MPI_Barrier(w->comm));
  MPI_Group from = group_of(w, &left, 1), to = group_of(w, &right, 1);
  MUST(MPI_Win_fence(0, w->win));
  MUST(MPI_Win_post(from, 0, w->win));
  MUST(MPI_Win_start(to, 0, w->win));
  MUST(MPI_Put(&mine, 1, MPI_INT64_T, right, disp_of(w, right, 16), 1, MPI_INT64_T, w->win));
  MUST(MPI_Win_complete(w->win));
  MUST(MPI_Win_wait(w->win));
  MUST(MPI_Win_fence(0, w->win));
  MUST(MPI_Win_lock_all(0, w->win));
  MUST(MPI_Put(&mine, 1, MPI_INT64_T, right, disp_of(w, right, 24), 1, MPI_INT64_T, w->win));
  MUST(MPI_Win_unlock_all(w->win));
  MUST(MPI_Win_fence(0, w->win));
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
  for (int i = 0; i < 4; i++) CHECK_EQ(own[i], left + 500);
  MUST(MPI_Group_free(&from));
  MUST(MPI_Group_free(&to));
  MUST(MPI_Barrier(w->comm));
}

/* ---- post, start, complete, wait -----------------------------------------------------------------------------------
 */

static void sort_of_shuffle(int* ranks, int n, Random* r) {
  for (int i = n - 1; i > 0; i--) {
    const int k = random_below(r, i + 1), other = ranks[k];
    ranks[k] = ranks[i], ranks[i] = other;
  }
}

/* Random bipartite graphs: each process is told by the same random numbers whom it accesses and who accesses it, itself
 * perhaps included, perhaps none. Successive groups differ, so posts for later epochs come early. */
static void changing_groups(const TestWindow* w, int rounds) {
  Random random = {.state = 77};
  int64_t* const own = (int64_t*)w->base;
  for (int i = 0; i < w->ranks; i++) own[i] = -1;
  MUST(MPI_Barrier(w->comm));
  for (int round = 0; round < rounds; round++) {
    static unsigned char edge[64][64]; /* origin, target */
    const int density = 1 + random_below(&random, 4);
    for (int o = 0; o < w->ranks; o++)
      for (int t = 0; t < w->ranks; t++) edge[o][t] = random_below(&random, 4) < density;
    if (round % 7 == 3) memset(edge, 0, sizeof edge); /* GROUP_EMPTY for all */
    const int unchecked = random_below(&random, 5) == 0, test = random_below(&random, 2);
    int from[64], to[64], nfrom = 0, nto = 0;
    for (int r = 0; r < w->ranks; r++) {
      if (edge[r][w->rank]) from[nfrom++] = r;
      if (edge[w->rank][r]) to[nto++] = r;
    }
    Random mine = {.state = (uint64_t)(round * 100 + w->rank)};
    sort_of_shuffle(from, nfrom, &mine), sort_of_shuffle(to, nto, &mine);
    MPI_Group origins = group_of(w, from, nfrom), targets = group_of(w, to, nto);
    const int posts_assert = (round % 2 ? MPI_MODE_NOSTORE : 0) | (unchecked ? MPI_MODE_NOCHECK : 0);
    MUST(MPI_Win_post(nfrom ? origins : MPI_GROUP_EMPTY, posts_assert, w->win));
    if (unchecked) MUST(MPI_Barrier(w->comm)); /* the posts have been called: nobody need wait for them */
    MUST(MPI_Win_start(targets, unchecked ? MPI_MODE_NOCHECK : 0, w->win));
    MUST(MPI_Group_free(&origins));
    MUST(MPI_Group_free(&targets));
    const int64_t value = round * 1000 + w->rank;
    int64_t was[64];
    for (int i = 0; i < nto; i++) {
      MUST(MPI_Get(&was[i], 1, MPI_INT64_T, to[i], disp_of(w, to[i], 8 * (64 + w->rank)), 1, MPI_INT64_T, w->win));
      MUST(MPI_Put(&value, 1, MPI_INT64_T, to[i], disp_of(w, to[i], 8 * w->rank), 1, MPI_INT64_T, w->win));
    }
    MUST(MPI_Win_complete(w->win));
    if (test) {
      int flag = 0;
      while (!flag && !patience_is_over()) MUST(MPI_Win_test(w->win, &flag));
      CHECK(flag, "MPI_Win_test never found the epoch over, round %d", round);
    } else {
      MUST(MPI_Win_wait(w->win));
    }
    for (int r = 0; r < w->ranks; r++)
      if (edge[r][w->rank])
        CHECK(own[r] == round * 1000 + r, "round %d: rank %d put %lld", round, r, (long long)own[r]);
  }
  MUST(MPI_Barrier(w->comm));
}

/* Rank 0 gathers from each of the others in turn by epochs with one of them at a time; they have posted long before. */
static void early_posts(const TestWindow* w) {
  int64_t* const own = (int64_t*)w->base;
  own[0] = 7 * w->rank;
  MUST(MPI_Barrier(w->comm));
  for (int round = 0; round < 3; round++) {
    if (w->rank == 0) {
      for (int r = w->ranks - 1; r > 0; r--) {
        MPI_Group one = group_of(w, &r, 1);
        int64_t got = -1;
        MUST(MPI_Win_start(one, 0, w->win));
        MUST(MPI_Get(&got, 1, MPI_INT64_T, r, disp_of(w, r, 0), 1, MPI_INT64_T, w->win));
        MUST(MPI_Win_complete(w->win));
        CHECK_EQ(got, 7 * r + round);
        MUST(MPI_Group_free(&one));
      }
    } else {
      MPI_Group one = group_of(w, &(int){0}, 1);
      MUST(MPI_Win_post(one, 0, w->win));
      MUST(MPI_Win_wait(w->win));
      own[0]++;
      MUST(MPI_Group_free(&one));
    }
  }
  MUST(MPI_Barrier(w->comm));
}

/* ---- locks ---------------------------------------------------------------------------------------------------------
 */

/* Read, add, write under an exclusive lock; some by loads and stores of one's own. */
static void locked_counters(const TestWindow* w, int each) {
  int64_t* const own = (int64_t*)w->base;
  own[0] = own[1] = 0;
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  Random random = {.state = (uint64_t)w->rank + 5};
  for (int i = 0; i < each; i++) {
    const int target = i % 2 ? random_below(&random, w->ranks) : 0;
    const MPI_Aint disp = disp_of(w, target, i % 2 ? 8 : 0);
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
    if (target == w->rank) {
      own[i % 2]++;
    } else {
      int64_t value = -1;
      MUST(MPI_Get(&value, 1, MPI_INT64_T, target, disp, 1, MPI_INT64_T, w->win));
      MUST(MPI_Win_flush(target, w->win));
      value++;
      MUST(MPI_Put(&value, 1, MPI_INT64_T, target, disp, 1, MPI_INT64_T, w->win));
    }
    MUST(MPI_Win_unlock(target, w->win));
  }
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  int64_t sum[2] = {own[0], own[1]};
  MUST(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT64_T, MPI_SUM, w->comm));
  CHECK_EQ(sum[0], (int64_t)w->ranks * (each - each / 2));
  CHECK_EQ(sum[1], (int64_t)w->ranks * (each / 2));
  MUST(MPI_Barrier(w->comm));
}

/* Writers change two words together; readers, with shared locks or lock_all, never see one of them alone. */
static void readers_and_writers(const TestWindow* w, int rounds) {
  int64_t* const own = (int64_t*)w->base;
  own[0] = own[40] = 0;
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  const MPI_Aint first = disp_of(w, 0, 0), second = disp_of(w, 0, 320);
  for (int i = 0; i < rounds; i++) {
    if ((w->rank + i) % 3 == 0) {
      const int64_t value = w->rank * 1000 + i;
      MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
      MUST(MPI_Put(&value, 1, MPI_INT64_T, 0, first, 1, MPI_INT64_T, w->win));
      MUST(MPI_Win_flush(0, w->win));
      MUST(MPI_Put(&value, 1, MPI_INT64_T, 0, second, 1, MPI_INT64_T, w->win));
      MUST(MPI_Win_unlock(0, w->win));
      continue;
    }
    int64_t a = -1, b = -2;
    const int all = i % 2;
    if (all)
      MUST(MPI_Win_lock_all(0, w->win));
    else
      MUST(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    MUST(MPI_Get(&b, 1, MPI_INT64_T, 0, second, 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_flush_local(0, w->win));
    MUST(MPI_Get(&a, 1, MPI_INT64_T, 0, first, 1, MPI_INT64_T, w->win));
    if (all)
      MUST(MPI_Win_unlock_all(w->win));
    else
      MUST(MPI_Win_unlock(0, w->win));
    CHECK(a == b, "%s saw %lld and %lld", all ? "lock_all" : "a shared lock", (long long)a, (long long)b);
  }
  MUST(MPI_Barrier(w->comm));
}

/* Locks of several targets held together, given back in another order. */
static void several_targets(const TestWindow* w) {
  int64_t* const own = (int64_t*)w->base;
  for (int i = 0; i < w->ranks; i++) own[i] = 0;
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  for (int round = 0; round < 10; round++) {
    for (int t = 0; t < w->ranks; t++) /* in one order, so that nobody waits in a circle */
      MUST(MPI_Win_lock(round % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, t, 0, w->win));
    const int64_t value = round;
    for (int t = 0; t < w->ranks; t++)
      MUST(MPI_Put(&value, 1, MPI_INT64_T, t, disp_of(w, t, 8 * w->rank), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_flush_all(w->win));
    MUST(MPI_Win_flush_local_all(w->win));
    for (int i = 0; i < w->ranks; i++) MUST(MPI_Win_unlock((w->rank + i) % w->ranks, w->win));
  }
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  for (int i = 0; i < w->ranks; i++) CHECK_EQ(own[i], 9);
  MUST(MPI_Barrier(w->comm));
}

/* Two readers hold the lock at once: each holds it until it has heard from the other. */
static void readers_together(const TestWindow* w) {
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
  MUST(MPI_Barrier(w->comm));
  MUST(MPI_Win_unlock(0, w->win));
  MUST(MPI_Win_lock_all(0, w->win));
  MUST(MPI_Barrier(w->comm));
  MUST(MPI_Win_unlock_all(w->win));
  /* And a lock_all beside single shared locks. */
  if (w->rank % 2) MUST(MPI_Win_lock_all(0, w->win));
  if (w->rank % 2 == 0) MUST(MPI_Win_lock(MPI_LOCK_SHARED, w->ranks - 1, 0, w->win));
  MUST(MPI_Barrier(w->comm));
  if (w->rank % 2) MUST(MPI_Win_unlock_all(w->win));
  if (w->rank % 2 == 0) MUST(MPI_Win_unlock(w->ranks - 1, w->win));
}

/* All want one lock at once: each gets it, again and again, while the others do, too. */
static void everybody_gets_it(const TestWindow* w) {
  enum { kEach = 40 };
  int64_t* const own = (int64_t*)w->base;
  own[0] = 0;
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  for (int i = 0; i < kEach; i++) {
    int64_t n = -1;
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    MUST(MPI_Get(&n, 1, MPI_INT64_T, 0, disp_of(w, 0, 0), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_flush(0, w->win));
    n++;
    MUST(MPI_Put(&n, 1, MPI_INT64_T, 0, disp_of(w, 0, 0), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_unlock(0, w->win));
  }
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  if (w->rank == 0) CHECK_EQ(own[0], kEach * w->ranks);
  MUST(MPI_Barrier(w->comm));
}

/* More epochs of each kind than 16 bits count, with a put now and then; than 8 bits, where there are many processes. */
static void many_epochs(const TestWindow* w, int n) {
  const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
  volatile int64_t* const own = (volatile int64_t*)w->base;
  MPI_Group from = group_of(w, &left, 1), to = group_of(w, &right, 1);
  int64_t value = 0;
  for (int i = 0; i < n; i++) {
    MUST(MPI_Win_post(from, 0, w->win));
    MUST(MPI_Win_start(to, 0, w->win));
    value = i;
    if (i % 100 == 99) MUST(MPI_Put(&value, 1, MPI_INT64_T, right, disp_of(w, right, 0), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_complete(w->win));
    MUST(MPI_Win_wait(w->win));
    if (i % 100 == 99) CHECK_EQ(own[0], i);
  }
  MUST(MPI_Group_free(&from));
  MUST(MPI_Group_free(&to));
  for (int i = 0; i < n; i++) {
    value = -i;
    if (i % 100 == 99) MUST(MPI_Put(&value, 1, MPI_INT64_T, right, disp_of(w, right, 8), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_fence(i == n - 1 ? MPI_MODE_NOSUCCEED : 0, w->win));
    if (i % 100 == 0 && i) CHECK_EQ(own[1], 1 - i);
  }
  MUST(MPI_Barrier(w->comm));
  for (int i = 0; i < n; i++) {
    MUST(MPI_Win_lock(i % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, right, 0, w->win));
    MUST(MPI_Win_unlock(right, w->win));
    MUST(MPI_Win_lock_all(0, w->win));
    MUST(MPI_Win_unlock_all(w->win));
  }
  MUST(MPI_Barrier(w->comm));
}

/* A writer gets its turn between readers that come again and again: they end only when it has written. */
static void writer_among_readers(const TestWindow* w) {
  const int64_t up = 1;
  int64_t* const own = (int64_t*)w->base;
  own[0] = 0;
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  if (w->rank == w->ranks - 1) {
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    MUST(MPI_Put(&up, 1, MPI_INT64_T, 0, disp_of(w, 0, 0), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_unlock(0, w->win));
  }
  for (int64_t seen = 0, i = 0; seen == 0; i++) {
    const int all = i % 2 == 1;
    MUST(all ? MPI_Win_lock_all(0, w->win) : MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    MUST(MPI_Get(&seen, 1, MPI_INT64_T, 0, disp_of(w, 0, 0), 1, MPI_INT64_T, w->win));
    MUST(all ? MPI_Win_unlock_all(w->win) : MPI_Win_unlock(0, w->win));
  }
  MUST(MPI_Barrier(w->comm));
}

/* A process that locks its own memory again and again serves those that ask it for what it waits for. */
static void locks_of_own_memory(const TestWindow* w) {
  int64_t* const own = (int64_t*)w->base;
  if (w->ranks == 1) return;
  for (int64_t all = 0; all < 2; all++) {
    own[0] = 0;
    settle_own(w);
    MUST(MPI_Barrier(w->comm));
    if (w->rank == w->ranks - 1) {
      const int64_t up = 1;
      MUST(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
      MUST(MPI_Accumulate(&up, 1, MPI_INT64_T, 0, disp_of(w, 0, 0), 1, MPI_INT64_T, MPI_REPLACE, w->win));
      MUST(MPI_Win_unlock(0, w->win));
    }
    for (int64_t seen = 0; w->rank == 0 && seen == 0;) {
      MUST(all ? MPI_Win_lock_all(0, w->win) : MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
      MUST(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, 0, disp_of(w, 0, 0), MPI_NO_OP, w->win));
      MUST(all ? MPI_Win_unlock_all(w->win) : MPI_Win_unlock(0, w->win));
    }
    MUST(MPI_Barrier(w->comm));
  }
}

/* ---- what is put before is seen after ------------------------------------------------------------------------------
 */

/* Data, flush, message: the receiver of the message sees the data. Data, flush, flag by an atomic: its reader does. */
static void messages_and_flags(const TestWindow* w, int rounds) {
  const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
  int64_t* const own = (int64_t*)w->base;
  memset(own, 0, 1024);
  MUST(MPI_Win_lock_all(0, w->win));
  MUST(MPI_Win_sync(w->win));
  MUST(MPI_Barrier(w->comm));
  int64_t data[16];
  for (int i = 1; i <= rounds; i++) {
    for (int k = 0; k < 16; k++) data[k] = 1000 * i + w->rank;
    MUST(MPI_Put(data, 16, MPI_INT64_T, right, disp_of(w, right, 0), 16, MPI_INT64_T, w->win));
    MUST(MPI_Win_flush(right, w->win));
    int token;
    MUST(MPI_Sendrecv(&i, 1, MPI_INT, right, 5, &token, 1, MPI_INT, left, 5, w->comm, MPI_STATUS_IGNORE));
    MUST(MPI_Win_sync(w->win));
    for (int k = 0; k < 16; k++)
      CHECK(own[k] == 1000 * i + left, "after the message: word %d is %lld", k, (long long)own[k]);
    MUST(MPI_Barrier(w->comm));

    for (int k = 0; k < 16; k++) data[k] = -1000 * i - w->rank;
    MUST(MPI_Put(data, 16, MPI_INT64_T, right, disp_of(w, right, 0), 16, MPI_INT64_T, w->win));
    MUST(MPI_Win_flush(right, w->win));
    const int64_t flag = i;
    MUST(MPI_Accumulate(&flag, 1, MPI_INT64_T, right, disp_of(w, right, 512), 1, MPI_INT64_T, MPI_REPLACE, w->win));
    MUST(MPI_Win_flush(right, w->win));
    int64_t now = 0;
    while (now != i && !patience_is_over()) {
      MUST(MPI_Fetch_and_op(NULL, &now, MPI_INT64_T, w->rank, disp_of(w, w->rank, 512), MPI_NO_OP, w->win));
      MUST(MPI_Win_flush(w->rank, w->win));
    }
    CHECK_EQ(now, i);
    MUST(MPI_Win_sync(w->win));
    for (int k = 0; k < 16; k++)
      CHECK(own[k] == -1000 * i - left, "after the flag: word %d is %lld", k, (long long)own[k]);
    MUST(MPI_Barrier(w->comm));
  }
  MUST(MPI_Win_unlock_all(w->win));
}

/* A program that only loads sees in the end what others accumulate in its own memory (unified memory model). */
static void polled_by_loads(const TestWindow* w) {
  int* model;
  int found;
  MUST(MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &model, &found));
  CHECK(found);
  if (!found || *model != MPI_WIN_UNIFIED) return;
  volatile int64_t* const own = (volatile int64_t*)w->base;
  own[0] = 0;
  MUST(MPI_Win_lock_all(0, w->win));
  MUST(MPI_Win_sync(w->win));
  MUST(MPI_Barrier(w->comm));
  const int right = (w->rank + 1) % w->ranks;
  const int64_t one = 0x100000001;
  MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, right, disp_of(w, right, 0), 1, MPI_INT64_T, MPI_SUM, w->win));
  MUST(MPI_Win_flush(right, w->win));
  int64_t now;
  do {
    now = own[0];
    CHECK(now == 0 || now == one, "a torn word");
    MUST(MPI_Win_sync(w->win));
  } while (now != one && !patience_is_over());
  CHECK_EQ(now, one);
  MUST(MPI_Win_unlock_all(w->win));
  MUST(MPI_Barrier(w->comm));
}

/* ---- targets that compute ------------------------------------------------------------------------------------------
 */

/* The last process calls nothing of MPI while the others lock, put, add, read and unlock: it computes until a word in
 * its own memory says that all of them are done. With a library that needs the target this ends by the patience alone.
 */
static void target_computes(const TestWindow* w) {
  const int target = w->ranks - 1;
  if (w->ranks == 1) return;
  volatile int64_t* const own = (volatile int64_t*)w->base;
  for (int i = 0; i < 128; i++) own[i] = 0;
  settle_own(w);
  MUST(MPI_Barrier(w->comm));
  if (w->rank == target) {
    while (own[0] != w->ranks - 1 && !patience_is_over()) continue;
    CHECK_EQ(own[0], w->ranks - 1);
  } else {
    const int64_t one = 1;
    int64_t value = w->rank + 60, got = -1, was = -1;
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
    MUST(MPI_Put(&value, 1, MPI_INT64_T, target, disp_of(w, target, 8 + 8 * w->rank), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_unlock(target, w->win));
    MUST(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    MUST(MPI_Get(&got, 1, MPI_INT64_T, target, disp_of(w, target, 8 + 8 * w->rank), 1, MPI_INT64_T, w->win));
    MUST(MPI_Win_flush(target, w->win));
    CHECK_EQ(got, value);
    MUST(MPI_Win_unlock(target, w->win));
    MUST(MPI_Win_lock_all(0, w->win));
    MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, target, disp_of(w, target, 800), 1, MPI_INT64_T, MPI_SUM, w->win));
    MUST(MPI_Win_flush(target, w->win));
    MUST(MPI_Fetch_and_op(&one, &was, MPI_INT64_T, target, disp_of(w, target, 0), MPI_SUM, w->win));
    MUST(MPI_Win_flush(target, w->win));
    CHECK(was >= 0 && was < w->ranks - 1, "%lld", (long long)was);
    MUST(MPI_Win_unlock_all(w->win));
  }
  MUST(MPI_Barrier(w->comm));
  settle_own(w);
  if (w->rank == target) {
    for (int r = 0; r < target; r++) CHECK_EQ(own[1 + r], r + 60);
    CHECK_EQ(own[100], w->ranks - 1);
  }
  MUST(MPI_Barrier(w->comm));
}

/* ---- loads and stores of shared memory -----------------------------------------------------------------------------
 */

static void shared_memory(const TestWindow* w) {
  const int right = (w->rank + 1) % w->ranks, left = (w->rank + w->ranks - 1) % w->ranks;
  MPI_Aint size;
  int unit;
  int64_t* there;
  MUST(MPI_Win_shared_query(w->win, right, &size, &unit, &there));
  MUST(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
  int64_t* const own = (int64_t*)w->base;
  for (int i = 0; i < 100; i++) {
    there[3] = i * 100 + w->rank;
    MUST(MPI_Win_sync(w->win));
    MUST(MPI_Barrier(w->comm));
    MUST(MPI_Win_sync(w->win));
    CHECK_EQ(own[3], i * 100 + left);
    MUST(MPI_Win_sync(w->win));
    MUST(MPI_Barrier(w->comm));
    /* Operations and loads of the same words. */
    const int64_t add = 5;
    MUST(MPI_Accumulate(&add, 1, MPI_INT64_T, right, disp_of(w, right, 24), 1, MPI_INT64_T, MPI_SUM, w->win));
    MUST(MPI_Win_flush(right, w->win));
    CHECK_EQ(there[3], i * 100 + w->rank + 5);
    MUST(MPI_Barrier(w->comm));
  }
  MUST(MPI_Win_unlock_all(w->win));
}

/* ---- several windows -----------------------------------------------------------------------------------------------
 */

/* Each window has its own epochs, and a flush of one says nothing about the other. */
static void two_windows(WindowKind kind) {
  TestWindow a = window_make(kind, MPI_COMM_WORLD, 256, 1), b = window_make(kind, MPI_COMM_WORLD, 256, 8);
  const int right = (a.rank + 1) % a.ranks, left = (a.rank + a.ranks - 1) % a.ranks;
  MPI_Group all;
  MUST(MPI_Win_get_group(a.win, &all));
  int64_t x = a.rank, y = a.rank + 100;
  MUST(MPI_Win_lock_all(0, a.win));
  MUST(MPI_Win_post(all, 0, b.win));
  MUST(MPI_Win_start(all, 0, b.win));
  MUST(MPI_Put(&x, 1, MPI_INT64_T, right, disp_of(&a, right, 0), 1, MPI_INT64_T, a.win));
  MUST(MPI_Put(&y, 1, MPI_INT64_T, right, disp_of(&b, right, 8), 1, MPI_INT64_T, b.win));
  MUST(MPI_Win_flush_all(a.win));
  MUST(MPI_Win_complete(b.win));
  MUST(MPI_Win_wait(b.win));
  CHECK_EQ(*(int64_t*)(b.base + 8), left + 100);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_sync(a.win));
  CHECK_EQ(*(int64_t*)a.base, left);
  MUST(MPI_Win_unlock_all(a.win));
  MUST(MPI_Group_free(&all));
  window_free(&b);
  window_free(&a);
}

/* Two processes share the locks of the same two targets, each in its own order, while others wait to lock them
 * exclusively: a writer that waits for the one must not keep the other from its second lock. */
static void crosswise(const TestWindow* w, int rounds) {
  if (w->ranks < 4) return;
  MUST(MPI_Barrier(w->comm));
  for (int i = 0; i < rounds && w->rank < 4; i++) {
    const int mine = w->rank % 2;
    if (w->rank < 2) {
      MUST(MPI_Win_lock(MPI_LOCK_SHARED, mine, 0, w->win));
      MUST(MPI_Win_lock(MPI_LOCK_SHARED, 1 - mine, 0, w->win));
      MUST(MPI_Win_unlock(1 - mine, w->win));
      MUST(MPI_Win_unlock(mine, w->win));
    } else {
      MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mine, 0, w->win));
      MUST(MPI_Win_unlock(mine, w->win));
    }
  }
  MUST(MPI_Barrier(w->comm));
}

/* `rma_sync asked`: targets are asked by messages, and no thread makes progress for them while they compute. */
int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int few = check_size > 4;
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    TestWindow w = window_make(kind, MPI_COMM_WORLD, 2048, kind == kCreated ? 8 : 1);
    began = MPI_Wtime();
    fences(&w);
    fence_then_others(&w);
    changing_groups(&w, few ? 10 : 40);
    early_posts(&w);
    locked_counters(&w, few ? 20 : 200);
    readers_and_writers(&w, few ? 20 : 150);
    several_targets(&w);
    readers_together(&w);
    everybody_gets_it(&w);
    writer_among_readers(&w);
    locks_of_own_memory(&w);
    crosswise(&w, few ? 100 : 1000);
    messages_and_flags(&w, few ? 5 : 30);
    polled_by_loads(&w);
    if (!(argc > 1 && strcmp(argv[1], "asked") == 0)) target_computes(&w);
    if (is_shared(kind)) shared_memory(&w);
    if (kind == kAllocated || kind == kCreated) many_epochs(&w, check_size > 2 ? 600 : 70000);
    window_free(&w);
    two_windows(kind);
  }
  return check_end();
}
