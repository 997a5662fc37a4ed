/* What the standard's examples of groups, communicators, intercommunicators, attributes, topologies and the environment
 * show (MPI 1.1, chapters 5 to 8), written anew so that each checks its own outcome. */
#include "check.h"

/* A group without its first member works on its own while all work together (current practice 3). */
static void group_without_the_first(void) {
  MPI_Group world, rest;
  MPI_Comm comm;
  int first = 0, mine = check_rank, in_rest = -1, in_world = -1;
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MUST(MPI_Group_excl(world, 1, &first, &rest));
  MUST(MPI_Comm_create(MPI_COMM_WORLD, rest, &comm));
  if (comm != MPI_COMM_NULL) MUST(MPI_Reduce(&mine, &in_rest, 1, MPI_INT, MPI_SUM, 0, comm));
  MUST(MPI_Reduce(&mine, &in_world, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  if (check_rank == 1) CHECK_EQ(in_rest, check_size * (check_size - 1) / 2);
  if (check_rank == 0) CHECK_EQ(in_world, check_size * (check_size - 1) / 2);
  if (comm != MPI_COMM_NULL) MUST(MPI_Comm_free(&comm));
  MUST(MPI_Group_free(&rest));
  MUST(MPI_Group_free(&world));
}

/* Messages under way from and to anyone, across many reductions on the same communicator (example 4). */
static void pending_across_reductions(void) {
  int out = check_rank, in = -1, sum;
  MPI_Request requests[2];
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 12345, comm, &requests[0]));
  MUST(MPI_Isend(&out, 1, MPI_INT, (check_rank + 1) % check_size, 12345, comm, &requests[1]));
  for (int i = 0; i < 50; i++) {
    MUST(MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, i % check_size, comm));
    if (check_rank == i % check_size) CHECK_EQ(sum, i * check_size);
  }
  MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(in, (check_rank + check_size - 1) % check_size);
  MUST(MPI_Comm_free(&comm));
}

/* A library with a communicator of its own (library example 1): its message stays under way while the user reduces. */
typedef struct {
  MPI_Comm comm;
  MPI_Request requests[2];
  int out, in;
} Library;

static Library* library_made(MPI_Comm user) {
  Library* library = check_alloc(sizeof *library);
  MUST(MPI_Comm_dup(user, &library->comm));
  return library;
}
static void library_started(Library* library) {
  library->out = check_rank;
  MUST(MPI_Irecv(&library->in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, library->comm, &library->requests[0]));
  MUST(MPI_Isend(&library->out, 1, MPI_INT, (check_rank + 1) % check_size, 0, library->comm, &library->requests[1]));
}
static void library_ended(Library* library) {
  MUST(MPI_Waitall(2, library->requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(library->in, (check_rank + check_size - 1) % check_size);
  MUST(MPI_Comm_free(&library->comm));
  free(library);
}
static void two_libraries(void) {
  int sum, one = 1;
  Library *a = library_made(MPI_COMM_WORLD), *b = library_made(MPI_COMM_WORLD);
  library_started(a);
  library_started(b);
  MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  library_ended(b);
  library_ended(a);
}

/* A library that receives from anyone is called twice on communicators that overlap (library example 2): what the
 * second call sends is not what the first one waits for. */
static void gathered_from_anyone(MPI_Comm comm, int mark) {
  int rank, size, word;
  if (comm == MPI_COMM_NULL) return;
  MUST(MPI_Comm_rank(comm, &rank));
  MUST(MPI_Comm_size(comm, &size));
  if (rank == 0) {
    for (int i = 1; i < size; i++) {
      MUST(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
      CHECK_EQ(word, mark);
    }
  } else {
    MUST(MPI_Send(&mark, 1, MPI_INT, 0, 0, comm));
  }
}
static void overlapping(int with_barrier) {
  MPI_Comm a, b;
  if (check_size < 3) return;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank <= 1 ? 0 : MPI_UNDEFINED, check_rank, &a));
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank != 1 ? 0 : MPI_UNDEFINED, check_rank, &b));
  gathered_from_anyone(a, 1);
  if (with_barrier && a != MPI_COMM_NULL) MUST(MPI_Barrier(a));
  gathered_from_anyone(b, 2);
  if (with_barrier && b != MPI_COMM_NULL) MUST(MPI_Barrier(b));
  if (a != MPI_COMM_NULL) MUST(MPI_Comm_free(&a));
  if (b != MPI_COMM_NULL) MUST(MPI_Comm_free(&b));
}

