/* With check.datatypes: messages whose type signatures do not go together are errors of the receive, all others arrive
 * as they always do. */
#include "check.h"

static void expect_type_error(int code, const char* sent, const char* received) {
  int class_of = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  MUST(MPI_Error_class(code, &class_of));
  CHECK_EQ(class_of, MPI_ERR_TYPE);
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, sent) != NULL, "'%s' in: %s", sent, text);
  CHECK(strstr(text, received) != NULL, "'%s' in: %s", received, text);
}

/* Sizes that go without and with a handshake. */
static const int kCounts[] = {1, 10, 1000, 200000};

static void mismatches(int peer, int receiver) {
  for (size_t i = 0; i < sizeof kCounts / sizeof *kCounts; i++) {
    const int n = kCounts[i];
    float* data = check_alloc((size_t)n * sizeof *data);
    char sent[64], received[64];
    snprintf(sent, sizeof sent, n == 1 ? "MPI_FLOAT" : "%d x MPI_FLOAT", n);
    snprintf(received, sizeof received, n == 1 ? "MPI_INT" : "%d x MPI_INT", n);
    for (int way = 0; way < 3; way++) {
      for (int j = 0; j < n; j++) data[j] = (float)j;
      MPI_Status status;
      if (!receiver) {
        if (way == 1) {
          MUST(MPI_Ssend(data, n, MPI_FLOAT, peer, way, MPI_COMM_WORLD));
        } else {
          MUST(MPI_Send(data, n, MPI_FLOAT, peer, way, MPI_COMM_WORLD));
        }
      } else if (way == 2) {
        MUST(MPI_Probe(peer, way, MPI_COMM_WORLD, &status));
        expect_type_error(MPI_Recv(data, n, MPI_INT, peer, way, MPI_COMM_WORLD, &status), sent, received);
      } else {
        MPI_Request request;
        MUST(MPI_Irecv(data, n, MPI_INT, peer, way, MPI_COMM_WORLD, &request));
        expect_type_error(MPI_Wait(&request, &status), sent, received);
      }
      /* The next message is not the worse for it. */
      if (!receiver) {
        MUST(MPI_Send(data, n, MPI_FLOAT, peer, 9, MPI_COMM_WORLD));
      } else {
        for (int j = 0; j < n; j++) data[j] = -1;
        MUST(MPI_Recv(data, n, MPI_FLOAT, peer, 9, MPI_COMM_WORLD, &status));
        CHECK(data[n - 1] == (float)(n - 1), "%d", n);
      }
    }
    free(data);
  }
}

static void collectives(void) {
  int one = check_rank, sum = -1;
  MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, check_size * (check_size - 1) / 2);
  MPI_Datatype pairs;
  MUST(MPI_Type_vector(2, 1, 2, MPI_INT, &pairs));
  MUST(MPI_Type_commit(&pairs));
  int* all = check_alloc((size_t)check_size * 2 * sizeof *all);
  const int mine[4] = {check_rank, 0, check_rank + 1, 0};
  MUST(MPI_Allgather(mine, 1, pairs, all, 2, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK(all[2 * r] == r && all[2 * r + 1] == r + 1, "%d", r);
  free(all);
  MUST(MPI_Type_free(&pairs));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int peer = check_rank ^ 1;
  if (peer < check_size) {
    mismatches(peer, check_rank & 1);
    mismatches(peer, !(check_rank & 1));
  }
  collectives();
  return check_end();
}
