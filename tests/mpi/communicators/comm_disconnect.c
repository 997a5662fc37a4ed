/* MPI_Comm_disconnect waits for what was begun on the communicator, requests or none; and no process has a parent. */
#include "check.h"

static int deletions, still_there;
static int on_delete(MPI_Comm comm, int key, void* value, void* extra) {
  int size = 0;
  (void)key, (void)extra;
  deletions++;
  still_there += MPI_Comm_size(comm, &size) == MPI_SUCCESS && size == check_size && value == &deletions;
  return MPI_SUCCESS;
}

static void nothing_under_way(void) {
  MPI_Comm comm;
  int key;
  MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_attr(comm, key, &deletions));
  MUST(MPI_Comm_free_keyval(&key));
  MUST(MPI_Comm_disconnect(&comm));
  CHECK(comm == MPI_COMM_NULL && deletions == 1 && still_there == 1);
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &comm));
  MUST(MPI_Comm_disconnect(&comm));
  CHECK(comm == MPI_COMM_NULL);
}

/* Large sends whose requests were given up, and receives that are still waited for: all over when the call returns. */
static void sends_and_receives(void) {
  enum { kWords = 300000 };
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  int* const out = malloc(kWords * sizeof(int));
  int* const in = malloc(2 * kWords * sizeof(int));
  MPI_Comm comm;
  MPI_Request send, receives[2];
  MPI_Status statuses[2];
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  for (int i = 0; i < kWords; i++) out[i] = check_rank * 7 + i;
  memset(in, 0, 2 * kWords * sizeof(int));
  for (int k = 0; k < 2; k++) MUST(MPI_Irecv(in + k * kWords, kWords, MPI_INT, left, k, comm, &receives[k]));
  MUST(MPI_Isend(out, kWords, MPI_INT, right, 1, comm, &send));
  MUST(MPI_Request_free(&send));
  MUST(MPI_Issend(out, kWords, MPI_INT, right, 0, comm, &send));
  MUST(MPI_Comm_disconnect(&comm));
  CHECK(comm == MPI_COMM_NULL);
  /* The send is over: its buffer may be used, though no call has waited for it. */
  memset(out, 0, kWords * sizeof(int));
  for (int i = 0; i < 2 * kWords; i++)
    if (in[i] != left * 7 + i % kWords) {
      CHECK(0, "word %d is %d", i, in[i]);
      break;
    }
  /* The requests are good as long as they are the user's. */
  int flag = 0;
  MUST(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
  CHECK(flag && send == MPI_REQUEST_NULL);
  MUST(MPI_Testall(2, receives, &flag, statuses));
  CHECK(flag);
  CHECK(statuses[0].MPI_TAG == 0 && statuses[1].MPI_TAG == 1 && statuses[0].MPI_SOURCE == left);
  free(out);
  free(in);
}

static void collectives(void) {
  enum { kCount = 5000 };
  static int in[4][kCount], out[4][kCount];
  MPI_Comm comm;
  MPI_Request requests[4];
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < kCount; i++) in[k][i] = check_rank + k;
  for (int k = 0; k < 4; k++) MUST(MPI_Iallreduce(in[k], out[k], kCount, MPI_INT, MPI_SUM, comm, &requests[k]));
  MUST(MPI_Comm_disconnect(&comm));
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < kCount; i += 1234) CHECK_EQ(out[k][i], check_size * k + check_size * (check_size - 1) / 2);
  int flag = 0;
  MUST(MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE));
  CHECK(flag);
}

/* Traffic of another communicator is not waited for: a receive there gets its message later. */
static void others_are_left_alone(void) {
  int got = -1, value = 41;
  MPI_Comm comm;
  MPI_Request request;
  MUST(MPI_Irecv(&got, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &request));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_disconnect(&comm));
  MUST(MPI_Send(&value, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 41);
}

static void between_groups(void) {
  if (check_size < 2) return;
  MPI_Comm half, inter;
  MPI_Request request;
  const int side = check_rank % 2;
  int sum = -1, mine = check_rank;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
  MUST(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &inter));
  MUST(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter, &request));
  MUST(MPI_Comm_disconnect(&inter));
  CHECK(inter == MPI_COMM_NULL);
  int expected = 0;
  for (int r = 1 - side; r < check_size; r += 2) expected += r;
  CHECK_EQ(sum, expected);
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_disconnect(&half));
}

static void refusals(void) {
  MPI_Comm comm = MPI_COMM_NULL;
  int mpi_class = 0;
  MPI_Error_class(MPI_Comm_disconnect(&comm), &mpi_class);
  CHECK_EQ(mpi_class, MPI_ERR_COMM);
  const MPI_Comm predefined[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  for (int k = 0; k < 2; k++) {
    comm = predefined[k];
    MPI_Error_class(MPI_Comm_disconnect(&comm), &mpi_class);
    CHECK_EQ(mpi_class, MPI_ERR_COMM);
    CHECK(comm == predefined[k]);
  }
  comm = MPI_COMM_WORLD;
  MUST(MPI_Comm_get_parent(&comm));
  CHECK(comm == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  nothing_under_way();
  sends_and_receives();
  collectives();
  others_are_left_alone();
  between_groups();
  refusals();
  return check_end();
}
