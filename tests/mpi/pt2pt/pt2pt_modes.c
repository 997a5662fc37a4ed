/* Every mode of sending, blocking, nonblocking and persistent, with int and with MPI_Count counts, against every way of
 * receiving, in sizes that go whole, in pieces and by single copies. With the argument "forbidden" the system calls of
 * single copies fail, as they do in some containers. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "check.h"

enum { kMost = 300000, kRoom = kMost + 64 };
enum Form { kBlocking, kNonblocking, kPersistent, kForms };
enum Receiving { kPosted, kPersistentlyPosted, kMatched, kMatchedLater, kProbed, kReceivings };

static int right, left;

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*SendC)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int (*Start)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*StartC)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static const struct Mode {
  const char* name;
  Send send;
  SendC send_c;
  Start start[2]; /* nonblocking, persistent */
  StartC start_c[2];
} kModes[] = {
    {"standard", MPI_Send, MPI_Send_c, {MPI_Isend, MPI_Send_init}, {MPI_Isend_c, MPI_Send_init_c}},
    {"synchronous", MPI_Ssend, MPI_Ssend_c, {MPI_Issend, MPI_Ssend_init}, {MPI_Issend_c, MPI_Ssend_init_c}},
    {"buffered", MPI_Bsend, MPI_Bsend_c, {MPI_Ibsend, MPI_Bsend_init}, {MPI_Ibsend_c, MPI_Bsend_init_c}},
    {"ready", MPI_Rsend, MPI_Rsend_c, {MPI_Irsend, MPI_Rsend_init}, {MPI_Irsend_c, MPI_Rsend_init_c}},
};
enum { kReady = 3, kModeCount = 4 };

static void forbid_single_copies(void) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof program / sizeof program[0], program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    exit(77); /* no filters here: skipped */
}

static void send(const struct Mode* mode, enum Form form, int large, const void* data, int bytes, int tag,
                 MPI_Comm comm, MPI_Request* r) {
  *r = MPI_REQUEST_NULL;
  if (form == kBlocking) {
    if (large) MUST(mode->send_c(data, bytes, MPI_BYTE, right, tag, comm));
    if (!large) MUST(mode->send(data, bytes, MPI_BYTE, right, tag, comm));
    return;
  }
  const int which = form == kPersistent;
  if (large) MUST(mode->start_c[which](data, bytes, MPI_BYTE, right, tag, comm, r));
  if (!large) MUST(mode->start[which](data, bytes, MPI_BYTE, right, tag, comm, r));
  if (form == kPersistent) MUST(MPI_Start(r));
}

static void post(enum Receiving how, int large, void* to, int tag, MPI_Comm comm, MPI_Request* r) {
  *r = MPI_REQUEST_NULL;
  if (how == kPosted && large) MUST(MPI_Irecv_c(to, kMost, MPI_BYTE, left, tag, comm, r));
  if (how == kPosted && !large) MUST(MPI_Irecv(to, kMost, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, r));
  if (how != kPersistentlyPosted) return;
  if (large) MUST(MPI_Recv_init_c(to, kMost, MPI_BYTE, left, MPI_ANY_TAG, comm, r));
  if (!large) MUST(MPI_Recv_init(to, kMost, MPI_BYTE, left, tag, comm, r));
  MUST(MPI_Start(r));
}

static void receive(enum Receiving how, int large, void* to, int tag, MPI_Comm comm, MPI_Request* r, MPI_Status* s) {
  MPI_Message m;
  if (how == kMatched || how == kMatchedLater) {
    MUST(MPI_Mprobe(left, tag, comm, &m, s));
    if (how == kMatched && large) MUST(MPI_Mrecv_c(to, kMost, MPI_BYTE, &m, s));
    if (how == kMatched && !large) MUST(MPI_Mrecv(to, kMost, MPI_BYTE, &m, s));
    if (how == kMatchedLater && large) MUST(MPI_Imrecv_c(to, kMost, MPI_BYTE, &m, r));
    if (how == kMatchedLater && !large) MUST(MPI_Imrecv(to, kMost, MPI_BYTE, &m, r));
    CHECK(m == MPI_MESSAGE_NULL);
  } else if (how == kProbed) {
    MUST(MPI_Probe(MPI_ANY_SOURCE, tag, comm, s));
    if (large) MUST(MPI_Recv_c(to, kMost, MPI_BYTE, s->MPI_SOURCE, s->MPI_TAG, comm, s));
    if (!large) MUST(MPI_Recv(to, kMost, MPI_BYTE, s->MPI_SOURCE, s->MPI_TAG, comm, s));
  }
  if (*r == MPI_REQUEST_NULL) return;
  const MPI_Request given = *r;
  MUST(MPI_Wait(r, s));
  if (how == kPersistentlyPosted) {
    CHECK(*r == given, "a persistent request stays");
    MUST(MPI_Request_free(r));
  }
}

