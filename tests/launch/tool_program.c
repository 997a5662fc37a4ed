// Calls whose records the tests of tools know: tool_program PART. Four ranks.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static int rank, size;
static char a[4096], b[4096];

static void point_to_point(void) {
  MPI_Status status;
  if (rank == 0) MPI_Send(a, 10, MPI_INT, 1, 5, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(a, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Send_c(a, 7, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Probe(0, 6, MPI_COMM_WORLD, &status);
    MPI_Recv(a, 7, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, &status);
  }
  MPI_Sendrecv(a, 3, MPI_INT, (rank + 1) % size, 1, b, 50, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Send(a, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void requests(void) {
  MPI_Request in, out, again;
  MPI_Irecv(b, 64, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &in);
  MPI_Isend(a, 16, MPI_BYTE, (rank + 1) % size, 2, MPI_COMM_WORLD, &out);
  MPI_Wait(&in, MPI_STATUS_IGNORE);
  MPI_Waitall(1, &out, MPI_STATUSES_IGNORE);
  MPI_Send_init(a, 8, MPI_BYTE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &again);
  MPI_Start(&again);
  MPI_Wait(&again, MPI_STATUS_IGNORE);
  MPI_Request_free(&again);
}

// One long message by rendezvous, one that comes before its receive, and two collectives.
static void events(void) {
  static char large[1 << 20];
  if (rank == 0) MPI_Send(large, sizeof large, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(large, sizeof large, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Send(a, 4, MPI_INT, 1, 9, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(a, 4, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(a, 100, MPI_BYTE, 2, MPI_COMM_WORLD);
}

// Several requests in one call, and a message in parts.
static void several(void) {
  MPI_Request both[2];
  MPI_Recv_init(b, 64, MPI_BYTE, (rank + size - 1) % size, 4, MPI_COMM_WORLD, &both[0]);
  MPI_Send_init(a, 24, MPI_BYTE, (rank + 1) % size, 4, MPI_COMM_WORLD, &both[1]);
  MPI_Startall(2, both);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&both[i]);
  MPI_Precv_init(b, 2, 32, MPI_BYTE, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Psend_init(a, 4, 16, MPI_BYTE, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  MPI_Startall(2, both);
  MPI_Pready_range(0, 3, both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&both[i]);
}

static void collectives(void) {
  const int counts[4] = {1, 2, 3, 4}, displs[4] = {0, 1, 3, 6};
  int here[16] = {0}, there[16] = {0};
  MPI_Bcast(a, 100, MPI_BYTE, 2, MPI_COMM_WORLD);
  // What does not count is not looked at: MPI_DATATYPE_NULL and a null pointer away from the root.
  if (rank == 1)
    MPI_Gather(here, 2, MPI_INT, there, 2, MPI_INT, 1, MPI_COMM_WORLD);
  else
    MPI_Gather(here, 2, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
  if (rank == 1)
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, there, 2, MPI_INT, 1, MPI_COMM_WORLD);
  else
    MPI_Gather(here, 2, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
  MPI_Scatterv(here, counts, displs, MPI_INT, there, rank + 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, there, 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(here, 2, MPI_INT, there, 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(here, rank + 1, MPI_INT, there, counts, displs, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce_scatter(here, there, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(here, there, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, here, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void communicators(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_name(half, rank % 2 ? "odd ones" : "even ones");
  int me, value[2] = {0};
  MPI_Comm_rank(half, &me);
  MPI_Sendrecv(a, 4, MPI_BYTE, 1 - me, 0, b, 4, MPI_BYTE, 1 - me, 0, half, MPI_STATUS_IGNORE);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter);
  if (me == 0)
    MPI_Send(a, 6, MPI_BYTE, 1, 0, inter);
  else
    MPI_Recv(b, 6, MPI_BYTE, 0, 0, inter, MPI_STATUS_IGNORE);
  MPI_Bcast(value, 2, MPI_INT, rank == 0 ? MPI_ROOT : rank == 2 ? MPI_PROC_NULL : 0, inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

// Calls that fail: the tool sees the code, and nothing of the arguments that are wrong.
static void errors(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Send(a, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
  MPI_Send(a, 1, (MPI_Datatype)(intptr_t)0x7ffff000, 1, 0, MPI_COMM_WORLD);
  MPI_Send(a, -1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Reduce_scatter(a, b, NULL, MPI_INT, MPI_SUM, MPI_COMM_NULL);
  MPI_Recv(b, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void* one_thread(void* of) {
  MPI_Comm comm = *(MPI_Comm*)of;
  for (int i = 0; i < 100; ++i) MPI_Allreduce(MPI_IN_PLACE, &(int){1}, 1, MPI_INT, MPI_SUM, comm);
  return NULL;
}

static void threads(void) {
  pthread_t thread[4];
  MPI_Comm comm[4];
  for (int i = 0; i < 4; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
  for (int i = 0; i < 4; ++i) pthread_create(&thread[i], NULL, one_thread, &comm[i]);
  for (int i = 0; i < 4; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < 4; ++i) MPI_Comm_free(&comm[i]);
}

static int session(void) {
  MPI_Session s;
  MPI_Group group;
  MPI_Comm comm;
  for (int i = 0; i < 2; ++i) {
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) != MPI_SUCCESS) return 1;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tool", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&s);
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* part = argc > 1 ? argv[1] : "";
  if (strcmp(part, "session") == 0) return session();
  int provided;
  MPI_Init_thread(&argc, &argv, strcmp(part, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(part, "pt2pt") == 0) point_to_point();
  if (strcmp(part, "requests") == 0) requests();
  if (strcmp(part, "several") == 0) several();
  if (strcmp(part, "events") == 0) events();
  if (strcmp(part, "collectives") == 0) collectives();
  if (strcmp(part, "communicators") == 0) communicators();
  if (strcmp(part, "errors") == 0) errors();
  if (strcmp(part, "threads") == 0) threads();
  if (strcmp(part, "many") == 0)
    for (int i = 0; i < 100000; ++i) MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(part, "killed") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
