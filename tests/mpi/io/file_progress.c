/* Who waits for whom (MPI-5.0, 14.6): accesses of one process end whatever the others do, nonblocking collective ones
 * are begun without them, files are independent of each other and of the communicator that they were opened on. And a
 * file without offsets: a pipe, of which a reader gets all that it asks for, or what was written before its end. */
#include "io.h"

#include <sys/stat.h>
#include <time.h>

static const char* name;
static char mark[600];

/* The others do nothing, not even in MPI, until the mark is there. */
static void wait_for_mark(void) {
  const struct timespec nap = {.tv_nsec = 2000000};
  while (access(mark, F_OK) != 0) nanosleep(&nap, NULL);
}

static void set_mark(void) {
  FILE* const file = fopen(mark, "w");
  CHECK(file != NULL);
  if (file) fclose(file);
}

static void alone(int own) {
  enum { kInts = 20000 };
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Status status;
  MPI_Request requests[3];
  MPI_Datatype every;
  int* const data = check_alloc(sizeof(int) * kInts);
  MPI_Offset at = -1;
  for (int i = 0; i < kInts; i++) data[i] = i;
  MUST(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every));
  MUST(MPI_Type_commit(&every));
  MUST(MPI_File_set_view(file, 0, MPI_INT, every, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&every));
  for (int atomic = 0; atomic < 2; atomic++) {
    MUST(MPI_File_set_atomicity(file, atomic));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == own) {
      MUST(MPI_File_write_at(file, 0, data, kInts, MPI_INT, &status));
      MUST(MPI_File_write_shared(file, data, 10, MPI_INT, &status));
      MUST(MPI_File_iwrite_shared(file, data, 10, MPI_INT, &requests[0]));
      MUST(MPI_File_iwrite_at(file, kInts, data, kInts, MPI_INT, &requests[1]));
      MUST(MPI_File_iread_at(file, 0, data, kInts, MPI_INT, &requests[2]));
      MUST(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
      MUST(MPI_File_get_position_shared(file, &at));
      CHECK_EQ(at, 20);
      MUST(MPI_File_get_size(file, &at));
      MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
      set_mark();
    } else {
      wait_for_mark();
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == own) unlink(mark);
    MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  }
  MUST(MPI_File_close(&file));
  free(data);
}

/* Rank 0 begins collective accesses before any other has heard of them, and sends each a message about it. */
static void begun_alone(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Request requests[2];
  MPI_Status status;
  int out[2] = {check_rank, 100 + check_rank}, back = -1, word = 1;
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  if (check_rank > 0) MUST(MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &status));
  MUST(MPI_File_iwrite_at_all(file, check_rank, &out[0], 1, MPI_INT, &requests[0]));
  MUST(MPI_File_iwrite_at_all(file, check_size + check_rank, &out[1], 1, MPI_INT, &requests[1]));
  for (int k = 1; k < check_size && check_rank == 0; k++) MUST(MPI_Send(&word, 1, MPI_INT, k, 5, MPI_COMM_WORLD));
  MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  file_settle(file);
  for (int k = 0; k < 2 * check_size; k++) {
    MUST(MPI_File_read_at(file, k, &back, 1, MPI_INT, &status));
    CHECK_EQ(back, k < check_size ? k : 100 + k - check_size);
  }
  MUST(MPI_File_close(&file));
}

