/* Opening and closing (MPI-5.0, 14.2): what each mode means for the pointers and for a file that is there or not, files
 * of other communicators, failures on some of the ranks, handlers, and that nothing is left behind. */
#include "io.h"

#include <dirent.h>
#include <sys/stat.h>

static const char* name;

static int descriptors(void) {
  int count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) count++;
  if (folder) closedir(folder);
  return count;
}

/* What a process opens to reach another one it opens with their first message and keeps, whenever that is: with every
 * rank here, so that the counts of descriptors below speak of files alone. */
static void reach_every_rank(void) {
  int sent = check_rank, got;
  for (int step = 0; step < check_size; step++) {
    const int to = (check_rank + step) % check_size, from = (check_rank - step + check_size) % check_size;
    MUST(MPI_Sendrecv(&sent, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(got, from);
  }
}

static MPI_Offset size_of(MPI_File file) {
  MPI_Offset size = -1;
  MUST(MPI_File_get_size(file, &size));
  return size;
}

static void expect_positions(MPI_File file, MPI_Offset own, MPI_Offset shared) {
  MPI_Offset at = -1;
  MUST(MPI_File_get_position(file, &at));
  CHECK_EQ(at, own);
  MUST(MPI_File_get_position_shared(file, &at));
  CHECK_EQ(at, shared);
}

/* All pointers are at the end at first, and a view puts them back. A file that is opened again keeps its data. */
static void append(void) {
  MPI_Status status;
  MPI_File file = file_make(name, MPI_MODE_RDWR);
  int value = check_rank;
  MUST(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
  expect_positions(file, 0, 4 * check_size);
  MUST(MPI_File_close(&file));
  file = file_make(name, MPI_MODE_RDWR | MPI_MODE_APPEND);
  CHECK_EQ(size_of(file), 4 * check_size);
  expect_positions(file, 4 * check_size, 4 * check_size);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  value += 1000;
  MUST(MPI_File_write_shared(file, &value, 1, MPI_INT, &status));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  expect_positions(file, 4 * check_size, 8 * check_size);
  MUST(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  expect_positions(file, 0, 0);
  MUST(MPI_File_read_all(file, &value, 1, MPI_INT, &status));
  CHECK_EQ(value, check_size > 1 ? 1 : 1000);
  MUST(MPI_File_close(&file));
  /* Through a handle that only writes, and one with the shared pointer alone. */
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
  expect_positions(file, 8 * check_size, 8 * check_size);
  MUST(MPI_File_close(&file));
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_APPEND | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL,
                     &file));
  MUST(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
  MUST(MPI_File_close(&file));
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
  expect_positions(file, 12 * check_size, 12 * check_size);
  MUST(MPI_File_read(file, &value, 1, MPI_INT, &status));
  CHECK_EQ(moved(&status), 0);
  MUST(MPI_File_close(&file));
}

static void exclusive(void) {
  MPI_File file;
  CHECK_CLASS(
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
      MPI_ERR_FILE_EXISTS);
  CHECK(file == MPI_FILE_NULL);
  /* Without MPI_MODE_CREATE it has no meaning. */
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  MUST(MPI_File_close(&file));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) MUST(MPI_File_delete(name, MPI_INFO_NULL));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
              MPI_ERR_NO_SUCH_FILE);
  for (int time = 0; time < 2; time++) {
    MUST(
        MPI_File_open(MPI_COMM_WORLD, name,
                      MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file));
    int amode = 0;
    MUST(MPI_File_get_amode(file, &amode));
    CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN | MPI_MODE_DELETE_ON_CLOSE);
    CHECK(access(name, F_OK) == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_close(&file));
    CHECK(access(name, F_OK) != 0, "a file that was to be deleted is there");
  }
}

/* A file may be deleted while it is open, and its data is there as long as it is. */
static void deleted_while_open(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR), other;
  MPI_Status status;
  int value = check_rank, back = -1;
  MUST(MPI_File_write_at_all(file, 4 * check_rank, &value, 1, MPI_INT, &status));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) MUST(MPI_File_delete(name, MPI_INFO_NULL));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &other), MPI_ERR_NO_SUCH_FILE);
  MUST(MPI_File_read_at_all(file, 4 * check_rank, &back, 1, MPI_INT, &status));
  CHECK_EQ(back, value);
  MUST(MPI_File_close(&file));
}

