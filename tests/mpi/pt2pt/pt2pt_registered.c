/* Long messages over a network library: memory of MPI_Alloc_mem is registered with it once, memory of the program for
 * each message, and memory that was freed is not taken for what came to its place. Two ranks; the argument is the
 * component's name. */
#include "tools/hear.h"

enum { kBytes = 1 << 20, kPart = 200 << 10, kMessages = 12 };

static Pvar begin(const char* component, const char* variable) {
  char name[128];
  snprintf(name, sizeof name, "transport.%s.%s", component, variable);
  return pvar_begin(name, MPI_T_PVAR_CLASS_COUNTER, NULL);
}

static void fill(unsigned char* at, int bytes, int seed) {
  for (int i = 0; i < bytes; ++i) at[i] = (unsigned char)(i * 7 + seed * 31 + i / 251);
}

/* From rank 0 to rank 1: parts of the buffer, each at another place. */
static void send_parts(int rank, unsigned char* buffer, int seed) {
  for (int i = 0; i < kMessages; ++i) {
    const int at = i * 64 << 10;
    unsigned char* const expected = malloc(kPart);
    if (rank == 0) fill(buffer + at, kPart, seed + i);
    if (rank == 0) MPI_Ssend(buffer + at, kPart, MPI_BYTE, 1, i, MPI_COMM_WORLD);
    if (rank == 1) {
      fill(expected, kPart, seed + i);
      memset(buffer + at, 0, kPart);
      MPI_Recv(buffer + at, kPart, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(memcmp(buffer + at, expected, kPart) == 0);
    }
    free(expected);
  }
}

int main(int argc, char** argv) {
  int provided;
  const char* const component = argc > 1 ? argv[1] : "ofi";
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  check_start(&argc, &argv);
  const int rank = check_rank;
  CHECK_EQ(check_size, 2);
  Pvar registrations = begin(component, "registrations"), again = begin(component, "registered_again");

  unsigned char* lasting = NULL;
  for (int round = 0; round < 3; ++round) {
    const Value before = pvar_value(&registrations, 0), before_again = pvar_value(&again, 0);
    MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &lasting);
    send_parts(rank, lasting, 100 * round);
    if (rank == 0) {
      /* Of memory that the library has given, one for all messages; the next round's is other memory, wherever it is.
       */
      CHECK_EQ(pvar_value(&registrations, 0) - before, 1);
      CHECK_EQ(pvar_value(&again, 0) - before_again, kMessages - 1);
    }
    MPI_Free_mem(lasting);
  }

  unsigned char* const own = malloc(kBytes);
  const Value before = pvar_value(&registrations, 0);
  send_parts(rank, own, 7);
  if (rank == 0) CHECK_EQ(pvar_value(&registrations, 0) - before, kMessages);
  free(own);

  pvar_end(&registrations);
  pvar_end(&again);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return check_end();
}
