/* Calls of MPI_File_set_view wait for no other process: some set the next views, and count in these, while others still
 * use the ones before. One that fails on some processes is found by the next collective access. */
#include "io.h"

enum { kViews = 300, kEach = 3 };

static const char* name;

static void set_view(MPI_File file, int view) {
  const MPI_Offset disp = (MPI_Offset)view * check_size * kEach * (MPI_Offset)sizeof(int);
  MUST(MPI_File_set_view(file, disp, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
}

static int mark(int view, int rank, int item) { return (view * 100 + rank) * 10 + item; }

static void write_in_view(MPI_File file, int view) {
  for (int i = 0; i < kEach; i++) {
    const int value = mark(view, check_rank, i);
    MUST(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
}

/* Each view has what all processes have written in it, in any order, and nothing else. */
static void expect_views(MPI_File file, int views) {
  const int items = check_size * kEach;
  int* const found = check_alloc(sizeof *found * items);
  file_settle(file);
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int view = 0; view < views; view++) {
    int seen = 0;
    memset(found, -1, sizeof *found * items);
    MUST(MPI_File_read_at(file, (MPI_Offset)view * items, found, items, MPI_INT, MPI_STATUS_IGNORE));
    for (int rank = 0; rank < check_size; rank++)
      for (int i = 0; i < kEach; i++)
        for (int k = 0; k < items; k++) seen += found[k] == mark(view, rank, i);
    CHECK(seen == items, "view %d has %d of %d items", view, seen, items);
  }
  free(found);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* More views than there are pointers; nobody waits for anybody but in the calls. */
static void one_after_the_other(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  for (int view = 0; view < kViews; view++) {
    set_view(file, view);
    write_in_view(file, view);
  }
  expect_views(file, kViews);
  MUST(MPI_File_close(&file));
}

/* Each process begins when the one before has made all its calls: none of these waits for a process that comes later.
 */
static void far_ahead(int first) {
  enum { kAhead = 12 };
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  const int place = (check_rank - first + check_size) % check_size;
  const int before = (check_rank + check_size - 1) % check_size, next = (check_rank + 1) % check_size;
  if (place > 0) MUST(MPI_Recv(NULL, 0, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int view = 0; view < kAhead; view++) {
    set_view(file, view);
    write_in_view(file, view);
  }
  if (place < check_size - 1) MUST(MPI_Send(NULL, 0, MPI_INT, next, 0, MPI_COMM_WORLD));
  expect_views(file, kAhead);
  MUST(MPI_File_close(&file));
}

/* The pointer of a view is 0 at first, whatever views before it with the same word have left there. */
static void pointers(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  for (int view = 0; view < kViews; view++) {
    MPI_Offset at = -1;
    const int value = view;
    set_view(file, view);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_get_position_shared(file, &at));
    CHECK(at == 0, "view %d begins at %lld", view, (long long)at);
    MUST(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MUST(MPI_File_get_position_shared(file, &at));
    CHECK(at == check_size, "view %d: %lld", view, (long long)at);
    MUST(MPI_File_seek_shared(file, 5 + view, MPI_SEEK_SET));
  }
  MUST(MPI_File_close(&file));
}

/* A call that fails on one process alone leaves it in the view before. The next collective access says so to all, and
 * moves nothing; another view of all heals it. */
static void fails_on_one(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  const int last = check_rank == check_size - 1;
  int value = 7 + check_rank, back = -1;
  MPI_Offset bytes = -1;
  const int code = MPI_File_set_view(file, last ? -1 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  CHECK_EQ(class_of(code), last ? MPI_ERR_ARG : MPI_SUCCESS);
  if (check_size > 1) {
    MPI_Request request;
    CHECK_CLASS(MPI_File_write_at_all(file, 4 * check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    MUST(MPI_File_iread_at_all(file, 4 * check_rank, &back, 1, MPI_INT, &request));
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  }
  MUST(MPI_File_get_size(file, &bytes));
  CHECK_EQ(bytes, 0);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_at_all(file, check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  file_settle(file);
  /* One that fails on all leaves them in the view that they have. */
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "upside", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
  MUST(MPI_File_read_at_all(file, check_rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(back, value);
  MUST(MPI_File_close(&file));
}

/* Arguments that must be the same and are not are found by the next collective access, too. */
static void not_the_same(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  int value = check_rank;
  if (check_size > 1) {
    MUST(MPI_File_set_view(file, 0, check_rank ? MPI_BYTE : MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NOT_SAME);
    MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, check_rank ? "native" : "internal", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NOT_SAME);
  }
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  file_settle(file);
  value = -1;
  MUST(MPI_File_read_at_all(file, check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(value, check_rank);
  MUST(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  name = file_name("view_calls");
  one_after_the_other();
  far_ahead(0);
  far_ahead(check_size - 1);
  pointers();
  fails_on_one();
  not_the_same();
  return check_end();
}
