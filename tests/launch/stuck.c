/* Jobs that never end, each in its own way; the tests ask mpiexec why. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long worked;

static void compute_for_ever(void) {
  for (;;) worked++;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  int rank, size, in = 0, out = 0;
  if (strcmp(how, "init") == 0) {
    if (getenv("ASHLAR__RANK")[0] == '1')
      for (;;) pause();
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  printf("ready\n");
  fflush(stdout);
  if (strcmp(how, "recv") == 0) {  // every rank receives first
    MPI_Recv(&in, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
  } else if (strcmp(how, "ssend") == 0) {  // every rank sends first
    MPI_Ssend(&out, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(how, "computes") == 0) {
    if (rank == size - 1) compute_for_ever();
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(how, "leaves") == 0) {  // one rank computes after a call that the others have left, too
    if (rank == 0) usleep(300000);
    MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == size - 1) compute_for_ever();
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(how, "pauses") == 0) {  // it only takes long, twice
    for (int i = 0; i < 2; i++) {
      if (rank == size - 1) sleep(3);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  } else if (strcmp(how, "chats") == 0) {  // one rank waits for the end, which comes late; two others go on meanwhile
    if (rank == 0) MPI_Recv(&in, 1, MPI_INT, 1, 29, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; rank != 0 && i < 30; i++) {
      if (rank == 1) usleep(100000);
      MPI_Sendrecv(&out, 1, MPI_INT, 3 - rank, 31, &in, 1, MPI_INT, 3 - rank, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 1) MPI_Send(&out, 1, MPI_INT, 0, 29, MPI_COMM_WORLD);
  } else if (strcmp(how, "sleeps") == 0) {  // no rank is inside MPI
    sleep(3);
  } else if (strcmp(how, "stopped") == 0) {
    if (rank == size - 1) raise(SIGSTOP);
    MPI_Recv(&in, 1, MPI_INT, size - 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(how, "skipped") == 0) {  // one rank waits for a message instead of entering the collective
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) MPI_Probe(0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(how, "mismatch") == 0) {
    double large[4000] = {0};
    if (rank == size - 1)
      MPI_Reduce(large, large + 2000, 2000, MPI_DOUBLE, MPI_SUM, rank, MPI_COMM_WORLD);
    else
      MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(how, "finalize") == 0) {
    if (rank == 0) MPI_Recv(&in, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(how, "finalize_send") == 0) {  // no rank receives what was given up
    static char large[1 << 20];
    MPI_Request request;
    if (rank == 0) {
      MPI_Isend(large, sizeof large, MPI_BYTE, 1, 17, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    }
  } else if (strcmp(how, "disconnect") == 0) {
    MPI_Comm copy;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    if (rank == 0) {
      MPI_Issend(&out, 1, MPI_INT, 1, 19, copy, &request);
      MPI_Request_free(&request);
      MPI_Comm_disconnect(&copy);
    }
  } else if (strncmp(how, "makes_", 6) == 0) {  // all but the last rank make a communicator, which waits for a message
    const char* const call = how + 6;
    MPI_Comm made;
    MPI_Group group, others;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    if (rank == size - 1) MPI_Recv(&in, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(call, "from_group") == 0)
      MPI_Comm_create_from_group(group, "org.example.solver\n", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    if (strcmp(call, "group") == 0) MPI_Comm_create_group(MPI_COMM_WORLD, group, 17, &made);
    if (strcmp(call, "split") == 0) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &made);
    for (int i = 0; strcmp(call, "dup") == 0 && i < 200; i++) MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (strcmp(call, "inter") == 0) MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, right, 5, &made);
    if (strcmp(call, "inter_from_groups") == 0) {
      MPI_Group_incl(group, 1, &rank, &others);
      MPI_Group_incl(group, 1, &right, &group);
      MPI_Intercomm_create_from_groups(others, 0, group, 0, "coupler", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    }
    if (strcmp(call, "cart") == 0)
      for (int i = 0; i < 200; i++) MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &in, 0, &made);
  } else if (strcmp(how, "unexpected") == 0) {  // one rank sends more than the other is ready to keep
    static char some[1000];
    if (rank == 1) MPI_Recv(some, 1, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10000; i++) MPI_Send(some, sizeof some, MPI_BYTE, right, 23, MPI_COMM_WORLD);
  } else if (strcmp(how, "tests") == 0) {  // a loop of tests instead of a wait
    MPI_Request request;
    int flag = 0;
    MPI_Irecv(&in, 1, MPI_INT, left, 11, MPI_COMM_WORLD, &request);
    while (!flag) {
      usleep(1000);
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
  } else if (strcmp(how, "waitall") == 0) {
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_set_name(reversed, "reversed");
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 0, 13, reversed, &requests[0]);
    MPI_Irecv(&out, 1, MPI_INT, 0, 14, reversed, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    fprintf(stderr, "stuck: unknown way '%s'\n", how);
    return 2;
  }
  MPI_Finalize();
  return 0;
}
