/* Intercommunicators: made, asked, used for messages, duplicated, split, cut down, merged; and their mistakes. */
#include "check.h"

static int in_low(int rank) { return rank < (check_size + 1) / 2; }

/* World ranks in halves, low ones and high ones, each group in reverse order. */
static MPI_Comm halves(MPI_Comm* local, int tag) {
  MPI_Comm inter;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, !in_low(check_rank), -check_rank, local));
  const int low_leader = (check_size + 1) / 2 - 1, high_leader = check_size - 1;
  /* Only the leaders' idea of the bridge counts. */
  const int leads = check_rank == (in_low(check_rank) ? low_leader : high_leader);
  MUST(MPI_Intercomm_create(*local, 0, leads ? MPI_COMM_WORLD : MPI_COMM_NULL,
                            leads ? (in_low(check_rank) ? high_leader : low_leader) : -77, tag, &inter));
  return inter;
}

static int world_rank_of(int remote) {
  return (in_low(check_rank) ? check_size - 1 : (check_size + 1) / 2 - 1) - remote;
}

static void ask(MPI_Comm inter, MPI_Comm local) {
  int flag, size, remote, rank, local_rank, relation;
  MPI_Group mine, theirs, world, local_group, common;
  MUST(MPI_Comm_test_inter(inter, &flag));
  CHECK_EQ(flag, 1);
  MUST(MPI_Comm_test_inter(local, &flag));
  CHECK_EQ(flag, 0);
  MUST(MPI_Comm_size(inter, &size));
  MUST(MPI_Comm_remote_size(inter, &remote));
  CHECK_EQ(size + remote, check_size);
  MUST(MPI_Comm_rank(inter, &rank));
  MUST(MPI_Comm_rank(local, &local_rank));
  CHECK_EQ(rank, local_rank);
  MUST(MPI_Comm_group(inter, &mine));
  MUST(MPI_Comm_group(local, &local_group));
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MUST(MPI_Comm_remote_group(inter, &theirs));
  MUST(MPI_Group_compare(mine, local_group, &relation));
  CHECK_EQ(relation, MPI_IDENT);
  MUST(MPI_Group_intersection(mine, theirs, &common));
  CHECK_EQ(common, MPI_GROUP_EMPTY);
  for (int r = 0; r < remote; r++) {
    int found;
    MUST(MPI_Group_translate_ranks(theirs, 1, &r, world, &found));
    CHECK_EQ(found, world_rank_of(r));
  }
  MUST(MPI_Comm_compare(inter, local, &relation));
  CHECK_EQ(relation, MPI_UNEQUAL);
  MPI_Group* all[] = {&mine, &theirs, &world, &local_group, &common};
  for (int i = 0; i < 5; i++) MUST(MPI_Group_free(all[i]));
}

/* Everyone to everyone of the other group, received from named and from any source. */
static void talk(MPI_Comm inter) {
  int remote, rank;
  MUST(MPI_Comm_remote_size(inter, &remote));
  MUST(MPI_Comm_rank(inter, &rank));
  MPI_Request* requests = check_alloc((size_t)remote * 2 * sizeof *requests);
  int(*in)[2] = check_alloc((size_t)remote * sizeof *in);
  int out[2] = {check_rank, rank};
  for (int r = 0; r < remote; r++) {
    MUST(MPI_Irecv(in[r], 2, MPI_INT, r, 7, inter, &requests[r]));
    MUST(MPI_Isend(out, 2, MPI_INT, r, 7, inter, &requests[remote + r]));
  }
  MUST(MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE));
  for (int r = 0; r < remote; r++) {
    CHECK_EQ(in[r][0], world_rank_of(r));
    CHECK_EQ(in[r][1], r);
  }
  for (int r = 0; r < remote; r++) MUST(MPI_Isend(out, 2, MPI_INT, r, 8, inter, &requests[r]));
  for (int r = 0; r < remote; r++) {
    MPI_Status probed, status;
    int word[2];
    MUST(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &probed));
    MUST(MPI_Recv(word, 2, MPI_INT, probed.MPI_SOURCE, probed.MPI_TAG, inter, &status));
    CHECK_EQ(status.MPI_SOURCE, word[1]);
    CHECK_EQ(word[0], world_rank_of(status.MPI_SOURCE));
  }
  MUST(MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE));
  free(in);
  free(requests);
}

