/* A program for jobs on several hosts: hosts WHAT. Each says what it is for; what is wrong ends it with status 3. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;

static void must(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void all_reduce(MPI_Comm comm, int count) {
  int size, me;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &me);
  long* mine = malloc(sizeof(long) * (size_t)count);
  long* sum = malloc(sizeof(long) * (size_t)count);
  for (int i = 0; i < count; ++i) mine[i] = me + i;
  MPI_Allreduce(mine, sum, count, MPI_LONG, MPI_SUM, comm);
  for (int i = 0; i < count; ++i) must(sum[i] == (long)size * (size - 1) / 2 + (long)size * i, "a sum is wrong");
  free(mine);
  free(sum);
}

/* Who is where, and sums of small and large arrays, in the world, on each host, and among the first of each host. */
static void hello(void) {
  MPI_Comm node, leaders;
  int on_node, me;
  char host[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(host, &length);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? 0 : MPI_UNDEFINED, 0, &leaders);
  for (int count = 1; count <= 100000; count *= 10) {
    all_reduce(MPI_COMM_WORLD, count);
    all_reduce(node, count);
    if (leaders != MPI_COMM_NULL) all_reduce(leaders, count);
  }
  const char* local = getenv("ASHLAR__LOCAL_RANK");
  printf("rank %d of %d on %s, %d of %d there, local %s\n", rank, ranks, host, me, on_node, local ? local : "?");
  MPI_Comm_free(&node);
  if (leaders != MPI_COMM_NULL) MPI_Comm_free(&leaders);
}

static void look_up(const char* service, const char* wanted) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Lookup_name(service, MPI_INFO_NULL, port);
  must(strcmp(port, wanted) == 0, "a name leads to another port");
}

static void say_where(const char* who) {
  char host[MPI_MAX_PROCESSOR_NAME], folder[512] = "";
  int length = 0;
  MPI_Get_processor_name(host, &length);
  if (getcwd(folder, sizeof folder) == NULL) folder[0] = '\0';
  printf("%s %d of %d on %s in %s\n", who, rank, ranks, host, folder);
  fflush(stdout);
}

/* Rank 0 is away for two seconds. The others say how much of a processor they took to wait for it. */
static void idle(void) {
  struct timespec begin, end;
  MPI_Barrier(MPI_COMM_WORLD);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  if (rank == 0) sleep(2);
  MPI_Barrier(MPI_COMM_WORLD);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  printf("rank %d %.0f ms\n", rank,
         (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-6);
}

/* Waits for a message that never comes, and says how that ends. */
static void wait_for_other_job(MPI_Comm inter) {
  int nothing, class = MPI_SUCCESS;
  printf("ready\n");
  fflush(stdout);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Recv(&nothing, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE), &class);
  printf("%s\n", class == MPI_ERR_PROC_ABORTED ? "the other job is gone" : "another error");
  MPI_Comm_free(&inter);
}

/* spawn ROOT COUNT THEN [KEY=VALUE...]: starts as many processes, with these keys. They say where they are, merge with
 * those that started them, and do THEN: "end", "wait" for them, or look up a "name" that those have published, and
 * publish one for them. A start that fails is told, and the job goes on. */
static void spawn(char** argv) {
  MPI_Comm children, all;
  MPI_Info info;
  int codes[64] = {0}, started = 0, members = 0, sum = 0, remote = 0;
  const int root = atoi(argv[2]), count = atoi(argv[3]);
  char* arguments[] = {"child", argv[4], NULL};
  MPI_Info_create(&info);
  for (char** word = argv + 5; *word != NULL; ++word) {
    char* const equals = strchr(*word, '=');
    *equals = '\0';
    MPI_Info_set(info, *word, equals + 1);
    *equals = '=';
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(argv[4], "name") == 0 && rank == 0) MPI_Publish_name("of the parents", MPI_INFO_NULL, "a port");
  MPI_Barrier(MPI_COMM_WORLD);
  const int code = MPI_Comm_spawn(argv[0], arguments, count, info, root, MPI_COMM_WORLD, &children, codes);
  MPI_Info_free(&info);
  if (code != MPI_SUCCESS) {
    char words[MPI_MAX_ERROR_STRING];
    int length, class, class_of_last;
    MPI_Error_class(code, &class);
    MPI_Error_class(codes[count - 1], &class_of_last);
    must(class == MPI_ERR_SPAWN && class_of_last == MPI_ERR_SPAWN && children == MPI_COMM_NULL, "another error");
    MPI_Error_string(code, words, &length);
    if (rank == root) printf("not started: %s\n", words);
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  for (int i = 0; i < count; ++i) started += codes[i] == MPI_SUCCESS;
  MPI_Comm_remote_size(children, &remote);
  must(started == remote, "the codes tell of another number of processes");
  MPI_Intercomm_merge(children, 0, &all);
  MPI_Comm_size(all, &members);
  must(members == ranks + remote, "the merged communicator has another size");
  MPI_Barrier(all);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  if (strcmp(argv[4], "name") == 0) {
    MPI_Barrier(children);
    look_up("of the children", "another port");
    MPI_Barrier(children);
  }
  if (strcmp(argv[4], "wait") == 0)
    wait_for_other_job(children);
  else
    MPI_Comm_disconnect(&children);
}

static void child(MPI_Comm parent, const char* then) {
  MPI_Comm all;
  int sum = 0;
  say_where("child");
  MPI_Intercomm_merge(parent, 1, &all);
  MPI_Barrier(all);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  if (strcmp(then, "name") == 0) {
    look_up("of the parents", "a port");
    if (rank == ranks - 1) MPI_Publish_name("of the children", MPI_INFO_NULL, "another port");
    MPI_Barrier(parent);
    MPI_Barrier(parent);
  }
  if (strcmp(then, "wait") == 0)
    wait_for_other_job(parent);
  else
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* what = argc > 1 ? argv[1] : "hello";
  if (strcmp(what, "hello") == 0) {
    hello();
  } else if (strcmp(what, "wait") == 0) { /* until something ends it; the last rank is not in the call */
    printf("ready\n");
    fflush(stdout);
    if (rank == ranks - 1)
      for (;;) pause();
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "recv") == 0) { /* the last rank waits for rank 0, which waits for it */
    int number = 0;
    printf("ready\n");
    fflush(stdout);
    if (rank == 0 || rank == ranks - 1)
      MPI_Recv(&number, 1, MPI_INT, ranks - 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "idle") == 0) {
    idle();
  } else if (strcmp(what, "sums") == 0) { /* four large reductions */
    for (int i = 0; i < 4; ++i) all_reduce(MPI_COMM_WORLD, 1 << 16);
  } else if (strcmp(what, "exit") == 0) { /* the last rank returns 7, after MPI_Finalize */
    MPI_Finalize();
    return rank == ranks - 1 ? 7 : 0;
  } else if (strcmp(what, "abort") == 0) {
    if (rank == ranks - 1) MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "spawn") == 0 && argc > 4) {
    spawn(argv);
  } else if (strcmp(what, "child") == 0 && parent != MPI_COMM_NULL) {
    child(parent, argv[2]);
  } else if (strcmp(what, "kill") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
