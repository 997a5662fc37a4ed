/* Rules of the standard about datatypes that one does not meet by accident: what is left alone, what outlives its
 * handle, who is called, and what things are called. */
#include "check.h"

static MPI_Datatype committed(MPI_Datatype type) {
  MUST(MPI_Type_commit(&type));
  return type;
}

static void expect_class(int code, int wanted, const char* what) {
  int class_of = 0;
  MUST(MPI_Error_class(code, &class_of));
  CHECK(class_of == wanted, "%s: class %d, not %d", what, class_of, wanted);
}

/* A receive writes the entries of the type map that the message reaches, and nothing else. */
static void left_alone(void) {
  int in[20], out[7];
  MPI_Datatype spread;
  MPI_Status status;
  int count, elements;
  MUST(MPI_Type_vector(4, 2, 3, MPI_INT, &spread));
  spread = committed(spread);
  for (int i = 0; i < 7; i++) out[i] = i;
  for (int i = 0; i < 20; i++) in[i] = -1;
  MUST(MPI_Sendrecv(out, 7, MPI_INT, 0, 0, in, 1, spread, 0, 0, MPI_COMM_SELF, &status));
  for (int i = 0; i < 20; i++) CHECK(in[i] == (i < 10 && i % 3 < 2 ? i / 3 * 2 + i % 3 : -1), "%d: %d", i, in[i]);
  MUST(MPI_Get_count(&status, spread, &count));
  MUST(MPI_Get_elements(&status, spread, &elements));
  CHECK(count == MPI_UNDEFINED && elements == 7, "%d %d", count, elements);
  /* More than fits is cut there. */
  for (int i = 0; i < 20; i++) in[i] = -1;
  int many[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  expect_class(MPI_Sendrecv(many, 9, MPI_INT, 0, 0, in, 1, spread, 0, 0, MPI_COMM_SELF, &status), MPI_ERR_TRUNCATE,
               "too long");
  CHECK(in[11] == -1 && in[2] == -1 && in[8] == -1, " ");
  MUST(MPI_Type_free(&spread));

  /* Nothing of nothing is nothing; something of nothing cannot be said. */
  MPI_Datatype empty;
  MUST(MPI_Type_contiguous(0, MPI_INT, &empty));
  empty = committed(empty);
  MUST(MPI_Status_set_elements(&status, MPI_INT, 0));
  MUST(MPI_Get_count(&status, empty, &count));
  CHECK_EQ(count, 0);
  MUST(MPI_Status_set_elements(&status, MPI_INT, 3));
  MUST(MPI_Get_count(&status, empty, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  MUST(MPI_Type_free(&empty));
}

/* What is sent may overlap itself. */
static void overlapping(void) {
  const int data[4] = {1, 2, 3, 4}, lengths[3] = {2, 3, 2}, places[3] = {2, 0, 1};
  int in[7];
  MPI_Datatype type;
  MUST(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
  type = committed(type);
  MUST(MPI_Sendrecv(data, 1, type, 0, 0, in, 7, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  const int wanted[7] = {3, 4, 1, 2, 3, 2, 3};
  CHECK(memcmp(in, wanted, sizeof in) == 0, "%d %d %d %d %d %d %d", in[0], in[1], in[2], in[3], in[4], in[5], in[6]);
  MUST(MPI_Type_free(&type));
}

/* Operations keep what they need of a datatype whose handles are all gone. */
static void freed_while_pending(void) {
  enum { kItems = 100000 };
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  double* out = check_alloc(2 * kItems * sizeof *out);
  double* in = check_alloc(3 * kItems * sizeof *in);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 2 * kItems; i++) out[i] = i + round;
    for (int i = 0; i < 3 * kItems; i++) in[i] = -1;
    MPI_Datatype sent, inner, received, made[8];
    MPI_Request requests[2];
    MUST(MPI_Type_vector(kItems, 1, 2, MPI_DOUBLE, &sent));
    MUST(MPI_Type_create_resized(MPI_DOUBLE, 0, 3 * sizeof(double), &inner));
    MUST(MPI_Type_contiguous(kItems, inner, &received));
    MUST(MPI_Type_free(&inner));
    sent = committed(sent);
    received = committed(received);
    if (round == 0) {
      MUST(MPI_Irecv(in, 1, received, left, 1, MPI_COMM_WORLD, &requests[0]));
      MUST(MPI_Isend(out, 1, sent, right, 1, MPI_COMM_WORLD, &requests[1]));
    } else {
      MUST(MPI_Recv_init(in, 1, received, left, 1, MPI_COMM_WORLD, &requests[0]));
      MUST(MPI_Send_init(out, 1, sent, right, 1, MPI_COMM_WORLD, &requests[1]));
    }
    MUST(MPI_Type_free(&sent));
    MUST(MPI_Type_free(&received));
    CHECK(sent == MPI_DATATYPE_NULL && received == MPI_DATATYPE_NULL, " ");
    /* Others take their places. */
    for (int i = 0; i < 8; i++) MUST(MPI_Type_vector(3 + i, 2, 7, MPI_CHAR, &made[i]));
    for (int i = 0; i < 8; i++) MUST(MPI_Type_commit(&made[i]));
    if (round == 1) MUST(MPI_Startall(2, requests));
    MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3 * kItems; i++)
      if (in[i] != (i % 3 == 0 ? i / 3 * 2 + round : -1)) {
        CHECK(0, "round %d, %d: %g", round, i, in[i]);
        break;
      }
    for (int i = 0; i < 2 && round == 1; i++) MUST(MPI_Request_free(&requests[i]));
    for (int i = 0; i < 8; i++) MUST(MPI_Type_free(&made[i]));
  }
  free(out);
  free(in);
}

/* A duplicate is committed when the original is. */
static void duplicates(void) {
  MPI_Datatype type, copy;
  int data[6] = {0};
  MUST(MPI_Type_vector(2, 1, 3, MPI_INT, &type));
  MUST(MPI_Type_dup(type, &copy));
  expect_class(MPI_Send(data, 1, copy, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "dup of an uncommitted type");
  MUST(MPI_Type_free(&copy));
  MUST(MPI_Type_commit(&type));
  MUST(MPI_Type_commit(&type)); /* again: nothing happens */
  MUST(MPI_Type_dup(type, &copy));
  MUST(MPI_Type_free(&type));
  MUST(MPI_Send(data, 1, copy, MPI_PROC_NULL, 0, MPI_COMM_SELF));
  MUST(MPI_Type_free(&copy));
  MUST(MPI_Type_dup(MPI_INT, &copy)); /* a datatype of its own, that can be freed */
  CHECK(copy != MPI_INT, " ");
  int a, b, c, combiner;
  MUST(MPI_Type_get_envelope(copy, &a, &b, &c, &combiner));
  CHECK(combiner == MPI_COMBINER_DUP && a == 0 && b == 0 && c == 1, " ");
  MUST(MPI_Type_free(&copy));
}

/* Callbacks of attributes that fail: the call fails with what they say, and nothing has happened. */
static int copied, deleted, verdict_of_copy, verdict_of_delete;

static int on_copy(MPI_Datatype old, int key, void* extra, void* in, void* out, int* flag) {
  (void)old, (void)key;
  copied++;
  *(void**)out = (char*)in + *(int*)extra;
  *flag = 1;
  return verdict_of_copy;
}
static int on_delete(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)value, (void)extra;
  deleted++;
  return verdict_of_delete;
}

static void failing_callbacks(void) {
  static char values[8];
  int step = 2, key, flag;
  void* value;
  MPI_Datatype type, copy = MPI_DATATYPE_NULL;
  MUST(MPI_Type_create_keyval(on_copy, on_delete, &key, &step));
  MUST(MPI_Type_contiguous(2, MPI_INT, &type));
  MUST(MPI_Type_set_attr(type, key, values));
  MUST(MPI_Type_dup(type, &copy));
  MUST(MPI_Type_get_attr(copy, key, &value, &flag));
  CHECK(flag && value == values + 2 && copied == 1 && deleted == 0, " ");
  MUST(MPI_Type_free(&copy));
  CHECK_EQ(deleted, 1);

  MUST(MPI_Add_error_class(&verdict_of_copy));
  copy = MPI_DATATYPE_NULL;
  expect_class(MPI_Type_dup(type, &copy), verdict_of_copy, "copying fails");
  CHECK(copy == MPI_DATATYPE_NULL, "no duplicate");
  const int failing = verdict_of_copy;
  verdict_of_copy = MPI_SUCCESS;
  verdict_of_delete = failing;
  const MPI_Datatype handle = type;
  expect_class(MPI_Type_free(&type), failing, "deleting fails");
  CHECK(type == handle, "it is still there");
  expect_class(MPI_Type_delete_attr(type, key), failing, "deleting the attribute fails");
  expect_class(MPI_Type_set_attr(type, key, values + 1), failing, "overwriting fails");
  verdict_of_delete = MPI_SUCCESS;
  MUST(MPI_Type_get_attr(type, key, &value, &flag));
  CHECK(flag && value == values, "nothing has changed");
  deleted = 0;
  MUST(MPI_Type_free(&type));
  CHECK_EQ(deleted, 1);
  MUST(MPI_Type_free_keyval(&key));
}

/* Pairs of a value and an index, with and without a constant of their own. */
static void pairs(void) {
  MPI_Datatype pair;
  MUST(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
  CHECK(pair == MPI_DOUBLE_INT, "the pair that has a name");
  struct {
    double value;
    long long index;
  } mine = {check_rank % 3, check_rank}, best;
  MPI_Datatype own, again;
  MUST(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG_LONG, &own));
  MUST(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG_LONG, &again));
  CHECK(own == again && own != MPI_DATATYPE_NULL, "made once");
  MUST(MPI_Allreduce(&mine, &best, 1, own, MPI_MAXLOC, MPI_COMM_WORLD));
  const int most = check_size < 3 ? check_size - 1 : 2;
  CHECK(best.value == most && best.index == most, "%g at %lld", best.value, best.index);
  MUST(MPI_Allreduce(&mine, &best, 1, own, MPI_MINLOC, MPI_COMM_WORLD));
  CHECK(best.value == 0 && best.index == 0, "%g at %lld", best.value, best.index);
  expect_class(MPI_Allreduce(&mine, &best, 1, own, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP, "sum of pairs");
  expect_class(MPI_Type_free(&again), MPI_ERR_TYPE, "freeing it");
  int a, b, c, combiner;
  MUST(MPI_Type_get_envelope(own, &a, &b, &c, &combiner));
  CHECK(combiner == MPI_COMBINER_VALUE_INDEX && c == 2, "combiner %d", combiner);
  MPI_Datatype parts[2];
  int none[1];
  MPI_Aint nowhere[1];
  MUST(MPI_Type_get_contents(own, a, b, c, none, nowhere, parts));
  CHECK(parts[0] == MPI_DOUBLE && parts[1] == MPI_LONG_LONG, " ");
}

/* Datatypes made of precision and range: the same arguments, the same handle; they reduce, and cannot be freed. */
static void fortran_kinds(void) {
  MPI_Datatype a, b, c;
  MUST(MPI_Type_create_f90_real(15, 307, &a));
  MUST(MPI_Type_create_f90_real(15, 307, &b));
  MUST(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &c));
  CHECK(a == b && a != c && a != MPI_DOUBLE, " ");
  double mine = 0.5, sum = 0;
  MUST(MPI_Allreduce(&mine, &sum, 1, a, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == 0.5 * check_size, "%g", sum);
  expect_class(MPI_Type_free(&a), MPI_ERR_TYPE, "freeing it");
  expect_class(MPI_Type_create_f90_real(40, 10, &b), MPI_ERR_ARG, "no such precision");
  expect_class(MPI_Type_create_f90_complex(10, 5000, &b), MPI_ERR_ARG, "no such range");
  int numbers[2], n, m, k, combiner;
  MPI_Aint nowhere[1];
  MPI_Datatype nothing[1];
  MUST(MPI_Type_get_envelope(c, &n, &m, &k, &combiner));
  CHECK(combiner == MPI_COMBINER_F90_REAL && n == 2 && m == 0 && k == 0, " ");
  MUST(MPI_Type_get_contents(c, n, m, k, numbers, nowhere, nothing));
  CHECK(numbers[0] == 15 && numbers[1] == MPI_UNDEFINED, " ");
  static const struct { int range, bytes; } kIntegers[] = {{2, 1}, {4, 2}, {9, 4}, {18, 8}, {38, 16}};
  for (int i = 0; i < 5; i++) {
    MPI_Aint external;
    int size;
    MUST(MPI_Type_create_f90_integer(kIntegers[i].range, &a));
    MUST(MPI_Type_size(a, &size));
    MUST(MPI_Pack_external_size("external32", 1, a, &external));
    CHECK(size == kIntegers[i].bytes && external == size, "range %d: %d bytes", kIntegers[i].range, size);
  }
  /* Sizes lead back to the constants themselves. */
  MUST(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &a));
  MUST(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &b));
  MUST(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &c));
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MUST(MPI_Type_get_name(a, name, &length));
  CHECK(length > 4 && strncmp(name, "MPI_", 4) == 0, "%s", name);
  expect_class(MPI_Type_free(&a), MPI_ERR_TYPE, "a constant");
  expect_class(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 3, &c), MPI_ERR_ARG, "no such size");
  expect_class(MPI_Type_match_size(12345, 4, &c), MPI_ERR_ARG, "no such class");
}