static void one(const struct Mode* mode, enum Form form, enum Receiving how, int large, int bytes, MPI_Comm comm) {
  static unsigned char in[kRoom], out[kMost];
  static int tag = 0;
  MPI_Request sending, receiving;
  MPI_Status s;
  MPI_Count count = -1;
  tag = (tag + 1) % 1000;
  memset(in, 0xee, sizeof in);
  pattern_fill(out, (size_t)bytes, (unsigned)(check_rank * 1000 + tag));
  post(how, large, in, tag, comm, &receiving);
  if (mode == &kModes[kReady]) MUST(MPI_Barrier(comm));
  send(mode, form, large, out, bytes, tag, comm, &sending);
  receive(how, large, in, tag, comm, &receiving, &s);
  MUST(MPI_Wait(&sending, MPI_STATUS_IGNORE));
  if (sending != MPI_REQUEST_NULL) MUST(MPI_Request_free(&sending));
  MUST(MPI_Get_count_c(&s, MPI_BYTE, &count));
  CHECK(count == bytes && s.MPI_SOURCE == left && s.MPI_TAG == tag, "%s, form %d, receive %d: %lld of %d bytes",
        mode->name, form, how, (long long)count, bytes);
  const long wrong = pattern_differs(in, (size_t)bytes, (unsigned)(left * 1000 + tag));
  CHECK(wrong < 0, "%s, form %d, receive %d, %d bytes: byte %ld", mode->name, form, how, bytes, wrong);
  CHECK(in[bytes] == 0xee, "written behind the message");
  MUST(MPI_Barrier(comm)); /* so buffers never hold more than one message */
}

static void all_modes(MPI_Comm comm) {
  static const int kBytes[] = {0, 8, 5000, kMost};
  for (int b = 0; b < 4; b++)
    for (int m = 0; m < kModeCount; m++)
      for (int form = 0; form < kForms; form++)
        for (int how = 0; how < kReceivings; how++) {
          /* A blocking send in a ring, and a ready one anywhere, need the receive before. */
          if (how > kPersistentlyPosted && (form == kBlocking || m == kReady)) continue;
          for (int large = 0; large < 2; large++) one(&kModes[m], form, how, large, kBytes[b], comm);
        }
}

/* Send and receive in one call, out of one buffer and into another, or the same. */
static void paired(MPI_Comm comm) {
  static const int kBytes[] = {0, 8, 5000, kMost};
  static unsigned char in[kMost], out[kMost];
  for (int b = 0; b < 4; b++) {
    const int n = kBytes[b];
    for (int way = 0; way < 8; way++) {
      const int large = way % 2, replace = way / 2 % 2, nonblocking = way / 4, tag = 2000 + way;
      MPI_Request r = MPI_REQUEST_NULL;
      MPI_Status s;
      MPI_Count count = -1;
      unsigned char* const from = replace ? in : out;
      memset(in, 0xee, sizeof in);
      pattern_fill(from, (size_t)n, (unsigned)(check_rank * 100 + way));
      if (nonblocking && replace && large)
        MUST(MPI_Isendrecv_replace_c(in, n, MPI_BYTE, right, tag, left, tag, comm, &r));
      if (nonblocking && replace && !large)
        MUST(MPI_Isendrecv_replace(in, n, MPI_BYTE, right, tag, left, tag, comm, &r));
      if (nonblocking && !replace && large)
        MUST(MPI_Isendrecv_c(out, n, MPI_BYTE, right, tag, in, kMost, MPI_BYTE, left, tag, comm, &r));
      if (nonblocking && !replace && !large)
        MUST(MPI_Isendrecv(out, n, MPI_BYTE, right, tag, in, kMost, MPI_BYTE, left, tag, comm, &r));
      if (!nonblocking && replace && large)
        MUST(MPI_Sendrecv_replace_c(in, n, MPI_BYTE, right, tag, left, tag, comm, &s));
      if (!nonblocking && replace && !large)
        MUST(MPI_Sendrecv_replace(in, n, MPI_BYTE, right, tag, left, tag, comm, &s));
      if (!nonblocking && !replace && large)
        MUST(MPI_Sendrecv_c(out, n, MPI_BYTE, right, tag, in, kMost, MPI_BYTE, left, tag, comm, &s));
      if (!nonblocking && !replace && !large)
        MUST(MPI_Sendrecv(out, n, MPI_BYTE, right, tag, in, kMost, MPI_BYTE, left, tag, comm, &s));
      if (nonblocking) MUST(MPI_Wait(&r, &s));
      MUST(MPI_Get_count_c(&s, MPI_BYTE, &count));
      CHECK(count == n && s.MPI_SOURCE == left && s.MPI_TAG == tag, "way %d: %lld of %d bytes", way, (long long)count,
            n);
      const long wrong = pattern_differs(in, (size_t)n, (unsigned)(left * 100 + way));
      CHECK(wrong < 0, "way %d, %d bytes: byte %ld", way, n, wrong);
    }
  }
}

int main(int argc, char** argv) {
  static char process_room[2 * (kMost + MPI_BSEND_OVERHEAD)], comm_room[2 * (kMost + MPI_BSEND_OVERHEAD)];
  void* back = NULL;
  MPI_Count size = 0;
  MPI_Comm comm;
  if (argc > 1 && strcmp(argv[1], "forbidden") == 0) forbid_single_copies();
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  MUST(MPI_Buffer_attach_c(process_room, (MPI_Count)sizeof process_room));
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_attach_buffer_c(comm, comm_room, (MPI_Count)sizeof comm_room));
  all_modes(MPI_COMM_WORLD);
  all_modes(comm);
  paired(comm);
  MUST(MPI_Comm_detach_buffer_c(comm, &back, &size));
  CHECK(back == comm_room && size == (MPI_Count)sizeof comm_room);
  MUST(MPI_Buffer_detach_c(&back, &size));
  CHECK(back == process_room && size == (MPI_Count)sizeof process_room);
  MUST(MPI_Comm_free(&comm));
  return check_end();
}