static int copies = 0, deletes = 0;
static int copy(MPI_Comm comm, int key, void* state, void* value, void* out, int* flag) {
  (void)comm, (void)key, (void)state;
  *(void**)out = value;
  *flag = 1;
  copies++;
  return MPI_SUCCESS;
}
static int discard(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)value, (void)state;
  deletes++;
  return MPI_SUCCESS;
}

static void duplicate(MPI_Comm inter) {
  int key, relation, flag;
  int* value = NULL;
  MPI_Comm twin, third;
  MUST(MPI_Comm_create_keyval(copy, discard, &key, NULL));
  MUST(MPI_Comm_set_attr(inter, key, &copies));
  MUST(MPI_Comm_dup(inter, &twin));
  MUST(MPI_Comm_dup(twin, &third));
  MUST(MPI_Comm_get_attr(third, key, &value, &flag));
  CHECK(flag && value == &copies);
  CHECK_EQ(copies, 2);
  MUST(MPI_Comm_compare(inter, third, &relation));
  CHECK_EQ(relation, MPI_CONGRUENT);
  talk(third);
  MUST(MPI_Comm_free(&third));
  MUST(MPI_Comm_free(&twin));
  MUST(MPI_Comm_delete_attr(inter, key));
  CHECK_EQ(deletes, 3);
  MUST(MPI_Comm_free_keyval(&key));
}

/* Even local ranks of both sides, odd ones of both, and a colour that only one side has. */
static void split(MPI_Comm inter) {
  int rank, size, remote;
  MPI_Comm part;
  MUST(MPI_Comm_rank(inter, &rank));
  MUST(MPI_Comm_size(inter, &size));
  MUST(MPI_Comm_remote_size(inter, &remote));
  MUST(MPI_Comm_split(inter, rank % 2, -rank, &part));
  const int partners = rank % 2 ? remote / 2 : (remote + 1) / 2;
  CHECK_EQ(part != MPI_COMM_NULL, partners > 0);
  if (part != MPI_COMM_NULL) {
    int n, flag;
    MUST(MPI_Comm_test_inter(part, &flag));
    CHECK_EQ(flag, 1);
    MUST(MPI_Comm_remote_size(part, &n));
    CHECK_EQ(n, partners);
    MUST(MPI_Comm_rank(part, &n));
    CHECK_EQ(n, (rank % 2 ? size / 2 : (size + 1) / 2) - 1 - rank / 2);
    /* To the partner of the same number and back. */
    int word = check_rank, back = -1, mine;
    MUST(MPI_Comm_rank(part, &mine));
    if (mine < partners) {
      MUST(MPI_Sendrecv(&word, 1, MPI_INT, mine, 3, &back, 1, MPI_INT, mine, 3, part, MPI_STATUS_IGNORE));
      CHECK_EQ(back, world_rank_of((partners - 1 - mine) * 2 + rank % 2));
    }
    MUST(MPI_Comm_free(&part));
  }
  MUST(MPI_Comm_split(inter, in_low(check_rank), 0, &part));
  CHECK(part == MPI_COMM_NULL);
  MUST(MPI_Comm_split(inter, MPI_UNDEFINED, 0, &part));
  CHECK(part == MPI_COMM_NULL);
}

/* The first of each side; then no rank of one side. */
static void create(MPI_Comm inter) {
  int rank, first = 0;
  MPI_Group mine, one;
  MPI_Comm pair;
  MUST(MPI_Comm_rank(inter, &rank));
  MUST(MPI_Comm_group(inter, &mine));
  MUST(MPI_Group_incl(mine, 1, &first, &one));
  MUST(MPI_Comm_create(inter, one, &pair));
  CHECK_EQ(pair != MPI_COMM_NULL, rank == 0);
  if (pair != MPI_COMM_NULL) {
    int word = check_rank, back = -1;
    MUST(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &back, 1, MPI_INT, 0, 0, pair, MPI_STATUS_IGNORE));
    CHECK_EQ(back, world_rank_of(0));
    MUST(MPI_Comm_free(&pair));
  }
  MUST(MPI_Comm_create(inter, in_low(check_rank) ? one : MPI_GROUP_EMPTY, &pair));
  CHECK(pair == MPI_COMM_NULL);
  MUST(MPI_Group_free(&one));
  MUST(MPI_Group_free(&mine));
}

