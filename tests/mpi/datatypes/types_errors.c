/* Wrong calls on datatypes: the class of the error, and that nothing else happens. */
#include "check.h"

#define EXPECT(call, class_wanted)                                                                     \
  do {                                                                                                 \
    int expect_class = -1;                                                                             \
    const int expect_code = (call);                                                                    \
    if (expect_code != MPI_SUCCESS) MUST(MPI_Error_class(expect_code, &expect_class));                 \
    CHECK(expect_class == (class_wanted), "%s: class %d, not %s", #call, expect_class, #class_wanted); \
  } while (0)

/* The text that comes with the last error of a class. */
static void expect_words(int code, const char* first, const char* second) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, first) && strstr(text, second), "'%s' and '%s' in: %s", first, second, text);
}

static void constructors(void) {
  MPI_Datatype t = MPI_DATATYPE_NULL;
  const int two[2] = {2, 2}, minus[2] = {1, -1}, three[2] = {3, 3}, zero[2] = {0, 0};
  const MPI_Aint at[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  EXPECT(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
  EXPECT(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
  EXPECT(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
  EXPECT(MPI_Type_vector(-1, 1, 1, MPI_INT, &t), MPI_ERR_COUNT);
  EXPECT(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_COUNT);
  EXPECT(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &t), MPI_ERR_COUNT);
  EXPECT(MPI_Type_indexed(-2, two, two, MPI_INT, &t), MPI_ERR_COUNT);
  EXPECT(MPI_Type_indexed(2, minus, two, MPI_INT, &t), MPI_ERR_COUNT);
  EXPECT(MPI_Type_create_indexed_block(2, -1, two, MPI_INT, &t), MPI_ERR_COUNT);
  EXPECT(MPI_Type_create_struct(2, two, at, types, &t), MPI_ERR_TYPE);
  EXPECT(MPI_Type_create_subarray(0, two, two, two, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
  EXPECT(MPI_Type_create_subarray(2, two, three, zero, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
  EXPECT(MPI_Type_create_subarray(2, three, two, two, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
  EXPECT(MPI_Type_create_subarray(2, three, two, zero, 12345, MPI_INT, &t), MPI_ERR_ARG);
  const int block[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK},
            fallback[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  EXPECT(MPI_Type_create_darray(5, 0, 2, three, block, fallback, two, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
  EXPECT(MPI_Type_create_darray(4, 4, 2, three, block, fallback, two, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
  const int short_blocks[2] = {1, 1};
  EXPECT(MPI_Type_create_darray(4, 0, 2, three, block, short_blocks, two, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
  EXPECT(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &t), MPI_ERR_ARG);
  EXPECT(MPI_Type_create_f90_integer(100, &t), MPI_ERR_ARG);
  EXPECT(MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, &t), MPI_ERR_ARG);
  CHECK(t == MPI_DATATYPE_NULL, "a failed constructor makes nothing");
}

static void use(void) {
  MPI_Datatype t, copy;
  int data[8] = {0}, got;
  MUST(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
  EXPECT(MPI_Send(data, 1, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  EXPECT(MPI_Recv(data, 1, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  EXPECT(MPI_Bcast(data, 1, t, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
  int position = 0;
  EXPECT(MPI_Pack(data, 1, t, &got, 4, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
  copy = t;
  MUST(MPI_Type_free(&t));
  CHECK(t == MPI_DATATYPE_NULL, " ");
  EXPECT(MPI_Type_size(t, &got), MPI_ERR_TYPE);
  EXPECT(MPI_Type_free(&copy), MPI_ERR_TYPE);
  t = MPI_INT;
  EXPECT(MPI_Type_free(&t), MPI_ERR_TYPE);
  MUST(MPI_Type_commit(&t));
  MUST(MPI_Type_create_f90_integer(9, &t));
  EXPECT(MPI_Type_free(&t), MPI_ERR_TYPE);
}

static void decoding(void) {
  MPI_Datatype t, inner;
  int numbers[3];
  EXPECT(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
  MUST(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
  EXPECT(MPI_Type_get_contents(t, 2, 0, 1, numbers, NULL, &inner), MPI_ERR_ARG);
  EXPECT(MPI_Type_get_contents(t, 3, 0, 0, numbers, NULL, &inner), MPI_ERR_ARG);
  MUST(MPI_Type_get_contents(t, 3, 0, 1, numbers, NULL, &inner));
  MUST(MPI_Type_free(&t));
}

static void packing(void) {
  int data[4] = {1, 2, 3, 4}, position = 0;
  MPI_Aint place = 0, size = 0;
  char room[16];
  EXPECT(MPI_Pack(data, 5, MPI_INT, room, 16, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  CHECK_EQ(position, 0);
  EXPECT(MPI_Pack(data, -1, MPI_INT, room, 16, &position, MPI_COMM_WORLD), MPI_ERR_COUNT);
  position = 17;
  EXPECT(MPI_Pack(data, 0, MPI_INT, room, 16, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
  position = 13;
  EXPECT(MPI_Unpack(room, 16, &position, data, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  EXPECT(MPI_Pack_external("external64", data, 1, MPI_INT, room, 16, &place), MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT(MPI_Pack_external_size("native", 1, MPI_INT, &size), MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT(MPI_Pack_external("external32", data, 5, MPI_INT, room, 16, &place), MPI_ERR_TRUNCATE);
  place = 14;
  EXPECT(MPI_Unpack_external("external32", room, 16, &place, data, 1, MPI_INT), MPI_ERR_TRUNCATE);
  /* The form itself, through the entry points. */
  place = 0;
  data[0] = 0x01020304;
  MUST(MPI_Pack_external("external32", data, 1, MPI_INT, room, 16, &place));
  CHECK(place == 4 && room[0] == 1 && room[1] == 2 && room[2] == 3 && room[3] == 4, " ");
  MPI_Count large = 0;
  MUST(MPI_Unpack_external_c("external32", room, 16, &large, data + 1, 1, MPI_INT));
  CHECK(large == 4 && data[1] == data[0], " ");
  MUST(MPI_Pack_external_size_c("external32", 3, MPI_LONG, &large));
  CHECK_EQ(large, 12);
}

static void keys(void) {
  int key, flag, *value;
  EXPECT(MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
  EXPECT(MPI_Type_get_attr(MPI_INT, MPI_TAG_UB, &value, &flag), MPI_ERR_KEYVAL);
  MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  EXPECT(MPI_Type_set_attr(MPI_INT, key, NULL), MPI_ERR_KEYVAL);
  EXPECT(MPI_Type_free_keyval(&key), MPI_ERR_KEYVAL);
  MUST(MPI_Comm_free_keyval(&key));
  EXPECT(MPI_Type_free_keyval(&key), MPI_ERR_KEYVAL);
}

static void reductions(void) {
  double _Complex z[2] = {1, 2};
  float f[2] = {1, 2};
  struct {
    float value;
    int index;
  } pair[2] = {{1, 1}, {2, 2}};
  const int code = MPI_Reduce_local(z, z + 1, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX);
  EXPECT(code, MPI_ERR_OP);
  expect_words(code, "MPI_MAX", "MPI_C_DOUBLE_COMPLEX");
  EXPECT(MPI_Reduce_local(f, f + 1, 1, MPI_FLOAT, MPI_BAND), MPI_ERR_OP);
  EXPECT(MPI_Reduce_local(f, f + 1, 1, MPI_FLOAT, MPI_LAND), MPI_ERR_OP);
  EXPECT(MPI_Reduce_local(f, f + 1, 1, MPI_FLOAT, MPI_MAXLOC), MPI_ERR_OP);
  EXPECT(MPI_Reduce_local(f, f + 1, 1, MPI_WCHAR, MPI_SUM), MPI_ERR_OP);
  EXPECT(MPI_Reduce_local(pair, pair + 1, 1, MPI_FLOAT_INT, MPI_SUM), MPI_ERR_OP);
  const int all = MPI_Allreduce(MPI_IN_PLACE, f, 1, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(all, MPI_ERR_OP);
  expect_words(all, "MPI_SUM", "MPI_BYTE");
  MUST(MPI_Reduce_local(pair, pair + 1, 1, MPI_FLOAT_INT, MPI_MINLOC));
  CHECK(pair[1].value == 1 && pair[1].index == 1, " ");
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  constructors();
  use();
  decoding();
  packing();
  keys();
  reductions();
  return check_end();
}
