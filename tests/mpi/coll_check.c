/* Run with check.collectives: calls that do not match fail on every rank alike, in one sentence that says who differs,
 * and the communicator is as good as before. Calls that match go through. */
#include "coll.h"

static int odd; /* the rank that does something else */

static void expect(int code, int should, const char* word, const char* what) {
  char text[MPI_MAX_ERROR_STRING];
  int class_is = 0, length = 0;
  MUST(MPI_Error_class(code, &class_is));
  MUST(MPI_Error_string(code, text, &length));
  CHECK(class_is == should, "%s: class %d, not %d: %s", what, class_is, should, text);
  CHECK(strstr(text, word) != NULL, "%s: '%s' is not in: %s", what, word, text);
  int sum = 0;
  MUST(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, check_size * (check_size - 1) / 2);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const MPI_Comm world = MPI_COMM_WORLD;
  odd = check_size - 1;
  const int differs = check_rank == odd, n = check_size;
  double data[64] = {0}, result[64] = {0};
  int counts[64], displs[64];
  char name[32];
  MPI_Request request;
  snprintf(name, sizeof name, "rank %d", odd);
  for (int r = 0; r < n; r++) counts[r] = displs[r] = 0;

  expect(differs ? MPI_Barrier(world) : MPI_Bcast(data, 1, MPI_DOUBLE, 0, world), MPI_ERR_OTHER, n > 2 ? name : "MPI_B",
         "another collective");
  expect(MPI_Bcast(data, 1, MPI_DOUBLE, differs ? 1 : 0, world), MPI_ERR_ROOT, "root", "another root");
  expect(MPI_Bcast(data, differs ? 3 : 4, MPI_DOUBLE, 0, world), MPI_ERR_COUNT, "bytes", "another count");
  expect(MPI_Bcast(data, differs ? 0 : 4, MPI_DOUBLE, 0, world), MPI_ERR_COUNT, "bytes", "no data on one rank");
  expect(MPI_Bcast(data, 8, differs ? MPI_INT64_T : MPI_DOUBLE, 0, world), MPI_ERR_TYPE, "8 x MPI_INT64_T",
         "another type");
  expect(MPI_Allreduce(data, result, 4, MPI_DOUBLE, differs ? MPI_MAX : MPI_SUM, world), MPI_ERR_OP, "operation",
         "another operation");
  expect(MPI_Scan(data, result, differs ? 1 : 2, MPI_DOUBLE, MPI_SUM, world), MPI_ERR_COUNT, "MPI_Scan", "scan");
  expect(MPI_Gather(data, differs ? 2 : 1, MPI_DOUBLE, result, 1, MPI_DOUBLE, 0, world), MPI_ERR_COUNT, "MPI_Gather",
         "gather");
  expect(MPI_Allgather(data, differs ? 2 : 1, MPI_DOUBLE, result, differs ? 2 : 1, MPI_DOUBLE, world), MPI_ERR_COUNT,
         "bytes", "allgather");
  for (int r = 0; r < n; r++) displs[r] = r;
  for (int r = 0; r < n; r++) counts[r] = 1;
  expect(MPI_Gatherv(data, differs ? 2 : 1, MPI_DOUBLE, result, counts, displs, MPI_DOUBLE, 0, world), MPI_ERR_COUNT,
         name, "gatherv");
  expect(MPI_Scatterv(data, counts, displs, MPI_DOUBLE, result, differs ? 2 : 1, MPI_DOUBLE, 0, world), MPI_ERR_COUNT,
         name, "scatterv");
  if (differs) counts[0] = 2;
  expect(MPI_Alltoallv(data, counts, displs, MPI_DOUBLE, result, counts, displs, MPI_DOUBLE, world), MPI_ERR_COUNT,
         name, "alltoallv");
  expect(MPI_Reduce_scatter(data, result, counts, MPI_DOUBLE, MPI_SUM, world), MPI_ERR_COUNT, "MPI_Reduce_scatter",
         "reduce_scatter");
  counts[0] = 1;
  if (differs) {
    MUST(MPI_Iallreduce(data, result, 1, MPI_DOUBLE, MPI_SUM, world, &request));
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER, "Iallreduce", "another form");
  } else {
    expect(MPI_Allreduce(data, result, 1, MPI_DOUBLE, MPI_SUM, world), MPI_ERR_OTHER, "Iallreduce", "another form");
  }
  return check_end();
}
