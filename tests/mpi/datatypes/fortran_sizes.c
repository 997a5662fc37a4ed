// A Fortran library registers 8-byte INTEGER, LOGICAL and REAL: the datatypes of default kinds have these sizes then.
// With the argument "late": it does so after MPI_Init, where only the sizes in force are taken. With "minus": it
// registers .TRUE. as -1, before MPI_Init, or after it with "minus late": logical reductions give that.
#include <stdbool.h>

#include "check.h"

static int register_sizes(const char* whole, const char* real, const char* twice) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_integer_size", whole);
  MPI_Info_set(info, "mpi_logical_size", whole);
  MPI_Info_set(info, "mpi_real_size", real);
  MPI_Info_set(info, "mpi_double_precision_size", twice);
  const int code = MPI_Abi_set_fortran_info(info);
  MPI_Info_free(&info);
  return code;
}

static int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void has_size(MPI_Datatype type, int wanted) {
  MPI_Aint lower, extent;
  int size;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lower, &extent);
  CHECK(size == wanted && lower == 0 && extent == wanted);
}

static void late(void) {
  const int yes = 1, no = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_EQ(class_of(register_sizes("8", "8", "16")), MPI_ERR_ABI);
  CHECK_EQ(class_of(register_sizes("7", "4", "8")), MPI_ERR_ABI);
  CHECK_EQ(class_of(register_sizes("four", "4", "8")), MPI_ERR_INFO_VALUE);
  CHECK(register_sizes("4", "4", "8") == MPI_SUCCESS);
  CHECK_EQ(class_of(register_sizes("4", "4", "8")), MPI_ERR_ABI);
  has_size(MPI_INTEGER, 4);
  // The first set of the booleans counts, and every later one is an error, equal or not.
  CHECK(MPI_Abi_set_fortran_booleans(4, (void*)&yes, (void*)&no) == MPI_SUCCESS);
  CHECK_EQ(class_of(MPI_Abi_set_fortran_booleans(4, (void*)&yes, (void*)&no)), MPI_ERR_ABI);
}

static void moved(void) {
  const int64_t out[3] = {INT64_C(1) << 40, -2, 3};
  int64_t in[4] = {0, 0, 0, 7};
  int count;
  MPI_Status status;
  MPI_Sendrecv(out, 3, MPI_INTEGER, 0, 1, in, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, &status);
  MPI_Get_count(&status, MPI_INTEGER, &count);
  CHECK(count == 3 && in[0] == out[0] && in[1] == -2 && in[2] == 3 && in[3] == 7);
  MPI_Datatype row;
  MPI_Type_vector(2, 1, 2, MPI_INTEGER, &row);
  MPI_Type_commit(&row);
  MPI_Sendrecv(out, 1, row, 0, 1, in, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(in[0] == out[0] && in[1] == 3);
  MPI_Type_free(&row);
}

static void reduced(int rank, int size) {
  const int64_t mine = (INT64_C(1) << 33) + rank, flag = rank == 0;
  int64_t sum = 0, all = -1, any = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (INT64_C(1) << 33) + size * (size - 1) / 2);
  MPI_Allreduce(&flag, &all, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD);
  MPI_Allreduce(&flag, &any, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD);
  CHECK(all == (size == 1) && any == 1);
  const struct { int64_t value, index; } pair = {-mine, rank};
  int64_t least[2] = {0, 0};
  MPI_Allreduce(&pair, least, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(least[0] == -((INT64_C(1) << 33) + size - 1) && least[1] == size - 1);
  const double places[2] = {1.5 * rank, rank};
  double most[2] = {0, 0};
  MPI_Allreduce(places, most, 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD);
  CHECK(most[0] == 1.5 * (size - 1) && most[1] == size - 1);
}

static void set_minus(void) {
  const int yes = -1, no = 0;
  CHECK_EQ(MPI_Abi_set_fortran_booleans(4, (void*)&yes, (void*)&no), MPI_SUCCESS);
}

/* Ranks have .TRUE. and .FALSE. in turn, and for the last element another value that is not .FALSE. */
static void patterns(int rank, int size) {
  const int mine[3] = {-(rank % 2), -(rank == 0), rank + 2};
  const int all[3] = {0, -(size == 1), -1}, any[3] = {-(size > 1), -1, -1};
  const int odd[3] = {-(size / 2 % 2), -1, -(size % 2)};
  const signed char small = -1;
  int got[3];
  signed char small_got = 0;
  bool c = true, c_got = false;
  MPI_Request request;
  MPI_Allreduce(mine, got, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD);
  CHECK(memcmp(got, all, sizeof got) == 0 || size == 1, "LAND: %d %d %d", got[0], got[1], got[2]);
  MPI_Allreduce(mine, got, 3, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD);
  CHECK(memcmp(got, any, sizeof got) == 0 || size == 1, "LOR: %d %d %d", got[0], got[1], got[2]);
  MPI_Iallreduce(mine, got, 3, MPI_LOGICAL4, MPI_LXOR, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(memcmp(got, odd, sizeof got) == 0 || size == 1, "LXOR: %d %d %d", got[0], got[1], got[2]);
  MPI_Allreduce(&small, &small_got, 1, MPI_LOGICAL1, MPI_LOR, MPI_COMM_WORLD);
  CHECK_EQ(small_got, -1);
  /* C's have nothing to do with it. */
  MPI_Allreduce(&c, &c_got, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
  CHECK(c_got, "C's bool");
  const int one = 5;
  MPI_Allreduce(&one, got, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  CHECK(got[0] == 1 || size == 1, "C's int: %d", got[0]);
}

static int with_minus(int late) {
  int rank, size;
  if (!late) set_minus();
  MPI_Init(NULL, NULL);
  if (late) set_minus();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  patterns(rank, size);
  MPI_Finalize();
  return check_failures != 0;
}

int main(int argc, char** argv) {
  const int is_late = argc > 1 && !strcmp(argv[1], "late");
  if (argc > 1 && !strcmp(argv[1], "minus")) return with_minus(argc > 2);
  int rank, size;
  if (!is_late) CHECK(register_sizes("8", "8", "16") == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (is_late) {
    late();
  } else {
    has_size(MPI_INTEGER, 8);
    has_size(MPI_LOGICAL, 8);
    has_size(MPI_2INTEGER, 16);
    has_size(MPI_REAL, 8);
    has_size(MPI_COMPLEX, 16);
    has_size(MPI_DOUBLE_PRECISION, 16);
    has_size(MPI_2DOUBLE_PRECISION, 32);
    has_size(MPI_INTEGER4, 4);
    has_size(MPI_INT, 4);
    moved();
    reduced(rank, size);
  }
  MPI_Finalize();
  return check_failures != 0;
}
