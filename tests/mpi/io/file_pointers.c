/* File pointers in etypes of views with holes, offsets of bytes, statuses at the end of a file, requests of nonblocking
 * accesses in every way of completing them, split collectives and what may not be between their halves. */
#include "io.h"

static const char* name;

/* Pairs of an int and a double, of which this process sees one in each `check_size`, from byte 16 on. */
static MPI_Datatype pair_type(void) {
  MPI_Datatype fields, pair;
  const int lengths[2] = {1, 1};
  const MPI_Aint at[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MUST(MPI_Type_create_struct(2, lengths, at, types, &fields));
  MUST(MPI_Type_create_resized(fields, 0, 16, &pair));
  MUST(MPI_Type_free(&fields));
  MUST(MPI_Type_commit(&pair));
  return pair;
}

typedef struct {
  int number;
  double value;
} Pair;

static MPI_Offset position(MPI_File file) {
  MPI_Offset at = -1;
  MUST(MPI_File_get_position(file, &at));
  return at;
}

static MPI_Offset shared_position(MPI_File file) {
  MPI_Offset at = -1;
  MUST(MPI_File_get_position_shared(file, &at));
  return at;
}

static void set_pairs_view(MPI_File file, MPI_Datatype pair) {
  MPI_Datatype part;
  MUST(MPI_Type_create_resized(pair, 0, 16 * check_size, &part));
  MUST(MPI_Type_commit(&part));
  MUST(MPI_File_set_view(file, 16 + 16 * check_rank, pair, part, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&part));
}

static void expect_get_view(MPI_File file) {
  MPI_Offset disp = -1;
  MPI_Datatype etype, filetype;
  MPI_Aint lower = -1, extent = -1;
  int bytes = -1;
  char datarep[MPI_MAX_DATAREP_STRING];
  MUST(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
  CHECK_EQ(disp, 16 + 16 * check_rank);
  MUST(MPI_Type_get_extent(etype, &lower, &extent));
  CHECK(lower == 0 && extent == 16);
  MUST(MPI_Type_size(etype, &bytes));
  CHECK_EQ(bytes, 12);
  MUST(MPI_Type_get_extent(filetype, &lower, &extent));
  CHECK(lower == 0 && extent == 16 * check_size);
  CHECK(strcmp(datarep, "native") == 0);
  /* They may be used at once, for the same view. */
  MUST(MPI_File_set_view(file, disp, etype, filetype, datarep, MPI_INFO_NULL));
  MUST(MPI_Type_free(&etype));
  MUST(MPI_Type_free(&filetype));
}

static void own_pointer(MPI_Datatype pair) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Status status;
  MPI_Offset byte = -1;
  MPI_Aint extent = -1;
  Pair out[6], in[8];
  int count = -1;
  MPI_Count elements = -1;
  memset(out, 0, sizeof out);
  for (int i = 0; i < 6; i++) out[i] = (Pair){.number = 10 * check_rank + i, .value = i / 2.0 + check_rank};
  set_pairs_view(file, pair);
  expect_get_view(file);
  MUST(MPI_File_get_type_extent(file, pair, &extent));
  CHECK_EQ(extent, 16);
  MUST(MPI_File_write_all(file, out, 6, pair, &status));
  CHECK_EQ(position(file), 6);
  MUST(MPI_Get_count(&status, pair, &count));
  CHECK_EQ(count, 6);
  MUST(MPI_Get_elements_c(&status, pair, &elements));
  CHECK_EQ(elements, 12);
  file_settle(file);
  MUST(MPI_File_get_byte_offset(file, 3, &byte));
  CHECK_EQ(byte, 16 + 16 * (3 * check_size + check_rank));
  MUST(MPI_File_get_byte_offset(file, position(file), &byte));
  CHECK_EQ(byte, 16 + 16 * (6 * check_size + check_rank));
  CHECK_CLASS(MPI_File_get_byte_offset(file, -1, &byte), MPI_ERR_ARG);
  /* From the beginning, from where it is, from the end. */
  MUST(MPI_File_seek(file, 4, MPI_SEEK_SET));
  MUST(MPI_File_seek(file, -3, MPI_SEEK_CUR));
  CHECK_EQ(position(file), 1);
  CHECK_CLASS(MPI_File_seek(file, -2, MPI_SEEK_CUR), MPI_ERR_ARG);
  CHECK_EQ(position(file), 1);
  CHECK_CLASS(MPI_File_seek(file, INT64_MAX, MPI_SEEK_CUR), MPI_ERR_ARG);
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  CHECK_EQ(position(file), 6);
  MUST(MPI_File_seek(file, -6, MPI_SEEK_END));
  CHECK_EQ(position(file), 0);
  MUST(MPI_File_seek(file, 100, MPI_SEEK_END)); /* behind the end */
  CHECK_EQ(position(file), 106);
  MUST(MPI_File_read(file, in, 2, pair, &status));
  CHECK_EQ(moved(&status), 0);
  CHECK_EQ(position(file), 106);
  /* The file ends with one half of a pair: Get_count has no answer, Get_elements has. */
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_get_byte_offset(file, 5, &byte));
  MPI_Offset last = byte;
  MUST(MPI_Bcast(&last, 1, MPI_OFFSET, check_size - 1, MPI_COMM_WORLD));
  MUST(MPI_File_set_size(file, last + 4)); /* the int of the last rank's last pair */
  const int cut = check_rank == check_size - 1;
  for (int together = 0; together < 2; together++) {
    MUST(MPI_File_seek(file, 3, MPI_SEEK_SET));
    memset(in, 0xee, sizeof in);
    MUST(together ? MPI_File_read_all(file, in, 8, pair, &status) : MPI_File_read(file, in, 8, pair, &status));
    CHECK_EQ(moved(&status), cut ? 2 * 12 + 4 : 3 * 12);
    MUST(MPI_Get_count(&status, pair, &count));
    CHECK_EQ(count, cut ? MPI_UNDEFINED : 3);
    MUST(MPI_Get_elements(&status, pair, &count));
    CHECK_EQ(count, cut ? 5 : 6);
    CHECK(in[0].number == out[3].number && in[0].value == out[3].value);
    CHECK_EQ(in[2].number, out[5].number);
    if (!cut) CHECK_EQ(position(file), 6);
    CHECK(in[3].number == (int)0xeeeeeeee);
  }
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  CHECK_EQ(position(file), 6); /* the etype behind the one that is there in part */
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_close(&file));
}

