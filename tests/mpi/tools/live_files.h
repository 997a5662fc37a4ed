/* Of tools_live.c: io.*, for files that are opened after the variable was written. */
#ifndef ASHLAR_TESTS_LIVE_FILES_H
#define ASHLAR_TESTS_LIVE_FILES_H
#include "live.h"
#include "tests/mpi/io/io.h"

/* The value that a file which is opened now has for a hint. */
static long long hint_of_new_file(const char* key, char* text) {
  MPI_File file = file_make(file_name("hint"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Info info;
  int found = 0, room = 100;
  MUST(MPI_File_get_info(file, &info));
  MUST(MPI_Info_get_string(info, key, &room, text, &found));
  CHECK(found, "%s", key);
  MUST(MPI_Info_free(&info));
  MUST(MPI_File_close(&file));
  return atoll(text);
}
static void file_hint(const char* name) {
  char text[100];
  const char* const key = strcmp(name, "io.sieve_bytes") == 0 ? "ind_rd_buffer_size" : name + 3;
  const Value wanted = strcmp(name, "io.cb_nodes") == 0 ? 1 : 65536;
  const Value old = put(name, wanted);
  CHECK(hint_of_new_file(key, text) == (long long)wanted, "%s: %s is %s", name, key, text);
  put(name, old);
}
static void together(const char* name) {
  char text[100];
  put_choice(name, 1);
  hint_of_new_file("collective_buffering", text);
  CHECK(strcmp(text, "false") == 0, "%s", text);
  put_choice(name, 0);
  hint_of_new_file("collective_buffering", text);
  CHECK(strcmp(text, "true") == 0, "%s", text);
}

/* What an access to a file of its own process adds to a counter. */
enum { kWritesPieces, kReadsPieces, kWritesScattered, kNonblocking };
static Value access_adds(int what, const char* counter) {
  enum { kInts = 8192, kPieces = 100 };
  static int data[2 * kInts];
  MPI_File file;
  MPI_Datatype every_fourth, every_second;
  MPI_Request request;
  char name[600];
  snprintf(name, sizeof name, "%s.%d", file_name("access"), check_rank);
  MUST(MPI_Type_vector(kPieces, 1, 4, MPI_INT, &every_fourth));
  MUST(MPI_Type_vector(kInts, 1, 2, MPI_INT, &every_second));
  MUST(MPI_Type_commit(&every_fourth));
  MUST(MPI_Type_commit(&every_second));
  MUST(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
  MUST(MPI_File_write_at(file, 0, data, kInts, MPI_INT, MPI_STATUS_IGNORE));
  Pvar pvar = pvar_begin(counter, MPI_T_PVAR_CLASS_COUNTER, NULL);
  if (what <= kReadsPieces) MUST(MPI_File_set_view(file, 0, MPI_INT, every_fourth, "native", MPI_INFO_NULL));
  if (what == kWritesPieces) MUST(MPI_File_write_at(file, 0, data, kPieces, MPI_INT, MPI_STATUS_IGNORE));
  if (what == kReadsPieces) MUST(MPI_File_read_at(file, 0, data, kPieces, MPI_INT, MPI_STATUS_IGNORE));
  if (what == kWritesScattered) MUST(MPI_File_write_at(file, 0, data, 1, every_second, MPI_STATUS_IGNORE));
  if (what == kNonblocking) {
    MUST(MPI_File_iwrite_at(file, 0, data, 100, MPI_INT, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  const Value added = pvar_value(&pvar, 0);
  pvar_end(&pvar);
  MUST(MPI_File_close(&file));
  MUST(MPI_Type_free(&every_fourth));
  MUST(MPI_Type_free(&every_second));
  return added;
}
static void way_of_files(const char* name) {
  put_choice(name, 1); /* list */
  CHECK_EQ(access_adds(kWritesPieces, "io.sieved"), 0);
  put_choice(name, 2); /* sieve */
  CHECK_EQ(access_adds(kWritesPieces, "io.sieved"), 1);
  put_choice(name, 0);
}
static void map_bytes(const char* name) {
  const Value old = put(name, 0);
  put_choice("io.way", 4); /* mapped */
  CHECK_EQ(access_adds(kWritesPieces, "io.mapped"), 0);
  put(name, 1 << 20);
  if (file_is_mapped(getenv("TMPDIR") ? getenv("TMPDIR") : ".")) CHECK_EQ(access_adds(kWritesPieces, "io.mapped"), 1);
  put_choice("io.way", 0);
  put(name, old);
}
static void differs(const char* name, Value one, Value other, int what, const char* counter) {
  const Value old = put(name, one);
  const Value first = access_adds(what, counter);
  put(name, other);
  const Value second = access_adds(what, counter);
  put(name, old);
  CHECK(first < second, "%s: %llu and %llu", name, first, second);
}
static void sieve_piece(const char* name) { differs(name, 8192, 0, kReadsPieces, "io.pieces"); }
static void buffer_bytes(const char* name) { differs(name, 1 << 20, 4096, kWritesScattered, "io.pieces"); }
static void async_above(const char* name) { differs(name, 65536, 0, kNonblocking, "io.asynchronous"); }

#endif
