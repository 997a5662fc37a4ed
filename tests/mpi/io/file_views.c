/* Views: what MPI_File_get_view gives back, offsets in them, data representations, files that are shorter than the
 * view. */
#include "io.h"

#include <stddef.h>

static void expect_view(MPI_File file, MPI_Offset disp, MPI_Datatype etype, int derived, const char* datarep) {
  MPI_Offset is_disp = -1;
  MPI_Datatype is_etype, is_filetype;
  char name[MPI_MAX_DATAREP_STRING];
  MUST(MPI_File_get_view(file, &is_disp, &is_etype, &is_filetype, name));
  CHECK_EQ(is_disp, disp);
  CHECK(is_etype == etype);
  CHECK(strcmp(name, datarep) == 0, "%s instead of %s", name, datarep);
  int integers, addresses, types, combiner;
  MUST(MPI_Type_get_envelope(is_filetype, &integers, &addresses, &types, &combiner));
  CHECK(derived == (combiner != MPI_COMBINER_NAMED));
  if (derived) MUST(MPI_Type_free(&is_filetype));
}

/* Every second int of the file, from byte 8 on. */
static void every_second(MPI_File file) {
  MPI_Datatype pairs, half;
  MUST(MPI_Type_contiguous(1, MPI_INT, &pairs));
  MUST(MPI_Type_create_resized(pairs, 0, 2 * sizeof(int), &half));
  MUST(MPI_Type_commit(&half));
  MUST(MPI_Type_free(&pairs));
  MUST(MPI_File_set_size(file, 0));
  MUST(MPI_File_set_view(file, 8, MPI_INT, half, "native", MPI_INFO_NULL));
  expect_view(file, 8, MPI_INT, 1, "native");
  MUST(MPI_Type_free(&half));
  MPI_Offset byte = 0, at = 0, size = 0;
  MUST(MPI_File_get_byte_offset(file, 5, &byte));
  CHECK_EQ(byte, 8 + 5 * 2 * sizeof(int));
  MPI_Status status;
  int out[4] = {1, 2, 3, 4}, in[8];
  MUST(MPI_File_write_at_all(file, 0, out, check_rank == 0 ? 4 : 0, MPI_INT, &status));
  file_settle(file);
  MUST(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 8 + 3 * 2 * sizeof(int) + sizeof(int));
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  MUST(MPI_File_get_position(file, &at));
  CHECK_EQ(at, 4);
  MUST(MPI_File_read_at(file, 1, in, 8, MPI_INT, &status));
  CHECK_EQ(moved(&status), 3 * sizeof(int));
  CHECK(in[0] == 2 && in[1] == 3 && in[2] == 4);
  int count = 0;
  MUST(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 3);
  /* An end in a hole, and one in the middle of an int. */
  MUST(MPI_File_set_size(file, size + 3));
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  MUST(MPI_File_get_position(file, &at));
  CHECK_EQ(at, 4);
  MUST(MPI_File_set_size(file, size - 2));
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  MUST(MPI_File_get_position(file, &at));
  CHECK_EQ(at, 4);
  MUST(MPI_File_read_at(file, 3, in, 1, MPI_INT, &status));
  CHECK_EQ(moved(&status), 2);
  MUST(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
}

/* A two-dimensional array of 8 * ranks by 6 doubles, each rank with rows of its own, in Fortran's and in C's order. */
static void subarrays(MPI_File file) {
  for (int order = 0; order < 2; order++) {
    const int sizes[2] = {8 * check_size, 6}, parts[2] = {8, 6}, starts[2] = {8 * check_rank, 0};
    MPI_Datatype part;
    double data[48], back[48];
    MPI_Status status;
    MUST(MPI_Type_create_subarray(2, sizes, parts, starts, order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_DOUBLE, &part));
    MUST(MPI_Type_commit(&part));
    MUST(MPI_File_set_view(file, 16, MPI_DOUBLE, part, "native", MPI_INFO_NULL));
    for (int i = 0; i < 48; i++) data[i] = check_rank * 100 + i;
    MUST(MPI_File_write_all(file, data, 48, MPI_DOUBLE, &status));
    CHECK_EQ(moved(&status), sizeof data);
    file_settle(file);
    MUST(MPI_File_set_view(file, 16, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    for (int column = 0; column < 6; column++) {
      for (int row = 0; row < 8 * check_size; row++) {
        const MPI_Offset at = order ? row * 6 + column : (MPI_Offset)column * 8 * check_size + row;
        MUST(MPI_File_read_at(file, at, back, 1, MPI_DOUBLE, &status));
        const int rank = row / 8, inside = order ? row % 8 * 6 + column : column * 8 + row % 8;
        CHECK(back[0] == rank * 100 + inside, "row %d, column %d: %g", row, column, back[0]);
      }
    }
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Type_free(&part));
  }
}

/* A rank without a part has a filetype without data, and takes part in collectives. */
static void no_part(MPI_File file) {
  MPI_Datatype none, type;
  MPI_Status status;
  MPI_Offset at = -1;
  int value = 7, back = 0;
  MUST(MPI_Type_contiguous(0, MPI_INT, &none));
  MUST(MPI_Type_commit(&none));
  type = check_rank == 0 ? MPI_INT : none;
  MUST(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_at_all(file, 2, &value, check_rank == 0, MPI_INT, &status));
  MUST(MPI_File_read_at_all(file, 2, &back, check_rank == 0, MPI_INT, &status));
  if (check_rank == 0) CHECK_EQ(back, 7);
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  MUST(MPI_File_get_position(file, &at));
  if (check_rank != 0) CHECK_EQ(at, 0);
  MUST(MPI_Type_free(&none));
}

/* "external32": big-endian, 4 bytes for a long; what is counted in longs lies as close in the file. */
static void external(MPI_File file) {
  MPI_Datatype strided;
  MPI_Aint extent = 0;
  MPI_Offset byte = 0;
  MPI_Status status;
  long out[4] = {1, -2, 3, 1 << 20}, in[6] = {9, 9, 9, 9, 9, 9};
  unsigned char bytes[16];
  MUST(MPI_File_set_size(file, 0));
  MUST(MPI_Type_vector(2, 1, 2, MPI_LONG, &strided));
  MUST(MPI_Type_commit(&strided));
  MUST(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
  expect_view(file, 0, MPI_LONG, 0, "external32");
  MUST(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  CHECK_EQ(extent, 4);
  MUST(MPI_File_get_type_extent(file, strided, &extent));
  CHECK_EQ(extent, 12);
  MUST(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
  CHECK_EQ(extent, 8);
  MUST(MPI_File_get_byte_offset(file, 3, &byte));
  CHECK_EQ(byte, 12);
  MUST(MPI_File_write_at_all(file, 0, out, check_rank == 0 ? 4 : 0, MPI_LONG, &status));
  if (check_rank == 0) CHECK_EQ(moved(&status), sizeof out);
  file_settle(file);
  MUST(MPI_File_read_at(file, 0, in, 6, MPI_LONG, &status));
  CHECK_EQ(moved(&status), 4 * sizeof(long));
  for (int i = 0; i < 6; i++) CHECK(in[i] == (i < 4 ? out[i] : 9), "element %d is %ld", i, in[i]);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "internal", MPI_INFO_NULL));
  expect_view(file, 0, MPI_BYTE, 0, "internal");
  MUST(MPI_File_read_at(file, 0, bytes, 16, MPI_BYTE, &status));
  static const unsigned char kShould[16] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 3, 0, 0x10, 0, 0};
  CHECK(memcmp(bytes, kShould, 16) == 0);
  MUST(MPI_Type_free(&strided));
}

typedef struct {
  short number;
  double value;
  long large;
  char name[3];
} Record;

static MPI_Datatype record_type(void) {
  MPI_Datatype fields, type;
  const int lengths[4] = {1, 1, 1, 3};
  const MPI_Aint at[4] = {offsetof(Record, number), offsetof(Record, value), offsetof(Record, large),
                          offsetof(Record, name)};
  const MPI_Datatype types[4] = {MPI_SHORT, MPI_DOUBLE, MPI_LONG, MPI_CHAR};
  MUST(MPI_Type_create_struct(4, lengths, at, types, &fields));
  MUST(MPI_Type_create_resized(fields, 0, sizeof(Record), &type));
  MUST(MPI_Type_commit(&type));
  MUST(MPI_Type_free(&fields));
  return type;
}

static void fill_records(Record* records, int count, int first) {
  memset(records, 0, (size_t)count * sizeof *records);
  for (int i = 0; i < count; i++)
    records[i] = (Record){.number = (short)(first + i),
                          .value = (first + i) / 3.0,
                          .large = -(first + i),
                          .name = {(char)i, (char)(i >> 8), (char)first}};
}

static int records_differ(const Record* a, const Record* b) {
  return a->number != b->number || a->value != b->value || a->large != b->large || memcmp(a->name, b->name, 3) != 0;
}

/* More data than is converted at a time, of elements of several sizes; and a file that ends within an element. */
static void converted_in_parts(MPI_File file) {
  enum { kRecords = 3000 };
  Record *out = check_alloc(kRecords * sizeof *out), *in = check_alloc(kRecords * sizeof *in);
  MPI_Datatype type = record_type();
  MPI_Status status;
  MPI_Offset byte = 0;
  MPI_Request request;
  fill_records(out, kRecords, check_rank + 1);
  MUST(MPI_File_set_view(file, 0, type, type, "external32", MPI_INFO_NULL));
  for (int form = 0; form < 2; form++) {
    memset(in, 0, kRecords * sizeof *in);
    if (form == 0) {
      MUST(MPI_File_write_at_all(file, kRecords * check_rank, out, kRecords, type, &status));
      MUST(MPI_File_read_at_all(file, kRecords * check_rank, in, kRecords, type, &status));
    } else {
      MUST(MPI_File_iwrite_at(file, kRecords * check_rank, out, kRecords, type, &request));
      MUST(MPI_Wait(&request, &status));
      MUST(MPI_File_iread_at(file, kRecords * check_rank, in, kRecords, type, &request));
      MUST(MPI_Wait(&request, &status));
    }
    CHECK_EQ(moved(&status), kRecords * (sizeof(short) + sizeof(double) + sizeof(long) + 3));
    for (int i = 0; i < kRecords; i++) {
      if (!records_differ(&in[i], &out[i])) continue;
      CHECK(!records_differ(&in[i], &out[i]), "form %d: record %d", form, i);
      break;
    }
  }
  /* The double of record 2000 of the last rank is there in part. */
  MUST(MPI_File_get_byte_offset(file, kRecords * (check_size - 1) + 2000, &byte));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_set_size(file, byte + offsetof(Record, value) + 3));
  fill_records(in, kRecords, 77);
  const double before = in[2000].value;
  MUST(MPI_File_read_at(file, kRecords * (check_size - 1), in, kRecords, type, &status));
  CHECK_EQ(moved(&status), 2000 * (sizeof(short) + sizeof(double) + sizeof(long) + 3) + sizeof(short));
  fill_records(out, kRecords, check_size);
  CHECK(!records_differ(&in[1999], &out[1999]));
  CHECK_EQ(in[2000].number, out[2000].number);
  CHECK(in[2000].value == before, "what the file does not have is changed");
  MUST(MPI_Type_free(&type));
  free(out);
  free(in);
}

/* A representation of this program: every byte turned upside down, ints of 8 bytes. */
static int upside_down_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)state;
  *extent = type == MPI_INT ? 8 : 1;
  return MPI_SUCCESS;
}
static int write_upside_down(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  (void)type;
  ++*(int*)state;
  for (int i = 0; i < count; i++) {
    const long long value = ~(long long)((int*)memory)[position + i];
    memcpy((char*)file + 8 * i, &value, 8);
  }
  return MPI_SUCCESS;
}
static int read_upside_down(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  (void)type;
  ++*(int*)state;
  for (int i = 0; i < count; i++) {
    long long value;
    memcpy(&value, (char*)file + 8 * i, 8);
    ((int*)memory)[position + i] = (int)~value;
  }
  return MPI_SUCCESS;
}