/* The shared pointer counts etypes of the view that all have. */
static void shared_pointer(MPI_Datatype pair) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE), second;
  MPI_Status status;
  MPI_Request requests[2];
  MPI_Datatype every;
  Pair out[4], in[4];
  memset(out, 0, sizeof out);
  for (int i = 0; i < 4; i++) out[i] = (Pair){.number = 10 * check_rank + i, .value = i};
  MUST(MPI_Type_create_resized(pair, 0, 48, &every));
  MUST(MPI_Type_commit(&every));
  MUST(MPI_File_set_view(file, 5, pair, every, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&every));
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &second));
  MUST(MPI_File_write_shared(file, out, 2, pair, &status));
  MUST(MPI_File_iwrite_shared(file, out + 2, 1, pair, &requests[0]));
  MUST(MPI_File_iwrite_shared(file, out + 3, 1, pair, &requests[1]));
  MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(shared_position(file), 4 * check_size);
  CHECK_EQ(shared_position(second), 0); /* each open has one of its own */
  CHECK_EQ(position(file), 0);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_seek_shared(file, -2 * check_size, MPI_SEEK_CUR));
  CHECK_EQ(shared_position(file), 2 * check_size);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_CLASS(MPI_File_seek_shared(file, -3 * check_size, MPI_SEEK_CUR), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_seek_shared(file, 0, 77), MPI_ERR_ARG);
  CHECK_EQ(shared_position(file), 2 * check_size);
  MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_END));
  CHECK_EQ(shared_position(file), 4 * check_size);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  /* A read in turns that meets the end: what lower ranks read is there first. */
  MUST(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
  memset(in, 0, sizeof in);
  MUST(MPI_File_read_ordered(file, in, 1, pair, &status));
  CHECK_EQ(moved(&status), check_rank == 0 ? 12 : 0);
  /* Different amounts, and none on every second rank. */
  MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  MUST(MPI_File_write_ordered(file, out, check_rank % 2 ? 0 : 2, pair, &status));
  CHECK_EQ(moved(&status), check_rank % 2 ? 0 : 24);
  const int wrote = 2 * ((check_size + 1) / 2);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(shared_position(file), wrote);
  file_settle(file);
  for (int k = 0; k < wrote; k++) {
    MUST(MPI_File_read_at(file, k, in, 1, pair, &status));
    CHECK_EQ(in[0].number, 10 * (k / 2 * 2) + k % 2);
  }
  /* There is no such place; the next access finds one. */
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_seek_shared(file, INT64_MAX - 1, MPI_SEEK_SET));
  CHECK_CLASS(MPI_File_write_ordered(file, out, 2, pair, &status), MPI_ERR_ARG);
  MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  MUST(MPI_File_read_ordered(file, in, check_rank == 0, pair, &status));
  CHECK_EQ(moved(&status), check_rank == 0 ? 12 : 0);
  /* A new view puts it back, and an individual access leaves it where it is. */
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_EQ(shared_position(file), 0);
  MUST(MPI_File_write(file, out, 1, MPI_INT, &status));
  CHECK_EQ(shared_position(file), 0);
  MUST(MPI_File_close(&second));
  MUST(MPI_File_close(&file));
}

