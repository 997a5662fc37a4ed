/* MPI_THREAD_MULTIPLE: threads of every rank use one file at once, with blocking and nonblocking accesses of their own
 * parts and with the shared pointer, while one of them makes collective accesses of another file. */
#include "io.h"

#include <pthread.h>

enum { kThreads = 4, kTimes = 60, kItems = 700 };

static MPI_File common, other;

static int value_of(int rank, int thread, int time, int item) {
  return ((rank * kThreads + thread) * kTimes + time) * 1000 + item;
}

static long long part_of(int thread, int time) {
  return (((long long)time * check_size + check_rank) * kThreads + thread) * kItems;
}

static void* independent(void* argument) {
  const int me = *(int*)argument;
  int out[kItems], in[kItems];
  MPI_Status status;
  MPI_Request request;
  for (int time = 0; time < kTimes; time++) {
    for (int i = 0; i < kItems; i++) out[i] = value_of(check_rank, me, time, i);
    if (time % 2) {
      MUST(MPI_File_write_at(common, part_of(me, time), out, kItems, MPI_INT, &status));
      MUST(MPI_File_iread_at(common, part_of(me, time), in, kItems, MPI_INT, &request));
      MUST(MPI_Wait(&request, &status));
    } else {
      MUST(MPI_File_iwrite_at(common, part_of(me, time), out, kItems, MPI_INT, &request));
      MUST(MPI_Wait(&request, &status));
      MUST(MPI_File_read_at(common, part_of(me, time), in, kItems, MPI_INT, &status));
    }
    CHECK_EQ(moved(&status), sizeof in);
    for (int i = 0; i < kItems; i++) {
      if (in[i] == out[i]) continue;
      CHECK(in[i] == out[i], "thread %d, time %d: item %d is %d and not %d", me, time, i, in[i], out[i]);
      break;
    }
  }
  return NULL;
}

static void* together(void* argument) {
  const int me = *(int*)argument;
  int out[kItems], in[kItems];
  MPI_Status status;
  for (int time = 0; time < kTimes; time++) {
    for (int i = 0; i < kItems; i++) out[i] = value_of(check_rank, me, time, i);
    MUST(MPI_File_write_at_all(other, (long long)time * kItems, out, kItems, MPI_INT, &status));
    MUST(MPI_File_read_at_all(other, (long long)time * kItems, in, kItems, MPI_INT, &status));
    CHECK(memcmp(in, out, sizeof in) == 0, "collective %d", time);
  }
  return NULL;
}

/* Every other item, so that writes go through windows in which the other threads write. */
static void set_views(void) {
  MPI_Datatype every;
  MUST(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every));
  MUST(MPI_Type_commit(&every));
  MUST(MPI_File_set_view(common, 4, MPI_INT, every, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&every));
  MUST(MPI_Type_create_resized(MPI_INT, 0, check_size * (MPI_Aint)sizeof(int), &every));
  MUST(MPI_Type_commit(&every));
  MUST(MPI_File_set_view(other, check_rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&every));
}

int main(int argc, char** argv) {
  int level = 0, numbers[kThreads];
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  CHECK_EQ(level, MPI_THREAD_MULTIPLE);
  common = file_make(file_name("threads"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  other = file_make(file_name("threads-other"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  set_views();
  for (int atomic = 0; atomic < 2; atomic++) {
    MUST(MPI_File_set_atomicity(common, atomic));
    for (int k = 0; k < kThreads; k++) {
      numbers[k] = k;
      pthread_create(&threads[k], NULL, k == 0 ? together : independent, &numbers[k]);
    }
    for (int k = 0; k < kThreads; k++) pthread_join(threads[k], NULL);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  MUST(MPI_File_close(&common));
  MUST(MPI_File_close(&other));
  return check_end();
}