static void own_representation(MPI_File file) {
  static int calls;
  int out[3] = {5, 6, 7}, in[3] = {0, 0, 0};
  MPI_Status status;
  MPI_Aint extent = 0;
  MUST(MPI_Register_datarep("upside down", read_upside_down, write_upside_down, upside_down_extent, &calls));
  CHECK_CLASS(MPI_Register_datarep("upside down", read_upside_down, write_upside_down, upside_down_extent, &calls),
              MPI_ERR_DUP_DATAREP);
  CHECK_CLASS(MPI_Register_datarep("native", read_upside_down, write_upside_down, upside_down_extent, &calls),
              MPI_ERR_DUP_DATAREP);
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "upside down", MPI_INFO_NULL));
  MUST(MPI_File_get_type_extent(file, MPI_INT, &extent));
  CHECK_EQ(extent, 8);
  MUST(MPI_File_write_at_all(file, 1, out, check_rank == 0 ? 3 : 0, MPI_INT, &status));
  file_settle(file);
  MUST(MPI_File_read_at_all(file, 1, in, 3, MPI_INT, &status));
  CHECK(in[0] == 5 && in[1] == 6 && in[2] == 7);
  CHECK_EQ(calls, check_rank == 0 ? 2 : 1);
  MUST(MPI_File_set_view(file, 8, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  long long raw = 0;
  MUST(MPI_File_read_at(file, 0, &raw, 8, MPI_BYTE, &status));
  CHECK_EQ(raw, ~5ll);
}

static int same_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  MPI_Aint least = 0;
  (void)state;
  return MPI_Type_get_extent(type, &least, extent);
}

