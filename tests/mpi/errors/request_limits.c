/* At p2p.request_limit and coll.request_limit calls fail with MPI_ERR_NO_MEM and name the parameter; what was under way
 * is not disturbed, and there is room again when it is over. Run with both limits at kLimit. */
#include "check.h"

enum { kLimit = 40, kRoom = 10 };

static void says_limit(int code, const char* parameter) {
  int class = MPI_SUCCESS, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_NO_MEM, "class %d", class);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, parameter) != NULL, "%s", text);
}

/* Requests of MPI_Psend_init or MPI_Precv_init, as many as there may be. */
static void fill_with_partitioned(MPI_Comm comm, int other, int sends) {
  static int data[2 * kLimit];
  MPI_Request r[2 * kLimit];
  int n = 0, code = MPI_SUCCESS;
  while (n < 2 * kLimit && code == MPI_SUCCESS) {
    code = sends ? MPI_Psend_init(&data[n], 1, 1, MPI_INT, other, 7, comm, MPI_INFO_NULL, &r[n])
                 : MPI_Precv_init(&data[n], 1, 1, MPI_INT, other, 7, comm, MPI_INFO_NULL, &r[n]);
    n++;
  }
  CHECK(code != MPI_SUCCESS && n <= kLimit + 1, "%d partitioned requests", n);
  says_limit(code, "p2p.request_limit");
  for (int i = 0; i < n - 1; i++) MUST(MPI_Request_free(&r[i]));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  static int in[2 * kLimit], out[2 * kLimit];
  MPI_Request r[2 * kLimit];
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  for (int round = 0; round < 3; round++) {
    int n = 0, code = MPI_SUCCESS;
    while (n < 2 * kLimit && code == MPI_SUCCESS) code = MPI_Irecv(&in[n], 1, MPI_INT, left, n, comm, &r[n]), n++;
    CHECK(code != MPI_SUCCESS && n <= kLimit + 1, "%d receives", n);
    says_limit(code, "p2p.request_limit");
    n--;
    /* As many on every rank: the limit counts what the library itself has out, too. */
    int most = n, least = n;
    for (int i = 0; i < kRoom; i++) { /* for the receives of collectives, which need requests as well */
      n--;
      MUST(MPI_Cancel(&r[n]));
      MUST(MPI_Wait(&r[n], MPI_STATUS_IGNORE));
    }
    MUST(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    MUST(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    CHECK_EQ(most, least);
    for (int i = 0; i < n; i++) {
      out[i] = check_rank * 1000 + i;
      MUST(MPI_Send(&out[i], 1, MPI_INT, right, i, comm));
    }
    MUST(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < n; i++) CHECK_EQ(in[i], left * 1000 + i);
    /* Collectives: the same number of calls succeeds on every rank. */
    n = 0, code = MPI_SUCCESS;
    while (n < 2 * kLimit && code == MPI_SUCCESS) code = MPI_Barrier_init(comm, MPI_INFO_NULL, &r[n]), n++;
    CHECK(code != MPI_SUCCESS && n == kLimit + 1, "%d persistent barriers", n);
    says_limit(code, "coll.request_limit");
    for (int i = 0; i < n - 1; i++) MUST(MPI_Request_free(&r[i]));
  }
  fill_with_partitioned(comm, right, 1);
  fill_with_partitioned(comm, left, 0);
  MUST(MPI_Comm_free(&comm));
  return check_end();
}
