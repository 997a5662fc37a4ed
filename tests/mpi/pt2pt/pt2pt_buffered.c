/* Buffered mode: buffers of the process, of a communicator and automatic ones; the accounting of MPI_BSEND_OVERHEAD;
 * what fails and how; flushing; persistent buffered sends. */
#include <time.h>

#include "check.h"

static int right, left;

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

/* No receive is posted anywhere: as many messages as were accounted for fit, wherever the buffer begins. */
static void accounting(int bytes, int messages, int offset, MPI_Comm comm) {
  const int size = messages * (bytes + MPI_BSEND_OVERHEAD);
  char* memory = check_alloc((size_t)(size + offset));
  unsigned char* message = check_alloc((size_t)bytes);
  MUST(MPI_Buffer_attach(memory + offset, size));
  for (int i = 0; i < messages; i++) {
    pattern_fill(message, (size_t)bytes, (unsigned)i);
    MUST(MPI_Bsend(message, bytes, MPI_BYTE, right, i, comm));
  }
  for (int i = messages - 1; i >= 0; i--) { /* in the other order: nothing may depend on the receiver's */
    MUST(MPI_Recv(message, bytes, MPI_BYTE, left, i, comm, MPI_STATUS_IGNORE));
    CHECK_PATTERN(message, (size_t)bytes, (unsigned)i);
  }
  void* back = NULL;
  int back_size = 0;
  MUST(MPI_Buffer_detach(&back, &back_size));
  CHECK(back == memory + offset);
  CHECK_EQ(back_size, size);
  free(message);
  free(memory);
}

/* Attach, detach, attach what came back (3.10). */
static void attach_again(void) {
  char* memory = check_alloc(10000);
  void* back;
  int size;
  MUST(MPI_Buffer_attach(memory, 10000));
  CHECK_EQ(class_of(MPI_Buffer_attach(memory, 100)), MPI_ERR_BUFFER);
  MUST(MPI_Buffer_detach(&back, &size));
  CHECK(back == memory);
  CHECK_EQ(size, 10000);
  MUST(MPI_Buffer_attach(back, size));
  MPI_Count large;
  MUST(MPI_Buffer_detach_c(&back, &large));
  CHECK(back == memory);
  CHECK_EQ(large, 10000);
  MUST(MPI_Buffer_detach(&back, &size)); /* nothing is attached */
  CHECK(back == NULL);
  CHECK_EQ(size, 0);
  free(memory);
}

static void refused(MPI_Comm comm) {
  char text[MPI_MAX_ERROR_STRING], *memory = check_alloc(4096), *message = check_alloc(8192);
  int length;
  void* back;
  int code = MPI_Bsend(message, 1, MPI_BYTE, right, 0, comm);
  CHECK_EQ(class_of(code), MPI_ERR_BUFFER);
  MUST(MPI_Buffer_attach(memory, 4096));
  code = MPI_Bsend(message, 8192, MPI_BYTE, right, 0, comm);
  CHECK_EQ(class_of(code), MPI_ERR_BUFFER);
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, "8192") && strstr(text, "4096"), "the text has the numbers: %s", text);
  MPI_Request r = MPI_REQUEST_NULL;
  CHECK_EQ(class_of(MPI_Ibsend(message, 4090, MPI_BYTE, right, 0, comm, &r)), MPI_ERR_BUFFER);
  CHECK(r == MPI_REQUEST_NULL);
  MUST(MPI_Bsend(message, 8192, MPI_BYTE, MPI_PROC_NULL, 0, comm));  /* goes nowhere and takes no room */
  MUST(MPI_Bsend_init(message, 8192, MPI_BYTE, right, 0, comm, &r)); /* room is taken by the start */
  CHECK_EQ(class_of(MPI_Start(&r)), MPI_ERR_BUFFER);
  MUST(MPI_Request_free(&r));
  MUST(MPI_Buffer_detach(&back, &length));
  CHECK_EQ(class_of(MPI_Buffer_attach(memory, -1)), MPI_ERR_COUNT);
  free(memory);
  free(message);
}

