/* Time of one collective call, averaged over the ranks: `allreduce bytes 8 us 0.30`.
 * `bytes` is what one rank contributes (what the root sends to each, for scatter; to each, for alltoall; what each
 * receives, for reduce_scatter). The forms with lists of counts are given equal ones. Neighbours are those of a
 * periodic grid of two dimensions: four of each rank, and bytes go to each.
 *
 *   collectives [cycle] [NAME...] [BYTES...]
 *
 * Calls are timed one by one with a barrier between them, so that a rank's early arrival at one call is not paid for by
 * the next. With more ranks than cores this counts the waiting for a core, which is what users of such runs see; and
 * the order in which ranks leave the barrier, which is the library's own, is part of the figure: where the root leaves
 * first, no rank waits for it. `cycle` times call and barrier together, and says so in the name of the figure. */
#include <math.h>

#include "bench.h"

enum { kSlices = 5, kNeighbours = 4 };
static const double kTimePerFigure = 0.25; /* seconds, about */
static int whole_cycle;                    /* the barriers count as well */

typedef struct {
  char *in, *out;
  int bytes, root;
  const int *counts, *places; /* of every rank: bytes, and i * bytes */
  const int* doubles;         /* of every rank: bytes / 8 */
  const MPI_Aint* far_places; /* as places */
  const MPI_Datatype* types;
  MPI_Comm grid;
} Call;