/* Each process for itself, all of the same file at once; a part of the processes, in another order of ranks. */
static void communicators(void) {
  MPI_File own, part;
  MPI_Comm reversed;
  MPI_Group of_file, of_comm;
  MPI_Status status;
  int value = 100 + check_rank, result = 0, rank = -1, size = 0;
  MUST(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &own));
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &reversed));
  MUST(MPI_Comm_rank(reversed, &rank));
  MUST(MPI_Comm_size(reversed, &size));
  char second[600];
  snprintf(second, sizeof second, "%s-%d", name, check_rank % 2);
  MUST(MPI_File_open(reversed, second, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &part));
  MUST(MPI_File_get_group(part, &of_file));
  MUST(MPI_Comm_group(reversed, &of_comm));
  MUST(MPI_Group_compare(of_file, of_comm, &result));
  CHECK_EQ(result, MPI_IDENT);
  MUST(MPI_Group_free(&of_file));
  MUST(MPI_Group_free(&of_comm));
  MUST(MPI_Comm_free(&reversed)); /* the file has what it needs */
  MUST(MPI_File_set_view(part, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_ordered(part, &value, 1, MPI_INT, &status));
  MUST(MPI_File_write_at_all(own, 4 * check_rank, &value, 1, MPI_INT, &status));
  file_settle(part);
  for (int k = 0; k < size; k++) {
    int back = -1;
    MUST(MPI_File_read_at(part, k, &back, 1, MPI_INT, &status));
    CHECK_EQ(back, 100 + check_rank + 2 * (rank - k));
  }
  MUST(MPI_File_close(&part));
  MUST(MPI_File_sync(own));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_sync(own));
  for (int k = 0; k < check_size; k++) {
    int back = -1;
    MUST(MPI_File_read_at_all(own, 4 * k, &back, 1, MPI_INT, &status));
    CHECK_EQ(back, 100 + k);
  }
  MUST(MPI_File_close(&own));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) MUST(MPI_File_delete(name, MPI_INFO_NULL));
}

/* Of an intercommunicator no file can be opened. */
static void intercommunicator(void) {
  MPI_Comm half, both;
  MPI_File file = MPI_FILE_NULL;
  if (check_size < 2) return;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half));
  MUST(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 3, &both));
  CHECK_CLASS(MPI_File_open(both, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_COMM);
  CHECK_CLASS(MPI_File_open(MPI_COMM_NULL, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_COMM);
  MUST(MPI_Comm_free(&both));
  MUST(MPI_Comm_free(&half));
  CHECK(access(name, F_OK) != 0);
}

/* The processes may call a file by different names; another file is an error on all, and so is what one alone cannot
 * open. The next attempt succeeds. */
static void one_rank_fails(void) {
  MPI_File file;
  MPI_Status status;
  char other[600], strange[600];
  const int last = check_rank == check_size - 1;
  int value = 7;
  const char* const slash = strrchr(name, '/');
  snprintf(other, sizeof other, "%.*s/./%s", (int)(slash - name), name, slash + 1);
  snprintf(strange, sizeof strange, "%s-strange", name);
  file = file_make(name, MPI_MODE_RDWR);
  MUST(MPI_File_close(&file));
  const int before = descriptors();
  MUST(MPI_File_open(MPI_COMM_WORLD, last ? other : name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  MUST(MPI_File_write_at_all(file, 0, &value, check_rank == 0, MPI_INT, &status));
  MUST(MPI_File_close(&file));
  for (int time = 0; time < 3; time++) {
    const int code = MPI_File_open(MPI_COMM_WORLD, last ? strange : name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CHECK_EQ(class_of(code), MPI_ERR_NO_SUCH_FILE);
    CHECK(file == MPI_FILE_NULL);
  }
  if (check_size > 1) {
    FILE* const made = last ? fopen(strange, "w") : NULL;
    if (made) fclose(made);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, last ? strange : name, MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                MPI_ERR_NOT_SAME);
    if (last) unlink(strange);
  }
  CHECK_EQ(descriptors(), before);
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  MUST(MPI_File_close(&file));
}

/* Classes of names that cannot be opened, and of a pipe with offsets. */
static void bad_names(void) {
  static char long_name[6000];
  char below[600];
  MPI_File file;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  memset(long_name, 'x', sizeof long_name - 1);
  const int code = MPI_File_open(MPI_COMM_WORLD, long_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK_EQ(class_of(code), MPI_ERR_BAD_FILE);
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, "open failed on file 'xxx"), "%s", text);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
              MPI_ERR_BAD_FILE);
  CHECK_CLASS(
      MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/file", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
      MPI_ERR_NO_SUCH_FILE);
  /* A program that runs is not written. */
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/proc/self/exe", MPI_MODE_RDWR, MPI_INFO_NULL, &file),
              MPI_ERR_FILE_IN_USE);
  file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  snprintf(below, sizeof below, "%s/below", name);
  MPI_File other;
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, below, MPI_MODE_RDONLY, MPI_INFO_NULL, &other), MPI_ERR_BAD_FILE);
  if (geteuid() != 0) {
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank == 0) CHECK(chmod(name, 0) == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &other), MPI_ERR_ACCESS);
  }
  MUST(MPI_File_close(&file));
  if (check_rank == 0) CHECK(mkfifo(name, 0600) == 0);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_CLASS(MPI_File_delete("/", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) MUST(MPI_File_delete(name, MPI_INFO_NULL));
}

