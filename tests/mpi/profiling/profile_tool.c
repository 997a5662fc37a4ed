/* A profiling library, as the standard's chapter on the profiling interface shows them: its own MPI_Send,
 * MPI_Allreduce, MPI_Comm_dup, MPI_Pcontrol and MPI_Wtime around those of the library, called by their shifted names.
 * What it counted is printed at MPI_Finalize. One of its functions calls MPI itself, which must reach the library and
 * be counted like any other call of the program's side; the library's own calls must not be. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

static int sends, reductions, duplicates, timers, level = 1, levels_seen;
static long long bytes;
static double seconds;

int MPI_Send(const void* buffer, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  int extent;
  const double begin = PMPI_Wtime();
  const int result = PMPI_Send(buffer, count, datatype, dest, tag, comm);
  if (level > 0) {
    MPI_Type_size(datatype, &extent); /* not replaced: the library's */
    bytes += (long long)count * extent;
    seconds += PMPI_Wtime() - begin;
    sends++;
  }
  return result;
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (level > 0) reductions++;
  return PMPI_Allreduce(in, out, count, datatype, op, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  if (level > 0) duplicates++;
  return PMPI_Comm_dup(comm, made);
}

double MPI_Wtime(void) {
  timers++;
  return PMPI_Wtime();
}

int MPI_Pcontrol(const int new_level, ...) {
  va_list rest;
  va_start(rest, new_level);
  va_end(rest);
  level = new_level;
  levels_seen++;
  return MPI_SUCCESS;
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("profile: sends %d bytes %lld reductions %d duplicates %d timers %d levels %d time %s\n", sends, bytes,
           reductions, duplicates, timers, levels_seen, seconds >= 0 ? "ok" : "backwards");
  return PMPI_Finalize();
}