static void run_barrier(const Call* c) { (void)c, MPI_Barrier(MPI_COMM_WORLD); }
static void run_bcast(const Call* c) { MPI_Bcast(c->in, c->bytes, MPI_BYTE, c->root, MPI_COMM_WORLD); }
static void run_reduce(const Call* c) {
  MPI_Reduce(c->in, c->out, c->bytes / 8, MPI_DOUBLE, MPI_SUM, c->root, MPI_COMM_WORLD);
}
static void run_allreduce(const Call* c) {
  MPI_Allreduce(c->in, c->out, c->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void run_gather(const Call* c) {
  MPI_Gather(c->in, c->bytes, MPI_BYTE, c->out, c->bytes, MPI_BYTE, c->root, MPI_COMM_WORLD);
}
static void run_scatter(const Call* c) {
  MPI_Scatter(c->out, c->bytes, MPI_BYTE, c->in, c->bytes, MPI_BYTE, c->root, MPI_COMM_WORLD);
}
static void run_allgather(const Call* c) {
  MPI_Allgather(c->in, c->bytes, MPI_BYTE, c->out, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void run_alltoall(const Call* c) {
  MPI_Alltoall(c->in, c->bytes, MPI_BYTE, c->out, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void run_gatherv(const Call* c) {
  MPI_Gatherv(c->in, c->bytes, MPI_BYTE, c->out, c->counts, c->places, MPI_BYTE, c->root, MPI_COMM_WORLD);
}
static void run_scatterv(const Call* c) {
  MPI_Scatterv(c->out, c->counts, c->places, MPI_BYTE, c->in, c->bytes, MPI_BYTE, c->root, MPI_COMM_WORLD);
}
static void run_allgatherv(const Call* c) {
  MPI_Allgatherv(c->in, c->bytes, MPI_BYTE, c->out, c->counts, c->places, MPI_BYTE, MPI_COMM_WORLD);
}
static void run_alltoallv(const Call* c) {
  MPI_Alltoallv(c->in, c->counts, c->places, MPI_BYTE, c->out, c->counts, c->places, MPI_BYTE, MPI_COMM_WORLD);
}
static void run_reduce_scatter(const Call* c) {
  MPI_Reduce_scatter(c->in, c->out, c->doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void run_reduce_scatter_block(const Call* c) {
  MPI_Reduce_scatter_block(c->in, c->out, c->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void run_scan(const Call* c) { MPI_Scan(c->in, c->out, c->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void run_exscan(const Call* c) { MPI_Exscan(c->in, c->out, c->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void run_alltoallw(const Call* c) {
  MPI_Alltoallw(c->in, c->counts, c->places, c->types, c->out, c->counts, c->places, c->types, MPI_COMM_WORLD);
}
static void run_neighbor_allgather(const Call* c) {
  MPI_Neighbor_allgather(c->in, c->bytes, MPI_BYTE, c->out, c->bytes, MPI_BYTE, c->grid);
}
static void run_neighbor_allgatherv(const Call* c) {
  MPI_Neighbor_allgatherv(c->in, c->bytes, MPI_BYTE, c->out, c->counts, c->places, MPI_BYTE, c->grid);
}
static void run_neighbor_alltoall(const Call* c) {
  MPI_Neighbor_alltoall(c->in, c->bytes, MPI_BYTE, c->out, c->bytes, MPI_BYTE, c->grid);
}
static void run_neighbor_alltoallv(const Call* c) {
  MPI_Neighbor_alltoallv(c->in, c->counts, c->places, MPI_BYTE, c->out, c->counts, c->places, MPI_BYTE, c->grid);
}
static void run_neighbor_alltoallw(const Call* c) {
  MPI_Neighbor_alltoallw(c->in, c->counts, c->far_places, c->types, c->out, c->counts, c->far_places, c->types,
                         c->grid);
}

static const struct Collective {
  const char* name;
  void (*run)(const Call*);
  int blocks_in; /* 1: `in` holds a block for every rank */
} kCollectives[] = {{"barrier", run_barrier, 0},
                    {"bcast", run_bcast, 0},
                    {"reduce", run_reduce, 0},
                    {"allreduce", run_allreduce, 0},
                    {"gather", run_gather, 0},
                    {"scatter", run_scatter, 0},
                    {"allgather", run_allgather, 0},
                    {"alltoall", run_alltoall, 1},
                    {"gatherv", run_gatherv, 0},
                    {"scatterv", run_scatterv, 0},
                    {"allgatherv", run_allgatherv, 0},
                    {"alltoallv", run_alltoallv, 1},
                    {"reduce_scatter", run_reduce_scatter, 1},
                    {"reduce_scatter_block", run_reduce_scatter_block, 1},
                    {"scan", run_scan, 0},
                    {"exscan", run_exscan, 0},
                    {"alltoallw", run_alltoallw, 1},
                    {"neighbor_allgather", run_neighbor_allgather, 0},
                    {"neighbor_allgatherv", run_neighbor_allgatherv, 0},
                    {"neighbor_alltoall", run_neighbor_alltoall, 1},
                    {"neighbor_alltoallv", run_neighbor_alltoallv, 1},
                    {"neighbor_alltoallw", run_neighbor_alltoallw, 1}};

/* Mean time of `repeats` calls at this rank, in microseconds. */
static double time_calls(const struct Collective* what, const Call* call, int repeats) {
  double spent = 0;
  const double first = MPI_Wtime();
  for (int i = 0; i < repeats; i++) {
    const double start = MPI_Wtime();
    what->run(call);
    spent += MPI_Wtime() - start;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (whole_cycle) spent = MPI_Wtime() - first;
  return spent / repeats * 1e6;
}

/* As many calls as fit the time, agreed by all ranks: by the first call after a warm one, and by ten where they are
 * fast. Of calls that take long there are two. */
static int choose_repeats(const struct Collective* what, const Call* call) {
  int repeats = 1;
  time_calls(what, call, 1);
  for (int probe = 1; probe <= 10 && probe <= repeats; probe *= 10) {
    const double start = MPI_Wtime();
    time_calls(what, call, probe);
    repeats = (int)fmin(20000, fmax(2, kTimePerFigure / kSlices / (MPI_Wtime() - start) * probe));
    MPI_Bcast(&repeats, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return repeats;
}

static void measure(const struct Collective* what, long bytes, int rank, int size, MPI_Comm grid) {
  const int most = size < kNeighbours ? kNeighbours : size; /* blocks */
  const size_t blocks = what->blocks_in ? (size_t)most : 1;
  int* lists = malloc(3 * (size_t)most * sizeof *lists);
  MPI_Aint* far_places = malloc((size_t)most * sizeof *far_places);
  MPI_Datatype* types = malloc((size_t)most * sizeof *types);
  for (int i = 0; i < most; i++) {
    lists[i] = (int)bytes;
    lists[most + i] = i * (int)bytes;
    lists[2 * most + i] = (int)bytes / 8;
    far_places[i] = i * bytes;
    types[i] = MPI_BYTE;
  }
  Call call = {.bytes = (int)bytes,
               .counts = lists,
               .places = lists + most,
               .doubles = lists + 2 * most,
               .far_places = far_places,
               .types = types,
               .grid = grid};
  call.in = bench_alloc((size_t)bytes * blocks);
  call.out = bench_alloc((size_t)bytes * (size_t)most);
  memset(call.in, 0, (size_t)bytes * blocks); /* sums of zeros stay numbers however long the run */
  double slice[kSlices];
  MPI_Barrier(MPI_COMM_WORLD);
  const int repeats = choose_repeats(what, &call);
  for (int s = 0; s < kSlices; s++) {
    const double mine = time_calls(what, &call, repeats);
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    slice[s] = sum / size;
  }
  if (rank == 0) {
    printf("%s%s", what->name, whole_cycle ? " cycle" : "");
    if (what->run != run_barrier) printf(" bytes %ld", bytes);
    printf(" us %.3f\n", bench_median(slice, kSlices));
  }
  free(call.in);
  free(call.out);
  free(lists);
  free(far_places);
  free(types);
}

int main(int argc, char** argv) {
  static const long usual[] = {8, 1024, 32768, 1048576, -1};
  long sizes[32];
  int rank, size, named = 0;
  bench_start(&argc, &argv, 0, &rank, &size);
  int extents[2] = {0, 0}, periodic[2] = {1, 1};
  MPI_Comm grid;
  MPI_Dims_create(size, 2, extents);
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periodic, 0, &grid);
  const int n = bench_sizes(argc, argv, usual, sizes, 32);
  for (int i = 1; i < argc; i++) {
    const int cycle = strcmp(argv[i], "cycle") == 0;
    whole_cycle |= cycle;
    named += argv[i][0] > '9' && !cycle;
  }
  for (size_t k = 0; k < sizeof kCollectives / sizeof *kCollectives; k++) {
    int wanted = named == 0;
    for (int i = 1; i < argc; i++) wanted |= strcmp(argv[i], kCollectives[k].name) == 0;
    for (int s = 0; wanted && s < (kCollectives[k].run == run_barrier ? 1 : n); s++)
      measure(&kCollectives[k], sizes[s], rank, size, grid);
  }
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