static int sent_across(MPI_Comm inter, int word) {
  int rank, remote, got = -1;
  MUST(MPI_Comm_rank(inter, &rank));
  MUST(MPI_Comm_remote_size(inter, &remote));
  if (rank == 0) MUST(MPI_Sendrecv(&word, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE));
  return got;
}

/* Three groups in a line, bridged by their first members (5.6.3, example 1), or in a ring (example 2). */
static void three_groups(int ring) {
  const int group = check_rank % 3;
  MPI_Comm mine, next = MPI_COMM_NULL, before = MPI_COMM_NULL;
  if (check_size < 3) return;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, group, check_rank, &mine));
  /* In a ring the last group makes its two bridges in the other order than the rest, each in an order that ends. */
  const int to_next = ring || group < 2, to_before = ring || group > 0;
  const int tag_next = group == 2 ? 12 : group + 1, tag_before = group == 0 ? 12 : group;
  if (group == 2 || group == 1) {
    if (to_before) MUST(MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, group - 1, tag_before, &before));
    if (to_next) MUST(MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, (group + 1) % 3, tag_next, &next));
  } else {
    if (to_next) MUST(MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1, tag_next, &next));
    if (to_before) MUST(MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 2, tag_before, &before));
  }
  int rank;
  MUST(MPI_Comm_rank(mine, &rank));
  /* Group 0 speaks first; a group answers the one before it, then speaks to the next. */
  if (group == 0 && next != MPI_COMM_NULL && rank == 0) CHECK_EQ(sent_across(next, 0), 1);
  if (group != 0 && rank == 0) {
    CHECK_EQ(sent_across(before, group), group - 1);
    if (next != MPI_COMM_NULL) CHECK_EQ(sent_across(next, group), (group + 1) % 3);
  }
  if (group == 0 && before != MPI_COMM_NULL && rank == 0) CHECK_EQ(sent_across(before, 0), 2);
  if (next != MPI_COMM_NULL) MUST(MPI_Comm_free(&next));
  if (before != MPI_COMM_NULL) MUST(MPI_Comm_free(&before));
  MUST(MPI_Comm_free(&mine));
}

/* Clients find their server through a handle that is cached on a communicator (5.6.3, example 3). */
static void name_service(void) {
  int key, flag;
  MPI_Comm part, inter, *cached = NULL;
  if (check_size < 2) return;
  MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  const int server = check_rank == check_size - 1;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, server, 0, &part));
  MUST(MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, server ? 0 : check_size - 1, 50, &inter));
  MUST(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &inter));
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, key, (void*)&cached, &flag));
  CHECK(flag && *cached == inter);
  int word = check_rank, answer = -1;
  if (server) {
    for (int i = 1; i < check_size; i++) {
      MPI_Status status;
      MUST(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, *cached, &status));
      CHECK_EQ(word, status.MPI_SOURCE);
      word += 1000;
      MUST(MPI_Send(&word, 1, MPI_INT, status.MPI_SOURCE, 2, *cached));
    }
  } else {
    MUST(MPI_Send(&word, 1, MPI_INT, 0, 1, *cached));
    MUST(MPI_Recv(&answer, 1, MPI_INT, 0, 2, *cached, MPI_STATUS_IGNORE));
    CHECK_EQ(answer, check_rank + 1000);
  }
  MUST(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  MUST(MPI_Comm_free_keyval(&key));
  MUST(MPI_Comm_free(&inter));
  MUST(MPI_Comm_free(&part));
}

