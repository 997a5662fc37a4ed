/* Views: what MPI_File_get_view gives back, offsets in them, data representations, files that are shorter than the
 * view. */
#include "io.h"

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
    const long long value = ~(long long)((int*)memory)[i];
    memcpy((char*)file + 8 * i, &value, 8);
  }
  return position == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static int read_upside_down(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  (void)type, (void)position;
  ++*(int*)state;
  for (int i = 0; i < count; i++) {
    long long value;
    memcpy(&value, (char*)file + 8 * i, 8);
    ((int*)memory)[i] = (int)~value;
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

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  static void (*const kParts[])(MPI_File) = {every_second, subarrays, no_part, external, own_representation};
  for (size_t k = 0; k < sizeof kParts / sizeof *kParts; k++) {
    MPI_File file = file_make(file_name("views"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    kParts[k](file);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_close(&file));
  }
  return check_end();
}
