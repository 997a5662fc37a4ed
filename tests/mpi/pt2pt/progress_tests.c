/* A process that only tests, on one communicator, serves the others all the same (MPI-5.0, 3.5, progress): the peer
 * waits for a message on another communicator to be taken before it sends what is tested for. With
 * MPI_THREAD_MULTIPLE communicators are spread over lanes, so that looking after one of them is not enough. */
#include "check.h"

enum { kComms = 4, kLong = 300000, kServedTag = 3, kTestedTag = 4 };

/* How rank 1 looks for what is on the tested communicator. */
enum Way {
  kTest,
  kTestany,
  kTestsome,
  kTestall,
  kGetStatus,
  kGetStatusAny,
  kGetStatusSome,
  kGetStatusAll,
  kIprobe,
  kImprobe,
  kParrived,
  kWays
};

static MPI_Comm comms[kComms];

static int with_a_receive(enum Way way) { return way <= kGetStatusAll; }

/* One look; whether it is there. */
static int look(enum Way way, MPI_Request* r, MPI_Message* m, MPI_Comm comm) {
  int flag = 0, index = 0;
  switch (way) {
    case kTest:
      MUST(MPI_Test(r, &flag, MPI_STATUS_IGNORE));
      break;
    case kTestany:
      MUST(MPI_Testany(1, r, &index, &flag, MPI_STATUS_IGNORE));
      break;
    case kTestsome:
      MUST(MPI_Testsome(1, r, &flag, &index, MPI_STATUSES_IGNORE));
      break;
    case kTestall:
      MUST(MPI_Testall(1, r, &flag, MPI_STATUSES_IGNORE));
      break;
    case kGetStatus:
      MUST(MPI_Request_get_status(*r, &flag, MPI_STATUS_IGNORE));
      break;
    case kGetStatusAny:
      MUST(MPI_Request_get_status_any(1, r, &index, &flag, MPI_STATUS_IGNORE));
      break;
    case kGetStatusSome:
      MUST(MPI_Request_get_status_some(1, r, &flag, &index, MPI_STATUSES_IGNORE));
      break;
    case kGetStatusAll:
      MUST(MPI_Request_get_status_all(1, r, &flag, MPI_STATUSES_IGNORE));
      break;
    case kIprobe:
      MUST(MPI_Iprobe(0, kTestedTag, comm, &flag, MPI_STATUS_IGNORE));
      break;
    case kImprobe:
      MUST(MPI_Improbe(0, kTestedTag, comm, &flag, m, MPI_STATUS_IGNORE));
      break;
    default:
      MUST(MPI_Parrived(*r, 0, &flag));
  }
  return flag;
}

static void send_after_it_was_taken(MPI_Comm served, MPI_Comm tested, enum Way way) {
  unsigned char* data = check_alloc(kLong);
  pattern_fill(data, kLong, (unsigned)way);
  MUST(MPI_Ssend(data, kLong, MPI_BYTE, 1, kServedTag, served));
  int word = 40 + (int)way;
  if (way == kParrived) {
    MPI_Request r;
    MUST(MPI_Psend_init(&word, 1, 1, MPI_INT, 1, kTestedTag, tested, MPI_INFO_NULL, &r));
    MUST(MPI_Start(&r));
    MUST(MPI_Pready(0, r));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MUST(MPI_Request_free(&r));
  } else {
    MUST(MPI_Send(&word, 1, MPI_INT, 1, kTestedTag, tested));
  }
  free(data);
}

static void only_test(MPI_Comm served, MPI_Comm tested, enum Way way) {
  unsigned char* data = check_alloc(kLong);
  int word = 0;
  MPI_Request taking, r = MPI_REQUEST_NULL;
  MPI_Message m = MPI_MESSAGE_NULL;
  MUST(MPI_Irecv(data, kLong, MPI_BYTE, 0, kServedTag, served, &taking));
  if (way == kParrived) {
    MUST(MPI_Precv_init(&word, 1, 1, MPI_INT, 0, kTestedTag, tested, MPI_INFO_NULL, &r));
    MUST(MPI_Start(&r));
  } else if (with_a_receive(way)) {
    MUST(MPI_Irecv(&word, 1, MPI_INT, 0, kTestedTag, tested, &r));
  }
  while (!look(way, &r, &m, tested)) {
  }
  if (way == kIprobe) MUST(MPI_Recv(&word, 1, MPI_INT, 0, kTestedTag, tested, MPI_STATUS_IGNORE));
  if (way == kImprobe) MUST(MPI_Mrecv(&word, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
  if (r != MPI_REQUEST_NULL) MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  if (way == kParrived) MUST(MPI_Request_free(&r));
  CHECK_EQ(word, 40 + (int)way);
  MUST(MPI_Wait(&taking, MPI_STATUS_IGNORE));
  CHECK_PATTERN(data, kLong, (unsigned)way);
  free(data);
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  for (int i = 0; i < kComms; i++) MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
  for (int way = 0; way < kWays; way++)
    for (int served = 0; served < kComms; served++) {
      if (check_rank == 0) send_after_it_was_taken(comms[served], comms[0], (enum Way)way);
      if (check_rank == 1) only_test(comms[served], comms[0], (enum Way)way);
    }
  for (int i = 0; i < kComms; i++) MUST(MPI_Comm_free(&comms[i]));
  return check_end();
}
