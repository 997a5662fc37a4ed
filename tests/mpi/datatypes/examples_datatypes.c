/* The situations of the standard's examples on datatypes that the programs types_constructed, examples_point_to_point
 * and removed_names do not have: addresses, partial items, sections of arrays, unions, packing units that travel
 * through collectives, distributed arrays, absolute datatypes. Numbers in comments are those of MPI-1.1, or the
 * chapter's name. */
#include <stddef.h>

#include "check.h"

static MPI_Datatype committed(MPI_Datatype type) {
  MUST(MPI_Type_commit(&type));
  return type;
}

static void to_self(const void* out, int n, MPI_Datatype sent, void* in, int m, MPI_Datatype received) {
  MUST(MPI_Sendrecv(out, n, sent, 0, 3, in, m, received, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

/* 3.25: a difference of addresses is a difference of bytes. */
static void addresses(void) {
  static float a[100][100];
  MPI_Aint first, later;
  MUST(MPI_Get_address(&a[0][0], &first));
  MUST(MPI_Get_address(&a[9][9], &later));
  CHECK_EQ(MPI_Aint_diff(later, first), 909 * (MPI_Aint)sizeof(float));
  CHECK_EQ(MPI_Aint_add(first, 909 * (MPI_Aint)sizeof(float)), later);
}

/* 3.29: a broken item counts in elements, not in items. */
static void partial_items(void) {
  float data[4] = {1, 2, 3, 4};
  MPI_Datatype two;
  MPI_Status status;
  int count, elements;
  MUST(MPI_Type_contiguous(2, MPI_FLOAT, &two));
  two = committed(two);
  for (int n = 2; n <= 3; n++) {
    float in[4];
    MUST(MPI_Sendrecv(data, n, MPI_FLOAT, 0, 0, in, 2, two, 0, 0, MPI_COMM_SELF, &status));
    MUST(MPI_Get_count(&status, two, &count));
    MUST(MPI_Get_elements(&status, two, &elements));
    CHECK_EQ(count, n == 2 ? 1 : MPI_UNDEFINED);
    CHECK_EQ(elements, n);
    MPI_Count large;
    MUST(MPI_Get_elements_x(&status, two, &large));
    CHECK_EQ(large, n);
    MUST(MPI_Get_elements_c(&status, two, &large));
    CHECK_EQ(large, n);
    MUST(MPI_Get_count_c(&status, two, &large));
    CHECK_EQ(large, n == 2 ? 1 : MPI_UNDEFINED);
  }
  /* What a program says about a status of its own. */
  MUST(MPI_Status_set_elements(&status, two, 5));
  MUST(MPI_Get_elements(&status, two, &elements));
  CHECK_EQ(elements, 5);
  MUST(MPI_Status_set_elements_x(&status, two, (MPI_Count)1 << 33));
  MPI_Count large;
  MUST(MPI_Get_count_c(&status, two, &large));
  CHECK_EQ(large, (MPI_Count)1 << 32);
  MUST(MPI_Get_count(&status, two, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  MUST(MPI_Type_free(&two));
}

/* 3.30: the section a(1:17:2, 3:11, 2:10) of a Fortran array a(100,100,100), to an array e(9,9,9). */
static void section(void) {
  enum { kN = 100, kE = 9 };
  double* a = check_alloc((size_t)kN * kN * kN * sizeof *a);
  double e[kE][kE][kE];
  for (int i = 0; i < kN * kN * kN; i++) a[i] = i;
  MPI_Datatype one, two, three;
  const MPI_Aint size = sizeof(double);
  MUST(MPI_Type_vector(9, 1, 2, MPI_DOUBLE, &one));
  MUST(MPI_Type_create_hvector(9, 1, kN * size, one, &two));
  MUST(MPI_Type_create_hvector(9, 1, kN * kN * size, two, &three));
  three = committed(three);
  to_self(&a[(1 * kN + 2) * kN + 0], 1, three, e, kE * kE * kE, MPI_DOUBLE);
  for (int k = 0; k < kE; k++)
    for (int j = 0; j < kE; j++)
      for (int i = 0; i < kE; i++) CHECK(e[k][j][i] == ((1 + k) * kN + 2 + j) * kN + 2 * i, "%d %d %d", i, j, k);
  MUST(MPI_Type_free(&one));
  MUST(MPI_Type_free(&two));
  MUST(MPI_Type_free(&three));
  free(a);
}

/* 3.34: the first two coordinates of each particle, by a vector and by a bounded pair. */
typedef struct {
  int class_of;
  double d[6];
  char b[7];
} Particle;

static void coordinates(void) {
  enum { kParticles = 50 };
  Particle particle[kParticles];
  double in[kParticles][2];
  for (int i = 0; i < kParticles; i++)
    for (int j = 0; j < 6; j++) particle[i].d[j] = 10 * i + j;
  MPI_Datatype rows, pair, bounded;
  MUST(MPI_Type_create_hvector(kParticles, 2, sizeof(Particle), MPI_DOUBLE, &rows));
  rows = committed(rows);
  MUST(MPI_Type_contiguous(2, MPI_DOUBLE, &pair));
  const int one = 1;
  const MPI_Aint at = offsetof(Particle, d);
  MPI_Datatype placed;
  MUST(MPI_Type_create_struct(1, &one, &at, &pair, &placed));
  MUST(MPI_Type_create_resized(placed, 0, sizeof(Particle), &bounded));
  bounded = committed(bounded);
  for (int way = 0; way < 2; way++) {
    memset(in, 0, sizeof in);
    if (way == 0) {
      to_self(particle[0].d, 1, rows, in, 2 * kParticles, MPI_DOUBLE);
    } else {
      to_self(particle, kParticles, bounded, in, 2 * kParticles, MPI_DOUBLE);
    }
    for (int i = 0; i < kParticles; i++) CHECK(in[i][0] == 10 * i && in[i][1] == 10 * i + 1, "%d way %d", i, way);
  }
  MUST(MPI_Type_free(&rows));
  MUST(MPI_Type_free(&pair));
  MUST(MPI_Type_free(&placed));
  MUST(MPI_Type_free(&bounded));
}

/* 3.35 and 16.19: absolute addresses; several items of them, and variables that lie anywhere. */
static void absolute(void) {
  enum { kItems = 1000 };
  Particle* particle = check_alloc(kItems * sizeof *particle);
  Particle* in = check_alloc(kItems * sizeof *in);
  memset(in, 0, kItems * sizeof *in);
  for (int i = 0; i < kItems; i++) {
    particle[i].class_of = i;
    particle[i].d[0] = i * 0.25;
  }
  const int lengths[2] = {1, 1};
  MPI_Aint at[2];
  const MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
  MUST(MPI_Get_address(&particle[0].class_of, &at[0]));
  MUST(MPI_Get_address(&particle[0].d[0], &at[1]));
  MPI_Datatype raw, type, relative, spaced;
  MPI_Aint lb, extent;
  MUST(MPI_Type_create_struct(2, lengths, at, parts, &raw));
  MUST(MPI_Type_get_extent(raw, &lb, &extent));
  CHECK_EQ(lb, at[0]);
  MUST(MPI_Type_create_resized(raw, at[0], sizeof(Particle), &type));
  type = committed(type);
  at[1] -= at[0];
  at[0] = 0;
  MUST(MPI_Type_create_struct(2, lengths, at, parts, &relative));
  MUST(MPI_Type_create_resized(relative, 0, sizeof(Particle), &spaced));
  spaced = committed(spaced);
  to_self(MPI_BOTTOM, kItems, type, in, kItems, spaced);
  for (int i = 0; i < kItems; i++) CHECK(in[i].class_of == i && in[i].d[0] == i * 0.25, "%d", i);

  int somewhere = 5;
  static double elsewhere = 2.5;
  MUST(MPI_Get_address(&somewhere, &at[0]));
  MUST(MPI_Get_address(&elsewhere, &at[1]));
  MPI_Datatype both;
  MUST(MPI_Type_create_struct(2, lengths, at, parts, &both));
  both = committed(both);
  char packed[12];
  to_self(MPI_BOTTOM, 1, both, packed, 12, MPI_PACKED);
  somewhere = 0;
  elsewhere = 0;
  to_self(packed, 12, MPI_PACKED, MPI_BOTTOM, 1, both);
  CHECK(somewhere == 5 && elsewhere == 2.5, " ");
  MUST(MPI_Type_free(&both));
  MUST(MPI_Type_free(&raw));
  MUST(MPI_Type_free(&type));
  MUST(MPI_Type_free(&relative));
  MUST(MPI_Type_free(&spaced));
  free(particle);
  free(in);
}

/* 3.36: an array of unions, sent as either member. */
static void unions(void) {
  typedef union {
    int i;
    float f;
    char room[20];
  } Value;
  Value u[100], in[100];
  MPI_Datatype as_int, as_float;
  MUST(MPI_Type_create_resized(MPI_INT, 0, sizeof(Value), &as_int));
  MUST(MPI_Type_create_resized(MPI_FLOAT, 0, sizeof(Value), &as_float));
  as_int = committed(as_int);
  as_float = committed(as_float);
  for (int i = 0; i < 100; i++) u[i].i = 3 * i;
  to_self(u, 100, as_int, in, 100, as_int);
  for (int i = 0; i < 100; i++) CHECK_EQ(in[i].i, 3 * i);
  for (int i = 0; i < 100; i++) u[i].f = (float)i / 2;
  to_self(u, 100, as_float, in, 100, as_float);
  for (int i = 0; i < 100; i++) CHECK(in[i].f == (float)i / 2, "%d", i);
  MUST(MPI_Type_free(&as_int));
  MUST(MPI_Type_free(&as_float));
}

/* 3.39: every rank packs a count and that many characters; the root gathers packing units of different lengths. */
static void gathered_units(void) {
  const int n = 3 + check_rank;
  char text[64], *mine, *all = NULL;
  int *sizes = NULL, *places = NULL, need_count, need_text, position = 0, total = 0;
  memset(text, 'a' + check_rank % 26, sizeof text);
  MUST(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &need_count));
  MUST(MPI_Pack_size(n, MPI_CHAR, MPI_COMM_WORLD, &need_text));
  mine = check_alloc((size_t)(need_count + need_text));
  MUST(MPI_Pack(&n, 1, MPI_INT, mine, need_count + need_text, &position, MPI_COMM_WORLD));
  MUST(MPI_Pack(text, n, MPI_CHAR, mine, need_count + need_text, &position, MPI_COMM_WORLD));
  if (check_rank == 0) {
    sizes = check_alloc((size_t)check_size * sizeof *sizes);
    places = check_alloc((size_t)check_size * sizeof *places);
  }
  MUST(MPI_Gather(&position, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (check_rank == 0) {
    for (int r = 0; r < check_size; r++) {
      places[r] = total;
      total += sizes[r];
    }
    all = check_alloc((size_t)total);
  }
  MUST(MPI_Gatherv(mine, position, MPI_PACKED, all, sizes, places, MPI_PACKED, 0, MPI_COMM_WORLD));
  for (int r = 0; check_rank == 0 && r < check_size; r++) {
    int count = -1;
    position = 0;
    MUST(MPI_Unpack(all + places[r], total - places[r], &position, &count, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_EQ(count, 3 + r);
    MUST(MPI_Unpack(all + places[r], total - places[r], &position, text, count, MPI_CHAR, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) CHECK_EQ(text[i], 'a' + r % 26);
  }
  free(mine);
  free(all);
  free(sizes);
  free(places);
}

/* 3.27: a copy of a handle is as good after the commit; the variable may then name a datatype that is not committed. */
static void handles(void) {
  MPI_Datatype type, copy;
  float data[5] = {1, 2, 3, 4, 5}, in[5] = {0};
  MUST(MPI_Type_contiguous(5, MPI_FLOAT, &type));
  copy = type;
  MUST(MPI_Type_commit(&type));
  to_self(data, 1, copy, in, 5, MPI_FLOAT);
  CHECK(memcmp(data, in, sizeof data) == 0, " ");
  MUST(MPI_Type_vector(3, 5, 4, MPI_FLOAT, &type));
  int class_of;
  MUST(MPI_Error_class(MPI_Send(data, 0, type, MPI_PROC_NULL, 0, MPI_COMM_SELF), &class_of));
  CHECK_EQ(class_of, MPI_ERR_TYPE);
  memset(in, 0, sizeof in);
  to_self(data, 5, MPI_FLOAT, in, 1, copy);
  CHECK(memcmp(data, in, sizeof data) == 0, " ");
  MUST(MPI_Type_free(&type));
  MUST(MPI_Type_free(&copy));
}

/* 3.38: a number and an array of that length, described by absolute addresses. Packed, or sent as they are, they can be
 * received as packed and taken apart again. */
static void packed_or_sent(void) {
  enum { kMost = 100, kRoom = 1000 };
  char buffer[kRoom], in[kRoom];
  int i = 60, b, position = 0, size;
  float a[kMost], got[kMost];
  for (int k = 0; k < kMost; k++) a[k] = (float)k / 4;
  const int lengths[2] = {1, i};
  const MPI_Datatype parts[2] = {MPI_INT, MPI_FLOAT};
  MPI_Aint at[2];
  MPI_Datatype type;
  MUST(MPI_Get_address(&i, &at[0]));
  MUST(MPI_Get_address(a, &at[1]));
  MUST(MPI_Type_create_struct(2, lengths, at, parts, &type));
  type = committed(type);
  MUST(MPI_Pack_size(1, type, MPI_COMM_SELF, &size));
  CHECK(size <= kRoom, "%d", size);
  MUST(MPI_Pack(MPI_BOTTOM, 1, type, buffer, kRoom, &position, MPI_COMM_SELF));
  for (int way = 0; way < 2; way++) {
    memset(in, 0, sizeof in);
    if (way == 0) {
      to_self(buffer, position, MPI_PACKED, in, kRoom, MPI_PACKED);
    } else {
      to_self(MPI_BOTTOM, 1, type, in, kRoom, MPI_PACKED);
    }
    int place = 0;
    MUST(MPI_Unpack(in, kRoom, &place, &b, 1, MPI_INT, MPI_COMM_SELF));
    CHECK_EQ(b, i);
    MUST(MPI_Unpack(in, kRoom, &place, got, b, MPI_FLOAT, MPI_COMM_SELF));
    CHECK(place == position && memcmp(a, got, (size_t)b * sizeof *a) == 0, "way %d: %d of %d", way, place, position);
  }
  MUST(MPI_Type_free(&type));
}

/* `count` items of a type are one item of `count` of them in a row; and a structure that is an array's element. */
static void rows_of_items(void) {
  typedef struct {
    int i;
    float r;
    double d;
    char tail;
  } Foo;
  enum { kItems = 7 };
  Foo foo[kItems], in[kItems];
  char one[kItems * 17], other[kItems * 17];
  for (int k = 0; k < kItems; k++) foo[k] = (Foo){k, (float)k / 2, k * 0.25, (char)k};
  const int lengths[4] = {1, 1, 1, 1};
  MPI_Aint at[4], base;
  const MPI_Datatype parts[4] = {MPI_INT, MPI_FLOAT, MPI_DOUBLE, MPI_CHAR};
  MUST(MPI_Get_address(&foo[0], &base));
  MUST(MPI_Get_address(&foo[0].i, &at[0]));
  MUST(MPI_Get_address(&foo[0].r, &at[1]));
  MUST(MPI_Get_address(&foo[0].d, &at[2]));
  MUST(MPI_Get_address(&foo[0].tail, &at[3]));
  for (int k = 0; k < 4; k++) at[k] = MPI_Aint_diff(at[k], base);
  MPI_Datatype members, item, row;
  MUST(MPI_Type_create_struct(4, lengths, at, parts, &members));
  MUST(MPI_Type_create_resized(members, 0, sizeof(Foo), &item));
  MUST(MPI_Type_contiguous(kItems, item, &row));
  item = committed(item);
  row = committed(row);
  to_self(foo, kItems, item, one, (int)sizeof one, MPI_PACKED);
  to_self(foo, 1, row, other, (int)sizeof other, MPI_PACKED);
  CHECK(memcmp(one, other, sizeof one) == 0, " ");
  memset(in, 0, sizeof in);
  to_self(foo, 1, row, in, kItems, item);
  for (int k = 0; k < kItems; k++)
    CHECK(in[k].i == k && in[k].r == (float)k / 2 && in[k].d == k * 0.25 && in[k].tail == (char)k, "%d", k);
  MUST(MPI_Type_free(&members));
  MUST(MPI_Type_free(&item));
  MUST(MPI_Type_free(&row));
}

/* Darray: a 16 x 12 array in blocks of (cyclic(3), block) over a 2 x 3 grid; the parts of all together are the array.
 */
static void distributed(void) {
  enum { kRows = 16, kColumns = 12, kGrid = 6 };
  const int sizes[2] = {kRows, kColumns}, kinds[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
            arguments[2] = {3, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 3};
  int array[kRows][kColumns], part[kRows * kColumns], seen[kRows][kColumns];
  memset(seen, 0, sizeof seen);
  for (int i = 0; i < kRows * kColumns; i++) array[i / kColumns][i % kColumns] = i;
  for (int r = 0; r < kGrid; r++) {
    MPI_Datatype type;
    int bytes, k = 0;
    MUST(MPI_Type_create_darray(kGrid, r, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &type));
    type = committed(type);
    MUST(MPI_Type_size(type, &bytes));
    to_self(array, 1, type, part, bytes / 4, MPI_INT);
    for (int i = 0; i < kRows; i++)
      for (int j = 0; j < kColumns; j++)
        if (i / 3 % 2 == r / 3 && j / 4 == r % 3) {
          CHECK_EQ(part[k], array[i][j]);
          k++;
          seen[i][j]++;
        }
    CHECK_EQ(k, bytes / 4);
    MUST(MPI_Type_free(&type));
  }
  for (int i = 0; i < kRows * kColumns; i++) CHECK_EQ(seen[i / kColumns][i % kColumns], 1);
}

/* Copying a datatype from its decoded call. */
static void decoded(void) {
  const int lengths[2] = {2, 1};
  const MPI_Aint at[2] = {0, 24};
  const MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype type, again, inner[2];
  MUST(MPI_Type_create_struct(2, lengths, at, parts, &type));
  int integers, addresses, datatypes, combiner, numbers[3];
  MPI_Aint places[2];
  MUST(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner));
  CHECK(combiner == MPI_COMBINER_STRUCT && integers == 3 && addresses == 2 && datatypes == 2, " ");
  MUST(MPI_Type_get_contents(type, integers, addresses, datatypes, numbers, places, inner));
  MUST(MPI_Type_create_struct(numbers[0], numbers + 1, places, inner, &again));
  MPI_Aint lb[2], extent[2];
  MUST(MPI_Type_get_extent(type, &lb[0], &extent[0]));
  MUST(MPI_Type_get_extent(again, &lb[1], &extent[1]));
  CHECK(lb[0] == lb[1] && extent[0] == extent[1], " ");
  MUST(MPI_Type_free(&type));
  MUST(MPI_Type_free(&again));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  addresses();
  partial_items();
  section();
  coordinates();
  absolute();
  unions();
  gathered_units();
  handles();
  packed_or_sent();
  rows_of_items();
  distributed();
  decoded();
  return check_end();
}
