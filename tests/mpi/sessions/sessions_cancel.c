/* Sends that are cancelled when their receiver has closed its last session and is not in the library any more, or never
 * again: what it has received is delivered, all else is cancelled, and every wait returns. The argument says what the
 * receiver does then: "stay" away for a while, "leave" its program, or open a session "again"; and "free" its
 * communicator first; then how many further messages there are, and whether there are threads. */
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kGoing = 1, kReceived = 2, kEarly = 3, kLate = 100, kLarge = 1 << 21 };

static char large[kLarge];
static int threads;

static MPI_Comm begin(MPI_Session* session, const char* tag, int* rank) {
  MPI_Group world;
  MPI_Comm comm;
  MPI_Info info;
  MUST(MPI_Info_create(&info));
  if (threads) MUST(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
  MUST(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, session));
  MUST(MPI_Info_free(&info));
  MUST(MPI_Group_from_session_pset(*session, "mpi://WORLD", &world));
  MUST(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
  MUST(MPI_Group_free(&world));
  MUST(MPI_Comm_rank(comm, rank));
  return comm;
}

static int cancelled(MPI_Request* request) {
  MPI_Status status;
  int flag;
  MUST(MPI_Cancel(request));
  MUST(MPI_Wait(request, &status));
  MUST(MPI_Test_cancelled(&status, &flag));
  return flag;
}

/* Five sends of one kind each: short, longer, synchronous, announced, and with a persistent request. Those
 * that wait for a process which has `left` its program end with an error, cancelled or not, so there are none then. */
static void start(MPI_Comm comm, int tag, int left, MPI_Request* requests) {
  MUST(MPI_Isend(large, 4, MPI_CHAR, 1, tag, comm, &requests[0]));
  MUST(MPI_Isend(large, 3000, MPI_CHAR, 1, tag + 1, comm, &requests[1]));
  requests[2] = requests[3] = MPI_REQUEST_NULL;
  if (!left) {
    MUST(MPI_Issend(large, 8, MPI_CHAR, 1, tag + 2, comm, &requests[2]));
    MUST(MPI_Isend(large, kLarge, MPI_CHAR, 1, tag + 3, comm, &requests[3]));
  }
  MUST(MPI_Send_init(large, 16, MPI_CHAR, 1, tag + 4, comm, &requests[4]));
  MUST(MPI_Start(&requests[4]));
}

static void take_back(const char* what, MPI_Request* requests) {
  for (int i = 0; i < 5; i++)
    if (requests[i] != MPI_REQUEST_NULL) CHECK(cancelled(&requests[i]), "%s, send %d", what, i);
  MUST(MPI_Request_free(&requests[4]));
}

static void sender(MPI_Comm comm, int many, int leaves) {
  MPI_Request received[3], early[5], late[5];
  MPI_Request* const more = malloc(sizeof *more * (size_t)(many + 1));
  start(comm, kEarly, leaves, early);
  for (int i = 0; i < 3; i++) MUST(MPI_Isend(&i, 1, MPI_INT, 1, kReceived, comm, &received[i]));
  for (int i = 0; i < many; i++) MUST(MPI_Isend(&i, 1, MPI_INT, 1, kLate + 50, comm, &more[i]));
  MUST(MPI_Recv(NULL, 0, MPI_CHAR, 1, kGoing, comm, MPI_STATUS_IGNORE));
  usleep(300000);
  if (!leaves) start(comm, kLate, 0, late);
  for (int i = 0; i < 3; i++) CHECK_EQ(cancelled(&received[i]), i == 2);
  take_back("early", early);
  if (!leaves) take_back("late", late);
  for (int i = 0; i < many; i++) CHECK(cancelled(&more[i]), "%d", i);
  free(more);
}

static void receiver(MPI_Comm comm, int many) {
  int value;
  MPI_Status status;
  for (int i = 0; i < 2; i++) {
    MUST(MPI_Recv(&value, 1, MPI_INT, 0, kReceived, comm, MPI_STATUS_IGNORE));
    CHECK_EQ(value, i);
  }
  if (many == 0) MUST(MPI_Probe(0, kReceived, comm, &status));
  MUST(MPI_Send(NULL, 0, MPI_CHAR, 0, kGoing, comm));
}

int main(int argc, char** argv) {
  const char* const then = argc > 1 ? argv[1] : "stay";
  const int many = argc > 2 ? atoi(argv[2]) : 0;
  threads = argc > 3;
  MPI_Session session;
  int rank;
  MPI_Comm comm = begin(&session, "first", &rank);
  check_rank = rank;
  if (rank == 0) sender(comm, many, strcmp(then, "leave") == 0);
  if (rank == 1) {
    receiver(comm, many);
    if (strcmp(then, "free") == 0) MUST(MPI_Comm_free(&comm));
    MUST(MPI_Session_finalize(&session));
    if (strcmp(then, "leave") == 0) return check_failures != 0;
    if (strcmp(then, "again") != 0) usleep(1500000);
  }
  if (strcmp(then, "again") == 0) {
    MPI_Session next;
    int sum = 0, one = 1;
    MPI_Comm other = begin(&next, "second", &rank);
    MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other));
    CHECK_EQ(sum, 2);
    if (rank == 1) {
      int flag;
      MUST(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &flag, MPI_STATUS_IGNORE));
      CHECK_EQ(flag, 0);
    }
    MUST(MPI_Comm_free(&other));
    MUST(MPI_Session_finalize(&next));
  }
  if (rank == 0) MUST(MPI_Session_finalize(&session));
  return check_failures != 0;
}
