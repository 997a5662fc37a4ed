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

/* Where the sizes fit and the types do not. */
static void types_of_pairs(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int n = check_size;
  const MPI_Datatype mine = check_rank == odd ? MPI_INT64_T : MPI_DOUBLE;
  double data[64] = {0}, result[64] = {0};
  int counts[64], displs[64], places[64];
  MPI_Datatype doubles[64], mines[64];
  char name[32];
  snprintf(name, sizeof name, "rank %d", odd);
  for (int r = 0; r < n; r++) {
    counts[r] = 1, displs[r] = r, places[r] = r * 8;
    doubles[r] = MPI_DOUBLE, mines[r] = mine;
  }
  expect(MPI_Gather(data, 1, mine, result, 1, MPI_DOUBLE, 0, world), MPI_ERR_TYPE, name, "types of a gather");
  expect(MPI_Gatherv(data, 1, mine, result, counts, displs, MPI_DOUBLE, 0, world), MPI_ERR_TYPE, name,
         "types of a gatherv");
  expect(MPI_Scatter(data, 1, MPI_DOUBLE, result, 1, mine, 0, world), MPI_ERR_TYPE, name, "types of a scatter");
  expect(MPI_Scatterv(data, counts, displs, MPI_DOUBLE, result, 1, mine, 0, world), MPI_ERR_TYPE, name,
         "types of a scatterv");
  expect(MPI_Allgather(data, 1, mine, result, 1, MPI_DOUBLE, world), MPI_ERR_TYPE, name, "types of an allgather");
  expect(MPI_Allgatherv(data, 1, mine, result, counts, displs, MPI_DOUBLE, world), MPI_ERR_TYPE, name,
         "types of an allgatherv");
  expect(MPI_Alltoall(data, 1, mine, result, 1, MPI_DOUBLE, world), MPI_ERR_TYPE, name, "types of an alltoall");
  expect(MPI_Alltoallv(data, counts, displs, mine, result, counts, displs, MPI_DOUBLE, world), MPI_ERR_TYPE, name,
         "types of an alltoallv");
  expect(MPI_Alltoallw(data, counts, places, mines, result, counts, places, doubles, world), MPI_ERR_TYPE, name,
         "types of an alltoallw");
  expect(MPI_Exscan(data, result, 1, mine, MPI_SUM, world), MPI_ERR_TYPE, name, "types of an exscan");
  /* Equal signatures, described differently: two at a time, and in place. */
  MPI_Datatype pair;
  MUST(MPI_Type_contiguous(2, MPI_DOUBLE, &pair));
  MUST(MPI_Type_commit(&pair));
  const int two = check_rank % 2;
  MUST(MPI_Gather(data, two ? 1 : 2, two ? pair : MPI_DOUBLE, result, 2, MPI_DOUBLE, 0, world));
  MUST(MPI_Bcast(data, two ? 1 : 2, two ? pair : MPI_DOUBLE, 0, world));
  MUST(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, two ? 1 : 2, two ? pair : MPI_DOUBLE, world));
  MUST(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, displs, MPI_DOUBLE, world));
  MUST(MPI_Type_free(&pair));
}

/* Between two groups: what one says must fit what the other says. */
static void between_groups(void) {
  const int n = check_size, half_size = (n + 1) / 2, low = check_rank < half_size;
  MPI_Comm half, inter;
  int rank, size, remote;
  double data[64] = {0}, result[64] = {0};
  MUST(MPI_Comm_split(MPI_COMM_WORLD, low, check_rank, &half));
  MUST(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? half_size : 0, 5, &inter));
  MUST(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  MUST(MPI_Comm_rank(inter, &rank));
  MUST(MPI_Comm_size(inter, &size));
  MUST(MPI_Comm_remote_size(inter, &remote));
  const int last = !low && rank == size - 1; /* who does something else */
  expect(last ? MPI_Barrier(inter) : MPI_Allreduce(data, result, 1, MPI_DOUBLE, MPI_SUM, inter), MPI_ERR_OTHER,
         "of the second group", "another collective between groups");
  const int root = low ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : last ? 1 : 0;
  expect(MPI_Bcast(data, 1, MPI_DOUBLE, root, inter), MPI_ERR_ROOT, "passed root 1", "another root between groups");
  expect(MPI_Bcast(data, last ? 2 : 1, MPI_DOUBLE, low ? root : 0, inter), MPI_ERR_COUNT, "which expects 16",
         "another count between groups");
  expect(MPI_Gather(data, 1, last ? MPI_INT64_T : MPI_DOUBLE, result, 1, MPI_DOUBLE, low ? root : 0, inter),
         MPI_ERR_TYPE, "of the other group", "another type between groups");
  expect(MPI_Allgather(data, low ? 1 : 2, MPI_DOUBLE, result, low ? (rank == 0 ? 1 : 2) : 1, MPI_DOUBLE, inter),
         MPI_ERR_COUNT, "expects 8", "a group's count");
  expect(MPI_Allreduce(data, result, 1, MPI_DOUBLE, last ? MPI_MAX : MPI_SUM, inter), MPI_ERR_OP, "operation",
         "another operation between groups");
  /* Calls that fit go through: the groups may pass different sizes to each other. */
  MUST(MPI_Bcast(data, 1, MPI_DOUBLE, low ? root : 0, inter));
  MUST(MPI_Allgather(data, low ? 1 : 2, MPI_DOUBLE, result, low ? 2 : 1, MPI_DOUBLE, inter));
  MUST(MPI_Barrier(inter));
  MUST(MPI_Comm_free(&inter));
  MUST(MPI_Comm_free(&half));
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
  types_of_pairs();
  between_groups();
  return check_end();
}
