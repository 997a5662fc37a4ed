/* What the standard's examples about start, end and memory show (drafts of chapter 8, MPI 1.1 chapter 7), written anew
 * so that each checks its own outcome. The argument says which: most of them are about what is under way at the end.
 *   memory              memory from MPI_Alloc_mem as an array of two dimensions; clocks around a computation
 *   versions            the macros and the calls agree
 *   freed BYTES         a send whose request was freed is delivered though the sender goes on into MPI_Finalize
 *   buffered            a buffered send is, too, and the buffer can be freed afterwards
 *   cancelled           a send is cancelled while its receiver is in MPI_Finalize
 *   after FILE          rank 0 comes back from MPI_Finalize and goes on with its life
 *   neighbours          even ranks send to odd ones; bytes are broadcast */
#include <unistd.h>

#include "check.h"

static void memory(void) {
  float(*grid)[100][100];
  MUST(MPI_Alloc_mem(sizeof(float) * 100 * 100, MPI_INFO_NULL, &grid));
  const double begin = MPI_Wtime();
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 100; j++) (*grid)[i][j] = (float)(i * j);
  CHECK((*grid)[5][3] == 15.0f && (*grid)[99][99] == 9801.0f);
  CHECK(MPI_Wtime() >= begin);
  MUST(MPI_Free_mem(grid));
  /* Aligned as asked; sizes of nothing; requests that cannot be. */
  MPI_Info info;
  void* p;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
  MUST(MPI_Alloc_mem(10, info, &p));
  CHECK((uintptr_t)p % 4096 == 0);
  MUST(MPI_Free_mem(p));
  MUST(MPI_Info_free(&info));
  MUST(MPI_Alloc_mem(0, MPI_INFO_NULL, &p));
  MUST(MPI_Free_mem(p));
  CHECK(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &p) == MPI_ERR_NO_MEM);
}

static void versions(void) {
  int version, subversion;
  MUST(MPI_Get_version(&version, &subversion));
  CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
}

static char* data; /* until the process ends: nobody tells when the send is done */
static void freed(size_t bytes) {
  data = check_alloc(bytes);
  if (check_rank == 0) {
    MPI_Request request;
    pattern_fill(data, bytes, 3);
    MUST(MPI_Isend(data, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request));
    MUST(MPI_Request_free(&request));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    return;
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 1) {
    usleep(50000); /* rank 0 is in MPI_Finalize */
    MUST(MPI_Recv(data, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(data, bytes, 3);
  }
}

static char* attached;
static void buffered(void) {
  enum { kBytes = 200000 };
  static char message[kBytes];
  if (check_rank == 0) {
    attached = check_alloc(kBytes + MPI_BSEND_OVERHEAD);
    MUST(MPI_Buffer_attach(attached, kBytes + MPI_BSEND_OVERHEAD));
    pattern_fill(message, kBytes, 8);
    MUST(MPI_Bsend(message, kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    memset(message, 0, kBytes);
  } else if (check_rank == 1) {
    usleep(50000);
    MUST(MPI_Recv(message, kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(message, kBytes, 8);
  }
}

static void cancelled(void) {
  int word = 5, flag = -1;
  MPI_Request request;
  MPI_Status status;
  /* Synchronous, so that it cannot have completed on its own. */
  if (check_rank == 0) MUST(MPI_Issend(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 1) {
    MUST(MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank != 0) return; /* into MPI_Finalize */
  usleep(50000);
  MUST(MPI_Cancel(&request));
  MUST(MPI_Wait(&request, &status));
  MUST(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 1);
}

static void neighbours(void) {
  int word = check_rank, got = -1;
  char text[20] = "";
  if (check_rank % 2 == 0 && check_rank + 1 < check_size)
    MUST(MPI_Send(&word, 1, MPI_INT, check_rank + 1, 0, MPI_COMM_WORLD));
  if (check_rank % 2 == 1) {
    MUST(MPI_Recv(&got, 1, MPI_INT, check_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(got, check_rank - 1);
  }
  if (check_rank == 0) strcpy(text, "bytes for everybody");
  MUST(MPI_Bcast(text, sizeof text, MPI_BYTE, 0, MPI_COMM_WORLD));
  CHECK(strcmp(text, "bytes for everybody") == 0);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "memory";
  check_start(&argc, &argv);
  if (strcmp(what, "memory") == 0) memory();
  if (strcmp(what, "versions") == 0) versions();
  if (strcmp(what, "freed") == 0) freed((size_t)atol(argv[2]));
  if (strcmp(what, "buffered") == 0) buffered();
  if (strcmp(what, "cancelled") == 0) cancelled();
  if (strcmp(what, "neighbours") == 0) neighbours();
  const int rank = check_rank, result = check_end();
  if (attached) {
    memset(attached, 1, 1000);
    free(attached);
  }
  if (strcmp(what, "after") == 0 && rank == 0) {
    FILE* file = fopen(argv[2], "w");
    if (!file || fprintf(file, "written after the end\n") < 0 || fclose(file) != 0) return 1;
    return remove(argv[2]) != 0;
  }
  return result;
}
