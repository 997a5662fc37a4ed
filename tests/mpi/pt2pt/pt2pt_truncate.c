/* Messages longer and shorter than the receive: the class, the status, and not a byte outside the buffer. */
#include "check.h"

static int right, left;

static void check_truncated(int code, const MPI_Status* s, const unsigned char* in, size_t room, size_t behind) {
  int mpi_class = 0;
  MUST(MPI_Error_class(code, &mpi_class));
  CHECK_EQ(mpi_class, MPI_ERR_TRUNCATE);
  CHECK_EQ(s->MPI_SOURCE, left);
  CHECK_EQ(s->MPI_TAG, 11);
  for (size_t i = 0; i < behind; i++)
    if (in[room + i] != 0xaa) {
      CHECK(0, "byte %zu behind a buffer of %zu was written", i, room);
      break;
    }
}

/* `posted`: the receive waits for the message, or the message for the receive. */
static void too_long(size_t sent, size_t room, int posted) {
  unsigned char* out = check_alloc(sent);
  unsigned char* in = check_alloc(room + sent);
  MPI_Request r[2];
  MPI_Status s[2];
  memset(in, 0xaa, room + sent);
  pattern_fill(out, sent, 1);
  if (posted) MUST(MPI_Irecv(in, (int)room, MPI_BYTE, left, 11, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Isend(out, (int)sent, MPI_BYTE, right, 11, MPI_COMM_WORLD, &r[1]));
  int code;
  if (posted) {
    code = MPI_Wait(&r[0], &s[0]);
    CHECK(r[0] == MPI_REQUEST_NULL, "a failed receive is complete all the same");
  } else {
    MUST(MPI_Probe(left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    code = MPI_Recv(in, (int)room, MPI_BYTE, left, 11, MPI_COMM_WORLD, &s[0]);
  }
  check_truncated(code, &s[0], in, room, sent);
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MUST(MPI_Error_string(code, text, &length));
  CHECK_EQ(strlen(text), length);
  MUST(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
  /* Nothing is left over: the next message is the next one. */
  int token = check_rank, got = -1;
  MUST(MPI_Sendrecv(&token, 1, MPI_INT, right, 11, &got, 1, MPI_INT, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(got, left);
  free(out);
  free(in);
}

/* One of three fails: the call says so, and each status says which. */
static void in_waitall(void) {
  int out[4] = {1, 2, 3, 4}, in[3][4];
  MPI_Request r[3], sends[3];
  MPI_Status s[3];
  for (int i = 0; i < 3; i++) MUST(MPI_Irecv(in[i], i == 1 ? 2 : 4, MPI_INT, left, 20 + i, MPI_COMM_WORLD, &r[i]));
  for (int i = 0; i < 3; i++) MUST(MPI_Isend(out, 4, MPI_INT, right, 20 + i, MPI_COMM_WORLD, &sends[i]));
  int done[3] = {0};
  for (int pending = 1; pending;) {
    for (int i = 0; i < 3; i++) s[i].MPI_ERROR = -1;
    const int code = MPI_Waitall(3, r, s);
    pending = 0;
    if (code == MPI_SUCCESS) break;
    CHECK_EQ(code, MPI_ERR_IN_STATUS);
    if (code != MPI_ERR_IN_STATUS) break;
    for (int i = 0; i < 3; i++) {
      if (s[i].MPI_ERROR == MPI_ERR_PENDING) {
        pending = 1;
        continue;
      }
      if (done[i]) continue;
      int mpi_class;
      done[i] = 1;
      MUST(MPI_Error_class(s[i].MPI_ERROR, &mpi_class));
      CHECK_EQ(mpi_class, i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
  }
  CHECK(done[1], "the truncated receive was reported");
  CHECK_EQ(in[0][3], 4);
  CHECK_EQ(in[2][3], 4);
  MUST(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
}

static void shorter(size_t sent, size_t room) {
  unsigned char* out = check_alloc(sent);
  unsigned char* in = check_alloc(room);
  MPI_Status s;
  int count;
  pattern_fill(out, sent, 5);
  memset(in, 0xaa, room);
  MUST(MPI_Sendrecv(out, (int)sent, MPI_BYTE, right, 12, in, (int)room, MPI_BYTE, left, 12, MPI_COMM_WORLD, &s));
  MUST(MPI_Get_count(&s, MPI_BYTE, &count));
  CHECK_EQ(count, sent);
  CHECK_PATTERN(in, sent, 5u);
  for (size_t i = sent; i < room; i++)
    if (in[i] != 0xaa) {
      CHECK(0, "byte %zu behind a message of %zu was written", i, sent);
      break;
    }
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {4, 40, 1000, 5000, 20000, 100000, 1 << 20};
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int posted = 0; posted < 2; posted++) {
      too_long(sizes[i], sizes[i] - 1, posted);
      too_long(sizes[i], sizes[i] / 2, posted);
      too_long(sizes[i], 0, posted);
    }
  in_waitall();
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    shorter(sizes[i], sizes[i] + 1);
    shorter(sizes[i] - 3, sizes[i] * 2);
    shorter(0, sizes[i]);
  }
  return check_end();
}
