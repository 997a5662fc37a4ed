/* An MPI-1.1 program: the names that MPI-3.0 removed, and bounds that stick. */
#include <mpi_removed.h>

#include "check.h"

static int handled = 0;
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  if (*code != MPI_SUCCESS) handled++;
}

static void error_handlers(void) {
  MPI_Errhandler mine, got, before;
  MUST(MPI_Errhandler_get(MPI_COMM_WORLD, &before));
  MPI_Handler_function* function = on_error;
  MUST(MPI_Errhandler_create(function, &mine));
  MUST(MPI_Errhandler_set(MPI_COMM_WORLD, mine));
  MUST(MPI_Errhandler_get(MPI_COMM_WORLD, &got));
  CHECK(got == mine, " ");
  int data = 0;
  MPI_Send(&data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  CHECK_EQ(handled, 1);
  MUST(MPI_Errhandler_set(MPI_COMM_WORLD, before));
  MUST(MPI_Errhandler_free(&got));
  MUST(MPI_Errhandler_free(&mine));
  MUST(MPI_Errhandler_free(&before));
}

static void expect_bounds(MPI_Datatype type, MPI_Aint lb, MPI_Aint ub) {
  MPI_Aint got_lb, got_ub, extent;
  MUST(MPI_Type_lb(type, &got_lb));
  MUST(MPI_Type_ub(type, &got_ub));
  MUST(MPI_Type_extent(type, &extent));
  CHECK_EQ(got_lb, lb);
  CHECK_EQ(got_ub, ub);
  CHECK_EQ(extent, ub - lb);
}

static MPI_Datatype structure(int n, const int* lengths, const MPI_Aint* places, const MPI_Datatype* types) {
  MPI_Datatype type;
  MUST(MPI_Type_struct(n, lengths, places, types, &type));
  return type;
}

/* Example 3.26, and what follows from the rule: a bound given anywhere in the map counts alone. */
static void sticky_bounds(void) {
  const int one[4] = {1, 1, 1, 1};
  expect_bounds(MPI_LB, 0, 0);
  expect_bounds(MPI_UB, 0, 0);
  int size = -1;
  MUST(MPI_Type_size(MPI_UB, &size));
  CHECK_EQ(size, 0);

  const MPI_Aint places1[3] = {-3, 0, 6};
  const MPI_Datatype types1[3] = {MPI_LB, MPI_INT, MPI_UB};
  MPI_Datatype type1 = structure(3, one, places1, types1), type2;
  expect_bounds(type1, -3, 6);
  MUST(MPI_Type_size(type1, &size));
  CHECK_EQ(size, (int)sizeof(int));
  MUST(MPI_Type_contiguous(2, type1, &type2));
  expect_bounds(type2, -3, 15);

  /* One bound alone: the other is natural, and the upper one is not rounded when it is given. */
  const MPI_Aint places3[2] = {0, 7};
  const MPI_Datatype ub_only[2] = {MPI_INT, MPI_UB}, lb_only[2] = {MPI_CHAR, MPI_LB};
  MPI_Datatype type3 = structure(2, one, places3, ub_only);
  expect_bounds(type3, 0, 7);
  const MPI_Aint places4[2] = {5, 2};
  MPI_Datatype type4 = structure(2, one, places4, lb_only);
  expect_bounds(type4, 2, 6);

  /* Stick through nests: data beyond the bounds does not move them. */
  const MPI_Aint places5[3] = {100, 0, 50};
  const MPI_Datatype types5[3] = {MPI_DOUBLE, type1, type3};
  MPI_Datatype type5 = structure(3, one, places5, types5);
  expect_bounds(type5, -3, 57);
  MPI_Datatype type6;
  MUST(MPI_Type_hvector(3, 1, -10, type3, &type6)); /* UBs at 7, -3, -13; data from -20 */
  expect_bounds(type6, -20, 7);
  MPI_Datatype* all[] = {&type1, &type2, &type3, &type4, &type5, &type6};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) MUST(MPI_Type_free(all[i]));
}

/* Example 3.34 and 3.35: particles, by displacement and by absolute address; the upper bound makes the stride. */
struct Partstruct {
  char class_of;
  double d[6];
  char b[7];
};

