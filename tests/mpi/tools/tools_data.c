/* What windows and files tell tools: operations, bytes, and what exists. The argument says how operations of windows
 * go: "messages" (rma.reference), or "mapped". */
#include "hear.h"
#include "tests/mpi/io/io.h"

enum { kTimes = 10, kElements = 1000 };

/* Rank 0 puts, gets and accumulates at the last rank. */
static void operate(MPI_Win window) {
  static int data[kElements];
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, check_size - 1, 0, window));
  for (int i = 0; i < kTimes && check_rank == 0; ++i) {
    MUST(MPI_Put(data, kElements, MPI_INT, check_size - 1, 0, kElements, MPI_INT, window));
    MUST(MPI_Get(data, kElements, MPI_INT, check_size - 1, 0, kElements, MPI_INT, window));
    MUST(MPI_Accumulate(data, kElements, MPI_INT, check_size - 1, 0, kElements, MPI_INT, MPI_SUM, window));
    MUST(MPI_Win_flush(check_size - 1, window));
  }
  MUST(MPI_Win_unlock(check_size - 1, window));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static MPI_Win make_window(void) {
  int* memory = NULL;
  MPI_Win window;
  MUST(MPI_Win_allocate(kElements * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
  return window;
}

static void windows(void) {
  Pvar alive = pvar_begin("rma.windows", MPI_T_PVAR_CLASS_LEVEL, NULL);
  const Value before = pvar_value(&alive, 0);
  MPI_Win window = make_window();
  CHECK_EQ(pvar_value(&alive, 0), before + 1);
  operate(window);
  MUST(MPI_Win_free(&window));
  CHECK_EQ(pvar_value(&alive, 0), before);
  pvar_end(&alive);
}

/* The component that sends them is loaded by now. */
static void messages_of_windows(void) {
  const Value moved_by_all = 3ull * kTimes * kElements * sizeof(int);
  Pvar operations = pvar_begin("rma.am.operations", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar fragments = pvar_begin("rma.am.fragments", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar bytes = pvar_begin("rma.am.fragment_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  Pvar served = pvar_begin("rma.am.served", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar answers = pvar_begin("rma.am.answers", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar queued = pvar_begin("rma.am.queued", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_Win window = make_window();
  operate(window);
  CHECK_EQ(pvar_value(&queued, 0), 0);
  if (check_rank == 0) {
    CHECK_EQ(pvar_value(&operations, 0), 3 * kTimes);
    CHECK(pvar_value(&fragments, 0) >= 3 * kTimes, "%llu", pvar_value(&fragments, 0));
    CHECK(pvar_value(&bytes, 0) == moved_by_all, "%llu of %llu bytes", pvar_value(&bytes, 0), moved_by_all);
  } else if (check_rank == check_size - 1) {
    CHECK(pvar_value(&served, 0) >= 3 * kTimes, "%llu", pvar_value(&served, 0));
    CHECK(pvar_value(&answers, 0) > 0, "%llu", pvar_value(&answers, 0));
  }
  MUST(MPI_Win_free(&window));
  pvar_end(&operations), pvar_end(&fragments), pvar_end(&bytes);
  pvar_end(&served), pvar_end(&answers), pvar_end(&queued);
}

static void files(void) {
  static char data[kElements];
  Pvar open = pvar_begin("io.files", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar written = pvar_begin("io.bytes_written", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar read = pvar_begin("io.bytes_read", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar together = pvar_begin("io.collectives", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar requests = pvar_begin("io.requests", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_Request request;
  MPI_File file = file_make(file_name("data"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  const MPI_Offset mine = (MPI_Offset)check_rank * kElements;
  CHECK_EQ(pvar_value(&open, 0), 1);
  for (int i = 0; i < kTimes; ++i) MUST(MPI_File_write_at(file, mine, data, kElements, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_EQ(pvar_value(&written, 0), kTimes * kElements);
  MUST(MPI_File_read_at(file, mine, data, kElements / 2, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_EQ(pvar_value(&read, 0), kElements / 2);
  CHECK_EQ(pvar_value(&together, 0), 0);
  MUST(MPI_File_write_at_all(file, mine, data, kElements, MPI_CHAR, MPI_STATUS_IGNORE));
  MUST(MPI_File_read_at_all(file, mine, data, kElements, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_EQ(pvar_value(&together, 0), 2);
  MUST(MPI_File_iread_at(file, mine, data, kElements, MPI_CHAR, &request));
  CHECK_EQ(pvar_value(&requests, 0), 1);
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(pvar_value(&requests, 0), 0);
  MUST(MPI_File_close(&file));
  CHECK_EQ(pvar_value(&open, 0), 0);
  pvar_end(&open), pvar_end(&written), pvar_end(&read), pvar_end(&together), pvar_end(&requests);
}

int main(int argc, char** argv) {
  int provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  check_start(&argc, &argv);
  windows();
  if (argc > 1 && strcmp(argv[1], "messages") == 0) messages_of_windows();
  files();
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
