/* Ranks that may change: pairs of ranks that talk are brought onto the same processor, when a component does it. Every
 * rank binds itself, rank r to processor r modulo their number. Arguments: "moves" or "stays", then hwloc or none:
 * which libraries have been loaded afterwards; before, there is no hwloc in any rank. */
#define _GNU_SOURCE
#include <sched.h>

#include "check.h"

static int processors(void) {
  cpu_set_t set;
  CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

static int bind_to(int nth) {
  cpu_set_t all, one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all) || nth-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    return cpu;
  }
  return -1;
}

static int hwloc_is_loaded(void) {
  char line[1024];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "libhwloc") != NULL;
  if (maps) fclose(maps);
  return found;
}

/* Whether the neighbours of this rank in `comm` run on its processor. */
static int near(MPI_Comm comm, int partner, int cpu) {
  int theirs = -1;
  MUST(MPI_Sendrecv(&cpu, 1, MPI_INT, partner, 0, &theirs, 1, MPI_INT, partner, 0, comm, MPI_STATUS_IGNORE));
  return theirs == cpu;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int moves = argc > 1 && strcmp(argv[1], "moves") == 0, wants_hwloc = argc > 2 && strcmp(argv[2], "hwloc") == 0;
  const int n = processors();
  if (n < 2 || check_size % 4 != 0) {
    MPI_Finalize();
    return 77;
  }
  CHECK(!hwloc_is_loaded());
  const int cpu = bind_to(check_rank % 2);
  int partner = check_rank ^ 1, weight = 100, rank, relation;
  MPI_Comm comm;
  MUST(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &partner, &weight, 1, &partner, &weight, MPI_INFO_NULL, 0,
                                      &comm));
  MUST(MPI_Comm_rank(comm, &rank));
  CHECK_EQ(rank, check_rank);
  CHECK(!near(comm, partner, cpu));
  CHECK(!hwloc_is_loaded());
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &partner, &weight, 1, &partner, &weight, MPI_INFO_NULL, 1,
                                      &comm));
  int source, dest, their_weight;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Dist_graph_neighbors(comm, 1, &source, &their_weight, 1, &dest, &their_weight));
  CHECK(source == (rank ^ 1) && dest == source);
  CHECK_EQ(near(comm, dest, cpu), moves);
  MUST(MPI_Comm_compare(comm, MPI_COMM_WORLD, &relation));
  CHECK_EQ(relation, moves ? MPI_SIMILAR : MPI_CONGRUENT);
  CHECK_EQ(hwloc_is_loaded(), wants_hwloc);
  MUST(MPI_Comm_free(&comm));
  /* The same as a graph, and as a grid of pairs. */
  int *index = check_alloc((size_t)check_size * sizeof(int)), *edges = check_alloc((size_t)check_size * sizeof(int));
  for (int r = 0; r < check_size; r++) index[r] = r + 1, edges[r] = r ^ 1;
  MUST(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 1, &comm));
  MUST(MPI_Comm_rank(comm, &rank));
  CHECK_EQ(near(comm, rank ^ 1, cpu), moves);
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){check_size / 2, 2}, (int[]){0, 0}, 1, &comm));
  int left, right;
  MUST(MPI_Cart_shift(comm, 1, 1, &left, &right));
  CHECK((left == MPI_PROC_NULL) != (right == MPI_PROC_NULL));
  MUST(MPI_Comm_free(&comm));
  free(index);
  free(edges);
  return check_end();
}