/* MPI_CONVERSION_FN_NULL: the data is not converted, in either direction. */
static void nothing_converted(MPI_File file) {
  int out[3] = {5, 6, 7}, in[3] = {0, 0, 0};
  MPI_Status status;
  MUST(MPI_Register_datarep("as it is", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, same_extent, NULL));
  MUST(MPI_Register_datarep_c("as large", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, same_extent, NULL));
  CHECK_CLASS(MPI_Register_datarep("as it is", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, same_extent, NULL),
              MPI_ERR_DUP_DATAREP);
  for (int large = 0; large < 2; large++) {
    MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, large ? "as large" : "as it is", MPI_INFO_NULL));
    out[0] += large;
    MUST(MPI_File_write_at_all(file, 3 * check_rank, out, 3, MPI_INT, &status));
    CHECK_EQ(moved(&status), sizeof out);
    MUST(MPI_File_read_at_all(file, 3 * check_rank, in, 3, MPI_INT, &status));
    CHECK(in[0] == 5 + large && in[1] == 6 && in[2] == 7);
    MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    memset(in, 0, sizeof in);
    MUST(MPI_File_read_at(file, 3 * check_rank, in, 3, MPI_INT, &status));
    CHECK(in[0] == 5 + large && in[1] == 6 && in[2] == 7);
  }
}

