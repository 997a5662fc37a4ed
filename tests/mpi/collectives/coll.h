/* What the programs about collectives share: the communicators and the ways of calling they go through. */
#ifndef ASHLAR_TESTS_MPI_COLL_H
#define ASHLAR_TESTS_MPI_COLL_H

#include "check.h"

/* How a collective is called: blocking, nonblocking and waited for, nonblocking and tested until done. */
enum { kBlocking, kWaited, kTested, kWays };

__attribute__((unused)) static void finish(MPI_Request* r, int way) {
  int flag = 0;
  if (way == kWaited) {
    MUST(MPI_Wait(r, MPI_STATUS_IGNORE));
  } else {
    while (!flag) MUST(MPI_Test(r, &flag, MPI_STATUS_IGNORE));
  }
  CHECK(*r == MPI_REQUEST_NULL, "a finished request is null");
}

/* COLL(way, Bcast, arguments...) calls MPI_Bcast, or MPI_Ibcast and completes it. Give the name's two spellings. */
#define COLL(way, blocking, nonblocking, ...)        \
  do {                                               \
    if ((way) == kBlocking) {                        \
      MUST(blocking(__VA_ARGS__));                   \
    } else {                                         \
      MPI_Request coll_request = MPI_REQUEST_NULL;   \
      MUST(nonblocking(__VA_ARGS__, &coll_request)); \
      finish(&coll_request, (way));                  \
    }                                                \
  } while (0)

typedef struct {
  MPI_Comm comm;
  int rank, size;
} Team;

static inline Team team_of(MPI_Comm comm) {
  Team t = {comm, 0, 0};
  MUST(MPI_Comm_rank(comm, &t.rank));
  MUST(MPI_Comm_size(comm, &t.size));
  return t;
}

/* Runs `body` on MPI_COMM_WORLD, on everyone in reverse order, on two parts of different size, and on oneself. */
__attribute__((unused)) static void on_teams(void (*body)(Team)) {
  MPI_Comm comm;
  body(team_of(MPI_COMM_WORLD));
  MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comm));
  body(team_of(comm));
  MUST(MPI_Comm_free(&comm));
  if (check_size > 2) {
    MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 3 == 0, check_rank, &comm));
    body(team_of(comm));
    MUST(MPI_Comm_free(&comm));
  }
  body(team_of(MPI_COMM_SELF));
}

/* Element counts on both sides of the switches of algorithms; fewer large ones where many ranks share two cores. */
__attribute__((unused)) static int element_counts(int counts[16]) {
  static const int all[] = {0, 1, 2, 3, 17, 64, 255, 1000, 4097, 20000, 131073};
  const int n = check_size > 8 ? 9 : check_size > 4 ? 10 : 11;
  memcpy(counts, all, sizeof all);
  return n;
}

/* Roots worth trying: all of a small team, first, middle and last of a large one. */
__attribute__((unused)) static int roots_of(int size, int roots[4]) {
  int n = 0;
  if (size <= 4) {
    for (; n < size; n++) roots[n] = n;
    return n;
  }
  roots[n++] = 0;
  roots[n++] = size / 2;
  roots[n++] = size - 1;
  return n;
}

/* Element `i` that rank `r` contributes in round `seed`. Small, so that products of 16 stay exact in a float. */
static inline int element(int r, int i, int seed) { return (r * 7 + i * 3 + seed * 5) % 11 + 1; }

#endif
