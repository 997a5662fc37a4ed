/* Calls about files that move little or nothing, for any number of ranks (`files_calls FOLDER [ROW...]`, files.h):
 *   open_close, open_close_new   of a file that is there, and of one that is made and deleted
 *   set_view, set_view_pieces    to bytes, and to a committed filetype of 10^6 pieces
 *   sync                         after 4 KiB of each rank
 *   preallocate                  of 1 GiB behind the end of a file of 1 MiB: only where the command line names it
 *   overlap                      a nonblocking collective write of 8 MiB of each rank in small pieces, beside work of
 *                                as long as the write takes alone: the percentage of the shorter one that is hidden
 * Lines as `files call sync us 812`. */
#include "files.h"

enum { kDirty = 4096, kMany = 1000000, kOverlapped = 8 << 20, kSmall = 512 };

static MPI_Datatype many;

static void open_close(void) {
  MPI_File other;
  must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &other), "open");
  must(MPI_File_close(&other), "close");
}

static void open_close_new(void) {
  MPI_File other;
  char name[1100];
  snprintf(name, sizeof name, "%s.new", path);
  open_file(name, &other);
  must(MPI_File_close(&other), "close");
}

static void set_view_pieces(void) {
  must(MPI_File_set_view(file, 0, MPI_BYTE, many, "native", MPI_INFO_NULL), "set_view");
}

static void sync_after_write(void) {
  static char memory[kDirty];
  must(MPI_File_write_at(file, (MPI_Offset)rank << 20, memory, kDirty, MPI_BYTE, MPI_STATUS_IGNORE), "write");
  must(MPI_File_sync(file), "sync");
}

static void preallocate(void) {
  must(MPI_File_set_size(file, 1 << 20), "set_size");
  must(MPI_File_preallocate(file, 1 << 30), "preallocate");
}

static void make_many(void) {
  int* const places = malloc(sizeof *places * kMany);
  for (int i = 0; i < kMany; i++) places[i] = 3 * i + i % 2;
  MPI_Type_create_indexed_block(kMany, 1, places, MPI_INT, &many);
  MPI_Type_commit(&many);
  free(places);
}

static double work(double seconds) {
  double sum = 0;
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
    for (int i = 1; i < 200; i++) sum += 1.0 / i;
  return sum;
}

static void write_small(const char* memory, MPI_Request* request) {
  must(MPI_File_iwrite_at_all(file, 0, memory, kOverlapped, MPI_BYTE, request), "iwrite_at_all");
}

/* Work is cut in ten parts, with a look at the request between two. */
static double both(const char* memory, double seconds) {
  static volatile double kept;
  MPI_Request request;
  int done = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  write_small(memory, &request);
  for (int part = 0; part < 10 && seconds > 0; part++) {
    kept = kept + work(seconds / 10);
    if (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Wtime() - begin;
}

static void overlap(void) {
  double alone[kTimes], beside[kTimes];
  char* const memory = bench_alloc(kOverlapped);
  MPI_Datatype piece, tile;
  if (!wanted("overlap")) return;
  MPI_Type_contiguous(kSmall, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, (MPI_Aint)kSmall * size, &tile);
  MPI_Type_commit(&tile);
  must(MPI_File_set_view(file, (MPI_Offset)rank * kSmall, MPI_BYTE, tile, "native", MPI_INFO_NULL), "set_view");
  both(memory, 0);
  for (int time = 0; time < kTimes; time++) alone[time] = both(memory, 0);
  double one = bench_median(alone, kTimes);
  MPI_Bcast(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int time = 0; time < kTimes; time++) beside[time] = both(memory, one);
  double mine = bench_median(beside, kTimes), most = 0;
  MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("files overlap_alone us %.2f\nfiles overlap_hidden %% %.1f\n", one * 1e6, 100 * (2 * one - most) / one);
  MPI_Type_free(&piece);
  MPI_Type_free(&tile);
  plain_view();
  free(memory);
}

int main(int argc, char** argv) {
  files_start(argc, argv);
  make_many();
  call_row("open_close", open_close, 20);
  call_row("open_close_new", open_close_new, 20);
  call_row("set_view", plain_view, 20);
  call_row("set_view_pieces", set_view_pieces, 20);
  plain_view();
  call_row("sync", sync_after_write, 20);
  overlap();
  if (rows_wanted > 0) call_row("preallocate", preallocate, 1);
  MPI_Type_free(&many);
  files_stop();
  return 0;
}
