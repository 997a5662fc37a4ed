/* Accesses to files, for any number of ranks (`files FOLDER [ROW...]`, files.h):
 *   contiguous_1MiB         of each rank, one behind the other; contiguous_all_1MiB: the same by a collective call
 *   independent_SIZE        8 B and 4 KiB at rising offsets of each rank's own part; random_4096: in another order
 *   strided_SIZE            pieces of 512 and 8 B in turn of the ranks, 1,000 of each a call
 *   collective_SIZE_GAPS    pieces of SIZE bytes in turn of the ranks, 2 MiB of each rank a call; GAPS percent of the
 *                           range belong to no rank
 *   ordered_SIZE, shared_SIZE   by the shared file pointer
 * Lines as `files write collective_8_50 us 812`. */
#include "files.h"

enum { kPart = 2 << 20 };

static char* memory;

typedef int Access(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);
static int write_at(MPI_File f, MPI_Offset at, void* m, int n, MPI_Datatype t, MPI_Status* s) {
  return MPI_File_write_at(f, at, m, n, t, s);
}
static int write_at_all(MPI_File f, MPI_Offset at, void* m, int n, MPI_Datatype t, MPI_Status* s) {
  return MPI_File_write_at_all(f, at, m, n, t, s);
}

/* `calls` accesses of `bytes`: the next one is `step` bytes of the view behind, modulo `calls` of them. */
static void row(const char* name, Access* write, Access* read, MPI_Offset from, int bytes, int step, int calls) {
  MPI_Status status;
  if (!wanted(name)) return;
  for (int way = 0; way < 2; way++) {
    Access* const access = way ? read : write;
    must(access(file, from, memory, bytes, MPI_BYTE, &status), name);
    double seconds[kTimes];
    for (int time = 0; time < kTimes; time++) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      for (int i = 0; i < calls; i++)
        must(access(file, from + (MPI_Offset)(i * step % calls) * bytes, memory, bytes, MPI_BYTE, &status), name);
      seconds[time] = MPI_Wtime() - begin;
    }
    tell(way ? "read" : "write", name, seconds, calls);
  }
}

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
      if (!wanted(name)) continue;
      MPI_File_set_size(file, 0);
      pieces_view((MPI_Offset)rank * bytes, bytes, whole);
      row(name, write_at_all, MPI_File_read_at_all, 0, kPart, 0, bytes < 512 ? 2 : 4);
    }
  }
  plain_view();
}

static void independent_rows(void) {
  const MPI_Offset mine = (MPI_Offset)rank * (64 << 20);
  row("contiguous_1MiB", write_at, MPI_File_read_at, mine, 1 << 20, 1, 16);
  row("contiguous_all_1MiB", write_at_all, MPI_File_read_at_all, mine, 1 << 20, 1, 16);
  row("independent_8", write_at, MPI_File_read_at, mine, 8, 1, 4000);
  row("independent_4096", write_at, MPI_File_read_at, mine, 4096, 1, 1000);
  row("random_4096", write_at, MPI_File_read_at, mine, 4096, 617, 1000);
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
      snprintf(name, sizeof name, "%s_%d", ordered ? "ordered" : "shared", kSizes[s]);
      if (!wanted(name)) continue;
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
      tell("write", name, seconds, calls);
    }
  }
}

int main(int argc, char** argv) {
  files_start(argc, argv);
  memory = bench_alloc(kPart);
  collective_rows();
  independent_rows();
  pointer_rows();
  free(memory);
  files_stop();
  return 0;
}
