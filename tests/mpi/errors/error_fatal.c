/* Ends the job in the way its argument names. Run by fatal.py, which looks at what the launcher makes of it. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

/* A receive that nothing ends. */
static void* receive(void* tag) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, check_rank, *(int*)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}
/* A call of another thread than the one that initialised MPI: while that one waits for it, or is in a call itself. */
static void* ask(void* unused) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  return unused;
}
static void in_thread(void* (*what)(void*), void* argument, int while_inside) {
  static int tag = 2;
  pthread_t thread;
  if (pthread_create(&thread, NULL, what, argument) != 0) return;
  if (while_inside) receive(&tag);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  int value = 0;
  int level = MPI_THREAD_SINGLE;
  if (strcmp(way, "thread-serialized") == 0) level = MPI_THREAD_SERIALIZED;
  MPI_Init_thread(&argc, &argv, level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  const int me = check_rank == check_size - 1; /* the last rank fails; the others wait for it for ever */
  if (me && strcmp(way, "bad-rank") == 0) MPI_Send(&value, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
  if (me && strcmp(way, "bad-rank-abort") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    MPI_Bcast(&value, 1, MPI_INT, -3, MPI_COMM_WORLD);
  }
  if (me && strcmp(way, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (me && strcmp(way, "abort-0") == 0) MPI_Abort(MPI_COMM_WORLD, 0);
  if (me && strcmp(way, "abort-256") == 0) MPI_Abort(MPI_COMM_WORLD, 256);
  if (strncmp(way, "part-", 5) == 0) { /* in a communicator that does not have all ranks */
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, me, 0, &part);
    MPI_Comm_set_name(part, "the last one");
    MPI_Comm_set_errhandler(part, MPI_ERRORS_ABORT);
    if (me && strcmp(way, "part-abort") == 0) MPI_Abort(part, 9);
    if (me && strcmp(way, "part-error") == 0) MPI_Send(&value, 1, MPI_INT, 4711, 0, part);
  }
  if (strcmp(way, "odd-abort") == 0) { /* ranks 1, 3, 4 and 5, in falling order */
    MPI_Comm odd;
    const int in = check_rank % 2 == 1 || check_rank == 4;
    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, -check_rank, &odd);
    if (in) MPI_Comm_set_name(odd, "odd ones");
    if (me) MPI_Abort(odd, 9);
  }
  if (strcmp(way, "session-abort") == 0) { /* on a communicator of a session, beside the world */
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "aborts", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    if (me) MPI_Abort(comm, 11);
  }
  if (me && strcmp(way, "session") == 0) {
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &session);
    MPI_Group_from_session_pset(session, "nowhere", &group);
  }
  if (me && strcmp(way, "threads-wait") == 0) {
    static int tag = 1;
    in_thread(receive, &tag, 1);
  }
  if (me && strcmp(way, "thread-single") == 0) in_thread(ask, NULL, 0);
  if (me && strcmp(way, "thread-serialized") == 0) {
    in_thread(ask, NULL, 0); /* one after the other is allowed */
    fprintf(stderr, "so far all is well\n");
    static int tag = 1;
    in_thread(receive, &tag, 1);
  }
  if (me && strcmp(way, "exit") == 0) _exit(3);
  if (me && strcmp(way, "return") == 0) return 5;
  if (me && strcmp(way, "kill") == 0) raise(SIGKILL);
  if (me && strcmp(way, "segv") == 0) raise(SIGSEGV);
  if (strcmp(way, "strange-name") == 0) { /* a byte that is no UTF-8, a newline, ends of scripts and of lines */
    MPI_Comm part;
    MPI_Comm_dup(MPI_COMM_SELF, &part);
    MPI_Comm_set_name(part, "\xff\"\n</script>\xe2\x80\xa8\xc3\xa9");
    if (me) MPI_Send(&value, 1, MPI_INT, 4711, 0, part);
  }
  if (strcmp(way, "leak") == 0) {
    MPI_Comm never_freed;
    MPI_Comm_dup(MPI_COMM_WORLD, &never_freed);
    MPI_Finalize();
    return 0;
  }
  if (strcmp(way, "truncate") == 0) {
    int many[100] = {0};
    MPI_Request r;
    MPI_Isend(many, 100, MPI_INT, check_rank, 0, MPI_COMM_WORLD, &r);
    if (me) MPI_Recv(&value, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (check_rank == 0 && check_size > 1) MPI_Recv(&value, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (check_rank > 0) MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