/* The functions get the data in parts, each with its position. */
static void own_representation_in_parts(MPI_File file) {
  enum { kInts = 3000 };
  int* const out = check_alloc(2 * kInts * sizeof *out);
  int* const in = out + kInts;
  MPI_Status status;
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "upside down", MPI_INFO_NULL));
  for (int i = 0; i < kInts; i++) out[i] = i * 7 + check_rank;
  memset(in, 0, kInts * sizeof *in);
  MUST(MPI_File_write_at_all(file, kInts * check_rank, out, kInts, MPI_INT, &status));
  CHECK_EQ(moved(&status), kInts * sizeof *out);
  MUST(MPI_File_read_at_all(file, kInts * check_rank, in, kInts, MPI_INT, &status));
  CHECK_EQ(moved(&status), kInts * sizeof *out);
  CHECK(memcmp(in, out, kInts * sizeof *out) == 0);
  free(out);
}

/* Blocks of `length` ints at bytes `at[0]` and `at[1]`, items of `extent` bytes. */
static MPI_Datatype two_blocks(int length, const MPI_Aint* at, MPI_Aint extent) {
  MPI_Datatype blocks, type;
  const int lengths[2] = {length, length};
  MUST(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &blocks));
  MUST(MPI_Type_create_resized(blocks, 0, extent, &type));
  MUST(MPI_Type_commit(&type));
  MUST(MPI_Type_free(&blocks));
  return type;
}

/* The second item of the filetype begins among the pieces of the first one: that one alone is as good as any other. */
static void first_of_interleaved_items(MPI_File file) {
  const MPI_Aint far = 8 * check_size + 24, at[2] = {0, far};
  MPI_Datatype type = two_blocks(2, at, far / 4 * 2);
  MPI_Status status;
  MPI_Offset end = 0;
  MUST(MPI_File_set_view(file, 8 * check_rank, MPI_INT, type, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&type));
  const int out[4] = {check_rank, check_rank + 100, check_rank + 200, check_rank + 300};
  int in[4] = {0};
  MUST(MPI_File_write_at_all(file, 0, out, 4, MPI_INT, &status));
  CHECK_EQ(moved(&status), sizeof out);
  file_settle(file);
  MUST(MPI_File_read_at_all(file, 1, in, 3, MPI_INT, &status));
  CHECK_EQ(moved(&status), 3 * sizeof *in);
  CHECK(in[0] == out[1] && in[1] == out[2] && in[2] == out[3]);
  MUST(MPI_File_read_at(file, 0, in, 4, MPI_INT, &status));
  CHECK(memcmp(in, out, sizeof out) == 0);
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  MUST(MPI_File_get_position(file, &end));
  CHECK_EQ(end, (far + 8 * check_size) / 4);
  for (int rank = 0; rank < check_size; rank++) {
    MUST(MPI_File_read_at(file, 2 * rank, in, 2, MPI_INT, &status));
    MUST(MPI_File_read_at(file, far / 4 + 2 * rank, in + 2, 2, MPI_INT, &status));
    for (int i = 0; i < 4; i++) CHECK_EQ(in[i], rank + 100 * i);
  }
}

