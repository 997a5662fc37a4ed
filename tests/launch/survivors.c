/* Ranks that go on when others have failed (mpiexec --keep-going). argv[1]: which rank fails, a comma, and how:
 *   killed     by SIGKILL, while the others wait for it
 *   exits      with status 7, without MPI_Finalize
 *   early      with status 7, before MPI_Init
 * argv[2]: what the others do:
 *   receive    from the failed rank, then among themselves
 *   barrier    with it; large: an allreduce of 1 MiB with it; then on a communicator without it
 *   linger     the failed rank outside MPI, for the test to end it; the others wait in a barrier
 *   tasks      rank 0 hands out tasks, and hands those of failed ranks out again
 *   fatal      keep the default error handler
 *   abort      call MPI_Abort */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, victim;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: not so: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 99);
}

static int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void fail(const char* how) {
  if (strcmp(how, "killed") == 0) raise(SIGKILL);
  _exit(7);
}

/* A communicator of the ranks that are left, on which everything works. */
static void go_on_without(void) {
  MPI_Group world, rest;
  MPI_Comm comm;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_excl(world, 1, &victim, &rest);
  expect(MPI_Comm_create_group(MPI_COMM_WORLD, rest, 0, &comm) == MPI_SUCCESS, "MPI_Comm_create_group");
  int sum = 0, one = 1;
  for (int i = 0; i < 100; ++i) {
    expect(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "MPI_Allreduce of the rest");
    expect(sum == size - 1, "the sum of the rest");
  }
  MPI_Group_free(&world);
  MPI_Group_free(&rest);
  MPI_Comm_free(&comm);
}

static void receive(void) {
  int value = 0;
  MPI_Status status;
  const int code = MPI_Recv(&value, 1, MPI_INT, victim, 0, MPI_COMM_WORLD, &status);
  expect(class_of(code) == MPI_ERR_PROC_ABORTED, "MPI_Recv from the failed rank: MPI_ERR_PROC_ABORTED");
  const int sent = MPI_Ssend(&value, 1, MPI_INT, victim, 0, MPI_COMM_WORLD);
  expect(class_of(sent) == MPI_ERR_PROC_ABORTED, "MPI_Ssend to the failed rank: MPI_ERR_PROC_ABORTED");
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  if (next == victim) next = (next + 1) % size;
  if (before == victim) before = (before + size - 1) % size;
  int got = -1;
  expect(MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &got, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
             MPI_SUCCESS,
         "MPI_Sendrecv among the rest");
  expect(got == before, "the neighbour's value");
}

static void together(int bytes) {
  char* mine = calloc(1, (size_t)bytes + 1);
  char* all = malloc((size_t)bytes + 1);
  const int code =
      bytes == 0 ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Allreduce(mine, all, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  expect(class_of(code) == MPI_ERR_PROC_ABORTED, "a collective with the failed rank: MPI_ERR_PROC_ABORTED");
  expect(class_of(MPI_Barrier(MPI_COMM_WORLD)) == MPI_ERR_PROC_ABORTED, "the next one as well");
  free(mine);
  free(all);
}

enum { kTasks = 50, kMostRanks = 16, kDone = 1, kTask = 2, kStop = 3 };

static int given[kMostRanks], answers[kMostRanks];
static MPI_Request requests[kMostRanks];

static void give(int worker, int task) {
  given[worker] = task;
  MPI_Send(&task, 1, MPI_INT, worker, kTask, MPI_COMM_WORLD);
  MPI_Irecv(&answers[worker], 1, MPI_INT, worker, kDone, MPI_COMM_WORLD, &requests[worker]);
}

/* Rank 0 keeps a receive from each worker that has a task; the one of the failed worker completes with an error, and
 * another worker gets its task. */
static void hand_out(void) {
  int done[kTasks] = {0}, finished = 0, next = 0, again = -1;
  requests[0] = MPI_REQUEST_NULL;
  for (int worker = 1; worker < size; ++worker) give(worker, next++);
  while (finished < kTasks) {
    int worker = MPI_UNDEFINED;
    const int code = MPI_Waitany(size, requests, &worker, MPI_STATUS_IGNORE);
    expect(worker != MPI_UNDEFINED, "some worker has a task");
    if (code != MPI_SUCCESS) {
      expect(class_of(code) == MPI_ERR_PROC_ABORTED && worker == victim, "only the failed worker's receive fails");
      again = given[worker];
    } else {
      finished += 1 - done[answers[worker]];
      done[answers[worker]] = 1;
    }
    for (int idle = 1; idle < size; ++idle) {
      if (idle == victim || requests[idle] != MPI_REQUEST_NULL) continue;
      if (again >= 0) {
        give(idle, again);
        again = -1;
      } else if (next < kTasks) {
        give(idle, next++);
      }
    }
  }
  for (int worker = 1; worker < size; ++worker)
    if (worker != victim) MPI_Send(&worker, 1, MPI_INT, worker, kStop, MPI_COMM_WORLD);
}

static void work(const char* how) {
  for (;;) {
    int task = -1;
    MPI_Status status;
    MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kStop) return;
    if (rank == victim) fail(how); /* with a task that it was given */
    MPI_Send(&task, 1, MPI_INT, 0, kDone, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  victim = atoi(argv[1]);
  const char* const how = strchr(argv[1], ',') + 1;
  const char* const what = argv[2];
  if (strcmp(how, "early") == 0 && getenv("VICTIM") != NULL) {
    usleep(200000); /* the others have joined by then, so that the end is a failure */
    return 7;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "fatal") != 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(what, "tasks") == 0) {
    if (rank == 0)
      hand_out();
    else
      work(how);
  } else {
    if (strcmp(how, "early") != 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "linger") == 0) {
      printf("ready\n");
      fflush(stdout);
      if (rank == victim) pause();
      together(0);
    }
    if (rank == victim) {
      usleep(100000);
      fail(how);
    }
    if (strcmp(what, "receive") == 0) receive();
    if (strcmp(what, "barrier") == 0) together(0);
    if (strcmp(what, "large") == 0) together(1 << 20);
    if (strcmp(what, "fatal") == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "abort") == 0) {
      receive();
      MPI_Abort(MPI_COMM_WORLD, 5);
    }
    go_on_without();
  }
  expect(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize without the failed rank");
  printf("rank %d went on\n", rank);
  return 0;
}
