/* Prints without flushing, then ends the job: last_words HOW, by the last rank.
 *   abort    MPI_Abort
 *   error    an error that no handler takes
 *   locked   MPI_Abort while another thread holds the lock of a stream that comes before the others
 *   file F   MPI_Abort with text for file F in a buffer
 *   session  MPI_Init, a session, MPI_Finalize, the session's end: ends well
 *   session-left  the same without the session's end
 *   both-left     MPI_Init and a session, and the end of neither
 *   only-left     a session and no MPI_Init, without the session's end
 *   only-over     a session and its end, no MPI_Init, and an end without exit handlers
 *   only-code     the same with another session after it, and with exit code 3
 *   only-refused  a session that cannot begin and whose error handler is MPI_ERRORS_ABORT
 *   only-fatal    the same with MPI_ERRORS_ARE_FATAL */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE* held;

static void* hold(void* unused) {
  flockfile(held);
  sleep(60);
  return unused;
}

/* The thread level is none of the standard's, so MPI_Session_init fails before there is a session, or even a job. */
static int refused(MPI_Errhandler handler) {
  MPI_Session session;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_BRAIDED");
  printf("last words without a session");
  MPI_Session_init(info, handler, &session);
  return 0;
}

static int sessions_only(const char* how) {
  MPI_Session session;
  if (strcmp(how, "refused") == 0) return refused(MPI_ERRORS_ABORT);
  if (strcmp(how, "fatal") == 0) return refused(MPI_ERRORS_ARE_FATAL);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  if (strcmp(how, "left") == 0) return 0;
  MPI_Session_finalize(&session);
  if (strcmp(how, "over") == 0) _exit(0);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Session_finalize(&session);
  return 3;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "abort";
  int rank, size;
  if (strncmp(how, "only-", 5) == 0) return sessions_only(how + 5);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strncmp(how, "session", 7) == 0 || strcmp(how, "both-left") == 0) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    if (strcmp(how, "both-left") == 0) return 0;
    MPI_Finalize();
    if (strcmp(how, "session") == 0) MPI_Session_finalize(&session);
    if (rank == 0) usleep(200000); /* it is not stopped when the others have gone */
    return 0;
  }
  if (rank != size - 1) {
    MPI_Recv(&rank, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
  }
  printf("last words of rank %d", rank);
  if (strcmp(how, "locked") == 0) {
    pthread_t thread;
    held = fopen("/dev/null", "w");
    pthread_create(&thread, NULL, hold, NULL);
    usleep(100000);
  }
  if (strcmp(how, "file") == 0) fprintf(fopen(argv[2], "w"), "kept");
  if (strcmp(how, "error") == 0) MPI_Send(&rank, 1, MPI_INT, -5, 1, MPI_COMM_WORLD);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
