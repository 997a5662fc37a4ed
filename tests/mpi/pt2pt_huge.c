/* Messages of more than 2^31 bytes through every path: contiguous, in fragments, with gaps, buffered, by partitions.
 * Takes about 7 GB in each rank, so it runs only when TEST_HUGE_MESSAGES is set, and is skipped otherwise. */
#include "check.h"

static const size_t kBytes = (1ull << 31) + 4099;

static void touch(unsigned char* data, unsigned char seed) {
  for (size_t i = 0; i < kBytes; i += 4093) data[i] = (unsigned char)(seed + i / 4093);
  data[kBytes - 1] = seed;
}

static void look(const unsigned char* data, unsigned char seed, const char* how) {
  for (size_t i = 0; i < kBytes; i += 4093)
    if (data[i] != (unsigned char)(seed + i / 4093)) {
      CHECK(0, "%s: byte %zu is wrong", how, i);
      return;
    }
  CHECK(data[kBytes - 1] == seed, "%s: the last byte is wrong", how);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  if (getenv("TEST_HUGE_MESSAGES") == NULL || check_size != 2) {
    MPI_Finalize();
    return 77;
  }
  unsigned char* data = check_alloc(kBytes);
  memset(data, 0, kBytes);
  MPI_Status s;
  MPI_Count count = 0;
  int small = 0;
  if (check_rank == 0) {
    touch(data, 1);
    MUST(MPI_Send_c(data, (MPI_Count)kBytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
  } else {
    MUST(MPI_Recv_c(data, (MPI_Count)kBytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &s));
    MUST(MPI_Get_count_c(&s, MPI_BYTE, &count));
    CHECK_EQ(count, kBytes);
    MUST(MPI_Get_count(&s, MPI_BYTE, &small));
    CHECK_EQ(small, MPI_UNDEFINED);
    look(data, 1, "one run");
  }
  /* A type with gaps on the receiving side: all but every 4096th byte of the message, spread over the buffer. */
  MPI_Datatype pieces;
  MUST(MPI_Type_vector_c(1 << 20, 2047, 2048, MPI_BYTE, &pieces));
  MUST(MPI_Type_commit(&pieces));
  MPI_Count bytes;
  MUST(MPI_Type_size_c(pieces, &bytes));
  if (check_rank == 0) {
    touch(data, 2);
    MUST(MPI_Send(data, 1, pieces, 1, 2, MPI_COMM_WORLD));
  } else {
    memset(data, 0, kBytes);
    MUST(MPI_Recv(data, 1, pieces, 0, 2, MPI_COMM_WORLD, &s));
    MUST(MPI_Get_count_c(&s, MPI_BYTE, &count));
    CHECK_EQ(count, bytes);
    for (size_t i = 0; i < (1ull << 31) - 2048; i += 4093)
      if (i % 2048 != 2047 && data[i] != (unsigned char)(2 + i / 4093)) {
        CHECK(0, "with gaps: byte %zu is wrong", i);
        break;
      }
  }
  MUST(MPI_Type_free(&pieces));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_rank == 0) {
    touch(data, 3);
    MUST(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    MUST(MPI_Bsend_c(data, (MPI_Count)kBytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    void* back;
    MUST(MPI_Buffer_detach(&back, &small));
  } else {
    MPI_Message m;
    memset(data, 0, kBytes);
    MUST(MPI_Mprobe(0, 3, MPI_COMM_WORLD, &m, &s));
    MUST(MPI_Mrecv_c(data, (MPI_Count)kBytes, MPI_BYTE, &m, &s));
    look(data, 3, "buffered");
  }
  MPI_Request r;
  touch(data, check_rank == 0 ? 4 : 5);
  const int parts = 64;
  const MPI_Count part = (MPI_Count)(kBytes / 64);
  if (check_rank == 0) {
    MUST(MPI_Psend_init(data, parts, part, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    MUST(MPI_Start(&r));
    MUST(MPI_Pready_range(0, parts - 1, r));
  } else {
    MUST(MPI_Precv_init(data, parts / 2, 2 * part, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    MUST(MPI_Start(&r));
  }
  MUST(MPI_Wait(&r, &s));
  MUST(MPI_Request_free(&r));
  for (size_t i = 0; i < (size_t)part * 64; i += 4093)
    if (data[i] != (unsigned char)(4 + i / 4093)) {
      CHECK(0, "by partitions: byte %zu is wrong", i);
      break;
    }
  free(data);
  return check_end();
}
