/* A process that a rank forks has copies of all handles and the memory of the rank's peers, and can do no harm with
 * them. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kMessages = 200 };

static MPI_Comm pairs;

static void by_world(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void by_copy(void) {
  int one = 1;
  MPI_Send(&one, 1, MPI_INT, check_rank ^ 1, 0, pairs);
}
static void by_abort(void) { MPI_Abort(pairs, 5); }
static void by_type(void) {
  MPI_Datatype t;
  MPI_Type_contiguous(2, MPI_INT, &t);
}
static void by_end(void) { MPI_Finalize(); }
static void by_beginning(void) { MPI_Init(NULL, NULL); }
static void by_session(void) {
  MPI_Session s;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
}

/* What a child's call makes of the child: the exit status, 0 when it returns. */
static int status_of(void (*call)(void)) {
  int status = -1;
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    close(STDERR_FILENO); /* a test that writes has failed */
    call();
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void asks(void) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || !finalized) exit(3);
}

static void exchange(void) {
  for (int i = 0; i < kMessages; i++) {
    int out = i * 16 + check_rank, in = -1;
    MUST(MPI_Sendrecv(&out, 1, MPI_INT, check_rank ^ 1, i, &in, 1, MPI_INT, check_rank ^ 1, i, pairs,
                      MPI_STATUS_IGNORE));
    CHECK_EQ(in, i * 16 + (check_rank ^ 1));
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &pairs));
  exchange();
  CHECK_EQ(status_of(asks), 0);
  void (*const calls[])(void) = {by_world, by_copy, by_abort, by_type, by_end, by_beginning, by_session};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    CHECK(status_of(calls[i]) == 1, "call %zu of a child: status %d", i, status_of(calls[i]));
    exchange();
  }
  MUST(MPI_Comm_free(&pairs));
  return check_end();
}
