/* File accesses, for any number of ranks, in microseconds a call, the slowest rank's median of batches:
 *   contiguous              1 MiB of each rank, one behind the other: independent and collective
 *   independent             8 B and 4 KiB at rising offsets of each rank's own part; strided: 512 and 8 B of every
 * second piece, 1,000 pieces a call collective_SIZE_GAPS    pieces of SIZE bytes in turn of the ranks, 2 MiB of each
 * rank a call, GAPS percent of the file's range belong to nobody ordered, shared         8 B and 64 KiB with the shared
 * file pointer open_close, set_view    set_view of 10^6 pieces sync `files FOLDER`; lines as `files write
 * collective_8_50 us 812`. */
#include <stdio.h>

#include "bench.h"

enum { kPart = 2 << 20 };

static int rank, size;
static char path[1024];
static char* memory;
static MPI_File file;

enum { kTimes = 5 };

/* The median of as many batches of `calls`. */
static void tell(const char* what, const char* name, double* seconds, int calls) {
  double mine = bench_median(seconds, kTimes) / calls * 1e6, most = 0;
  MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("files %s %s us %.2f\n", what, name, most);
}

static void must(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "%s: %s\n", what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

typedef int Access(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);
static int write_at(MPI_File f, MPI_Offset at, void* m, int n, MPI_Datatype t, MPI_Status* s) {
  return MPI_File_write_at(f, at, m, n, t, s);
}
static int write_at_all(MPI_File f, MPI_Offset at, void* m, int n, MPI_Datatype t, MPI_Status* s) {
  return MPI_File_write_at_all(f, at, m, n, t, s);
}

/* `calls` accesses of `bytes`, the next one `step` bytes of the view behind. */
static void row(const char* name, Access* write, Access* read, MPI_Offset from, int bytes, MPI_Offset step, int calls) {
  MPI_Status status;
  for (int way = 0; way < 2; way++) {
    Access* const access = way ? read : write;
    must(access(file, from, memory, bytes, MPI_BYTE, &status), name);
    double seconds[kTimes];
    for (int time = 0; time < kTimes; time++) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      for (int i = 0; i < calls; i++) must(access(file, from + i * step, memory, bytes, MPI_BYTE, &status), name);
      seconds[time] = MPI_Wtime() - begin;
    }
    tell(way ? "read" : "write", name, seconds, calls);
  }
}

static void plain_view(void) { MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL); }

/* Pieces of `bytes`, this rank's at `disp`, one in each `extent` bytes. */
static void pieces_view(MPI_Offset disp, int bytes, MPI_Aint extent) {
  MPI_Datatype piece, tile;
  MPI_Type_contiguous(bytes, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, extent, &tile);
  MPI_Type_commit(&tile);
  must(MPI_File_set_view(file, disp, MPI_BYTE, tile, "native", MPI_INFO_NULL), "set_view");
  MPI_Type_free(&piece);
  MPI_Type_free(&tile);
}

static void collective_rows(void) {
  static const int kSizes[] = {8, 512, 4096, 65536}, kGaps[] = {0, 10, 50};
  for (int s = 0; s < 4; s++) {
    for (int g = 0; g < 3; g++) {
      const int bytes = kSizes[s];
      const MPI_Aint whole = (MPI_Aint)bytes * size * 100 / (100 - kGaps[g]);
      char name[64];
      snprintf(name, sizeof name, "collective_%d_%d", bytes, kGaps[g]);
      MPI_File_set_size(file, 0);
      pieces_view((MPI_Offset)rank * bytes, bytes, whole);
      row(name, write_at_all, MPI_File_read_at_all, 0, kPart, 0, bytes < 512 ? 2 : 4);
    }
  }
  plain_view();
}

static void independent_rows(void) {
  const MPI_Offset mine = (MPI_Offset)rank * (64 << 20);
  row("contiguous_1MiB", write_at, MPI_File_read_at, mine, 1 << 20, 1 << 20, 16);
  row("contiguous_all_1MiB", write_at_all, MPI_File_read_at_all, mine, 1 << 20, 1 << 20, 16);
  row("independent_8", write_at, MPI_File_read_at, mine, 8, 8, 4000);
  row("independent_4096", write_at, MPI_File_read_at, mine, 4096, 4096, 1000);
  pieces_view(rank * 512, 512, (MPI_Aint)512 * size);
  row("strided_512", write_at, MPI_File_read_at, 0, 512 * 1000, 0, 2);
  pieces_view(rank * 8, 8, (MPI_Aint)8 * size);
  row("strided_8", write_at, MPI_File_read_at, 0, 8 * 1000, 0, 4);
  plain_view();
}

static void pointer_rows(void) {
  MPI_Status status;
  static const int kSizes[] = {8, 65536};
  for (int s = 0; s < 2; s++) {
    char name[64];
    const int calls = s ? 40 : 400;
    for (int ordered = 0; ordered < 2; ordered++) {
      double seconds[kTimes];
      for (int time = 0; time < kTimes; time++) {
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        for (int i = 0; i < calls; i++)
          must(ordered ? MPI_File_write_ordered(file, memory, kSizes[s], MPI_BYTE, &status)
                       : MPI_File_write_shared(file, memory, kSizes[s], MPI_BYTE, &status),
               "shared pointer");
        seconds[time] = MPI_Wtime() - begin;
      }
      snprintf(name, sizeof name, "%s_%d", ordered ? "ordered" : "shared", kSizes[s]);
      tell("write", name, seconds, calls);
    }
  }
}

static void open_close(void) {
  MPI_File other;
  must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &other), "open");
  must(MPI_File_close(&other), "close");
}

static void sync_after_write(void) {
  must(MPI_File_write_at(file, (MPI_Offset)rank << 20, memory, 4096, MPI_BYTE, MPI_STATUS_IGNORE), "write");
  must(MPI_File_sync(file), "sync");
}

static void call_row(const char* name, void (*call)(void)) {
  enum { kCalls = 20 };
  double seconds[kTimes];
  for (int time = 0; time < kTimes; time++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < kCalls; i++) call();
    seconds[time] = MPI_Wtime() - begin;
  }
  tell("call", name, seconds, kCalls);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  memory = calloc(1, kPart);
  snprintf(path, sizeof path, "%s/bench-files.bin", argc > 1 ? argv[1] : ".");
  must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file),
       "open");
  collective_rows();
  independent_rows();
  pointer_rows();
  call_row("open_close", open_close);
  call_row("set_view", plain_view);
  call_row("sync", sync_after_write);
  MPI_File_close(&file);
  free(memory);
  MPI_Finalize();
  return 0;
}
