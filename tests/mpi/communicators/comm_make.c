/* Making communicators: dup, split, create, compare, names, attributes on dup; contexts keep apart; freeing with
 * traffic under way; thousands made and freed. */
#include "check.h"

static int compare(MPI_Comm a, MPI_Comm b) {
  int relation = -1;
  MUST(MPI_Comm_compare(a, b, &relation));
  return relation;
}

static int sum_of_ranks(MPI_Comm comm) {
  int sum = -1;
  MUST(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  return sum;
}

static void dup(void) {
  MPI_Comm a, b;
  int rank, size;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &a));
  MUST(MPI_Comm_dup(a, &b));
  MUST(MPI_Comm_rank(b, &rank));
  MUST(MPI_Comm_size(b, &size));
  CHECK_EQ(rank, check_rank);
  CHECK_EQ(size, check_size);
  CHECK_EQ(compare(a, a), MPI_IDENT);
  CHECK_EQ(compare(a, b), MPI_CONGRUENT);
  CHECK_EQ(compare(MPI_COMM_WORLD, MPI_COMM_SELF), check_size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
  MUST(MPI_Comm_free(&a));
  CHECK(a == MPI_COMM_NULL);
  CHECK_EQ(sum_of_ranks(b), check_size * (check_size - 1) / 2);
  MUST(MPI_Comm_free(&b));
}

/* By colour and key, against the rule: order by key, ties by old rank; no colour, no communicator. */
static void split(Random* random) {
  int* color = check_alloc((size_t)check_size * sizeof *color);
  int* key = check_alloc((size_t)check_size * sizeof *key);
  for (int r = 0; r < check_size; r++) {
    color[r] = random_below(random, 4) == 0 ? MPI_UNDEFINED : random_below(random, 3) * 1000000;
    key[r] = random_below(random, 5) - 2;
  }
  MPI_Comm part;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, color[check_rank], key[check_rank], &part));
  CHECK((part == MPI_COMM_NULL) == (color[check_rank] == MPI_UNDEFINED));
  if (part != MPI_COMM_NULL) {
    int before = 0, together = 0, sum = 0, rank, size;
    for (int r = 0; r < check_size; r++) {
      if (color[r] != color[check_rank]) continue;
      together++;
      sum += r;
      before += key[r] < key[check_rank] || (key[r] == key[check_rank] && r < check_rank);
    }
    MUST(MPI_Comm_rank(part, &rank));
    MUST(MPI_Comm_size(part, &size));
    CHECK_EQ(rank, before);
    CHECK_EQ(size, together);
    CHECK_EQ(sum_of_ranks(part), sum);
    MUST(MPI_Comm_free(&part));
  }
  free(color);
  free(key);
}

static void create(void) {
  MPI_Group world, odd;
  MPI_Comm comm;
  int* members = check_alloc((size_t)check_size * sizeof *members);
  int n = 0, sum = 0;
  for (int r = check_size - 1; r >= 0; r--)
    if (r % 2 || check_size == 1) members[n++] = r, sum += r;
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MUST(MPI_Group_incl(world, n, members, &odd));
  MUST(MPI_Comm_create(MPI_COMM_WORLD, odd, &comm));
  const int in = check_rank % 2 || check_size == 1;
  CHECK_EQ(comm != MPI_COMM_NULL, in);
  if (comm != MPI_COMM_NULL) {
    int rank;
    MPI_Group g;
    MUST(MPI_Comm_rank(comm, &rank));
    CHECK_EQ(members[rank], check_rank);
    CHECK_EQ(sum_of_ranks(comm), sum);
    MUST(MPI_Comm_group(comm, &g));
    int relation;
    MUST(MPI_Group_compare(g, odd, &relation));
    CHECK_EQ(relation, MPI_IDENT);
    MUST(MPI_Group_free(&g));
    MUST(MPI_Comm_free(&comm));
  }
  /* Only the members call this one. */
  if (in) {
    MUST(MPI_Comm_create_group(MPI_COMM_WORLD, odd, 17, &comm));
    CHECK_EQ(sum_of_ranks(comm), sum);
    MUST(MPI_Comm_free(&comm));
  }
  MUST(MPI_Group_free(&world));
  MUST(MPI_Group_free(&odd));
  free(members);
}

/* Messages sent on one communicator are never received on another, in whatever order both are used. */
static void isolation(void) {
  enum { kComms = 8 };
  MPI_Comm comm[kComms];
  MPI_Request r[kComms];
  int sent[kComms], got = -1;
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int k = 0; k < kComms; k++) {
    MUST(MPI_Comm_dup(k ? comm[k - 1] : MPI_COMM_WORLD, &comm[k]));
    sent[k] = k * 10;
    MUST(MPI_Isend(&sent[k], 1, MPI_INT, right, 1, comm[k], &r[k]));
  }
  for (int k = kComms - 1; k >= 0; k--) {
    MUST(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm[k], MPI_STATUS_IGNORE));
    CHECK_EQ(got, k * 10);
  }
  MUST(MPI_Waitall(kComms, r, MPI_STATUSES_IGNORE));
  for (int k = 0; k < kComms; k++) MUST(MPI_Comm_free(&comm[k]));
  (void)left;
}

