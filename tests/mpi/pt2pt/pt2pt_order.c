/* Messages between two ranks do not overtake each other, whatever their sizes and however they are sent; receives are
 * served in the order they were posted. */
#include "check.h"

enum { kMessages = 300 };
static const int kSizes[] = {0, 8, 60, 500, 3000, 5000, 9000, 20000, 70000};

static int size_of(int i) { return 4 + kSizes[(i * 7) % (int)(sizeof kSizes / sizeof *kSizes)]; }

/* Sends of mixed modes and sizes, all with one tag; the receiver posts all receives first, or receives late. */
static void run(int posted_first) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  const size_t room = 4 + 70000;
  char* out = check_alloc(room * 16);
  char* in = check_alloc(room * 16);
  MPI_Request sends[16], receives[16];
  for (int base = 0; base < kMessages; base += 16) {
    const int n = kMessages - base < 16 ? kMessages - base : 16;
    for (int i = 0; posted_first && i < n; i++)
      MUST(MPI_Irecv(in + room * (size_t)i, (int)room, MPI_BYTE, i % 3 ? left : MPI_ANY_SOURCE, i % 2 ? 5 : MPI_ANY_TAG,
                     MPI_COMM_WORLD, &receives[i]));
    if (posted_first) MUST(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
      const int number = base + i;
      char* message = out + room * (size_t)i;
      pattern_fill(message, (size_t)size_of(number), (unsigned)number);
      memcpy(message, &number, sizeof number);
      if (i % 4 == 1)
        MUST(MPI_Issend(message, size_of(number), MPI_BYTE, right, 5, MPI_COMM_WORLD, &sends[i]));
      else
        MUST(MPI_Isend(message, size_of(number), MPI_BYTE, right, 5, MPI_COMM_WORLD, &sends[i]));
    }
    for (int i = 0; i < n; i++) {
      const int number = base + i;
      char* message = in + room * (size_t)i;
      MPI_Status s;
      int count, got;
      if (posted_first)
        MUST(MPI_Wait(&receives[i], &s));
      else
        MUST(MPI_Recv(message, (int)room, MPI_BYTE, left, 5, MPI_COMM_WORLD, &s));
      MUST(MPI_Get_count(&s, MPI_BYTE, &count));
      memcpy(&got, message, sizeof got);
      CHECK_EQ(got, number);
      CHECK_EQ(count, size_of(number));
      for (int b = 4; b < count; b++)
        if ((unsigned char)message[b] != pattern_byte((unsigned)number, (size_t)b)) {
          CHECK(0, "message %d, byte %d of %d", number, b, count);
          break;
        }
    }
    MUST(MPI_Waitall(n, sends, MPI_STATUSES_IGNORE));
    /* The next batch's wildcards are for the next batch's messages. */
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  free(out);
  free(in);
}

/* A large message and a small one behind it: receives named by tag in the other order still each get theirs. */
static void crossed_tags(void) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  const int large = 1 << 20;
  char* out = check_alloc((size_t)large);
  char* in = check_alloc((size_t)large);
  int small_out = check_rank, small_in = -1;
  MPI_Request r[2];
  pattern_fill(out, (size_t)large, (unsigned)check_rank);
  MUST(MPI_Isend(out, large, MPI_BYTE, right, 1, MPI_COMM_WORLD, &r[0]));
  MUST(MPI_Isend(&small_out, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &r[1]));
  MUST(MPI_Recv(&small_in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(small_in, left);
  MUST(MPI_Recv(in, large, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, (size_t)large, (unsigned)left);
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  run(1);
  run(0);
  crossed_tags();
  return check_end();
}