/* Each way to complete a request. */
static void requests(void) {
  enum { kInts = 40000, kMany = 12 };
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Request many[kMany];
  MPI_Status status, statuses[kMany];
  int* const data = check_alloc(sizeof(int) * kInts * kMany);
  int flag = 0, index = -1, done = 0, indices[kMany];
  MUST(MPI_File_set_view(file, sizeof(int) * (MPI_Offset)kInts * kMany * check_rank, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
  for (int i = 0; i < kInts * kMany; i++) data[i] = i ^ check_rank;
  for (int k = 0; k < kMany; k++) MUST(MPI_File_iwrite(file, data + k * kInts, kInts, MPI_INT, &many[k]));
  CHECK_EQ(position(file), kInts * kMany);
  while (!flag) MUST(MPI_Test(&many[0], &flag, &status));
  CHECK_EQ(moved(&status), sizeof(int) * kInts);
  CHECK(many[0] == MPI_REQUEST_NULL);
  for (flag = 0; !flag;) MUST(MPI_Request_get_status(many[1], &flag, &status));
  CHECK_EQ(moved(&status), sizeof(int) * kInts);
  CHECK(many[1] != MPI_REQUEST_NULL);
  MUST(MPI_Waitany(kMany, many, &index, &status));
  CHECK(index > 0);
  MUST(MPI_Waitsome(kMany, many, &done, indices, statuses));
  CHECK(done > 0);
  for (flag = 0; !flag;) MUST(MPI_Testall(kMany, many, &flag, statuses));
  for (int k = 0; k < kMany; k++) MUST(MPI_File_iread_at(file, k * kInts, data + k * kInts, kInts, MPI_INT, &many[k]));
  /* A request that is given up goes on, and ends before the file does. */
  MUST(MPI_Request_free(&many[3]));
  CHECK(many[3] == MPI_REQUEST_NULL);
  MUST(MPI_Waitall(kMany, many, statuses));
  for (int k = 0; k < kMany; k++) {
    int cancelled = 1;
    MUST(MPI_Test_cancelled(&statuses[k], &cancelled));
    CHECK(!cancelled);
    if (k != 3) CHECK_EQ(moved(&statuses[k]), sizeof(int) * kInts);
  }
  MUST(MPI_File_sync(file));
  for (int i = 0; i < kInts * kMany; i++)
    if (data[i] != (i ^ check_rank)) CHECK(data[i] == (i ^ check_rank), "int %d is %d", i, data[i]);
  /* One that is written and given up. */
  data[0] = 4711;
  MUST(MPI_File_iwrite_at(file, 0, data, kInts, MPI_INT, &many[0]));
  MUST(MPI_Request_free(&many[0]));
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)); /* waits for it */
  MUST(MPI_File_read_at(file, (MPI_Offset)kInts * kMany * check_rank, &index, 1, MPI_INT, &status));
  CHECK_EQ(index, 4711);
  /* Nothing at all, and a status that nobody wants. */
  MUST(MPI_File_iread_at(file, 0, NULL, 0, MPI_INT, &many[0]));
  MUST(MPI_Wait(&many[0], &status));
  CHECK_EQ(moved(&status), 0);
  MUST(MPI_File_iwrite_at_all(file, 0, NULL, 0, MPI_INT, &many[0]));
  MUST(MPI_Wait(&many[0], MPI_STATUS_IGNORE));
  MUST(MPI_File_write_at_all(file, 0, NULL, 0, MPI_INT, MPI_STATUS_IGNORE));
  /* Several collectives under way, beside blocking accesses of this process alone, completed in another order. */
  for (int k = 0; k < 3; k++)
    MUST(MPI_File_iwrite_at_all(file, k * check_size + check_rank, data + k, 1, MPI_INT, &many[k]));
  MUST(MPI_File_read_at(file, (MPI_Offset)kInts * kMany * check_size - 1, &index, 1, MPI_INT, &status));
  for (int k = 3; k-- > 0;) MUST(MPI_Wait(&many[k], &status));
  file_settle(file);
  for (int k = 0; k < 3 * check_size; k++) {
    MUST(MPI_File_read_at(file, k, &index, 1, MPI_INT, &status));
    CHECK_EQ(index, k / check_size == 0 ? 4711 : (k / check_size) ^ (k % check_size));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_close(&file));
  free(data);
}

