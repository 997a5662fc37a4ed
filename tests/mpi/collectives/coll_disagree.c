/* Erroneous programs whose ranks take different ways through a collective: messages on one rank, the shared segment on
 * another, nothing at all on a third. With MPI_ERRORS_RETURN no rank waits for ever: each that waits gets an error, by
 * the sentence that is asked for, and MPI_COMM_WORLD is as good as before. */
#include "check.h"

enum { kLarge = 300000 };
static int size, rank;
static double *out, *in;

enum Way { kBarrier, kBcast, kAllreduce, kReduce, kAlltoall, kNone };

static int call(int way, int count, int root, MPI_Comm comm, int blocking) {
  MPI_Request r = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  switch (way) {
    case kBarrier:
      code = blocking ? MPI_Barrier(comm) : MPI_Ibarrier(comm, &r);
      break;
    case kBcast:
      code =
          blocking ? MPI_Bcast(in, count, MPI_DOUBLE, root, comm) : MPI_Ibcast(in, count, MPI_DOUBLE, root, comm, &r);
      break;
    case kAllreduce:
      code = blocking ? MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm)
                      : MPI_Iallreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm, &r);
      break;
    case kReduce:
      code = blocking ? MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, comm)
                      : MPI_Ireduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, comm, &r);
      break;
    case kAlltoall:
      code = blocking ? MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm)
                      : MPI_Ialltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, comm, &r);
      break;
    default:
      break;
  }
  return code == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : code;
}

/* Rank `odd` calls the second, the others the first. `least`: so many ranks at least must get the error. */
static void pair(int way, int count, int root, int other_way, int other_count, int other_root, int odd, int blocking,
                 int least, const char* says) {
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_name(comm, "pair"));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  const int code =
      rank == odd ? call(other_way, other_count, other_root, comm, blocking) : call(way, count, root, comm, blocking);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, failures = code != MPI_SUCCESS;
  if (failures) MPI_Error_string(code, text, &length);
  /* Each names the communicator; one at least says in what they differ, the others may point to it. */
  int said = says == NULL || (failures && strstr(text, says) != NULL);
  if (failures) CHECK(strstr(text, "'pair'") != NULL, "%d instead of %d: %s", other_way, way, text);
  MUST(MPI_Allreduce(MPI_IN_PLACE, &said, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD));
  CHECK(said, "%d instead of %d: nobody says \"%s\", but: %s", other_way, way, says, text);
  MUST(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(failures >= least, "%d (%d) and %d (%d): %d of %d ranks are told", way, count, other_way, other_count, failures,
        size);
  /* Whatever follows on the communicator ends: well, or with an error on every rank. */
  for (int i = 0; i < 3; i++) {
    int sum = 0, one = 1, bad = 0, all_bad = 0;
    bad = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
    CHECK(bad || sum == size, "a sum of %d on %d ranks", sum, size);
    MUST(MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all_bad == 0 || all_bad == size, "%d of %d ranks can go on", size - all_bad, size);
  }
  MUST(MPI_Comm_free(&comm));
}

/* Rank 0 makes progress for a while before it calls the first collective of MPI_COMM_WORLD. The others ask what it
 * called, and go on waiting. */