/* A communicator freed with messages under way: they still arrive. */
static void freed_with_traffic(void) {
  enum { kInts = 40000 };
  static int out[kInts], in[kInts];
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  MPI_Comm comm;
  MPI_Request r[2];
  for (int i = 0; i < kInts; i++) out[i] = check_rank + i, in[i] = -1;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Irecv(in, kInts, MPI_INT, left, 3, comm, &r[0]));
  MUST(MPI_Isend(out, kInts, MPI_INT, right, 3, comm, &r[1]));
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kInts; i++)
    if (in[i] != left + i) {
      CHECK(0, "element %d is %d", i, in[i]);
      break;
    }
}

/* A rank that is ahead sends on the new communicator before others have left the constructor. */
static void early_messages(void) {
  for (int k = 0; k < 50; k++) {
    MPI_Comm comm;
    int got = -1;
    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, k % 2 ? check_rank : -check_rank, &comm));
    int rank, size;
    MUST(MPI_Comm_rank(comm, &rank));
    MUST(MPI_Comm_size(comm, &size));
    MUST(MPI_Sendrecv(&k, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, comm,
                      MPI_STATUS_IGNORE));
    CHECK_EQ(got, k);
    MUST(MPI_Comm_free(&comm));
  }
}

/* More than any table of contexts that does not give them back. */
static void made_and_freed(int times) {
  for (int k = 0; k < times; k++) {
    MPI_Comm comm;
    MUST(MPI_Comm_dup(k % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, &comm));
    if (k % 500 == 1) CHECK_EQ(sum_of_ranks(comm), check_size * (check_size - 1) / 2);
    MUST(MPI_Comm_free(&comm));
  }
}

/* Sentences call a communicator without a name by a number, the same on all of its processes. */
static void called_by_number(MPI_Comm comm) {
  char text[MPI_MAX_ERROR_STRING];
  int length, lowest, highest, number = -1;
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  const int code = MPI_Send(NULL, 0, MPI_INT, 4711, 0, comm);
  CHECK(code == MPI_ERR_RANK, "code %d", code);
  MUST(MPI_Error_string(code, text, &length));
  const char* unnamed = strstr(text, "'unnamed #");
  if (unnamed) sscanf(unnamed, "'unnamed #%d'", &number);
  CHECK(number > 0, "%s", text);
  MUST(MPI_Allreduce(&number, &lowest, 1, MPI_INT, MPI_MIN, comm));
  MUST(MPI_Allreduce(&number, &highest, 1, MPI_INT, MPI_MAX, comm));
  CHECK(lowest == highest, "one communicator is #%d and #%d", lowest, highest);
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm comm;
  MUST(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14, "%s", name);
  MUST(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
  CHECK(strcmp(name, "MPI_COMM_NULL") == 0 && length == 13, "%s", name);
  MUST(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length));
  CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0 && length == 17, "%s", name);
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_get_name(comm, name, &length));
  CHECK(length == 0 && name[0] == '\0', "a new communicator is called %s", name);
  called_by_number(comm);
  MUST(MPI_Comm_set_name(comm, "  rows  "));
  MUST(MPI_Comm_get_name(comm, name, &length));
  CHECK(strcmp(name, "  rows") == 0 || strcmp(name, "  rows  ") == 0, "'%s'", name);
  MUST(MPI_Comm_set_name(comm, ""));
  MUST(MPI_Comm_get_name(comm, name, &length));
  CHECK(length == 0, "without its name it is called %s", name);
  called_by_number(comm);
  MUST(MPI_Comm_free(&comm));
}

/* Attributes go along on dup when the copy function says so, and the delete function runs once for each. */
static int copies, deletions;
static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key;
  copies++;
  *(void**)out = (char*)in + 1;
  *flag = extra != NULL;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  deletions++;
  return MPI_SUCCESS;
}

static void attributes(void) {
  static char place[4];
  int key, lost, there = 0;
  char* value = NULL;
  MPI_Comm comm;
  MUST(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, place));
  MUST(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &lost, NULL));
  MUST(MPI_Comm_set_attr(MPI_COMM_WORLD, key, place));
  MUST(MPI_Comm_set_attr(MPI_COMM_WORLD, lost, place));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_EQ(copies, 2);
  MUST(MPI_Comm_get_attr(comm, key, &value, &there));
  CHECK(there && value == place + 1);
  MUST(MPI_Comm_get_attr(comm, lost, &value, &there));
  CHECK(!there);
  MUST(MPI_Comm_free(&comm));
  CHECK_EQ(deletions, 1);
  MUST(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  MUST(MPI_Comm_delete_attr(MPI_COMM_WORLD, lost));
  CHECK_EQ(deletions, 3);
  MUST(MPI_Comm_free_keyval(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  MUST(MPI_Comm_free_keyval(&lost));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  Random random = {11};
  dup();
  for (int k = 0; k < 20; k++) split(&random);
  create();
  isolation();
  freed_with_traffic();
  early_messages();
  names();
  attributes();
  made_and_freed(check_size > 4 ? 400 : 4000);
  return check_end();
}