/* A hundred accesses at once, of one process and of all in turn, whose datatypes are freed while they are under way. */
static void many_under_way(void) {
  enum { kMany = 100, kInts = 8000 };
  static int out[kMany][kInts], in[kMany][kInts];
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Request many[kMany];
  MPI_Status status;
  MPI_Datatype type;
  for (int k = 0; k < kMany; k++)
    for (int i = 0; i < kInts; i++) out[k][i] = k * kInts + i + check_rank * 7;
  MUST(MPI_Type_create_resized(MPI_INT, 0, 4 * check_size, &type));
  MUST(MPI_Type_commit(&type));
  MUST(MPI_File_set_view(file, 4 * check_rank, MPI_INT, type, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&type));
  for (int writes = 1; writes >= 0; writes--) {
    for (int k = 0; k < kMany; k++) {
      const MPI_Offset at = (MPI_Offset)k * kInts;
      MUST(writes ? MPI_Type_vector(kInts / 2, 2, 2, MPI_INT, &type) : MPI_Type_contiguous(kInts, MPI_INT, &type));
      MUST(MPI_Type_commit(&type));
      if (k % 3 == 0)
        MUST(writes ? MPI_File_iwrite_at(file, at, out[k], 1, type, &many[k])
                    : MPI_File_iread_at(file, at, in[k], 1, type, &many[k]));
      else
        MUST(writes ? MPI_File_iwrite_at_all(file, at, out[k], 1, type, &many[k])
                    : MPI_File_iread_at_all(file, at, in[k], 1, type, &many[k]));
      MUST(MPI_Type_free(&type));
    }
    for (int k = kMany; k-- > 0;) {
      MUST(MPI_Wait(&many[k], &status));
      CHECK_EQ(moved(&status), sizeof *out);
    }
    file_settle(file);
  }
  CHECK(memcmp(in, out, sizeof in) == 0);
  MUST(MPI_File_close(&file));
}

