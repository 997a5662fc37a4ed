/* Prints a number made of every bit that reductions give to every rank: sums and products of doubles and floats, whose
 * rounding depends on the order, by every reduction, on vectors of many sizes; blocking, nonblocking, persistent and in
 * place. `coll_reproducible.py` compares it between ways of running. */
#include "check.h"

enum { kMost = 40000 };
static double *in, *out;

static uint64_t hash = 1469598103934665603u;
static void mix(const void* data, size_t bytes) {
  const unsigned char* p = data;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * 1099511628211u;
}

/* Magnitudes that differ, so that every order rounds in its own way. */
static void fill(int count, MPI_Datatype type, int seed) {
  Random r = {(uint64_t)(seed * 1000 + check_rank)};
  for (int i = 0; i < count; i++) {
    const double value = (1 + random_below(&r, 1 << 20) / 1048576.0) * (random_below(&r, 2) ? 1 : -1) *
                         (1 << random_below(&r, 20)) / 1024;
    if (type == MPI_DOUBLE)
      in[i] = value;
    else
      ((float*)in)[i] = (float)value;
  }
}

static void reductions(int share, MPI_Datatype type, MPI_Op op, int seed) {
  int width, counts[64];
  MUST(MPI_Type_size(type, &width));
  const int count = share * check_size, root = seed % check_size;
  const size_t bytes = (size_t)count * (size_t)width, piece = (size_t)share * (size_t)width;
  for (int r = 0; r < check_size; r++) counts[r] = share + (r % 2 ? share / 2 : -(share / 2));
  if (check_size % 2) counts[check_size - 1] = share;
  MPI_Request r;
  fill(count, type, seed);
  MUST(MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD));
  mix(out, bytes);
  MUST(MPI_Iallreduce(in, out, count - count / 3, type, op, MPI_COMM_WORLD, &r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  mix(out, bytes - (size_t)(count / 3) * (size_t)width);
  MUST(MPI_Reduce_init(in, out, count, type, op, root, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
  for (int k = 0; k < 2; k++) {
    MUST(MPI_Start(&r));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (check_rank == root) mix(out, bytes);
  }
  MUST(MPI_Request_free(&r));
  MUST(MPI_Reduce_scatter_block(in, out, share, type, op, MPI_COMM_WORLD));
  mix(out, piece);
  MUST(MPI_Ireduce_scatter(in, out, counts, type, op, MPI_COMM_WORLD, &r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  mix(out, (size_t)counts[check_rank] * (size_t)width);
  MUST(MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD));
  mix(out, bytes);
  MUST(MPI_Exscan(in, out, count, type, op, MPI_COMM_WORLD));
  if (check_rank > 0) mix(out, bytes);
  MUST(MPI_Allreduce(MPI_IN_PLACE, in, count, type, op, MPI_COMM_WORLD));
  mix(in, bytes);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  in = check_alloc((size_t)kMost * sizeof *in), out = check_alloc((size_t)kMost * sizeof *out);
  const int shares[] = {1, 3, 40, 700, 6000 / check_size, 36000 / check_size};
  for (int k = 0; k < 6; k++) {
    reductions(shares[k], MPI_DOUBLE, MPI_SUM, 3 * k);
    reductions(shares[k], MPI_FLOAT, MPI_SUM, 3 * k + 1);
    reductions(shares[k], MPI_DOUBLE, MPI_PROD, 3 * k + 2);
  }
  uint64_t* const all = check_alloc((size_t)check_size * sizeof hash);
  MUST(MPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
  for (int r = 0; check_rank == 0 && r < check_size; r++) printf("%016llx\n", (unsigned long long)all[r]);
  free(all), free(in), free(out);
  return check_end();
}