static void late(void) {
  MUST(MPI_Barrier(MPI_COMM_SELF)); /* from now on this process answers */
  if (rank == 0) make_progress(0.5);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* The last rank has freed the communicator and the others wait on it. `before`: collectives that all have called there.
 * `hesitates`: the others have waited, and asked the last rank, before it frees it. */
static void freed(int blocking, int before, int hesitates) {
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  for (int i = 0; i < before; i++) MUST(MPI_Barrier(comm));
  int code = MPI_SUCCESS;
  if (rank != size - 1) code = call(kBcast, kLarge, size - 1, comm, blocking);
  if (rank == size - 1 && hesitates) make_progress(0.1);
  MUST(MPI_Comm_free(&comm));
  CHECK(rank == size - 1 || code != MPI_SUCCESS, "rank %d got data from nowhere", rank);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* The last rank has freed the communicator, which a receive of its keeps alive, and the others wait on it. */
static void freed_with_receive(int before) {
  MPI_Comm comm;
  MPI_Request r = MPI_REQUEST_NULL;
  int word = 0, code = MPI_SUCCESS;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  for (int i = 0; i < before; i++) MUST(MPI_Barrier(comm));
  if (rank == size - 1) {
    MUST(MPI_Irecv(&word, 1, MPI_INT, 0, 1, comm, &r));
    MUST(MPI_Comm_free(&comm));
  } else {
    code = MPI_Bcast(in, kLarge, MPI_DOUBLE, size - 1, comm);
    CHECK(code != MPI_SUCCESS, "rank %d got data from nowhere", rank);
    if (rank == 0) MUST(MPI_Send(&rank, 1, MPI_INT, size - 1, 1, comm));
    MUST(MPI_Comm_free(&comm));
  }
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* Tests a request until it is complete; no call waits. */
static int test_until_done(MPI_Request* r) {
  const double end = MPI_Wtime() + 20;
  for (int flag = 0; MPI_Wtime() < end;) {
    const int code = MPI_Test(r, &flag, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || flag) return code;
  }
  CHECK(0, "rank %d still tests after 20 s", rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return MPI_ERR_OTHER;
}

/* Every rank only tests: their calls are compared all the same. */
static void tested(int count, int other_count) {
  MPI_Comm comm;
  MPI_Request r;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  int code =
      rank == size - 1 ? MPI_Iallreduce(out, in, other_count, MPI_DOUBLE, MPI_SUM, comm, &r) : MPI_Ibarrier(comm, &r);
  if (code == MPI_SUCCESS) code = test_until_done(&r);
  CHECK(code != MPI_SUCCESS, "an allreduce of %d ended as a barrier", other_count);
  if (rank == size - 1) count = other_count;
  code = MPI_Iallreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm, &r);
  if (code == MPI_SUCCESS) code = test_until_done(&r);
  CHECK(code != MPI_SUCCESS, "allreduces of %d and %d ended", count, other_count);
  MUST(MPI_Comm_free(&comm));
}

static char* text_of(int code) {
  static char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return text;
}

/* Starts of persistent collectives. The last rank starts as often as the others in both; then it frees the first, whose
 * further starts on the others end in an error; and the second goes on. `hesitates`: the others have waited, and asked
 * the last rank, before it frees the first. */
static void persistent_freed(int count, int hesitates) {
  MPI_Comm comm;
  MPI_Request first, second;
  const int ends = rank == size - 1;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  MUST(MPI_Allreduce_init(out, in, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &first));
  MUST(MPI_Bcast_init(out, 1, MPI_DOUBLE, 0, comm, MPI_INFO_NULL, &second));
  for (int i = 0; i < 3; i++) {
    MUST(MPI_Start(&first));
    MUST(MPI_Start(&second));
    MUST(MPI_Wait(&second, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&first, MPI_STATUS_IGNORE));
  }
  if (!ends) {
    MUST(MPI_Start(&first));
    const int code = MPI_Wait(&first, MPI_STATUS_IGNORE);
    CHECK(code != MPI_SUCCESS, "a start without the last rank ended");
    if (rank == 0)
      CHECK(strstr(text_of(code), "has started it 3 times") || strstr(text_of(code), "failed on"), "%s", text_of(code));
  } else if (hesitates) {
    make_progress(0.1);
  }
  MUST(MPI_Request_free(&first));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Request_free(&second));
  MUST(MPI_Comm_free(&comm));
}

/* The last rank has made its request with other arguments, and never starts it. */
static void persistent_arguments(int count) {
  MPI_Comm comm;
  MPI_Request r;
  const int odd = rank == size - 1;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  MUST(MPI_Allreduce_init(out, in, odd ? count + 1 : count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &r));
  if (!odd) {
    MUST(MPI_Start(&r));
    const int code = MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(code != MPI_SUCCESS, "a start without the last rank ended");
    if (rank == 0) CHECK(strstr(text_of(code), "bytes") || strstr(text_of(code), "failed on"), "%s", text_of(code));
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Request_free(&r));
  MUST(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  rank = check_rank;
  size = check_size;
  out = calloc((size_t)kLarge * 2 * (size_t)size, sizeof *out);
  in = calloc((size_t)kLarge * 2 * (size_t)size, sizeof *in);
  late();
  for (int blocking = 0; size > 1 && blocking < 2; blocking++) {
    for (int odd = 0; odd < size; odd += size - 1) {
      const int other = odd == 0 ? size - 1 : 0;
      /* All wait: every rank gets the error. */
      pair(kBarrier, 0, 0, kAllreduce, kLarge, 0, odd, blocking, size, "MPI_");
      pair(kBarrier, 0, 0, kBcast, kLarge, other, odd, blocking, size, "MPI_");
      pair(kAllreduce, 4, 0, kAllreduce, kLarge, 0, odd, blocking, size, "bytes");
      pair(kAllreduce, kLarge, 0, kAllreduce, kLarge * 2, 0, odd, blocking, size, "4800000");
      pair(kAllreduce, kLarge, 0, kReduce, kLarge, odd, odd, blocking, 1, NULL);
      pair(kAlltoall, kLarge, 0, kAllreduce, kLarge, 0, odd, blocking, size, "MPI_");
      /* A rank that passes nothing returns at once; those that wait for it get the error. */
      pair(kAllreduce, 10, 0, kAllreduce, 0, 0, odd, blocking, size - 1, "bytes");
      pair(kBcast, 10, odd, kBcast, 0, odd, odd, blocking, size - 1, "bytes");
      pair(kBcast, kLarge, odd, kBcast, 0, odd, odd, blocking, size - 1, "bytes");
      /* Two roots. */
      pair(kBcast, kLarge, odd, kBcast, kLarge, other, odd, blocking, 1, NULL);
    }
    for (int before = 0; before < 2; before++)
      for (int hesitates = 0; hesitates < 2; hesitates++) freed(blocking, before, hesitates);
  }
  for (int before = 0; size > 1 && before < 2; before++) freed_with_receive(before);
  if (size > 1) {
    tested(4, 5);
    tested(kLarge, 2 * kLarge);
    for (int hesitates = 0; hesitates < 2; hesitates++) {
      persistent_freed(4, hesitates);
      persistent_freed(kLarge, hesitates);
    }
    persistent_arguments(4);
    persistent_arguments(kLarge);
  }
  free(out);
  free(in);
  return check_end();
}
