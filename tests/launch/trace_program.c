// Messages in a pattern that the tests of traces and summaries work out for themselves: trace_program PART.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };
static int rank, size;
static char data[1 << 16], room[MOST * 8][1024];

// The pattern: so many messages of so many bytes from one rank to another, itself included.
static int messages(int from, int to) { return 1 + (from * 3 + to * 5) % 7; }
static int bytes(int from, int to) { return 10 * (from + 1) + to; }

// Each message by another kind of call.
static void send_one(int to, int number) {
  MPI_Request request;
  const int count = bytes(rank, to);
  switch (number % 7) {
    case 0:
      MPI_Send(data, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Isend(data, count, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 2:
      MPI_Ssend(data, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
      break;
    case 3:
      MPI_Send_init(data, count, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      break;
    case 4:
      MPI_Sendrecv(data, count, MPI_BYTE, to, 0, data, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      break;
    case 5:
      MPI_Ssend_init(data, count, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
      MPI_Startall(1, &request);
      MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
      MPI_Request_free(&request);
      break;
    default:
      MPI_Send_c(data, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
      break;
  }
}

static void pattern(void) {
  static MPI_Request request[MOST * 8];
  int posted = 0;
  for (int from = 0; from < size; ++from)
    for (int i = 0; i < messages(from, rank); ++i, ++posted)
      MPI_Irecv(room[posted], sizeof room[0], MPI_BYTE, from, 0, MPI_COMM_WORLD, &request[posted]);
  for (int k = 0; k < size; ++k)
    for (int i = 0, to = (rank + k) % size; i < messages(rank, to); ++i) send_one(to, i);
  MPI_Waitall(posted, request, MPI_STATUSES_IGNORE);
  // None of these is a message.
  MPI_Send(data, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Send(data, 1, MPI_BYTE, size, 0, MPI_COMM_WORLD);
}

// Names that are written to break a page.
static void names(void) {
  const char* const name[] = {"</script><script>document.title='broken'</script>",
                              "<!--<script>",
                              "\"quoted\" \\ and 'more'",
                              "line\nbreak\ttab \xe2\x80\xa8 \xe2\x80\xae end",
                              "\xff\xfe not UTF-8 \xc3",
                              "${x}%s{{y}}]]>"};
  for (size_t i = 0; i < sizeof name / sizeof *name; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, name[i]);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }
}

static void work(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) continue;
}

static void imbalance(void) {
  for (int i = 0; i < 20; ++i) {
    if (rank == size - 1) work(0.01);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// The last rank dies while the others wait for it; its last calls are sends of 100, 101, ... bytes.
static void killed(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 50; ++i) {
    if (rank == size - 1) MPI_Send(data, 100 + i, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(room[0], sizeof room[0], MPI_BYTE, size - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == size - 1) {
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);  // the others are in their receive then
    raise(SIGKILL);
  }
  MPI_Recv(room[0], 4, MPI_BYTE, size - 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Two long messages from rank 0 to rank 1, and three collectives of one kind.
static void protocols(void) {
  static char large[1 << 20];
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    if (rank == 0) MPI_Send(large, sizeof large, MPI_BYTE, 1, i, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(large, sizeof large, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

// Goes on when there is a file "go".
static void live(void) {
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  while (access("go", F_OK) != 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void* to_itself(void* of) {
  const int tag = *(int*)of;
  char byte = 0;
  for (int i = 0; i < 2000; ++i)
    MPI_Sendrecv(&byte, 1, MPI_BYTE, rank, tag, &byte, 1, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

static void threads(void) {
  enum { THREADS = 12 };
  pthread_t thread[THREADS];
  int tag[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    tag[i] = i;
    pthread_create(&thread[i], NULL, to_itself, &tag[i]);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(thread[i], NULL);
}

// A child makes calls that are not the rank's.
static void forked(void) {
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    for (int i = 0; i < 1000; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    _exit(0);
  }
  waitpid(child, &status, 0);
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  const char* part = argc > 1 ? argv[1] : "";
  const int times = argc > 2 ? atoi(argv[2]) : 1;
  int provided;
  MPI_Init_thread(&argc, &argv, strcmp(part, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(part, "pattern") == 0) pattern();
  if (strcmp(part, "names") == 0) names();
  if (strcmp(part, "imbalance") == 0) imbalance();
  if (strcmp(part, "protocols") == 0) protocols();
  if (strcmp(part, "live") == 0) live();
  if (strcmp(part, "killed") == 0) killed();
  if (strcmp(part, "threads") == 0) threads();
  if (strcmp(part, "forked") == 0) forked();
  if (strcmp(part, "stuck") == 0 && rank == 0) MPI_Recv(room[0], 4, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  // Calls without end: to the neighbour, from the other.
  for (int i = 0; strcmp(part, "many") == 0 && i < times; ++i)
    MPI_Sendrecv(data, 8, MPI_BYTE, (rank + 1) % size, 0, room[0], 8, MPI_BYTE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; strcmp(part, "null") == 0 && i < times; ++i)
    MPI_Send(data, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