/* Every constant is called what it is called. */
static void names(void) {
#define NAMED(type) \
  { type, #type }
  static const struct {
    MPI_Datatype type;
    const char* name;
  } kNames[] = {NAMED(MPI_CHAR),
                NAMED(MPI_SHORT),
                NAMED(MPI_INT),
                NAMED(MPI_LONG),
                NAMED(MPI_LONG_LONG_INT),
                NAMED(MPI_SIGNED_CHAR),
                NAMED(MPI_UNSIGNED_CHAR),
                NAMED(MPI_UNSIGNED_SHORT),
                NAMED(MPI_UNSIGNED),
                NAMED(MPI_UNSIGNED_LONG),
                NAMED(MPI_UNSIGNED_LONG_LONG),
                NAMED(MPI_FLOAT),
                NAMED(MPI_DOUBLE),
                NAMED(MPI_LONG_DOUBLE),
                NAMED(MPI_WCHAR),
                NAMED(MPI_C_BOOL),
                NAMED(MPI_INT8_T),
                NAMED(MPI_INT16_T),
                NAMED(MPI_INT32_T),
                NAMED(MPI_INT64_T),
                NAMED(MPI_UINT8_T),
                NAMED(MPI_UINT16_T),
                NAMED(MPI_UINT32_T),
                NAMED(MPI_UINT64_T),
                NAMED(MPI_AINT),
                NAMED(MPI_COUNT),
                NAMED(MPI_OFFSET),
                NAMED(MPI_C_COMPLEX),
                NAMED(MPI_C_DOUBLE_COMPLEX),
                NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
                NAMED(MPI_BYTE),
                NAMED(MPI_PACKED),
                NAMED(MPI_CXX_BOOL),
                NAMED(MPI_CXX_FLOAT_COMPLEX),
                NAMED(MPI_CXX_DOUBLE_COMPLEX),
                NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX),
                NAMED(MPI_INTEGER),
                NAMED(MPI_REAL),
                NAMED(MPI_DOUBLE_PRECISION),
                NAMED(MPI_COMPLEX),
                NAMED(MPI_LOGICAL),
                NAMED(MPI_CHARACTER),
                NAMED(MPI_DOUBLE_COMPLEX),
                NAMED(MPI_INTEGER1),
                NAMED(MPI_INTEGER2),
                NAMED(MPI_INTEGER4),
                NAMED(MPI_INTEGER8),
                NAMED(MPI_INTEGER16),
                NAMED(MPI_REAL2),
                NAMED(MPI_REAL4),
                NAMED(MPI_REAL8),
                NAMED(MPI_REAL16),
                NAMED(MPI_COMPLEX4),
                NAMED(MPI_COMPLEX8),
                NAMED(MPI_COMPLEX16),
                NAMED(MPI_COMPLEX32),
                NAMED(MPI_LOGICAL1),
                NAMED(MPI_LOGICAL2),
                NAMED(MPI_LOGICAL4),
                NAMED(MPI_LOGICAL8),
                NAMED(MPI_LOGICAL16),
                NAMED(MPI_FLOAT_INT),
                NAMED(MPI_DOUBLE_INT),
                NAMED(MPI_LONG_INT),
                NAMED(MPI_2INT),
                NAMED(MPI_SHORT_INT),
                NAMED(MPI_LONG_DOUBLE_INT),
                NAMED(MPI_2REAL),
                NAMED(MPI_2DOUBLE_PRECISION),
                NAMED(MPI_2INTEGER)};
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    MUST(MPI_Type_get_name(kNames[i].type, name, &length));
    CHECK(strcmp(name, kNames[i].name) == 0 && length == (int)strlen(name), "%s is called %s", kNames[i].name, name);
  }
  MPI_Datatype type;
  MUST(MPI_Type_contiguous(3, MPI_INT, &type));
  MUST(MPI_Type_get_name(type, name, &length));
  CHECK(length == 0 && name[0] == '\0', "a new one has none");
  MUST(MPI_Type_set_name(type, "three"));
  MPI_Datatype copy;
  MUST(MPI_Type_dup(type, &copy));
  MUST(MPI_Type_get_name(copy, name, &length));
  CHECK(length == 0, "a duplicate has none: %s", name);
  MUST(MPI_Type_free(&copy));
  MUST(MPI_Type_free(&type));
}

