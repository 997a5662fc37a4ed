/* The end of a peer, told: a spawned child is killed while its parent waits for it, and the parent's tool hears it once
 * for each lane, finds it in the count, and hears of no other. */
#include <signal.h>

#include "hear.h"

static void child(MPI_Comm up) {
  MPI_Barrier(up); /* from here on the parent has a link to it */
  raise(SIGKILL);
}

static void parent(const char* program) {
  int provided = -1, number = 0, class = MPI_SUCCESS;
  char* arguments[] = {"child", NULL};
  MPI_Comm children;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  Hear failed;
  hear_begin(&failed, "progress.peer_failed");
  Pvar counted = pvar_begin("progress.peers_failed", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MUST(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE));
  MUST(MPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN));
  CHECK_EQ(failed.count, 0);
  MUST(MPI_Barrier(children));
  const int code = MPI_Recv(&number, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);
  MUST(MPI_Error_class(code, &class));
  CHECK_EQ(class, MPI_ERR_PROC_ABORTED);
  const Value lanes = pvar_value(&counted, 0);
  CHECK(lanes >= 1, "no lane has counted it");
  CHECK_EQ(failed.fields, 2);
  CHECK_EQ(failed.count, (int)lanes);
  for (int i = 1; i < failed.count; ++i) {
    CHECK_EQ(failed.of[i][0], failed.of[0][0]);                  /* one peer */
    CHECK_EQ(hear_find(&failed, i, 1, failed.of[i - 1][1]), -1); /* and each lane once */
  }
  pvar_end(&counted);
  hear_end(&failed);
  MUST(MPI_Comm_free(&children));
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  if (check_failures == 0) puts("the tool has heard of the one that was killed");
}

int main(int argc, char** argv) {
  (void)argc;
  MPI_Comm up;
  MUST(MPI_Init(NULL, NULL));
  MUST(MPI_Comm_get_parent(&up));
  if (up != MPI_COMM_NULL) child(up);
  parent(argv[0]);
  MPI_Finalize();
  return 0;
}
