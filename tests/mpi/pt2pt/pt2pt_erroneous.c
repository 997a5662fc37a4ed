/* The standard's examples of what a program must not do. Two of them never end: both ranks receive first (3.8), and
 * both send first with synchronous sends, for which no buffering is allowed (3.9). quiet.py runs those, also with
 * threads, and looks whether the ranks wait without using their cores. Without arguments: those that end, with an error
 * or without. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { kThreads = 3 };

static void ready(void) {
  printf("ready\n");
  fflush(stdout);
}

static void both_receive(MPI_Comm comm, int tag) {
  int out = 1, in = 0;
  MPI_Recv(&in, 1, MPI_INT, 1 - check_rank, tag, comm, MPI_STATUS_IGNORE);
  MPI_Send(&out, 1, MPI_INT, 1 - check_rank, tag, comm);
}

static void* receive_in_thread(void* comm) {
  both_receive(*(MPI_Comm*)comm, 7);
  return NULL;
}

static void never_ends(const char* how) {
  int out = 1, in = 0;
  if (strcmp(how, "receive") == 0) {
    ready();
    both_receive(MPI_COMM_WORLD, 7);
  } else if (strcmp(how, "ssend") == 0) {
    ready();
    MPI_Ssend(&out, 1, MPI_INT, 1 - check_rank, 3, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, 1 - check_rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(how, "waitany") == 0) {
    MPI_Request r[3];
    int index;
    for (int i = 0; i < 3; i++) MPI_Irecv(&in, 1, MPI_INT, 1 - check_rank, i, MPI_COMM_WORLD, &r[i]);
    ready();
    MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE);
  } else { /* each thread on a communicator of its own */
    MPI_Comm comms[kThreads];
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    ready();
    for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, receive_in_thread, &comms[i]);
    for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  }
}

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

/* 3.9: both send first. With buffered sends and no buffer that is an error, and not a wait. */
static void no_buffer(void) {
  int x = 0;
  CHECK_EQ(class_of(MPI_Bsend(&x, 1, MPI_INT, 1 - check_rank, 1, MPI_COMM_WORLD)), MPI_ERR_BUFFER);
}

/* 3.18: a receive that asks for any source may take another message than the one that was probed for. Here it always
 * does, because the other one is older; it is too long for the receive, which must say so and touch nothing else. */
static void probed_and_not_named(void) {
  double in[2] = {-1, -1};
  MPI_Status s;
  if (check_rank == 0) {
    const double out[2] = {3, 4};
    MUST(MPI_Send(out, 2, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD));
    MUST(MPI_Send(out, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD));
  } else {
    MUST(MPI_Probe(0, 6, MPI_COMM_WORLD, &s));
    CHECK_EQ(class_of(MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s)), MPI_ERR_TRUNCATE);
    CHECK(s.MPI_TAG == 5 && in[0] == 3 && in[1] == -1, "tag %d, %f %f", s.MPI_TAG, in[0], in[1]);
    MUST(MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
    CHECK_EQ(s.MPI_TAG, 6);
  }
}

/* What is started twice, waited for after it was freed, or of no use is an error that leaves the library usable. */
static void misused_requests(void) {
  int x = 0, flag = 0;
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Message m = MPI_MESSAGE_NULL;
  CHECK_EQ(class_of(MPI_Start(&r)), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Request_free(&r)), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Cancel(&r)), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Grequest_complete(r)), MPI_ERR_REQUEST);
  CHECK(class_of(MPI_Mrecv(&x, 1, MPI_INT, &m, MPI_STATUS_IGNORE)) != MPI_SUCCESS);
  MUST(MPI_Irecv(&x, 1, MPI_INT, 1 - check_rank, 9, MPI_COMM_WORLD, &r));
  CHECK_EQ(class_of(MPI_Start(&r)), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Grequest_complete(r)), MPI_ERR_REQUEST);
  MUST(MPI_Cancel(&r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  MUST(MPI_Recv_init(&x, 1, MPI_INT, 1 - check_rank, 9, MPI_COMM_WORLD, &r));
  MUST(MPI_Start(&r));
  CHECK_EQ(class_of(MPI_Start(&r)), MPI_ERR_REQUEST);
  CHECK_EQ(class_of(MPI_Startall(1, &r)), MPI_ERR_REQUEST);
  MUST(MPI_Cancel(&r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  MUST(MPI_Cancel(&r)); /* inactive: nothing to cancel */
  MUST(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
  CHECK(flag);
  MUST(MPI_Request_free(&r));
}

int main(int argc, char** argv) {
  int provided;
  MUST(MPI_Init_thread(
      &argc, &argv, argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  if (argc > 1) never_ends(argv[1]);
  no_buffer();
  probed_and_not_named();
  misused_requests();
  return check_end();
}