/* Items at ints 0 and 5, 2 and 7, 4 and 9 and so on have no byte in common: they may be read and written. */
static void interleaved_items(MPI_File file) {
  const MPI_Aint at[2] = {0, 5 * sizeof(int)};
  MPI_Datatype type = two_blocks(1, at, 2 * sizeof(int));
  MPI_Status status;
  MPI_Offset end = 0;
  enum { kItems = 300 };
  int out[2 * kItems], in[2 * kItems];
  const MPI_Offset begin = (MPI_Offset)check_rank * (2 * kItems + 4) * 4;
  for (int i = 0; i < 2 * kItems; i++) out[i] = check_rank * 1000 + i;
  MUST(MPI_File_set_view(file, begin, MPI_INT, type, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&type));
  MUST(MPI_File_write_at_all(file, 0, out, 2 * kItems, MPI_INT, &status));
  CHECK_EQ(moved(&status), sizeof out);
  file_settle(file);
  for (int together = 0; together < 2; together++) {
    memset(in, 0, sizeof in);
    MUST(together ? MPI_File_read_at_all(file, 1, in, 2 * kItems - 1, MPI_INT, &status)
                  : MPI_File_read_at(file, 1, in, 2 * kItems - 1, MPI_INT, &status));
    CHECK_EQ(moved(&status), sizeof in - sizeof *in);
    CHECK(memcmp(in, out + 1, sizeof in - sizeof *in) == 0);
  }
  if (check_rank == check_size - 1) {
    MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
    MUST(MPI_File_get_position(file, &end));
    /* The file ends with int 603, and int 602 is where item 301 begins. */
    CHECK_EQ(end, 2 * (kItems + 2) - 1);
  }
  MUST(MPI_File_set_view(file, begin, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int item = 0; item < kItems; item++) {
    MUST(MPI_File_read_at(file, 2 * item, in, 1, MPI_INT, &status));
    MUST(MPI_File_read_at(file, 2 * item + 5, in + 1, 1, MPI_INT, &status));
    CHECK(in[0] == out[2 * item] && in[1] == out[2 * item + 1], "item %d", item);
  }
}

/* Items that have bytes in common are read, one of them is written, more are not. */
static void overlapping_items(MPI_File file) {
  const MPI_Aint at[2] = {0, 4 * sizeof(int)};
  MPI_Datatype type = two_blocks(2, at, 5 * sizeof(int));
  MPI_Status status;
  int out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8] = {0};
  MUST(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&type));
  if (check_rank == 0) MUST(MPI_File_write_at(file, 0, out, 4, MPI_INT, &status));
  CHECK_CLASS(MPI_File_write_at(file, 0, out, 5, MPI_INT, &status), MPI_ERR_IO);
  CHECK_CLASS(MPI_File_write_at_all(file, 2, out, 3, MPI_INT, &status), MPI_ERR_IO);
  file_settle(file);
  MUST(MPI_File_read_at(file, 2, in, 3, MPI_INT, &status));
  CHECK(in[0] == 3 && in[1] == 4 && in[2] == 4, "%d %d %d", in[0], in[1], in[2]);
}

/* Items that follow each other backwards: there is one of them. */
static void falling_items(MPI_File file) {
  const MPI_Aint at[2] = {0, 4 * sizeof(int)};
  MPI_Datatype type = two_blocks(2, at, -8 * (MPI_Aint)sizeof(int));
  MPI_Status status;
  MPI_Offset end = 0;
  int data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  MUST(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&type));
  if (check_rank == 0) MUST(MPI_File_write_at(file, 0, data, 4, MPI_INT, &status));
  CHECK_CLASS(MPI_File_write_at(file, 0, data, 8, MPI_INT, &status), MPI_ERR_IO);
  CHECK_CLASS(MPI_File_read_at(file, 4, data, 1, MPI_INT, &status), MPI_ERR_IO);
  file_settle(file);
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  MUST(MPI_File_get_position(file, &end));
  CHECK_EQ(end, 4);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  static void (*const kParts[])(MPI_File) = {every_second,
                                             subarrays,
                                             no_part,
                                             external,
                                             converted_in_parts,
                                             own_representation,
                                             own_representation_in_parts,
                                             nothing_converted,
                                             first_of_interleaved_items,
                                             interleaved_items,
                                             overlapping_items,
                                             falling_items};
  for (size_t k = 0; k < sizeof kParts / sizeof *kParts; k++) {
    MPI_File file = file_make(file_name("views"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    kParts[k](file);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_close(&file));
  }
  return check_end();
}
