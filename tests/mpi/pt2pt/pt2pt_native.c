/* Messages that the network matches (p2p.matching=native): which of them it does, and that all else is as ever. Two
 * ranks. */
#include "tools/hear.h"

enum { kLarge = 300 << 10 };

static Pvar received, claimed, sent, announced, filed;
static MPI_Comm world;

static Pvar counter(const char* name) { return pvar_begin(name, MPI_T_PVAR_CLASS_COUNTER, NULL); }

/* Rank 1 has posted before rank 0 sends. */
static void posted_first(void) { MPI_Barrier(world); }
/* What rank 0 has sent is at rank 1 before it receives: a message behind it was received. */
static void sent_first(int rank) {
  int word = 7;
  if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 99, world);
  if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 99, world, MPI_STATUS_IGNORE);
}

/* `counted`: nothing that the network cannot match has waited before. */
static void exact(int rank, int counted) {
  const Value before = pvar_value(&received, 0), before_filed = pvar_value(&filed, 0);
  int value = 0;
  MPI_Request request;
  MPI_Status status;
  if (rank == 1) MPI_Irecv(&value, 1, MPI_INT, 0, 5, world, &request);
  posted_first();
  value = rank == 0 ? 31 : value;
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 5, world);
  if (rank == 1) {
    MPI_Wait(&request, &status);
    CHECK_EQ(value, 31);
    CHECK_EQ(status.MPI_SOURCE, 0);
    CHECK_EQ(status.MPI_TAG, 5);
  }
  /* Any tag of one source is the network's, too, and the oldest message is taken. */
  for (int i = 0; i < 3 && rank == 0; ++i) MPI_Send(&i, 1, MPI_INT, 1, 10 + i, world);
  sent_first(rank);
  for (int i = 0; i < 3 && rank == 1; ++i) {
    MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, world, &status);
    CHECK_EQ(value, i);
    CHECK_EQ(status.MPI_TAG, 10 + i);
  }
  if (rank == 1 && counted) {
    CHECK(pvar_value(&received, 0) - before >= 5);
    CHECK_EQ(pvar_value(&filed, 0), before_filed);
  } else if (rank == 0) {
    CHECK(pvar_value(&sent, 0) >= 5);
  }
}

static void sizes(int rank) {
  const Value before = pvar_value(&announced, 0);
  char* const buffer = malloc(kLarge);
  for (int late = 0; late < 2; ++late) {
    MPI_Request request;
    memset(buffer, rank == 0 ? 'x' : '.', kLarge);
    if (rank == 1 && !late) MPI_Irecv(buffer, kLarge, MPI_CHAR, 0, 6, world, &request);
    posted_first();
    if (rank == 0) MPI_Isend(buffer, kLarge, MPI_CHAR, 1, 6, world, &request);
    if (late) sent_first(rank);
    if (rank == 1 && late) MPI_Irecv(buffer, kLarge, MPI_CHAR, 0, 6, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(buffer[0] == 'x' && buffer[kLarge - 1] == 'x');
    /* A synchronous one of no bytes at all. */
    if (rank == 0) MPI_Ssend(NULL, 0, MPI_CHAR, 1, 7, world);
    if (rank == 1) MPI_Recv(NULL, 0, MPI_CHAR, 0, 7, world, MPI_STATUS_IGNORE);
  }
  if (rank == 0) CHECK(pvar_value(&announced, 0) - before >= 4);
  free(buffer);
  /* Into memory with gaps. */
  int gaps[8] = {0}, dense[4] = {1, 2, 3, 4};
  MPI_Datatype every_second;
  MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  if (rank == 0) MPI_Send(dense, 4, MPI_INT, 1, 8, world);
  if (rank == 1) {
    MPI_Recv(gaps, 1, every_second, 0, 8, world, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; ++i) CHECK_EQ(gaps[i], i % 2 == 0 ? 1 + i / 2 : 0);
  }
  MPI_Type_free(&every_second);
}

/* While a receive from any source waits, the library matches what comes, in the order of the receives; then the network
 * does again. */
static void wildcards(int rank) {
  const Value before = pvar_value(&claimed, 0);
  int value[4] = {0, 0, 0, 0};
  MPI_Request request[4];
  MPI_Status status[4];
  if (rank == 1) {
    MPI_Irecv(&value[0], 1, MPI_INT, 0, 20, world, &request[0]);
    MPI_Irecv(&value[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request[1]);
    MPI_Irecv(&value[2], 1, MPI_INT, 0, 20, world, &request[2]);
    MPI_Irecv(&value[3], 1, MPI_INT, MPI_ANY_SOURCE, 21, world, &request[3]);
  }
  if (rank == 0) {
    int ready;
    MPI_Recv(&ready, 1, MPI_INT, 1, 22, world, MPI_STATUS_IGNORE);
    const int tags[] = {20, 20, 21, 20};
    for (int i = 0; i < 4; ++i) MPI_Send(&i, 1, MPI_INT, 1, tags[i], world);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 22, world);
    MPI_Waitall(4, request, status);
    CHECK_EQ(value[0], 0);
    CHECK_EQ(value[1], 1);
    CHECK_EQ(value[2], 3);
    CHECK_EQ(value[3], 2);
    CHECK_EQ(status[1].MPI_SOURCE, 0);
    CHECK_EQ(status[1].MPI_TAG, 20);
    CHECK(pvar_value(&claimed, 0) > before);
  }
  /* Probes find what the network has, and matching ones take it. */
  int flag = 0;
  MPI_Message message;
  MPI_Status found;
  if (rank == 0) {
    for (int i = 0; i < 3; ++i) MPI_Send(value, i + 1, MPI_INT, 1, 23, world);
  } else {
    MPI_Probe(MPI_ANY_SOURCE, 23, world, &found);
    int count = 0;
    MPI_Get_count(&found, MPI_INT, &count);
    CHECK_EQ(count, 1);
    MPI_Mprobe(0, MPI_ANY_TAG, world, &message, &found);
    while (!flag) MPI_Iprobe(0, 23, world, &flag, &found);
    MPI_Get_count(&found, MPI_INT, &count);
    CHECK_EQ(count, 2);
    MPI_Recv(value, 4, MPI_INT, 0, 23, world, MPI_STATUS_IGNORE);
    MPI_Mrecv(value, 4, MPI_INT, &message, &found);
    MPI_Get_count(&found, MPI_INT, &count);
    CHECK_EQ(count, 1);
    MPI_Recv(value, 4, MPI_INT, 0, 23, world, &found);
    MPI_Get_count(&found, MPI_INT, &count);
    CHECK_EQ(count, 3);
  }
}

static void cancelled(int rank) {
  int value = 0, was = 0;
  MPI_Request request;
  MPI_Status status;
  if (rank == 1) {
    MPI_Irecv(&value, 1, MPI_INT, 0, 30, world, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &was);
    CHECK(was);
  }
  posted_first();
  value = rank == 0 ? 17 : 0;
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 30, world);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 30, world, MPI_STATUS_IGNORE);
  CHECK_EQ(value, 17);
  /* A message that lies in the network at its receiver can be taken back. */
  for (int large = 0; large < 2; ++large) {
    char* const buffer = calloc(1, kLarge);
    if (rank == 0) {
      MPI_Isend(buffer, large ? kLarge : 8, MPI_CHAR, 1, 31, world, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &was);
      CHECK(was);
      buffer[0] = 'b';
    }
    MPI_Barrier(world);
    if (rank == 0) MPI_Send(buffer, 8, MPI_CHAR, 1, 31, world);
    if (rank == 1) {
      MPI_Recv(buffer, 8, MPI_CHAR, 0, 31, world, MPI_STATUS_IGNORE);
      CHECK_EQ(buffer[0], 'b');
    }
    free(buffer);
  }
}