static void particles(void) {
  enum { kParticles = 100 };
  struct Partstruct* particle = check_alloc(kParticles * sizeof *particle);
  struct Partstruct* got = check_alloc(kParticles * sizeof *got);
  memset(got, 0, kParticles * sizeof *got);
  for (int i = 0; i < kParticles; i++) {
    particle[i].class_of = (char)(i % 3);
    for (int j = 0; j < 6; j++) particle[i].d[j] = i + j * 0.5;
    for (int j = 0; j < 7; j++) particle[i].b[j] = (char)(i + j);
  }
  MPI_Datatype types[4] = {MPI_CHAR, MPI_DOUBLE, MPI_CHAR, MPI_UB};
  int lengths[4] = {1, 6, 7, 1};
  MPI_Aint places[4], base;
  MUST(MPI_Address(particle, &places[0]));
  MUST(MPI_Address(particle[0].d, &places[1]));
  MUST(MPI_Address(particle[0].b, &places[2]));
  MUST(MPI_Address(particle + 1, &places[3]));
  base = places[0];
  for (int i = 0; i < 4; i++) places[i] -= base;
  MPI_Datatype particle_type;
  MUST(MPI_Type_struct(4, lengths, places, types, &particle_type));
  MUST(MPI_Type_commit(&particle_type));
  expect_bounds(particle_type, 0, sizeof(struct Partstruct));
  MUST(MPI_Sendrecv(particle, kParticles, particle_type, 0, 1, got, kParticles, particle_type, 0, 1, MPI_COMM_SELF,
                    MPI_STATUS_IGNORE));
  for (int i = 0; i < kParticles; i++)
    CHECK(got[i].class_of == particle[i].class_of && memcmp(got[i].d, particle[i].d, sizeof got[i].d) == 0 &&
              memcmp(got[i].b, particle[i].b, sizeof got[i].b) == 0,
          "particle %d", i);

  /* The class 0 ones, by absolute address. */
  MPI_Aint where[kParticles];
  int ones[kParticles], n = 0;
  for (int i = 0; i < kParticles; i++) {
    if (particle[i].class_of != 0) continue;
    MUST(MPI_Address(&particle[i], &where[n]));
    ones[n++] = 1;
  }
  MPI_Datatype class0;
  MUST(MPI_Type_hindexed(n, ones, where, particle_type, &class0));
  MUST(MPI_Type_commit(&class0));
  memset(got, 0, kParticles * sizeof *got);
  MPI_Status status;
  MUST(MPI_Sendrecv(MPI_BOTTOM, 1, class0, 0, 2, got, kParticles, particle_type, 0, 2, MPI_COMM_SELF, &status));
  int count = -1;
  MUST(MPI_Get_count(&status, particle_type, &count));
  CHECK_EQ(count, n);
  for (int i = 0; i < n; i++) CHECK(got[i].class_of == 0 && got[i].d[5] == 3 * i + 2.5, "particle %d", i);
  MUST(MPI_Type_free(&class0));
  MUST(MPI_Type_free(&particle_type));
  free(particle);
  free(got);
}

/* Example 3.36: unions in an array, either member by the upper bound. */
static void unions(void) {
  union Value {
    int i;
    float f;
    char room[24];
  } u[50], got[50];
  const int one[2] = {1, 1};
  const MPI_Aint places[2] = {0, sizeof(union Value)};
  MPI_Datatype parts[2] = {MPI_INT, MPI_UB};
  MPI_Datatype member = structure(2, one, places, parts);
  MUST(MPI_Type_commit(&member));
  for (int i = 0; i < 50; i++) u[i].i = i * 7;
  MUST(MPI_Sendrecv(u, 50, member, 0, 0, got, 50, member, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < 50; i++) CHECK_EQ(got[i].i, i * 7);
  MUST(MPI_Type_free(&member));
}

/* Decoding shows the call that makes the same today. */
static void decoding(void) {
  const int one[2] = {1, 1};
  const MPI_Aint places[2] = {0, 12};
  const MPI_Datatype types[2] = {MPI_INT, MPI_UB};
  MPI_Datatype type = structure(2, one, places, types), parts[2];
  int integers, addresses, datatypes, combiner, numbers[3];
  MPI_Aint got[2];
  MUST(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner));
  CHECK_EQ(combiner, MPI_COMBINER_STRUCT);
  CHECK_EQ(integers, 3);
  CHECK_EQ(addresses, 2);
  CHECK_EQ(datatypes, 2);
  MUST(MPI_Type_get_contents(type, 3, 2, 2, numbers, got, parts));
  CHECK(parts[1] == MPI_UB && got[1] == 12, " ");
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MUST(MPI_Type_get_name(MPI_UB, name, &length));
  CHECK(strcmp(name, "MPI_UB") == 0, "%s", name);
  MUST(MPI_Type_free(&type));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  error_handlers();
  sticky_bounds();
  particles();
  unions();
  decoding();
  return check_end();
}