/* Operands that are the same memory, or are none. */
static void local_reductions(void) {
  int a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40};
  MUST(MPI_Reduce_local(a, b, 4, MPI_INT, MPI_SUM));
  CHECK(b[0] == 11 && b[3] == 44, "%d %d", b[0], b[3]);
  expect_class(MPI_Reduce_local(a, a, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "equal buffers");
  expect_class(MPI_Reduce_local(a, a + 1, 3, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "overlapping buffers");
  expect_class(MPI_Reduce_local(a + 1, a, 2, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "overlapping buffers");
  CHECK(a[0] == 1 && a[3] == 4, "%d %d", a[0], a[3]);
  MUST(MPI_Reduce_local(a, a + 2, 2, MPI_INT, MPI_SUM)); /* side by side */
  CHECK(a[2] == 4 && a[3] == 6, "%d %d", a[2], a[3]);
  MUST(MPI_Reduce_local(a, a, 0, MPI_INT, MPI_SUM));
  for (int count = 0; count < 2; count++) {
    expect_class(MPI_Reduce_local(a, MPI_IN_PLACE, count, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "in place of the result");
    expect_class(MPI_Reduce_local(MPI_IN_PLACE, a, count, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "in place");
  }
}

/* MPI_AINT, MPI_OFFSET and MPI_COUNT are integers of every language, for the logical operations too. */
static void logical_addresses(void) {
  const MPI_Datatype types[3] = {MPI_AINT, MPI_OFFSET, MPI_COUNT};
  for (int t = 0; t < 3; t++) {
    const int64_t mine = check_rank == 0 ? (int64_t)1 << 40 : 0;
    int64_t all = -1;
    MUST(MPI_Allreduce(&mine, &all, 1, types[t], MPI_LAND, MPI_COMM_WORLD));
    CHECK_EQ(all != 0, check_size == 1);
    MUST(MPI_Allreduce(&mine, &all, 1, types[t], MPI_LOR, MPI_COMM_WORLD));
    CHECK_EQ(all != 0, 1);
    MUST(MPI_Allreduce(&mine, &all, 1, types[t], MPI_LXOR, MPI_COMM_WORLD));
    CHECK_EQ(all != 0, 1);
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  left_alone();
  overlapping();
  freed_while_pending();
  duplicates();
  failing_callbacks();
  pairs();
  fortran_kinds();
  names();
  local_reductions();
  logical_addresses();
  return check_end();
}
