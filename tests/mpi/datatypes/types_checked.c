/* With check.datatypes: messages whose type signatures do not go together are errors of the receive, whichever calls
 * sent and receive them; all others arrive as they always do. */
#include "check.h"

static void expect_type_error(int code, const char* sent, const char* received, const char* what) {
  int class_of = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  MUST(MPI_Error_class(code, &class_of));
  CHECK(class_of == MPI_ERR_TYPE, "%s: class %d", what, class_of);
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, sent) != NULL, "%s: '%s' in: %s", what, sent, text);
  CHECK(strstr(text, received) != NULL, "%s: '%s' in: %s", what, received, text);
}

/* Sizes that go without and with a handshake. */
static const int kCounts[] = {1, 10, 1000, 200000};

/* ---- the ways to send ---------------------------------------------------------------------------------------------
 */

typedef void Sender(void* data, int n, MPI_Datatype type, int peer, int tag);

static void started(MPI_Request request) {
  MUST(MPI_Start(&request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Start(&request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Request_free(&request));
}

static void by_send(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MUST(MPI_Send(data, n, type, peer, tag, MPI_COMM_WORLD));
}
static void by_ssend(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MUST(MPI_Ssend(data, n, type, peer, tag, MPI_COMM_WORLD));
}
static void by_bsend(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MUST(MPI_Bsend(data, n, type, peer, tag, MPI_COMM_WORLD));
}
static void by_ibsend(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MPI_Request request;
  MUST(MPI_Ibsend(data, n, type, peer, tag, MPI_COMM_WORLD, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void by_isend(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MPI_Request request;
  MUST(MPI_Isend(data, n, type, peer, tag, MPI_COMM_WORLD, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void by_send_init(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MPI_Request request;
  MUST(MPI_Send_init(data, n, type, peer, tag, MPI_COMM_WORLD, &request));
  started(request);
}
static void by_ssend_init(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MPI_Request request;
  MUST(MPI_Ssend_init(data, n, type, peer, tag, MPI_COMM_WORLD, &request));
  started(request);
}
static void by_bsend_init(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MPI_Request request;
  MUST(MPI_Bsend_init(data, n, type, peer, tag, MPI_COMM_WORLD, &request));
  started(request);
}
static void by_sendrecv(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MUST(MPI_Sendrecv(data, n, type, peer, tag, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void by_sendrecv_replace(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MUST(MPI_Sendrecv_replace(data, n, type, peer, tag, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
static void by_isendrecv(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MPI_Request request;
  MUST(MPI_Isendrecv(data, n, type, peer, tag, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}
static void by_isendrecv_replace(void* data, int n, MPI_Datatype type, int peer, int tag) {
  MPI_Request request;
  MUST(MPI_Isendrecv_replace(data, n, type, peer, tag, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static const struct {
  const char* name;
  Sender* send;
  int messages;
} kSenders[] = {{"Send", by_send, 1},
                {"Ssend", by_ssend, 1},
                {"Bsend", by_bsend, 1},
                {"Ibsend", by_ibsend, 1},
                {"Isend", by_isend, 1},
                {"Send_init", by_send_init, 2},
                {"Ssend_init", by_ssend_init, 2},
                {"Bsend_init", by_bsend_init, 2},
                {"Sendrecv", by_sendrecv, 1},
                {"Sendrecv_replace", by_sendrecv_replace, 1},
                {"Isendrecv", by_isendrecv, 1},
                {"Isendrecv_replace", by_isendrecv_replace, 1}};

/* ---- the ways to receive: return the receive's error code -----------------------------------------------------------
 */

enum { kRecv, kIrecv, kProbed, kMrecv, kImrecv, kRecvInit, kSendrecvs, kReplace, kIsendrecvs, kReceivers };

static int receive(int way, void* data, int n, MPI_Datatype type, int peer, int tag) {
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  int code = MPI_SUCCESS;
  switch (way) {
    case kProbed:
      MUST(MPI_Probe(peer, tag, MPI_COMM_WORLD, &status));
      return MPI_Recv(data, n, type, peer, tag, MPI_COMM_WORLD, &status);
    case kMrecv:
      MUST(MPI_Mprobe(peer, tag, MPI_COMM_WORLD, &message, &status));
      return MPI_Mrecv(data, n, type, &message, &status);
    case kImrecv:
      MUST(MPI_Mprobe(peer, tag, MPI_COMM_WORLD, &message, &status));
      MUST(MPI_Imrecv(data, n, type, &message, &request));
      return MPI_Wait(&request, &status);
    case kIrecv:
      MUST(MPI_Irecv(data, n, type, peer, tag, MPI_COMM_WORLD, &request));
      return MPI_Wait(&request, &status);
    case kRecvInit:
      MUST(MPI_Recv_init(data, n, type, peer, tag, MPI_COMM_WORLD, &request));
      MUST(MPI_Start(&request));
      code = MPI_Wait(&request, &status);
      MUST(MPI_Request_free(&request));
      return code;
    case kSendrecvs:
      return MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, data, n, type, peer, tag, MPI_COMM_WORLD, &status);
    case kReplace:
      return MPI_Sendrecv_replace(data, n, type, MPI_PROC_NULL, 0, peer, tag, MPI_COMM_WORLD, &status);
    case kIsendrecvs:
      MUST(MPI_Isendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, data, n, type, peer, tag, MPI_COMM_WORLD, &request));
      return MPI_Wait(&request, &status);
    default:
      return MPI_Recv(data, n, type, peer, tag, MPI_COMM_WORLD, &status);
  }
}

/* Each way to send against a way to receive, with types that do not match, then with types that do. */
static void messages(int peer, int receiver) {
  MPI_Datatype strided;
  MUST(MPI_Type_create_resized(MPI_FLOAT, 0, 2 * sizeof(float), &strided));
  MUST(MPI_Type_commit(&strided));
  for (size_t i = 0; i < sizeof kCounts / sizeof *kCounts; i++) {
    const int n = kCounts[i];
    float* data = check_alloc(2 * (size_t)n * sizeof *data);
    char sent[64], received[64];
    snprintf(sent, sizeof sent, n == 1 ? "sent MPI_FLOAT" : "sent %d x MPI_FLOAT", n);
    snprintf(received, sizeof received, n == 1 ? "receives MPI_INT" : "receives %d x MPI_INT", n);
    for (size_t k = 0; k < sizeof kSenders / sizeof *kSenders; k++) {
      for (int j = 0; j < 2 * n; j++) data[j] = receiver ? -1 : (float)j;
      for (int wrong = 1; wrong >= 0; wrong--) {
        MPI_Datatype type = k % 2 ? strided : MPI_FLOAT;
        if (!receiver) {
          kSenders[k].send(data, n, type, peer, (int)k);
          continue;
        }
        for (int m = 0; m < kSenders[k].messages; m++) {
          const int way = (int)(k + i + (size_t)m) % kReceivers;
          const int code = receive(way, data, n, wrong ? MPI_INT : MPI_FLOAT, peer, (int)k);
          if (wrong) {
            expect_type_error(code, sent, received, kSenders[k].name);
            CHECK(way == kReplace || data[n - 1] == -1, "%s: nothing is received", kSenders[k].name);
          } else {
            MUST(code);
            CHECK(data[n - 1] == (float)((n - 1) * (k % 2 ? 2 : 1)), "%s %d: %g", kSenders[k].name, n, data[n - 1]);
          }
        }
      }
    }
    free(data);
  }
  MUST(MPI_Type_free(&strided));
}

/* A message that was buffered because no receive is posted says what it was, not what it is kept as; its datatype
 * may be gone by then. */
static void kept_in_buffer(int peer, int receiver) {
  enum { kMany = 400, kItems = 100 };
  double data[2 * kItems] = {0};
  if (!receiver) {
    MPI_Datatype type;
    MUST(MPI_Type_vector(kItems, 1, 2, MPI_DOUBLE, &type));
    MUST(MPI_Type_commit(&type));
    for (int i = 0; i < kMany; i++) MUST(MPI_Bsend(data, 1, type, peer, i % 2, MPI_COMM_WORLD));
    MUST(MPI_Type_free(&type));
    MUST(MPI_Send(NULL, 0, MPI_INT, peer, 2, MPI_COMM_WORLD));
  } else {
    MUST(MPI_Recv(NULL, 0, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < kMany / 2; i++) {
      MUST(MPI_Recv(data, kItems, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      expect_type_error(MPI_Recv(data, 2 * kItems, MPI_FLOAT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                        "sent 100 x MPI_DOUBLE", "receives 200 x MPI_FLOAT", "from the buffer");
    }
  }
}

/* The whole of a partitioned message, however each side cuts it. */
static void partitioned(int peer, int receiver) {
  float data[12];
  MPI_Request request;
  for (int late = 0; late < 2; late++) {
    for (int wrong = 0; wrong < 2; wrong++) {
      const int tag = late * 2 + wrong;
      for (int i = 0; i < 12; i++) data[i] = receiver ? -1 : (float)i;
      if (!receiver) {
        MUST(MPI_Psend_init(data, 4, 3, MPI_FLOAT, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        if (late) MUST(MPI_Send(NULL, 0, MPI_INT, peer, 9, MPI_COMM_WORLD));
      } else {
        if (late) MUST(MPI_Recv(NULL, 0, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MUST(MPI_Precv_init(data, 3, 4, wrong ? MPI_INT : MPI_FLOAT, peer, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &request));
      }
      for (int round = 0; round < 2; round++) {
        MUST(MPI_Start(&request));
        if (!receiver) MUST(MPI_Pready_range(0, 3, request));
        const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (receiver && wrong) {
          expect_type_error(code, "sent 12 x MPI_FLOAT", "MPI_Precv_init here receives 12 x MPI_INT", "partitioned");
          CHECK(data[0] == -1 && data[11] == -1, "nothing is received");
        } else {
          MUST(code);
          CHECK(data[0] == 0 && data[11] == 11, "%g", data[11]);
        }
      }
      MUST(MPI_Request_free(&request));
    }
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MUST(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  const int peer = check_rank ^ 1;
  void* memory;
  int bytes;
  for (int turn = 0; turn < 2 && peer < check_size; turn++) {
    const int receiver = (check_rank & 1) != turn;
    messages(peer, receiver);
    kept_in_buffer(peer, receiver);
    partitioned(peer, receiver);
  }
  MUST(MPI_Buffer_detach(&memory, &bytes));
  return check_end();
}
