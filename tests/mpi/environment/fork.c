/* A process that a rank forks has copies of all handles and the memory of the rank's peers. It can ask, and do no harm.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kMessages = 200 };

static MPI_Comm pairs;

static int by_world(void) { return MPI_Barrier(MPI_COMM_WORLD); }
static int by_copy(void) {
  int one = 1;
  return MPI_Send(&one, 1, MPI_INT, check_rank ^ 1, 0, pairs);
}
static int by_receive(void) {
  int one;
  /* What had arrived already is the child's as well, as a copy; this has not. */
  return MPI_Recv(&one, 1, MPI_INT, check_rank ^ 1, kMessages, pairs, MPI_STATUS_IGNORE);
}
static int by_reduction(void) {
  int one = 1, sum;
  return MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, pairs);
}
static int by_request(void) {
  int one = 1, sum, code;
  MPI_Request r = MPI_REQUEST_NULL;
  code = MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, pairs, &r);
  return code == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : code;
}
static int by_abort(void) { return MPI_Abort(pairs, 5); }
static int by_end(void) { return MPI_Finalize(); }
static int by_beginning(void) { return MPI_Init(NULL, NULL); }
static int by_session(void) {
  MPI_Session s;
  return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
}

/* What a child's call makes of the child: the exit status, 0 when it succeeds, 1 when its error says why it cannot. */
static int status_of(int (*call)(void)) {
  int status = -1;
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    close(STDERR_FILENO); /* a test that writes has failed */
    const int code = call();
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    exit(code == MPI_SUCCESS ? 0 : strstr(text, "forked from one that uses MPI") != NULL ? 1 : 2);
  }
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static int asks(void) {
  int initialized = 0, finalized = 0, rank = -1, size = -1, bytes = -1;
  MPI_Datatype t;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  MPI_Comm_rank(pairs, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_contiguous(3, MPI_INT, &t);
  MPI_Type_size(t, &bytes);
  MPI_Type_free(&t);
  return !initialized || !finalized || rank != check_rank || size != check_size || bytes != 3 * (int)sizeof(int);
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
  int sum = 1;
  exchange();
  CHECK_EQ(status_of(asks), 0);
  int (*const calls[])(void) = {by_world,   by_copy, by_receive,   by_reduction,
                                by_request, by_end,  by_beginning, by_session};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    CHECK(status_of(calls[i]) == 1, "call %zu of a child: status %d", i, status_of(calls[i]));
    exchange();
  }
  CHECK_EQ(status_of(by_abort), 5);
  exchange();
  MUST(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, check_size);
  MUST(MPI_Comm_free(&pairs));
  return check_end();
}
