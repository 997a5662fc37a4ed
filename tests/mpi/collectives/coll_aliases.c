/* Buffers at one address. What the standard allows works: nothing to move, parts that do not meet, an argument that
 * does not count on this rank. What surely overlaps is refused, whatever the form of the call. */
#include "check.h"

enum { kMost = 16 };
static int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MUST(MPI_Error_class(code, &error_class));
  return error_class;
}
#define REFUSED(call) CHECK_EQ(class_of(call), MPI_ERR_BUFFER)

static int counts[kMost], places[kMost], none[kMost];

static void nothing_to_move(void) {
  int data[4] = {1, 2, 3, 4};
  MUST(MPI_Allreduce(data, data, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  MUST(MPI_Allgather(data, 0, MPI_INT, data, 0, MPI_INT, MPI_COMM_WORLD));
  MUST(MPI_Gather(data, 0, MPI_INT, data, 0, MPI_INT, 0, MPI_COMM_WORLD));
  MUST(MPI_Alltoallv(data, none, places, MPI_INT, data, none, places, MPI_INT, MPI_COMM_WORLD));
  MUST(MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(data[0], 1);
}

/* Columns are sent from between those that are received. */
static void between(void) {
  int data[2 * kMost], spare[2 * kMost];
  MPI_Datatype odd, column;
  const int displacement = 1;
  MUST(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &column)); /* elements 0, 2, 4 ... */
  MUST(MPI_Type_commit(&column));
  MPI_Datatype one;
  MUST(MPI_Type_create_indexed_block(1, 1, &displacement, MPI_INT, &one));
  MUST(MPI_Type_create_resized(one, 0, 2 * sizeof(int), &odd)); /* elements 1, 3, 5 ... */
  MUST(MPI_Type_commit(&odd));
  for (int i = 0; i < 2 * check_size; i++) data[i] = check_rank * 100 + i, spare[i] = data[i];
  MUST(MPI_Alltoall(data, 1, column, data, 1, odd, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) {
    CHECK_EQ(data[2 * r], spare[2 * r]);
    CHECK_EQ(data[2 * r + 1], r * 100 + 2 * check_rank);
  }
  MUST(MPI_Allgather(data, 1, column, data, 1, odd, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(data[2 * r + 1], r * 100);
  REFUSED(MPI_Allgather(data, 1, column, data, 1, column, MPI_COMM_WORLD));
  MUST(MPI_Type_free(&one));
  MUST(MPI_Type_free(&odd));
  MUST(MPI_Type_free(&column));
}

/* Blocks that lie behind what is sent, and what is received behind the blocks. */
static void behind(void) {
  int data[2 * kMost + 2];
  for (int i = 0; i < check_size; i++) counts[i] = 1, places[i] = i + 1;
  data[0] = check_rank + 5;
  MUST(MPI_Gatherv(data, 1, MPI_INT, data, counts, places, MPI_INT, 0, MPI_COMM_WORLD));
  for (int r = 0; check_rank == 0 && r < check_size; r++) CHECK_EQ(data[1 + r], r + 5);
  data[0] = -1;
  if (check_rank == 0)
    for (int r = 0; r < check_size; r++) data[1 + r] = r + 9;
  MUST(MPI_Scatterv(data, counts, places, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK_EQ(data[0], check_rank + 9);
  MUST(MPI_Allgatherv(data, 1, MPI_INT, data, counts, places, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(data[1 + r], r + 9);
  int far[kMost];
  for (int r = 0; r < check_size; r++) far[r] = check_size + 1 + r;
  MUST(MPI_Alltoallv(data, counts, places, MPI_INT, data, counts, far, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(data[check_size + 1 + r], check_rank + 9);
  MPI_Request request;
  REFUSED(MPI_Alltoallv(data, counts, places, MPI_INT, data, counts, places, MPI_INT, MPI_COMM_WORLD));
  REFUSED(MPI_Ialltoallv(data, counts, far, MPI_INT, data, counts, far, MPI_INT, MPI_COMM_WORLD, &request));
  places[0] = 0; /* our own block, on rank 0 */
  MUST(MPI_Gatherv_init(data + 1, 1, MPI_INT, data, counts, places, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                        &request));
  MUST(MPI_Request_free(&request));
  if (check_rank == 0) {
    REFUSED(
        MPI_Gatherv_init(data, 1, MPI_INT, data, counts, places, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    REFUSED(
        MPI_Scatterv_init(data, counts, places, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  }
}

/* Off the root only one buffer counts, and in an exclusive scan none is received into on rank 0. */
static void not_significant(void) {
  int data[kMost], result = -1;
  data[0] = check_rank + 1;
  int* const mine = check_rank == 0 ? &result : data;
  MUST(MPI_Reduce(data, mine, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  if (check_rank == 0) CHECK_EQ(result, check_size * (check_size + 1) / 2);
  int all[kMost];
  MUST(MPI_Gather(data, 1, MPI_INT, check_rank == 0 ? all : data, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (check_rank == 0) CHECK_EQ(all[check_size - 1], check_size);
  MUST(MPI_Scatter(check_rank == 0 ? all : &result, 1, MPI_INT, &result, 1, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK_EQ(result, check_rank + 1);
  result = -1;
  MUST(MPI_Exscan(data, check_rank == 0 ? data : &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(check_rank == 0 ? data[0] : result, check_rank == 0 ? 1 : check_rank * (check_rank + 1) / 2);
  MPI_Request request = MPI_REQUEST_NULL;
  if (check_rank > 0)
    REFUSED(MPI_Exscan_init(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  CHECK(request == MPI_REQUEST_NULL, "a request although it failed");
}

/* Absolute addresses: both buffers are MPI_BOTTOM, and say nothing. */
static void at_the_bottom(void) {
  int a = check_rank, b[kMost];
  MPI_Aint at_a, at_b;
  MPI_Datatype type_a, type_b;
  const int one = 1;
  MUST(MPI_Get_address(&a, &at_a));
  MUST(MPI_Get_address(b, &at_b));
  MUST(MPI_Type_create_hindexed(1, &one, &at_a, MPI_INT, &type_a));
  MPI_Datatype first;
  MUST(MPI_Type_create_hindexed(1, &one, &at_b, MPI_INT, &first));
  MUST(MPI_Type_create_resized(first, at_b, sizeof(int), &type_b));
  MUST(MPI_Type_commit(&type_a));
  MUST(MPI_Type_commit(&type_b));
  MUST(MPI_Allgather(MPI_BOTTOM, 1, type_a, MPI_BOTTOM, 1, type_b, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(b[r], r);
  REFUSED(MPI_Allgather(MPI_BOTTOM, 1, type_a, MPI_BOTTOM, 1, type_a, MPI_COMM_WORLD));
  MUST(MPI_Type_free(&first));
  MUST(MPI_Type_free(&type_a));
  MUST(MPI_Type_free(&type_b));
}

/* In place is in place still. */
static void in_place(void) {
  int data[kMost];
  for (int i = 0; i < check_size; i++) data[i] = check_rank;
  MUST(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_EQ(data[r], r);
  MUST(MPI_Allreduce(MPI_IN_PLACE, data, check_size, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  REFUSED(MPI_Allreduce(data, data, check_size, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  REFUSED(MPI_Reduce_scatter(data, data, counts, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  REFUSED(MPI_Alltoallw(data, counts, places, (MPI_Datatype[kMost]){[0 ... kMost - 1] = MPI_INT}, data, counts, places,
                        (MPI_Datatype[kMost]){[0 ... kMost - 1] = MPI_INT}, MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  nothing_to_move();
  between();
  behind();
  not_significant();
  at_the_bottom();
  in_place();
  return check_end();
}
