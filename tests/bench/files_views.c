/* Collective accesses by views of several levels, for any number of ranks (`files_views FOLDER [ROW...]`, files.h):
 *   blocks                a 3-D array of doubles, 96 x 96 x 96, in blocks of the ranks (MPI_Type_create_darray)
 *   nested                pairs of doubles in vectors in vectors, in the file and, in another way, in memory
 *   halo                  the inside of a 3-D block whose border stays in memory, to a whole array in the file
 *   peak                  KiB of memory that a write of 10^7 pieces of 8 B a rank adds to the peak of a rank: only
 *                         where the command line names it
 *   files_open            KiB that 100 open files add to a rank
 * Lines as `files write blocks us 812`. */
#include <sys/resource.h>

#include "files.h"

enum { kEdge = 96, kHalo = 2, kPieces = 10000000, kFiles = 100 };

static char* memory;

/* A collective write and read of `count` of `type`, by the present view. */
static void row(const char* name, int count, MPI_Datatype type) {
  MPI_Status status;
  for (int way = 0; way < 2; way++) {
    double seconds[kTimes];
    for (int time = -1; time < kTimes; time++) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      must(way ? MPI_File_read_at_all(file, 0, memory, count, type, &status)
               : MPI_File_write_at_all(file, 0, memory, count, type, &status),
           name);
      if (time >= 0) seconds[time] = MPI_Wtime() - begin;
    }
    tell(way ? "read" : "write", name, seconds, 1);
  }
}

static void view(MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype) {
  MPI_Type_commit(&filetype);
  must(MPI_File_set_view(file, disp, etype, filetype, "native", MPI_INFO_NULL), "set_view");
  MPI_Type_free(&filetype);
}

static int block_of(MPI_Datatype* out) {
  int grid[3] = {0, 0, 0}, edges[3] = {kEdge, kEdge, kEdge}, bytes = 0;
  int ways[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  int parts[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Dims_create(size, 3, grid);
  MPI_Type_create_darray(size, rank, 3, edges, ways, parts, grid, MPI_ORDER_C, MPI_DOUBLE, out);
  MPI_Type_size(*out, &bytes);
  return bytes / (int)sizeof(double);
}

static void blocks(void) {
  MPI_Datatype block;
  if (!wanted("blocks")) return;
  const int items = block_of(&block);
  view(0, MPI_DOUBLE, block);
  row("blocks", items, MPI_DOUBLE);
}

/* In memory a border of kHalo on each side of slabs of kEdge / size planes. */
static void halo(void) {
  MPI_Datatype slab, inside;
  const int planes = kEdge / size;
  int whole[3] = {kEdge, kEdge, kEdge}, part[3] = {planes, kEdge, kEdge / 2}, from[3] = {planes * rank, 0, kEdge / 4};
  int around[3] = {planes + 2 * kHalo, kEdge + 2 * kHalo, kEdge / 2 + 2 * kHalo}, at[3] = {kHalo, kHalo, kHalo};
  if (!wanted("halo") || planes == 0) return;
  MPI_Type_create_subarray(3, whole, part, from, MPI_ORDER_C, MPI_DOUBLE, &slab);
  MPI_Type_create_subarray(3, around, part, at, MPI_ORDER_C, MPI_DOUBLE, &inside);
  MPI_Type_commit(&inside);
  view(0, MPI_DOUBLE, slab);
  row("halo", 1, inside);
  MPI_Type_free(&inside);
}

/* `outer` times `inner` pairs; a pair takes 4 doubles, and a half of the whole is nobody's. */
static void nest(int inner, int outer, MPI_Aint own, MPI_Datatype* out) {
  MPI_Datatype pair, row_of, tile;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &pair);
  MPI_Type_create_hvector(inner, 1, 6 * (MPI_Aint)sizeof(double), pair, &row_of);
  MPI_Type_create_resized(row_of, 0, own, &tile);
  MPI_Type_contiguous(outer, tile, out);
  MPI_Type_free(&pair);
  MPI_Type_free(&row_of);
  MPI_Type_free(&tile);
}

static void nested(void) {
  const MPI_Aint mine = 64 * 6 * sizeof(double);
  MPI_Datatype in_file, in_memory;
  if (!wanted("nested")) return;
  nest(64, 500, 2 * mine * size, &in_file);
  nest(20, 1600, 20 * 6 * sizeof(double), &in_memory);
  MPI_Type_commit(&in_memory);
  view(mine * rank, MPI_DOUBLE, in_file);
  row("nested", 1, in_memory);
  MPI_Type_free(&in_memory);
}

static long peak_now(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

static void tell_memory(const char* name, long added) {
  long most = 0;
  MPI_Reduce(&added, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("files memory %s KiB %ld\n", name, most);
}

static void peak(void) {
  MPI_Datatype piece, tile;
  if (rows_wanted == 0 || !wanted("peak")) return;
  char* const many = bench_alloc((size_t)kPieces * 8);
  MPI_Type_contiguous(8, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, (MPI_Aint)8 * size, &tile);
  MPI_Type_free(&piece);
  const long before = peak_now();
  view((MPI_Offset)8 * rank, MPI_BYTE, tile);
  must(MPI_File_write_at_all(file, 0, many, kPieces * 8, MPI_BYTE, MPI_STATUS_IGNORE), "peak");
  tell_memory("peak", peak_now() - before);
  free(many);
}

static void files_open(void) {
  static MPI_File files[kFiles];
  char name[1100];
  if (!wanted("files_open")) return;
  const long before = peak_now();
  for (int i = 0; i < kFiles; i++) {
    snprintf(name, sizeof name, "%s.%d", path, i);
    open_file(name, &files[i]);
  }
  tell_memory("files_open", peak_now() - before);
  for (int i = 0; i < kFiles; i++) MPI_File_close(&files[i]);
}

int main(int argc, char** argv) {
  files_start(argc, argv);
  files_open();
  memory = bench_alloc((size_t)(kEdge + 2 * kHalo) * (kEdge + 2 * kHalo) * (kEdge + 2 * kHalo) * sizeof(double));
  blocks();
  nested();
  halo();
  peak();
  free(memory);
  files_stop();
  return 0;
}