static void merge(MPI_Comm inter) {
  int rank, size;
  MUST(MPI_Comm_size(inter, &size));
  MUST(MPI_Comm_rank(inter, &rank));
  for (int high_first = 0; high_first < 2; high_first++) {
    MPI_Comm all;
    int place, n, sum, flag;
    MUST(MPI_Intercomm_merge(inter, in_low(check_rank) == high_first, &all));
    MUST(MPI_Comm_test_inter(all, &flag));
    CHECK_EQ(flag, 0);
    MUST(MPI_Comm_size(all, &n));
    MUST(MPI_Comm_rank(all, &place));
    CHECK_EQ(n, check_size);
    CHECK_EQ(place, rank + (in_low(check_rank) == high_first ? check_size - size : 0));
    MUST(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    MUST(MPI_Comm_free(&all));
  }
  /* The same on both sides: any order, but one order. */
  MPI_Comm all;
  int place, sum;
  MUST(MPI_Intercomm_merge(inter, 1, &all));
  MUST(MPI_Comm_rank(all, &place));
  MUST(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all));
  CHECK_EQ(sum, check_size * (check_size - 1) / 2);
  MUST(MPI_Comm_free(&all));
}

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static void mistakes(MPI_Comm inter, MPI_Comm local) {
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Group group;
  int n, size;
  MUST(MPI_Comm_size(local, &size));
  CHECK_EQ(class_of(MPI_Comm_remote_size(local, &n)), MPI_ERR_COMM);
  CHECK_EQ(class_of(MPI_Comm_remote_group(local, &group)), MPI_ERR_COMM);
  CHECK_EQ(class_of(MPI_Intercomm_merge(local, 0, &comm)), MPI_ERR_COMM);
  CHECK_EQ(class_of(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 1, &comm)), MPI_ERR_COMM);
  CHECK_EQ(class_of(MPI_Intercomm_create(local, size, MPI_COMM_WORLD, 0, 1, &comm)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Intercomm_create(local, -1, MPI_COMM_WORLD, 0, 1, &comm)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -1, &comm)), MPI_ERR_TAG);
  /* The leader's mistake reaches its whole group. */
  CHECK_EQ(class_of(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, check_size, 1, &comm)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Intercomm_create(local, 0, MPI_COMM_NULL, 0, 1, &comm)), MPI_ERR_COMM);
  /* Groups that are not disjoint. */
  CHECK_EQ(class_of(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_SELF, 0, 1, &comm)), MPI_ERR_COMM);
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &group));
  CHECK_EQ(class_of(MPI_Comm_create(inter, group, &comm)), MPI_ERR_GROUP);
  MUST(MPI_Group_free(&group));
  CHECK_EQ(class_of(MPI_Comm_create_group(inter, MPI_GROUP_EMPTY, 0, &comm)), MPI_ERR_COMM);
  CHECK_EQ(class_of(MPI_Send(&n, 1, MPI_INT, check_size - size, 0, inter)), MPI_ERR_RANK);
}

/* A new intercommunicator over an intercommunicator: its groups are bridged by it. */
static void over_inter(MPI_Comm inter, MPI_Comm local) {
  MPI_Comm again;
  int relation;
  MUST(MPI_Intercomm_create(local, 0, inter, 0, 5, &again));
  MUST(MPI_Comm_compare(inter, again, &relation));
  CHECK_EQ(relation, MPI_CONGRUENT);
  talk(again);
  MUST(MPI_Comm_free(&again));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  if (check_size > 1) {
    MPI_Comm local, inter = halves(&local, 12345);
    ask(inter, local);
    talk(inter);
    duplicate(inter);
    split(inter);
    create(inter);
    merge(inter);
    mistakes(inter, local);
    over_inter(inter, local);
    MUST(MPI_Comm_free(&local));
    talk(inter);
    MUST(MPI_Comm_free(&inter));
    CHECK(inter == MPI_COMM_NULL);
  }
  return check_end();
}