/* A communicator's buffer comes first, and only for its own messages. */
static void buffer_of_communicator(void) {
  enum { kBytes = 100000 };
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  char* small = check_alloc(600);
  static char
      large[kBytes + MPI_BSEND_OVERHEAD]; /* the library's until the last message has left, which no call shows */
  char *out = check_alloc(kBytes), *in = check_alloc(kBytes);
  void* back;
  MPI_Count size;
  MUST(MPI_Buffer_attach(small, 600));
  MUST(MPI_Comm_attach_buffer(comm, large, kBytes + MPI_BSEND_OVERHEAD));
  CHECK_EQ(class_of(MPI_Comm_attach_buffer(comm, small, 600)), MPI_ERR_BUFFER);
  pattern_fill(out, kBytes, 7);
  MUST(MPI_Bsend(out, kBytes, MPI_BYTE, right, 1, comm));
  CHECK_EQ(class_of(MPI_Bsend(out, kBytes, MPI_BYTE, right, 1, MPI_COMM_WORLD)), MPI_ERR_BUFFER);
  MPI_Request flush;
  MUST(MPI_Comm_iflush_buffer(comm, &flush));
  MUST(MPI_Recv(in, kBytes, MPI_BYTE, left, 1, comm, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, kBytes, 7);
  MUST(MPI_Wait(&flush, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_flush_buffer(comm));
  MUST(MPI_Bsend(out, kBytes, MPI_BYTE, right, 2, comm)); /* flushed: there is room again */
  MUST(MPI_Recv(in, kBytes, MPI_BYTE, left, 2, comm, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_detach_buffer_c(comm, &back, &size));
  CHECK(back == large);
  CHECK_EQ(size, kBytes + MPI_BSEND_OVERHEAD);
  MUST(MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &back, &size));
  CHECK(back == NULL && size == 0);
  MUST(MPI_Buffer_detach_c(&back, &size));
  CHECK(back == small);
  /* The communicator may go while its buffer still holds a message. */
  MUST(MPI_Comm_attach_buffer(comm, large, kBytes + MPI_BSEND_OVERHEAD));
  MUST(MPI_Bsend(out, kBytes, MPI_BYTE, right, 3, comm));
  MUST(MPI_Recv(in, kBytes, MPI_BYTE, left, 3, comm, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  free(out);
  free(in);
  free(small);
}

static void automatic(MPI_Comm comm) {
  enum { kMessages = 20, kBytes = 50000 };
  unsigned char* message = check_alloc(kBytes);
  MPI_Request r[kMessages], flush;
  MUST(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  for (int i = 0; i < kMessages; i++) {
    pattern_fill(message, kBytes, (unsigned)i);
    MUST(MPI_Ibsend(message, kBytes, MPI_BYTE, right, i, comm, &r[i]));
  }
  MUST(MPI_Waitall(kMessages, r, MPI_STATUSES_IGNORE)); /* local: no rank receives yet */
  MUST(MPI_Buffer_iflush(&flush));
  int flag = 1;
  MUST(MPI_Test(&flush, &flag, MPI_STATUS_IGNORE));
  if (!flag) CHECK(flush != MPI_REQUEST_NULL);
  for (int i = 0; i < kMessages; i++) {
    MUST(MPI_Recv(message, kBytes, MPI_BYTE, left, i, comm, MPI_STATUS_IGNORE));
    CHECK_PATTERN(message, kBytes, (unsigned)i);
  }
  MUST(MPI_Wait(&flush, MPI_STATUS_IGNORE));
  MUST(MPI_Buffer_flush());
  void* back = NULL;
  int size = -1;
  MUST(MPI_Buffer_detach(&back, &size));
  CHECK(back == MPI_BUFFER_AUTOMATIC);
  free(message);
}

/* The same clock in all processes of a node. */
static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Detaching waits until the messages have left: the memory is the program's again. Here they cannot leave before the
 * receiver asks for them, which it does late. */
static void detach_waits(MPI_Comm comm) {
  enum { kBytes = 300000 };
  if (check_size < 2 || check_rank > 1) return;
  char *memory = check_alloc(kBytes + MPI_BSEND_OVERHEAD), *message = check_alloc(kBytes);
  double said = 0;
  void* back;
  int size;
  MPI_Request r;
  if (check_rank == 0) {
    pattern_fill(message, kBytes, 3);
    MUST(MPI_Buffer_attach(memory, kBytes + MPI_BSEND_OVERHEAD));
    MUST(MPI_Ibsend(message, kBytes, MPI_BYTE, 1, 8, comm, &r));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE)); /* local */
    memset(message, 0, kBytes);
    MUST(MPI_Buffer_detach(&back, &size));
    const double when = seconds();
    memset(memory, 0, kBytes); /* the library does not read it any more */
    MUST(MPI_Recv(&said, 1, MPI_DOUBLE, 1, 8, comm, MPI_STATUS_IGNORE));
    CHECK(when >= said, "detached %f s before the receive was posted", said - when);
  } else {
    const double until = seconds() + 0.1;
    int flag = 0;
    while (seconds() < until) MUST(MPI_Iprobe(0, 99, comm, &flag, MPI_STATUS_IGNORE));
    said = seconds();
    MUST(MPI_Recv(message, kBytes, MPI_BYTE, 0, 8, comm, MPI_STATUS_IGNORE));
    CHECK_PATTERN(message, kBytes, 3);
    MUST(MPI_Send(&said, 1, MPI_DOUBLE, 0, 8, comm));
  }
  free(memory), free(message);
}

/* 3.5 and 3.6: order among buffered messages, and against a synchronous one. */
static void order(MPI_Comm comm) {
  if (check_size < 2 || check_rank > 1) return;
  char memory[4 * (sizeof(int) + MPI_BSEND_OVERHEAD)];
  void* back;
  int a = 1, b = 2, x = 0, y = 0, size;
  if (check_rank == 0) {
    MUST(MPI_Buffer_attach(memory, sizeof memory));
    MUST(MPI_Bsend(&a, 1, MPI_INT, 1, 5, comm));
    MUST(MPI_Bsend(&b, 1, MPI_INT, 1, 5, comm));
    MUST(MPI_Bsend(&a, 1, MPI_INT, 1, 1, comm));
    MUST(MPI_Ssend(&b, 1, MPI_INT, 1, 2, comm));
    MUST(MPI_Buffer_detach(&back, &size));
  } else {
    MUST(MPI_Recv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    MUST(MPI_Recv(&y, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE));
    CHECK(x == 1 && y == 2, "%d, %d", x, y);
    MUST(MPI_Recv(&y, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE));
    MUST(MPI_Recv(&x, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    CHECK(x == 1 && y == 2, "%d, %d", x, y);
  }
}

static void persistent(MPI_Comm comm) {
  enum { kBytes = 70000 };
  char *memory = check_alloc(2 * (kBytes + MPI_BSEND_OVERHEAD)), *out = check_alloc(kBytes), *in = check_alloc(kBytes);
  void* back;
  int size;
  MPI_Request r;
  MUST(MPI_Buffer_attach(memory, 2 * (kBytes + MPI_BSEND_OVERHEAD)));
  MUST(MPI_Bsend_init(out, kBytes, MPI_BYTE, right, 4, comm, &r));
  for (unsigned i = 0; i < 5; i++) {
    pattern_fill(out, kBytes, i);
    MUST(MPI_Start(&r));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK(r != MPI_REQUEST_NULL);
    memset(out, 0, kBytes); /* the message is elsewhere */
    MUST(MPI_Recv(in, kBytes, MPI_BYTE, left, 4, comm, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, kBytes, i);
    MUST(MPI_Buffer_flush());
  }
  MUST(MPI_Request_free(&r));
  MUST(MPI_Buffer_detach(&back, &size));
  free(memory);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  refused(MPI_COMM_WORLD);
  attach_again();
  for (int offset = 0; offset < 3; offset++) {
    accounting(0, 50, offset, MPI_COMM_WORLD);
    accounting(3, 50, 5 * offset, MPI_COMM_WORLD);
    accounting(100001, 9, offset, MPI_COMM_WORLD);
  }
  buffer_of_communicator();
  automatic(MPI_COMM_WORLD);
  detach_waits(MPI_COMM_WORLD);
  order(MPI_COMM_WORLD);
  persistent(MPI_COMM_WORLD);
  /* Finalisation is a detach: what is in the buffer arrives, and the memory is good for anything afterwards. */
  static char last[100000 + MPI_BSEND_OVERHEAD], message[100000], in[100000];
  pattern_fill(message, sizeof message, 99);
  MUST(MPI_Buffer_attach(last, sizeof last));
  MPI_Request r;
  MUST(MPI_Bsend(message, sizeof message, MPI_BYTE, right, 9, MPI_COMM_WORLD));
  MUST(MPI_Irecv(in, sizeof in, MPI_BYTE, left, 9, MPI_COMM_WORLD, &r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_PATTERN(in, sizeof in, 99);
  return check_end();
}