static int seen_times, seen_class;
static MPI_File seen_file;
static void on_error(MPI_File* file, int* code, ...) {
  seen_times++;
  seen_file = *file;
  MPI_Error_class(*code, &seen_class);
}

/* Files begin with the handler of MPI_FILE_NULL, to which the failures of calls without a file go. */
static void handlers(void) {
  MPI_Errhandler handler, is;
  MPI_File file, other;
  MUST(MPI_File_get_errhandler(MPI_FILE_NULL, &is));
  CHECK(is == MPI_ERRORS_RETURN);
  file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MUST(MPI_File_get_errhandler(file, &is));
  CHECK(is == MPI_ERRORS_RETURN);
  MUST(MPI_File_create_errhandler(on_error, &handler));
  MUST(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  MUST(MPI_File_get_errhandler(MPI_FILE_NULL, &is));
  CHECK(is == handler);
  MUST(MPI_Errhandler_free(&is));
  CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_EQ(seen_times, 0); /* one that is open keeps its own */
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &other),
              MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(seen_times, 1);
  CHECK(seen_file == MPI_FILE_NULL && seen_class == MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_delete("/no/such/file", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(seen_times, 2);
  CHECK_CLASS(MPI_File_close(&other), MPI_ERR_FILE);
  CHECK_EQ(seen_times, 3);
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &other));
  CHECK_CLASS(MPI_File_seek(other, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_EQ(seen_times, 4);
  CHECK(seen_file == other && seen_class == MPI_ERR_ARG);
  MUST(MPI_File_call_errhandler(other, MPI_ERR_NO_SPACE));
  CHECK(seen_times == 5 && seen_class == MPI_ERR_NO_SPACE);
  MUST(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_File_delete("/no/such/file", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(seen_times, 5);
  MUST(MPI_File_close(&other));
  MUST(MPI_File_close(&file));
  MUST(MPI_Errhandler_free(&handler));
}

static void handles(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  CHECK(MPI_File_fromint(MPI_File_toint(file)) == file);
  CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
  MUST(MPI_File_close(&file));
}

static void expect_hint(MPI_File file, const char* key, const char* should) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int length = sizeof value, there = 0;
  MUST(MPI_File_get_info(file, &info));
  MUST(MPI_Info_get_string(info, key, &length, value, &there));
  CHECK(there && strcmp(value, should) == 0, "hint %s is '%s' and not '%s'", key, value, should);
  MUST(MPI_Info_free(&info));
}

/* Hints of the call are in force at once, and none changes what a file means. */
static void hints(void) {
  MPI_Info info;
  MPI_File file;
  MPI_Status status;
  char ranks[16];
  int value = check_rank, back = -1;
  struct stat found;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "access_style", "write_once,random"));
  MUST(MPI_Info_set(info, "file_perm", "600"));
  MUST(MPI_Info_set(info, "striping_factor", "7"));
  MUST(MPI_Info_set(info, "striping_unit", "65536"));
  MUST(MPI_Info_set(info, "chunked", "10,20"));
  MUST(MPI_Info_set(info, "io_node_list", "a,b"));
  MUST(MPI_Info_set(info, "cb_nodes", "1000"));
  MUST(MPI_Info_set(info, "collective_buffering", "true"));
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
  MUST(MPI_Info_free(&info));
  if (check_rank == 0) CHECK(stat(name, &found) == 0 && (found.st_mode & 0777) == 0600, "%o", found.st_mode & 0777);
  snprintf(ranks, sizeof ranks, "%d", check_size);
  expect_hint(file, "nb_proc", ranks);
  expect_hint(file, "cb_nodes", ranks);
  expect_hint(file, "access_style", "write_once,random");
  expect_hint(file, "collective_buffering", "true");
  expect_hint(file, "filename", name);
  MUST(MPI_File_write_at_all(file, 4 * check_rank, &value, 1, MPI_INT, &status));
  MUST(MPI_File_read_at_all(file, 4 * check_rank, &back, 1, MPI_INT, &status));
  CHECK_EQ(back, value);
  MUST(MPI_File_close(&file));
}

/* set_size may leave holes, preallocate never shrinks nor changes data, and neither moves a pointer. */
static void sizes(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Status status;
  char data[100], back[200];
  memset(data, 'a', sizeof data);
  MUST(MPI_File_write_all(file, data, check_rank == 0 ? 100 : 0, MPI_BYTE, &status));
  MUST(MPI_File_preallocate(file, 50));
  CHECK_EQ(size_of(file), 100);
  MUST(MPI_File_preallocate(file, 0));
  CHECK_EQ(size_of(file), 100);
  MUST(MPI_File_preallocate(file, 5000));
  CHECK_EQ(size_of(file), 5000);
  expect_positions(file, check_rank == 0 ? 100 : 0, 0);
  MUST(MPI_File_set_size(file, 150));
  CHECK_EQ(size_of(file), 150);
  MUST(MPI_File_read_at_all(file, 0, back, 200, MPI_BYTE, &status));
  CHECK_EQ(moved(&status), 150);
  for (int i = 0; i < 150; i++) CHECK(back[i] == (i < 100 ? 'a' : 0), "byte %d is %d", i, back[i]);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_size > 1) {
    CHECK_CLASS(MPI_File_set_size(file, 10 + check_rank), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_preallocate(file, 10 + check_rank), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_set_atomicity(file, check_rank == 0), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_seek_shared(file, check_rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
  }
  CHECK_EQ(size_of(file), 150);
  MUST(MPI_File_set_size(file, 0));
  CHECK_EQ(size_of(file), 0);
  expect_positions(file, check_rank == 0 ? 100 : 0, 0);
  MUST(MPI_File_set_size(file, (MPI_Offset)5 << 30));
  CHECK_EQ(size_of(file), (MPI_Offset)5 << 30);
  MUST(MPI_File_close(&file));
}

/* Many at once, and many after each other: no descriptor stays. */
static void many(void) {
  enum { kFiles = 60 };
  MPI_File files[kFiles];
  MPI_Status status;
  int value, back;
  char each[600];
  int before = 0;
  for (int k = 0; k < kFiles; k++) {
    snprintf(each, sizeof each, "%s-%d", name, k % 7);
    MUST(MPI_File_open(MPI_COMM_WORLD, each, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &files[k]));
  }
  for (int k = 0; k < kFiles; k++) {
    value = 1000 * k + check_rank;
    MUST(MPI_File_write_at_all(files[k], 4 * (k / 7 * check_size + check_rank), &value, 1, MPI_INT, &status));
  }
  for (int k = kFiles; k-- > 0;) {
    MUST(MPI_File_read_at_all(files[k], 4 * (k / 7 * check_size + check_rank), &back, 1, MPI_INT, &status));
    CHECK_EQ(back, 1000 * k + check_rank);
  }
  for (int k = 0; k < kFiles; k++) MUST(MPI_File_close(&files[(k * 7) % kFiles]));
  for (int time = 0; time < 300; time++) {
    if (time == 50) before = descriptors();
    snprintf(each, sizeof each, "%s-0", name);
    MUST(MPI_File_open(MPI_COMM_WORLD, each, MPI_MODE_RDWR, MPI_INFO_NULL, &files[0]));
    MUST(MPI_File_close(&files[0]));
  }
  CHECK_EQ(descriptors(), before);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int k = check_rank; k < 7; k += check_size) {
    snprintf(each, sizeof each, "%s-%d", name, k);
    MUST(MPI_File_delete(each, MPI_INFO_NULL));
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  name = file_name("open");
  reach_every_rank();
  append();
  exclusive();
  deleted_while_open();
  communicators();
  intercommunicator();
  one_rank_fails();
  bad_names();
  handlers();
  handles();
  hints();
  sizes();
  many();
  return check_end();
}