/* A structure with a count of its holders, cached on a communicator and its duplicates (5.7.2), by the deprecated
 * names. */
static int holders_copied(MPI_Comm comm, int key, void* state, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)state;
  ++*(int*)in;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int holder_gone(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)state;
  --*(int*)value;
  return MPI_SUCCESS;
}
static void counted_attribute(void) {
  int key, holders = 1, flag;
  int* found = NULL;
  MPI_Comm a, b, c;
  MUST(MPI_Keyval_create(holders_copied, holder_gone, &key, NULL));
  MUST(MPI_Comm_dup(MPI_COMM_SELF, &a));
  MUST(MPI_Attr_get(a, key, &found, &flag));
  CHECK(!flag);
  MUST(MPI_Attr_put(a, key, &holders));
  MUST(MPI_Comm_dup(a, &b));
  MUST(MPI_Comm_dup(b, &c));
  CHECK_EQ(holders, 3);
  MUST(MPI_Comm_get_attr(c, key, &found, &flag));
  CHECK(flag && found == &holders);
  const int kept = key;
  MUST(MPI_Keyval_free(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  MUST(MPI_Comm_free(&a));
  MUST(MPI_Comm_free(&c));
  CHECK_EQ(holders, 1);
  MUST(MPI_Attr_delete(b, kept)); /* the key lives until its last value is gone */
  CHECK_EQ(holders, 0);
  MUST(MPI_Comm_free(&b));
  CHECK_EQ(holders, 0);
}

/* A relaxation's set-up (6.6): a periodic grid of all processes, neighbours by coordinates that wrap. */
static void relaxation_grid(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 1}, own[2], at[2], rank, by_shift[2];
  MPI_Comm grid;
  MUST(MPI_Dims_create(check_size, 2, dims));
  MUST(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid));
  MUST(MPI_Cart_get(grid, 2, dims, periods, own));
  for (int d = 0; d < 2; d++) {
    MUST(MPI_Cart_shift(grid, d, 1, &by_shift[0], &by_shift[1]));
    for (int side = 0; side < 2; side++) {
      memcpy(at, own, sizeof at);
      at[d] += side ? 1 : -1;
      MUST(MPI_Cart_rank(grid, at, &rank));
      CHECK_EQ(rank, by_shift[side]);
    }
  }
  MUST(MPI_Comm_free(&grid));
}

/* A library's own error handler in place of the user's, and the user's back again (7.2). */
static int seen = 0;
static void count_errors(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  seen++;
}
static void handler_saved_and_restored(void) {
  MPI_Errhandler users, own, now;
  MUST(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &users));
  MUST(MPI_Comm_create_errhandler(count_errors, &own));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, own));
  MUST(MPI_Errhandler_free(&own)); /* it lives on where it is in force */
  CHECK(MPI_Send(NULL, 0, MPI_INT, check_size, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK_EQ(seen, 1);
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, users));
  MUST(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now));
  CHECK(now == users);
  MUST(MPI_Errhandler_free(&now));
  MUST(MPI_Errhandler_free(&users)); /* also of a predefined one */
  CHECK(MPI_Send(NULL, 0, MPI_INT, check_size, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK_EQ(seen, 1);
}

static void clocks(void) {
  const double begin = MPI_Wtime(), tick = MPI_Wtick();
  double now = begin;
  CHECK(tick > 0 && tick < 1e-3);
  while (now - begin < 0.002) {
    const double next = MPI_Wtime();
    CHECK(next >= now);
    now = next;
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  if (check_size > 1) group_without_the_first();
  pending_across_reductions();
  two_libraries();
  overlapping(0);
  overlapping(1);
  three_groups(0);
  three_groups(1);
  name_service();
  counted_attribute();
  relaxation_grid();
  handler_saved_and_restored();
  clocks();
  return check_end();
}
