/* Memory of MPI_Alloc_mem: where it lies, alignment, messages from it, a fork.
 * Argument: where all of it has to lie ("heap": the file that other processes map; "private"), or "mixed". */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kSizes = 6 };
static const MPI_Aint sizes[kSizes] = {0, 1, 4096, 100000, 1 << 20, 20 << 20};

/* Whether the address lies in a mapping of a heap. */
static int in_heap(const void* address) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[1024];
  int found = 0;
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long long begin = 0, end = 0;
    if (sscanf(line, "%llx-%llx", &begin, &end) != 2) continue;
    if ((uintptr_t)address >= begin && (uintptr_t)address < end) found = strstr(line, "ashlar-heap") != NULL;
  }
  if (maps) fclose(maps);
  return found;
}

static void all_sizes(const char* where, const char* alignment) {
  char* memory[kSizes];
  MPI_Info info = MPI_INFO_NULL;
  if (alignment) {
    MUST(MPI_Info_create(&info));
    MUST(MPI_Info_set(info, "mpi_minimum_memory_alignment", alignment));
  }
  for (int i = 0; i < kSizes; ++i) {
    MUST(MPI_Alloc_mem(sizes[i], info, &memory[i]));
    CHECK(memory[i] != NULL, "size %lld", (long long)sizes[i]);
    CHECK((uintptr_t)memory[i] % (alignment ? strtoul(alignment, NULL, 10) : 64) == 0, "size %lld at %p",
          (long long)sizes[i], (void*)memory[i]);
    if (strcmp(where, "mixed") != 0) CHECK_EQ(in_heap(memory[i]), strcmp(where, "heap") == 0);
    memset(memory[i], i + 1, (size_t)sizes[i]);
  }
  for (int i = 0; i < kSizes; ++i)
    for (MPI_Aint at = 0; at < sizes[i]; at += 61) CHECK(memory[i][at] == i + 1, "size %lld", (long long)sizes[i]);
  for (int i = kSizes - 1; i >= 0; --i) MUST(MPI_Free_mem(memory[i]));
  if (alignment) MUST(MPI_Info_free(&info));
}

/* Small ones, those that are copied once, and collectives. */
static void messages(void) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 1; i < kSizes; ++i) {
    unsigned char *out = NULL, *in = NULL;
    MUST(MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &out));
    MUST(MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &in));
    memset(out, 10 + check_rank, (size_t)sizes[i]);
    MUST(MPI_Sendrecv(out, (int)sizes[i], MPI_BYTE, right, 0, in, (int)sizes[i], MPI_BYTE, left, 0, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    CHECK_EQ(in[0], 10 + left);
    CHECK_EQ(in[sizes[i] - 1], 10 + left);
    MUST(MPI_Bcast(out, (int)sizes[i], MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK_EQ(out[sizes[i] / 2], 10);
    MUST(MPI_Free_mem(out));
    MUST(MPI_Free_mem(in));
  }
}

/* A child that allocates, frees and ends takes nothing from its parent. */
static void child_of_a_fork(void) {
  int *mine = NULL, *later = NULL;
  MUST(MPI_Alloc_mem(50000 * sizeof(int), MPI_INFO_NULL, &mine));
  for (int i = 0; i < 50000; ++i) mine[i] = i;
  const pid_t child = fork();
  if (child == 0) {
    int* its = NULL;
    if (MPI_Alloc_mem(50000 * sizeof(int), MPI_INFO_NULL, &its) != MPI_SUCCESS) _exit(1);
    if (in_heap(its)) _exit(2);
    memset(its, 0xff, 50000 * sizeof(int));
    if (MPI_Free_mem(its) != MPI_SUCCESS || MPI_Free_mem(mine) != MPI_SUCCESS) _exit(3);
    _exit(0);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  MUST(MPI_Alloc_mem(50000 * sizeof(int), MPI_INFO_NULL, &later));
  CHECK(later != mine);
  for (int i = 0; i < 50000; ++i) CHECK_EQ(mine[i], i);
  MUST(MPI_Free_mem(mine));
  MUST(MPI_Free_mem(later));
}

int main(int argc, char** argv) {
  const char* where = argc > 1 ? argv[1] : "heap";
  check_start(&argc, &argv);
  all_sizes(where, NULL);
  all_sizes(where, "4096");
  all_sizes(where, "2097152");
  messages();
  child_of_a_fork();
  return check_end();
}
