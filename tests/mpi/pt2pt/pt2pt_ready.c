/* Ready mode. With check.ready (the argument says whether it is on) a ready send without a posted receive is an error
 * and no message; with a posted receive nothing is different. */
#include "check.h"

static int right, left;

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

static void posted(int bytes, MPI_Comm comm) {
  unsigned char *out = check_alloc((size_t)bytes), *in = check_alloc((size_t)bytes);
  MPI_Request receive, r;
  for (int way = 0; way < 3; way++) {
    MUST(MPI_Irecv(in, bytes, MPI_BYTE, left, way, comm, &receive));
    MUST(MPI_Barrier(comm));
    pattern_fill(out, (size_t)bytes, (unsigned)way);
    if (way == 0) MUST(MPI_Rsend(out, bytes, MPI_BYTE, right, way, comm));
    if (way == 1) MUST(MPI_Irsend(out, bytes, MPI_BYTE, right, way, comm, &r));
    if (way == 2) {
      MUST(MPI_Rsend_init(out, bytes, MPI_BYTE, right, way, comm, &r));
      MUST(MPI_Start(&r));
    }
    MUST(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    if (way > 0) MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (way == 2) MUST(MPI_Request_free(&r));
    CHECK_PATTERN(in, (size_t)bytes, (unsigned)way);
    MUST(MPI_Barrier(comm));
  }
  free(out);
  free(in);
}

static void not_posted(int bytes, MPI_Comm comm) {
  unsigned char* out = check_alloc((size_t)bytes);
  MPI_Request r;
  int flag = 1;
  CHECK_EQ(class_of(MPI_Rsend(out, bytes, MPI_BYTE, right, 5, comm)), MPI_ERR_OTHER);
  MUST(MPI_Irsend(out, bytes, MPI_BYTE, right, 5, comm, &r));
  CHECK_EQ(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_OTHER);
  MUST(MPI_Rsend_init(out, bytes, MPI_BYTE, right, 5, comm, &r));
  MUST(MPI_Start(&r));
  CHECK_EQ(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_OTHER);
  MUST(MPI_Request_free(&r));
  MUST(MPI_Barrier(comm));
  MUST(MPI_Iprobe(left, 5, comm, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag, "the message was dropped");
  MUST(MPI_Barrier(comm));
  free(out);
}

int main(int argc, char** argv) {
  static const int kSizes[] = {0, 8, 4000, 500000};
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < 4; i++) {
    posted(kSizes[i], MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "checked") == 0) not_posted(kSizes[i], MPI_COMM_WORLD);
  }
  MUST(MPI_Rsend(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
  return check_end();
}
