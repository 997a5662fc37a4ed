/* Buffers for buffered sends that belong to sessions, and which of the buffers of communicator, session and process
 * serves a send: the first of these that is attached. */
#include "check.h"

enum { kRoom = 1 << 16 };

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static MPI_Session opened(void) {
  MPI_Session session;
  MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  return session;
}

static MPI_Comm self_of(MPI_Session session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  MUST(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
  MUST(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MUST(MPI_Group_free(&group));
  return comm;
}

static int fits(MPI_Comm comm, int bytes) {
  static char data[kRoom], back[kRoom];
  pattern_fill(data, (size_t)bytes, 5);
  const int code = MPI_Bsend(data, bytes, MPI_BYTE, 0, 1, comm);
  if (code != MPI_SUCCESS) {
    CHECK_EQ(class_of(code), MPI_ERR_BUFFER);
    return 0;
  }
  MUST(MPI_Recv(back, bytes, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
  CHECK_PATTERN(back, (size_t)bytes, 5);
  return 1;
}

/* Buffers of different sizes: which is in use shows in what fits. */
static void precedence(MPI_Session session, MPI_Comm comm) {
  static char small[1000 + MPI_BSEND_OVERHEAD], middle[2000 + MPI_BSEND_OVERHEAD], large[4000 + MPI_BSEND_OVERHEAD];
  void* memory;
  int size;
  CHECK_EQ(fits(comm, 1), 0);
  MUST(MPI_Buffer_attach(large, sizeof large));
  CHECK(fits(comm, 4000) && !fits(comm, 8000));
  MUST(MPI_Session_attach_buffer(session, middle, sizeof middle));
  CHECK(fits(comm, 2000) && !fits(comm, 4000));
  MUST(MPI_Comm_attach_buffer(comm, small, sizeof small));
  CHECK(fits(comm, 1000) && !fits(comm, 2000));
  MUST(MPI_Comm_detach_buffer(comm, &memory, &size));
  CHECK(memory == small && size == (int)sizeof small);
  CHECK(fits(comm, 2000) && !fits(comm, 4000));
  /* Communicators made from one of the session use the session's buffer too; those of another session do not. */
  MPI_Comm made[4];
  MPI_Group group;
  MUST(MPI_Comm_dup(comm, &made[0]));
  MUST(MPI_Comm_split(comm, 0, 0, &made[1]));
  MUST(MPI_Comm_group(made[1], &group));
  MUST(MPI_Comm_create(comm, group, &made[2]));
  MUST(MPI_Group_free(&group));
  MUST(MPI_Cart_create(comm, 1, (int[]){1}, (int[]){0}, 1, &made[3]));
  for (int i = 0; i < 4; i++) {
    CHECK(fits(made[i], 2000) && !fits(made[i], 4000), "communicator %d", i);
    MUST(MPI_Comm_free(&made[i]));
  }
  MPI_Session other = opened();
  MPI_Comm elsewhere = self_of(other, "elsewhere");
  CHECK(fits(elsewhere, 4000));
  MUST(MPI_Comm_free(&elsewhere));
  MUST(MPI_Session_finalize(&other));
  MUST(MPI_Session_flush_buffer(session));
  MUST(MPI_Session_detach_buffer(session, &memory, &size));
  CHECK(memory == middle && size == (int)sizeof middle);
  CHECK(fits(comm, 4000));
  MUST(MPI_Buffer_detach(&memory, &size));
  CHECK_EQ(fits(comm, 1), 0);
}

static void calls(MPI_Session session, MPI_Comm comm) {
  static char room[kRoom];
  void* memory = room;
  int size = 1;
  MPI_Count bytes;
  MPI_Request request;
  MUST(MPI_Session_detach_buffer(session, &memory, &size)); /* nothing is attached */
  CHECK(memory == NULL && size == 0);
  MUST(MPI_Session_flush_buffer(session));
  MUST(MPI_Session_attach_buffer_c(session, room, sizeof room));
  CHECK_EQ(class_of(MPI_Session_attach_buffer(session, room, 100)), MPI_ERR_BUFFER);
  /* A flush waits for the messages before it. */
  static char data[3000], back[3000];
  pattern_fill(data, sizeof data, 9);
  for (int i = 0; i < 5; i++) MUST(MPI_Bsend(data, sizeof data, MPI_BYTE, 0, i, comm));
  MUST(MPI_Session_iflush_buffer(session, &request));
  for (int i = 0; i < 5; i++) {
    MUST(MPI_Recv(back, sizeof back, MPI_BYTE, 0, i, comm, MPI_STATUS_IGNORE));
    CHECK_PATTERN(back, sizeof back, 9);
  }
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Session_flush_buffer(session));
  MUST(MPI_Session_detach_buffer_c(session, &memory, &bytes));
  CHECK(memory == room && bytes == (MPI_Count)sizeof room);
  MUST(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
  CHECK(fits(comm, kRoom));
  MUST(MPI_Session_detach_buffer(session, &memory, &size));
  CHECK(memory == MPI_BUFFER_AUTOMATIC || memory == NULL);
  CHECK_EQ(class_of(MPI_Session_attach_buffer(session, room, -1)), MPI_ERR_COUNT);
}

/* A communicator may be freed while its buffer is being flushed. */
static void freed_while_flushed(MPI_Session session) {
  static char room[4 * kRoom], message[2 * kRoom], back[2 * kRoom];
  MPI_Request flush, receive;
  MPI_Comm comm = self_of(session, "flushed");
  MUST(MPI_Comm_attach_buffer(comm, room, sizeof room));
  pattern_fill(message, sizeof message, 21);
  MUST(MPI_Bsend(message, sizeof message, MPI_BYTE, 0, 8, comm));
  MUST(MPI_Comm_iflush_buffer(comm, &flush));
  MUST(MPI_Irecv(back, sizeof back, MPI_BYTE, 0, 8, comm, &receive));
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  MUST(MPI_Wait(&flush, MPI_STATUS_IGNORE));
  CHECK_PATTERN(back, sizeof back, 21);
}

/* What is attached when a session ends is given back by that. */
static void left_behind(void) {
  static char room[kRoom];
  MPI_Session session = opened();
  MUST(MPI_Session_attach_buffer(session, room, kRoom));
  MPI_Comm comm = self_of(session, "left");
  CHECK(fits(comm, 2000));
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Session_finalize(&session));
}

int main(void) {
  MPI_Session session = opened();
  MPI_Comm comm = self_of(session, "self");
  calls(session, comm);
  precedence(session, comm);
  freed_while_flushed(session);
  left_behind();
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Session_finalize(&session));
  return check_failures != 0;
}
