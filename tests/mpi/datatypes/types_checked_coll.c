/* With check.datatypes: a collective whose ranks do not agree about the type signature of what moves fails on all of
 * them alike, in every form, and says who differs; nothing has moved then. Those that agree go through, however
 * differently the ranks describe their data. */
#include "check.h"

enum { kItems = 6, kMost = 64 };

static int rank, size, odd; /* in `comm`; the rank that does something else */
static MPI_Comm comm;
static MPI_Datatype strided; /* kItems floats with gaps */

static void expect(int code, const char* one, const char* other, const char* what) {
  char text[MPI_MAX_ERROR_STRING];
  int class_of = 0, length = 0;
  MUST(MPI_Error_class(code, &class_of));
  MUST(MPI_Error_string(code, text, &length));
  CHECK(class_of == MPI_ERR_TYPE, "%s: class %d: %s", what, class_of, text);
  CHECK(strstr(text, one) != NULL && strstr(text, other) != NULL && strstr(text, what) != NULL,
        "%s: '%s' and '%s' in: %s", what, one, other, text);
}

/* Blocking, nonblocking, persistent: the last error code of a call. */
#define FORMS(what, Name, IName, ...)                                                          \
  do {                                                                                         \
    MPI_Request request_ = MPI_REQUEST_NULL;                                                   \
    expect(MPI_##Name(__VA_ARGS__, comm), what[0], what[1], "MPI_" #Name " ");                 \
    MUST(MPI_##IName(__VA_ARGS__, comm, &request_));                                           \
    expect(MPI_Wait(&request_, MPI_STATUS_IGNORE), what[0], what[1], "MPI_" #IName " ");       \
    MUST(MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request_));                      \
    for (int start_ = 0; start_ < 2; start_++) {                                               \
      MUST(MPI_Start(&request_));                                                              \
      expect(MPI_Wait(&request_, MPI_STATUS_IGNORE), what[0], what[1], "MPI_" #Name "_init "); \
    }                                                                                          \
    MUST(MPI_Request_free(&request_));                                                         \
  } while (0)

static void differing(void) {
  static const char* const sent[] = {"sends 6 x MPI_INT", "receives 6 x MPI_FLOAT"};
  static const char* const wanted[] = {"sends 6 x MPI_FLOAT", "receives 6 x MPI_INT"};
  static const char* const combined[] = {"combines 6 x MPI_INT", "combines 6 x MPI_FLOAT"};
  const int differs = rank == odd;
  const MPI_Datatype mine = differs ? MPI_INT : MPI_FLOAT;
  float in[kItems * kMost], out[kItems * kMost];
  int counts[kMost], displs[kMost], bytes[kMost];
  MPI_Datatype types[kMost], alike[kMost];
  for (int i = 0; i < kItems * kMost; i++) in[i] = out[i] = 5;
  for (int r = 0; r < size; r++) {
    counts[r] = kItems;
    displs[r] = kItems * r;
    bytes[r] = kItems * r * (int)sizeof(float);
    types[r] = differs && r == 0 ? MPI_INT : MPI_FLOAT;
    alike[r] = MPI_FLOAT;
  }
  FORMS(wanted, Bcast, Ibcast, out, kItems, mine, 0);
  FORMS(sent, Gather, Igather, in, kItems, mine, out, kItems, MPI_FLOAT, 0);
  FORMS(sent, Gatherv, Igatherv, in, kItems, mine, out, counts, displs, MPI_FLOAT, 0);
  FORMS(wanted, Scatter, Iscatter, in, kItems, MPI_FLOAT, out, kItems, mine, 0);
  FORMS(wanted, Scatterv, Iscatterv, in, counts, displs, MPI_FLOAT, out, kItems, mine, 0);
  FORMS(sent, Allgather, Iallgather, in, kItems, mine, out, kItems, MPI_FLOAT);
  FORMS(wanted, Allgatherv, Iallgatherv, in, kItems, MPI_FLOAT, out, counts, displs, mine);
  FORMS(sent, Alltoall, Ialltoall, in, kItems, mine, out, kItems, MPI_FLOAT);
  FORMS(wanted, Alltoallv, Ialltoallv, in, counts, displs, MPI_FLOAT, out, counts, displs, mine);
  FORMS(sent, Alltoallw, Ialltoallw, in, counts, bytes, types, out, counts, bytes, alike);
  FORMS(combined, Reduce, Ireduce, in, out, kItems, mine, MPI_SUM, 0);
  FORMS(combined, Allreduce, Iallreduce, in, out, kItems, mine, MPI_SUM);
  FORMS(combined, Scan, Iscan, in, out, kItems, mine, MPI_SUM);
  FORMS(combined, Exscan, Iexscan, in, out, kItems, mine, MPI_SUM);
  for (int i = 0; i < kItems * kMost; i++) CHECK(out[i] == 5, "nothing moves: %d", i);
  int one = 1, sum = 0;
  MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size);
}

/* The amounts belong to the signature, and they have to be equal. */
static void amounts(void) {
  static const char* const longer[] = {"sends 3 x MPI_FLOAT", "receives 2 x MPI_FLOAT"};
  static const char* const none[] = {"sends 2 x MPI_FLOAT", "receives nothing"};
  float in[2 * kMost + 8] = {0}, out[2 * kMost + 8] = {0};
  const int differs = rank == odd;
  FORMS(longer, Gather, Igather, in, differs ? 3 : 2, MPI_FLOAT, out, 2, MPI_FLOAT, 0);
  FORMS(none, Bcast, Ibcast, in, differs ? 0 : 2, MPI_FLOAT, 0);
}

/* In place, packed, derived or basic: the same signature in different words. */
static void agreeing(void) {
  float in[2 * kItems * kMost], out[2 * kItems * kMost];
  for (int i = 0; i < 2 * kItems * kMost; i++) in[i] = out[i] = (float)(i + rank);
  const int derived = rank % 2, packed = rank == odd;
  MUST(MPI_Bcast(in, derived ? 1 : kItems, derived ? strided : MPI_FLOAT, 0, comm));
  MUST(MPI_Bcast(in, packed ? 4 * kItems : kItems, packed ? MPI_PACKED : MPI_FLOAT, 0, comm));
  MUST(MPI_Allgather(in, derived ? 1 : kItems, derived ? strided : MPI_FLOAT, out, kItems, MPI_FLOAT, comm));
  MUST(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, kItems, MPI_FLOAT, comm));
  MUST(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, kItems, MPI_FLOAT, comm));
  for (int r = 0; r < size; r++) out[kItems * r] = (float)rank;
  MUST(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, kItems, MPI_FLOAT, comm));
  for (int r = 0; r < size; r++) CHECK(out[kItems * r] == (float)r, "%d", r);
  if (rank == 0) {
    MUST(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, kItems, MPI_FLOAT, 0, comm));
    MUST(MPI_Scatter(out, kItems, MPI_FLOAT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, comm));
    MUST(MPI_Reduce(MPI_IN_PLACE, out, kItems, MPI_FLOAT, MPI_SUM, 0, comm));
  } else {
    MUST(MPI_Gather(in, kItems, MPI_FLOAT, NULL, 0, MPI_DATATYPE_NULL, 0, comm));
    MUST(MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, in, kItems, MPI_FLOAT, 0, comm));
    MUST(MPI_Reduce(in, NULL, kItems, MPI_FLOAT, MPI_SUM, 0, comm));
  }
  int ones[kMost], mine = -1, counts[kMost];
  for (int r = 0; r < size; r++) ones[r] = counts[r] = 1;
  MUST(MPI_Reduce_scatter_block(ones, &mine, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(mine, size);
  MUST(MPI_Reduce_scatter(ones, &mine, counts, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(mine, size);
  MUST(MPI_Barrier(comm));
}

/* A ring; on two ranks, and on one, both neighbours are the same. */
static void neighbours(void) {
  const int dims = size, periods = 1;
  const MPI_Comm whole = comm;
  static const char* const sent[] = {"sends 6 x MPI_INT", "receives 6 x MPI_FLOAT"};
  MPI_Comm ring;
  MUST(MPI_Cart_create(whole, 1, &dims, &periods, 0, &ring));
  MUST(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
  comm = ring;
  float in[2 * kItems], out[2 * kItems];
  for (int i = 0; i < 2 * kItems; i++) in[i] = (float)i, out[i] = 5;
  const MPI_Datatype mine = rank == odd ? MPI_INT : MPI_FLOAT;
  const int counts[2] = {kItems, kItems}, displs[2] = {0, kItems};
  const MPI_Aint bytes[2] = {0, kItems * sizeof(float)};
  const MPI_Datatype up[2] = {MPI_FLOAT, mine}, alike[2] = {MPI_FLOAT, MPI_FLOAT};
  FORMS(sent, Neighbor_allgather, Ineighbor_allgather, in, kItems, mine, out, kItems, MPI_FLOAT);
  FORMS(sent, Neighbor_allgatherv, Ineighbor_allgatherv, in, kItems, mine, out, counts, displs, MPI_FLOAT);
  FORMS(sent, Neighbor_alltoall, Ineighbor_alltoall, in, kItems, mine, out, kItems, MPI_FLOAT);
  FORMS(sent, Neighbor_alltoallv, Ineighbor_alltoallv, in, counts, displs, mine, out, counts, displs, MPI_FLOAT);
  FORMS(sent, Neighbor_alltoallw, Ineighbor_alltoallw, in, counts, bytes, up, out, counts, bytes, alike);
  CHECK(out[0] == 5 && out[kItems] == 5, "nothing moves");
  /* What goes up has another type than what goes down; each arrives where it is expected. */
  const MPI_Datatype down_up[2] = {MPI_INT, MPI_FLOAT}, from_below_above[2] = {MPI_FLOAT, MPI_INT};
  MUST(MPI_Neighbor_alltoallw(in, counts, bytes, down_up, out, counts, bytes, from_below_above, ring));
  CHECK(out[0] == kItems && out[kItems] == 0, "%g %g", out[0], out[kItems]);
  MUST(MPI_Comm_free(&ring));
  comm = whole;
}

/* Two groups: even and odd world ranks. */
static void between_groups(void) {
  static const char* const sent[] = {"sends 6 x MPI_INT", "receives 6 x MPI_FLOAT"};
  static const char* const wanted[] = {"sends 6 x MPI_FLOAT", "receives 6 x MPI_INT"};
  static const char* const combined[] = {"combines 6 x MPI_INT", "combines 6 x MPI_FLOAT"};
  const MPI_Comm whole = comm;
  const int low = rank % 2 == 0, odd_here = rank == 1;
  MPI_Comm half, inter;
  MUST(MPI_Comm_split(whole, low, rank, &half));
  MUST(MPI_Intercomm_create(half, 0, whole, low ? 1 : 0, 3, &inter));
  MUST(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  comm = inter;
  int own;
  MUST(MPI_Comm_rank(inter, &own));
  float in[kItems * kMost], out[kItems * kMost];
  for (int i = 0; i < kItems * kMost; i++) in[i] = (float)i, out[i] = 5;
  const MPI_Datatype mine = odd_here ? MPI_INT : MPI_FLOAT;
  const int root = !low ? 0 : own == 0 ? MPI_ROOT : MPI_PROC_NULL; /* among the even ones */
  FORMS(wanted, Bcast, Ibcast, out, kItems, mine, root);
  FORMS(sent, Gather, Igather, in, kItems, mine, out, kItems, MPI_FLOAT, root);
  FORMS(wanted, Scatter, Iscatter, in, kItems, MPI_FLOAT, out, kItems, mine, root);
  FORMS(combined, Reduce, Ireduce, in, out, kItems, mine, MPI_SUM, root);
  FORMS(sent, Allgather, Iallgather, in, kItems, mine, out, kItems, MPI_FLOAT);
  FORMS(wanted, Alltoall, Ialltoall, in, kItems, MPI_FLOAT, out, kItems, mine);
  FORMS(combined, Allreduce, Iallreduce, in, out, kItems, mine, MPI_SUM);
  CHECK(out[0] == 5, "nothing moves");
  /* Both groups get the same error, whichever finds it. */
  const MPI_Datatype both = own == 0 ? MPI_INT : MPI_FLOAT;
  FORMS(sent, Allgather, Iallgather, in, kItems, both, out, kItems, MPI_FLOAT);
  MUST(MPI_Bcast(out, kItems, MPI_FLOAT, root, inter));
  MUST(MPI_Allgather(in, 1, strided, out, kItems, MPI_FLOAT, inter));
  CHECK(out[1] == 2, "%g", out[1]);
  MUST(MPI_Comm_free(&inter));
  MUST(MPI_Comm_free(&half));
  comm = whole;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int calls_too = argc > 1; /* check.collectives is on as well, and tells of amounts first */
  MUST(MPI_Type_vector(kItems, 1, 2, MPI_FLOAT, &strided));
  MUST(MPI_Type_commit(&strided));
  comm = MPI_COMM_WORLD;
  rank = check_rank;
  size = check_size;
  odd = size - 1;
  agreeing();
  if (size > 1) {
    differing();
    if (!calls_too) amounts();
    neighbours();
    between_groups();
  }
  MUST(MPI_Type_free(&strided));
  return check_end();
}