static void cut_off(int rank) {
  char buffer[64] = "";
  MPI_Request request;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  for (int late = 0; late < 2; ++late) {
    if (rank == 1 && !late) MPI_Irecv(buffer, 4, MPI_CHAR, 0, 40, world, &request);
    posted_first();
    if (rank == 0) MPI_Send(buffer, 64, MPI_CHAR, 1, 40, world);
    if (late) sent_first(rank);
    if (rank != 1) continue;
    if (late) MPI_Irecv(buffer, 0, MPI_CHAR, 0, 40, world, &request);
    int mpi_class = 0;
    MUST(MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &mpi_class));
    CHECK_EQ(mpi_class, MPI_ERR_TRUNCATE);
    for (int i = 4; i < 64; ++i) CHECK_EQ(buffer[i], 0);
  }
  MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

/* What was sent on a communicator and never received is not found on the next one. */
static void dropped(int rank) {
  for (int i = 0; i < 10; ++i) {
    MPI_Comm once;
    int value = 1;
    MPI_Comm_dup(world, &once);
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 50, once);
    sent_first(rank);
    MPI_Comm_free(&once);
    MPI_Barrier(world);
  }
  MPI_Comm last;
  MPI_Comm_dup(world, &last);
  int value = rank == 0 ? 60 : 0;
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 51, last);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 51, last, MPI_STATUS_IGNORE);
  CHECK_EQ(value, 60);
  MPI_Comm_free(&last);
}

int main(int argc, char** argv) {
  int provided;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  check_start(&argc, &argv);
  const int rank = check_rank;
  CHECK_EQ(check_size, 2);
  received = counter("p2p.native_received");
  claimed = counter("p2p.native_claimed");
  sent = counter("p2p.native_sent");
  announced = counter("p2p.native_announced");
  filed = counter("p2p.native_filed");
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  for (int round = 0; round < 3; ++round) {
    exact(rank, round == 0);
    sizes(rank);
    wildcards(rank);
    cancelled(rank);
    cut_off(rank);
    dropped(rank);
    MPI_Barrier(world);
  }
  MPI_Comm_free(&world);
  Pvar* const all[] = {&received, &claimed, &sent, &announced, &filed};
  for (int i = 0; i < 5; ++i) pvar_end(all[i]);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return check_end();
}
