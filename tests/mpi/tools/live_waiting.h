/* Of tools_live.c: progress.* and coll.compare_after, seen by what waits count on rank 0. Each time and number of
 * rounds has two variables, one of which is in force: that of jobs with more ranks than cores, or the other one.
 * Writing the one changes how waits go, writing the other changes nothing. */
#ifndef ASHLAR_TESTS_LIVE_WAITING_H
#define ASHLAR_TESTS_LIVE_WAITING_H
#include "live.h"

static const Value kHour = 3600ULL * 1000000000;

/* Whether there are more ranks than cores: as the program's argument says, or -1 until the first test shows it. */
static int crowded = -1;

/* Rank 0 waits for the last rank, which comes late. */
static void wait_for_late_one(void) {
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == check_size - 1) sleep_ms(50);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}
static Value grows_by_waiting(const char* counter) {
  const Value grown = grows_by(counter, wait_for_late_one);
  return check_rank == 0 ? grown : 0;
}

/* Two variables for one thing: `name`, and the one for crowds. They are written together, and what they were is kept.
 */
typedef struct {
  char names[2][100];
  Value old[2];
} Pair;
static Pair put_pair(const char* name, Value value) {
  Pair pair;
  snprintf(pair.names[0], sizeof pair.names[0], "%s", name);
  snprintf(pair.names[1], sizeof pair.names[1], "%s_oversubscribed", name);
  for (int i = 0; i < 2; ++i) pair.old[i] = put(pair.names[i], value);
  return pair;
}
static void restore(const Pair* pair) {
  for (int i = 0; i < 2; ++i) put(pair->names[i], pair->old[i]);
}

static int is_of_crowds(const char* name) { return strstr(name, "_oversubscribed") != NULL; }

/* With `much` for both variables of the pair a wait counts nothing, and with `little` for `name`, if that is the one in
 * force, something. */
static void changes_waiting(const char* name, Value much, Value little, const char* counter) {
  char plain[100];
  snprintf(plain, sizeof plain, "%s", name);
  if (is_of_crowds(name)) *strstr(plain, "_oversubscribed") = 0;
  const Pair pair = put_pair(plain, much);
  const Value none = grows_by_waiting(counter);
  put(name, little);
  const Value some = grows_by_waiting(counter);
  restore(&pair);
  if (check_rank != 0) return;
  if (crowded < 0) crowded = some == 0;
  CHECK(none == 0, "%s = %llu: %s grew by %llu", name, much, counter, none);
  if (is_of_crowds(name) == crowded)
    CHECK(some > 0, "%s = %llu, which is in force: %s did not grow", name, little, counter);
  else
    CHECK(some == 0, "%s = %llu, which is not in force: %s grew by %llu", name, little, counter, some);
}

static void spin(const char* name) {
  /* So many empty rounds take longer than the wait. */
  changes_waiting(name, 1000000000, 1, "progress.waits");
}

/* No yield is so long that a process outside is found to compete: then a wait would sleep at once. */
static void sleep_after(const char* name) {
  const Pair yields = put_pair("progress.long_yield", kHour);
  changes_waiting(name, kHour, 100000, "progress.sleeps");
  restore(&yields);
}

/* Waits that yield from their first round on, and do not come to sleep by time. */
typedef struct {
  Pair spin, sleep;
} Yielding;
static Yielding yield_only(void) {
  const Yielding y = {put_pair("progress.spin", 0), put_pair("progress.sleep_after", kHour)};
  return y;
}
static void yield_no_more(const Yielding* y) { restore(&y->spin), restore(&y->sleep); }

static void long_yield(const char* name) {
  const Yielding y = yield_only();
  const Pair retry = put_pair("progress.yield_retry", 0);
  changes_waiting(name, kHour, 0, "progress.long_yields");
  restore(&retry);
  yield_no_more(&y);
}
/* Each yield counts as a long one: waits sleep, unless a yield is tried again at once. */
static void yield_retry(const char* name) {
  const Yielding y = yield_only();
  const Pair yields = put_pair("progress.long_yield", 0);
  changes_waiting(name, 0, kHour, "progress.sleeps");
  restore(&yields);
  yield_no_more(&y);
}
/* From 1 ns on the time doubles with each try, so that an hour is reached after some 40 of them; or it stays. */
static void yield_retry_most(const char* name) {
  enum { kMoreThanDoublings = 60, kWaits = 200 };
  const Yielding y = yield_only();
  const Pair yields = put_pair("progress.long_yield", 0), retry = put_pair("progress.yield_retry", 1);
  Value few = 0, many = 0;
  const Value old = put(name, kHour);
  for (int i = 0; i < 5; ++i) few += grows_by_waiting("progress.long_yields");
  put(name, 0);
  for (int i = 0, over = 0; i < kWaits && !over; ++i) {
    many += grows_by_waiting("progress.long_yields");
    over = many > kMoreThanDoublings;
    MUST(MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
  put(name, old);
  restore(&retry), restore(&yields);
  yield_no_more(&y);
  if (check_rank != 0) return;
  CHECK(few > 0 && few <= kMoreThanDoublings, "%llu tries up to an hour", few);
  CHECK(many > kMoreThanDoublings, "%llu tries with no more than 1 ns between them", many);
}

static void compare_after(const char* name) {
  const Value old = put(name, 0);
  const Value none = grows_by_waiting("progress.reviews");
  put(name, 5 * 1000000);
  const Value some = grows_by_waiting("progress.reviews");
  put(name, old);
  if (check_rank == 0) CHECK(none == 0 && some > 0, "%s: %llu and %llu", name, none, some);
}

#endif
