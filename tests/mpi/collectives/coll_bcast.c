/* Bcast and Barrier. */
#include <time.h>

#include "coll.h"

static void bcast(Team t) {
  int counts[16], roots[4];
  const int n = element_counts(counts), nroots = roots_of(t.size, roots);
  for (int c = 0; c < n; c++)
    for (int k = 0; k < nroots; k++)
      for (int way = 0; way < kWays; way++) {
        const int count = counts[c], root = roots[k];
        int* data = check_alloc((size_t)(count + 1) * sizeof *data);
        for (int i = 0; i <= count; i++) data[i] = t.rank == root && i < count ? element(root, i, c + way) : -1;
        COLL(way, MPI_Bcast, MPI_Ibcast, data, count, MPI_INT, root, t.comm);
        for (int i = 0; i <= count; i++) {
          const int should = i < count ? element(root, i, c + way) : -1;
          if (data[i] != should) {
            CHECK(0, "%d ranks, root %d, count %d, way %d: element %d is %d, not %d", t.size, root, count, way, i,
                  data[i], should);
            break;
          }
        }
        free(data);
      }
}

/* Count and type may differ between ranks as long as the signature is the same: column here, row there. */
static void bcast_between_layouts(Team t) {
  enum { kRows = 700, kColumns = 5 };
  static int matrix[kRows][kColumns], row[kRows];
  MPI_Datatype column;
  MUST(MPI_Type_vector(kRows, 1, kColumns, MPI_INT, &column));
  MUST(MPI_Type_commit(&column));
  for (int root = 0; root < t.size && root < 3; root++)
    for (int way = 0; way < kWays; way++) {
      for (int i = 0; i < kRows; i++) {
        row[i] = t.rank == root ? i * 3 + root : -1;
        for (int j = 0; j < kColumns; j++) matrix[i][j] = t.rank == root && j == 2 ? i * 3 + root : -1;
      }
      if (t.rank % 2 == 0) {
        COLL(way, MPI_Bcast, MPI_Ibcast, &matrix[0][2], 1, column, root, t.comm);
        for (int i = 0; i < kRows; i++)
          for (int j = 0; j < kColumns; j++)
            if (matrix[i][j] != (j == 2 ? i * 3 + root : -1))
              CHECK(0, "root %d: matrix[%d][%d] is %d", root, i, j, matrix[i][j]);
      } else {
        COLL(way, MPI_Bcast, MPI_Ibcast, row, kRows, MPI_INT, root, t.comm);
        for (int i = 0; i < kRows; i++)
          if (row[i] != i * 3 + root) CHECK(0, "root %d: row[%d] is %d", root, i, row[i]);
      }
    }
  MUST(MPI_Type_free(&column));
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Nobody leaves a barrier before the last has entered: one rank comes late and tells when it came. */
static void barrier(Team t) {
  for (int late = 0; late<t.size; late += t.size> 4 ? 3 : 1)
    for (int way = 0; way < kWays; way++) {
      double entered = 0;
      if (t.rank == late) {
        nanosleep(&(struct timespec){0, 3000000}, NULL);
        entered = now();
      }
      if (way == kBlocking) {
        MUST(MPI_Barrier(t.comm));
      } else {
        MPI_Request r;
        MUST(MPI_Ibarrier(t.comm, &r));
        finish(&r, way);
      }
      const double left = now();
      MUST(MPI_Bcast(&entered, 1, MPI_DOUBLE, late, t.comm));
      CHECK(left >= entered, "rank %d left %g s before rank %d entered", t.rank, entered - left, late);
    }
}

static void all(Team t) {
  bcast(t);
  bcast_between_layouts(t);
  barrier(t);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  on_teams(all);
  return check_end();
}
