/* What a tool pays: nanoseconds to read a performance variable (running counter, level, high-water mark), to read and
 * reset one, and to read a control variable. One rank.
 * usage: tools */
#include <time.h>

#include "bench.h"

enum { kReads = 100000 };
typedef int Read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value);

static double nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void measure(const char* what, const char* name, int class, Read* read) {
  int index = 0, count = 0;
  unsigned long long value = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  if (MPI_T_pvar_get_index(name, class, &index) != MPI_SUCCESS) {
    fprintf(stderr, "bench: no performance variable %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
  (void)MPI_T_pvar_start(session, handle); /* a level runs already */
  double batch[kBatches];
  for (int b = 0; b < kBatches; ++b) {
    const double begin = nanoseconds();
    for (int i = 0; i < kReads; ++i) read(session, handle, &value);
    batch[b] = (nanoseconds() - begin) / kReads;
  }
  printf("tools %s ns %.1f\n", what, bench_median(batch, kBatches));
  MPI_T_pvar_session_free(&session);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0, provided = 0, index = 0, count = 0;
  bench_start(&argc, &argv, 1, &rank, &size);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  measure("pvar_read counter", "p2p.unexpected_total", MPI_T_PVAR_CLASS_COUNTER, MPI_T_pvar_read);
  measure("pvar_read level", "p2p.unexpected", MPI_T_PVAR_CLASS_LEVEL, MPI_T_pvar_read);
  measure("pvar_read mark", "p2p.unexpected_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_T_pvar_read);
  measure("pvar_readreset counter", "p2p.unexpected_total", MPI_T_PVAR_CLASS_COUNTER, MPI_T_pvar_readreset);
  unsigned long long value = 0;
  MPI_T_cvar_handle handle;
  MPI_T_cvar_get_index("p2p.eager_limit", &index);
  MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
  double batch[kBatches];
  for (int b = 0; b < kBatches; ++b) {
    const double begin = nanoseconds();
    for (int i = 0; i < kReads / 10; ++i) MPI_T_cvar_read(handle, &value);
    batch[b] = (nanoseconds() - begin) / (kReads / 10);
  }
  printf("tools cvar_read ns %.1f\n", bench_median(batch, kBatches));
  MPI_T_cvar_handle_free(&handle);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