/* A request whose access fails tells so when it is completed, among others in MPI_ERR_IN_STATUS. */
static void failed_requests(void) {
  MPI_File file = file_make(name, MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Request request = MPI_REQUEST_NULL;
  int value = 0;
  CHECK_CLASS(MPI_File_iread(file, &value, 1, MPI_INT, &request), MPI_ERR_ACCESS);
  CHECK_EQ(position(file), 0);
  CHECK_CLASS(MPI_File_iwrite_at(file, -1, &value, 1, MPI_INT, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_write(file, &value, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_File_write(file, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  MPI_Datatype unfinished;
  MUST(MPI_Type_contiguous(2, MPI_INT, &unfinished));
  CHECK_CLASS(MPI_File_write(file, &value, 1, unfinished, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, unfinished, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
  MUST(MPI_Type_free(&unfinished));
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_write(MPI_FILE_NULL, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
  CHECK_CLASS(MPI_File_iwrite_all(MPI_FILE_NULL, &value, 1, MPI_INT, &request), MPI_ERR_FILE);
  MUST(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MUST(MPI_File_close(&file));
}

/* Between the halves of a split collective only accesses of this process alone are allowed. */
static void splits(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Status status;
  MPI_Request request;
  int out = 5 + check_rank, in = -1, other = 0, back = -1;
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  static const char* const kKinds[] = {"at_all", "all", "ordered"};
  for (int writes = 1; writes >= 0; writes--) {
    for (int kind = 0; kind < 3; kind++) {
      int* const data = writes ? &out : &in;
      MUST(MPI_File_seek(file, check_rank, MPI_SEEK_SET));
      MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
      in = -1;
      if (kind == 0)
        MUST(writes ? MPI_File_write_at_all_begin(file, check_rank, data, 1, MPI_INT)
                    : MPI_File_read_at_all_begin(file, check_rank, data, 1, MPI_INT));
      else if (kind == 1)
        MUST(writes ? MPI_File_write_all_begin(file, data, 1, MPI_INT)
                    : MPI_File_read_all_begin(file, data, 1, MPI_INT));
      else
        MUST(writes ? MPI_File_write_ordered_begin(file, data, 1, MPI_INT)
                    : MPI_File_read_ordered_begin(file, data, 1, MPI_INT));
      /* The pointer has moved; the process's own accesses go on. */
      CHECK_EQ(position(file), kind == 1 ? check_rank + 1 : check_rank);
      MUST(MPI_File_write_at(file, 1000 + check_rank, &out, 1, MPI_INT, &status));
      MUST(MPI_File_iread_at(file, 1000 + check_rank, &back, 1, MPI_INT, &request));
      MUST(MPI_Wait(&request, &status));
      CHECK_EQ(back, out);
      CHECK_CLASS(MPI_File_read_at_all_begin(file, 0, &other, 1, MPI_INT), MPI_ERR_IO);
      CHECK_CLASS(MPI_File_write_ordered_begin(file, &other, 1, MPI_INT), MPI_ERR_IO);
      CHECK_CLASS(MPI_File_read_ordered(file, &other, 1, MPI_INT, &status), MPI_ERR_IO);
      CHECK_CLASS(MPI_File_write_at_all(file, 0, &other, 1, MPI_INT, &status), MPI_ERR_IO);
      CHECK_CLASS(MPI_File_iread_all(file, &other, 1, MPI_INT, &request), MPI_ERR_IO);
      CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_IO);
      CHECK_CLASS(MPI_File_sync(file), MPI_ERR_IO);
      CHECK_CLASS(
          kind == 0 ? MPI_File_read_ordered_end(file, data, &status) : MPI_File_write_at_all_end(file, data, &status),
          MPI_ERR_IO);
      if (kind == 0)
        MUST(writes ? MPI_File_write_at_all_end(file, data, &status) : MPI_File_read_at_all_end(file, data, &status));
      else if (kind == 1)
        MUST(writes ? MPI_File_write_all_end(file, data, &status) : MPI_File_read_all_end(file, data, &status));
      else
        MUST(writes ? MPI_File_write_ordered_end(file, data, &status) : MPI_File_read_ordered_end(file, data, &status));
      CHECK(moved(&status) == sizeof(int), "%s: %lld bytes", kKinds[kind], moved(&status));
      CHECK(writes || in == out, "%s: %d", kKinds[kind], in);
      CHECK_CLASS(MPI_File_write_all_end(file, data, &status), MPI_ERR_IO);
      file_settle(file);
    }
  }
  MUST(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  name = file_name("pointers");
  MPI_Datatype pair = pair_type();
  own_pointer(pair);
  shared_pointer(pair);
  requests();
  many_under_way();
  failed_requests();
  splits();
  MUST(MPI_Type_free(&pair));
  return check_end();
}