/* Split collectives and requests of two files at once, completed in the order that each rank likes. */
static void two_files(void) {
  char second[600];
  snprintf(second, sizeof second, "%s-second", name);
  MPI_File a = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_File b = file_make(second, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Status status;
  MPI_Request of_a, of_b, message;
  int out[2] = {check_rank, -check_rank}, in[2] = {-1, -1}, left = -1;
  const int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
  MUST(MPI_File_write_at_all_begin(a, 4 * check_rank, &out[0], 1, MPI_INT));
  MUST(MPI_File_write_at_all_begin(b, 4 * check_rank, &out[1], 1, MPI_INT));
  MUST(MPI_Irecv(&left, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &message));
  MUST(MPI_Send(&check_rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD));
  MUST(MPI_Wait(&message, &status));
  CHECK_EQ(left, from);
  MUST(MPI_File_write_at_all_end(check_rank % 2 ? a : b, check_rank % 2 ? &out[0] : &out[1], &status));
  MUST(MPI_File_write_at_all_end(check_rank % 2 ? b : a, check_rank % 2 ? &out[1] : &out[0], &status));
  MUST(MPI_File_iread_at_all(a, 4 * check_rank, &in[0], 1, MPI_INT, &of_a));
  MUST(MPI_File_iread_at_all(b, 4 * check_rank, &in[1], 1, MPI_INT, &of_b));
  MUST(MPI_Wait(check_rank % 2 ? &of_a : &of_b, &status));
  MUST(MPI_Wait(check_rank % 2 ? &of_b : &of_a, &status));
  CHECK(in[0] == out[0] && in[1] == out[1], "%d %d", in[0], in[1]);
  MUST(MPI_File_close(&a));
  MUST(MPI_File_close(&b));
}

/* What is written by one handle is read by another of the same file, after sync, barrier, sync. */
static void two_handles(void) {
  MPI_File a = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE), b;
  MPI_Status status;
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &b));
  for (int time = 0; time < 20; time++) {
    int out = time * 1000 + check_rank, back = -1;
    MUST(MPI_File_write_at(a, 4 * check_rank, &out, 1, MPI_INT, &status));
    MUST(MPI_File_sync(a));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_sync(b));
    for (int k = 0; k < check_size; k++) {
      MUST(MPI_File_read_at(b, 4 * k, &back, 1, MPI_INT, &status));
      CHECK_EQ(back, time * 1000 + k);
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  MUST(MPI_File_close(&b));
  MUST(MPI_File_close(&a));
}

/* Rank 0 writes to a pipe by one file, the others read from it by another: ints one by one, in the order of the ranks,
 * and at last fewer than they ask for, because the writer has closed it. */
static void pipes(void) {
  enum { kInts = 30000 };
  MPI_Comm part;
  MPI_File file;
  MPI_Status status;
  MPI_Offset size = 0;
  if (check_size < 2) return;
  if (check_rank == 0) CHECK(mkfifo(name, 0600) == 0);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0, 0, &part));
  const int readers = check_size - 1;
  int* const data = check_alloc(sizeof(int) * (kInts + 1));
  if (check_rank == 0) {
    MUST(MPI_File_open(part, name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
    MUST(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int k = 0; k < readers; k++) MUST(MPI_File_write_shared(file, &k, 1, MPI_INT, &status));
    for (int k = 0; k < readers; k++) { /* more than a pipe has room for */
      for (int i = 0; i < kInts; i++) data[i] = i + k;
      MUST(MPI_File_write_shared(file, data, kInts, MPI_INT, &status));
      CHECK_EQ(moved(&status), sizeof(int) * kInts);
    }
    MUST(MPI_File_write_shared(file, data, 3, MPI_INT, &status));
    CHECK_CLASS(MPI_File_write_at(file, 0, data, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  } else {
    MUST(MPI_File_open(part, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
    MUST(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MUST(MPI_File_read_ordered(file, data, 1, MPI_INT, &status));
    CHECK_EQ(data[0], check_rank - 1);
    MUST(MPI_File_read_ordered(file, data, kInts, MPI_INT, &status));
    CHECK_EQ(moved(&status), sizeof(int) * kInts);
    for (int i = 0; i < kInts; i++)
      if (data[i] != i + check_rank - 1) CHECK(data[i] == i + check_rank - 1, "int %d is %d", i, data[i]);
    MUST(MPI_File_read_ordered(file, data, check_rank == 1 ? kInts : 1, MPI_INT, &status));
    CHECK_EQ(moved(&status), check_rank == 1 ? 3 * sizeof(int) : 0);
    CHECK_CLASS(MPI_File_preallocate(file, 10), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position(file, &size), MPI_ERR_UNSUPPORTED_OPERATION);
  }
  MUST(MPI_File_close(&file));
  MUST(MPI_Comm_free(&part));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  /* With offsets it cannot be opened. A reader is there, so that no open waits for one. */
  if (check_rank == 0) {
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_UNSUPPORTED_OPERATION);
    unlink(name);
  }
  free(data);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  name = file_name("progress");
  snprintf(mark, sizeof mark, "%s-mark", name);
  alone(0);
  alone(check_size - 1);
  begun_alone();
  two_files();
  two_handles();
  pipes();
  return check_end();
}
