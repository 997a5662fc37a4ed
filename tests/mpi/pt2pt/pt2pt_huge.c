/* Messages of more than 2^31 bytes through every path: one run and with gaps, to the other rank and to oneself, in all
 * modes, buffered, by partitions, by a matching probe, cut off. The buffers are those of period.h. */
#include "period.h"

static const size_t kBytes = (1ull << 31) + 4099;

static int to, from;

static void look(const unsigned char* in, const unsigned char* out, const char* how) {
  for (size_t i = 0; i < kPeriod; i++)
    if (in[i] != out[i]) {
      CHECK(0, "%s: byte %zu is %d and should be %d", how, i, in[i], out[i]);
      return;
    }
}

static void look_at_status(MPI_Status* s, size_t bytes, const char* how) {
  MPI_Count count = 0;
  int small = 0;
  MUST(MPI_Get_count_c(s, MPI_BYTE, &count));
  CHECK(count == (MPI_Count)bytes, "%s: count is %lld", how, (long long)count);
  MUST(MPI_Get_elements_c(s, MPI_BYTE, &count));
  CHECK(count == (MPI_Count)bytes, "%s: %lld elements", how, (long long)count);
  MUST(MPI_Get_count(s, MPI_BYTE, &small));
  CHECK(small == MPI_UNDEFINED, "%s: an int holds %d", how, small);
}

typedef int (*Send)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static int to_itself(void) { return to == check_rank; }

/* One message each way round, or to oneself. */
static void both_ways(unsigned char* out, unsigned char* in, MPI_Comm comm) {
  static const struct {
    const char* name;
    Send start;
  } kModes[] = {{"MPI_Isend_c", MPI_Isend_c}, {"MPI_Issend_c", MPI_Issend_c}, {"MPI_Send_init_c", MPI_Send_init_c}};
  MPI_Request r[2];
  MPI_Status s[2];
  for (int k = 0; k < 3; k++) {
    memset(in, 0, kPeriod);
    MUST(MPI_Barrier(comm));
    MUST(MPI_Irecv_c(in, (MPI_Count)kBytes, MPI_BYTE, from, k, comm, &r[0]));
    MUST(kModes[k].start(out, (MPI_Count)kBytes, MPI_BYTE, to, k, comm, &r[1]));
    if (k == 2) MUST(MPI_Start(&r[1]));
    MUST(MPI_Waitall(2, r, s));
    if (k == 2) MUST(MPI_Request_free(&r[1]));
    look(in, out, kModes[k].name);
    look_at_status(&s[0], kBytes, kModes[k].name);
  }
  memset(in, 0, kPeriod);
  MUST(MPI_Sendrecv_c(out, (MPI_Count)kBytes, MPI_BYTE, to, 4, in, (MPI_Count)kBytes, MPI_BYTE, from, 4, comm, s));
  look(in, out, "MPI_Sendrecv_c");
  pattern_fill(in, kPeriod, 10 + (unsigned)check_rank);
  MUST(MPI_Isendrecv_replace_c(in, (MPI_Count)kBytes, MPI_BYTE, to, 7, from, 7, comm, r));
  MUST(MPI_Wait(r, s));
  CHECK_PATTERN(in, kPeriod, 10 + (unsigned)from);
  look_at_status(s, kBytes, "MPI_Isendrecv_replace_c");
}

/* One way, blocking: odd ranks receive. */
static void one_way(unsigned char* out, unsigned char* in, MPI_Comm comm) {
  MPI_Status s;
  MPI_Message m;
  if (to_itself()) return;
  memset(in, 0, kPeriod);
  if (check_rank % 2 == 0) {
    MUST(MPI_Send_c(out, (MPI_Count)kBytes, MPI_BYTE, to, 1, comm));
    MUST(MPI_Ssend_c(out, (MPI_Count)kBytes, MPI_BYTE, to, 2, comm));
    MUST(MPI_Send_c(out, (MPI_Count)kBytes, MPI_BYTE, to, 3, comm));
  } else {
    MUST(MPI_Recv_c(in, (MPI_Count)kBytes, MPI_BYTE, from, 1, comm, &s));
    look(in, out, "MPI_Recv_c");
    look_at_status(&s, kBytes, "MPI_Recv_c");
    memset(in, 0, kPeriod);
    MUST(MPI_Mprobe(from, 2, comm, &m, &s));
    look_at_status(&s, kBytes, "MPI_Mprobe");
    MUST(MPI_Mrecv_c(in, (MPI_Count)kBytes, MPI_BYTE, &m, &s));
    look(in, out, "MPI_Mrecv_c");
    /* Room for less: cut off there, and nothing behind it is touched. */
    int class = 0;
    memset(in, 0, kPeriod);
    MPI_Error_class(MPI_Recv_c(in, 1 << 20, MPI_BYTE, from, 3, comm, &s), &class);
    CHECK_EQ(class, MPI_ERR_TRUNCATE);
    CHECK(memcmp(in, out, 1 << 20) == 0, "the beginning of a message that was cut off");
    for (size_t i = 1 << 20; i < kPeriod; i++)
      if (in[i] != 0) {
        CHECK(0, "byte %zu behind the receive's room was written", i);
        break;
      }
  }
}

/* Runs with gaps between them, on both sides. */
static void with_gaps(unsigned char* out, unsigned char* in, MPI_Comm comm) {
  enum { kRun = 3 * kPageBytes, kGap = 8 };
  const MPI_Count runs = (MPI_Count)((1ull << 31) / kRun + 2);
  MPI_Datatype pieces;
  MPI_Count bytes = 0;
  MPI_Status s;
  MUST(MPI_Type_vector_c(runs, kRun, kRun + kGap, MPI_BYTE, &pieces));
  MUST(MPI_Type_commit(&pieces));
  MUST(MPI_Type_size_c(pieces, &bytes));
  CHECK(bytes > (MPI_Count)1 << 31);
  memset(in, 0, kPeriod);
  MUST(MPI_Sendrecv(out, 1, pieces, to, 1, in, 1, pieces, from, 1, comm, &s));
  look_at_status(&s, (size_t)bytes, "gaps on both sides");
  look(in, out, "gaps on both sides"); /* the gaps of one lap are filled by the next, at their places */
  MUST(MPI_Type_free(&pieces));
}

/* The buffer is the user's: its first page, where the library may keep books, is of its own. */
static void buffered(unsigned char* out, unsigned char* in, MPI_Comm comm) {
  unsigned char* store = make_buffer();
  void* back = NULL;
  MPI_Count size = 0;
  MPI_Request r;
  CHECK(mmap(store, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == store);
  MUST(MPI_Buffer_attach_c(store, (MPI_Count)kSpan));
  memset(in, 0, kPeriod);
  MUST(MPI_Bsend_c(out, (MPI_Count)kBytes, MPI_BYTE, to, 5, comm));
  MUST(MPI_Irecv_c(in, (MPI_Count)kBytes, MPI_BYTE, from, 5, comm, &r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  look(in, out, "MPI_Bsend_c");
  MUST(MPI_Buffer_detach_c(&back, &size));
  CHECK(back == store && size == (MPI_Count)kSpan);
  munmap(store, kSpan);
}

static void by_partitions(unsigned char* out, unsigned char* in, MPI_Comm comm) {
  enum { kParts = 64 };
  const MPI_Count part = (MPI_Count)(kBytes / kParts + 1);
  MPI_Request r[2];
  MPI_Status s[2];
  MUST(MPI_Psend_init(out, kParts, part, MPI_BYTE, to, 6, comm, MPI_INFO_NULL, &r[0]));
  MUST(MPI_Precv_init(in, kParts / 2, 2 * part, MPI_BYTE, from, 6, comm, MPI_INFO_NULL, &r[1]));
  for (int round = 0; round < 2; round++) {
    memset(in, 0, kPeriod);
    MUST(MPI_Barrier(comm));
    MUST(MPI_Startall(2, r));
    if (round == 0) {
      MUST(MPI_Pready_range(0, kParts - 1, r[0]));
    } else {
      for (int i = kParts - 1; i >= 0; i--) MUST(MPI_Pready(i, r[0]));
    }
    MUST(MPI_Waitall(2, r, s));
    look(in, out, "by partitions");
    look_at_status(&s[1], (size_t)part * kParts, "by partitions");
  }
  MUST(MPI_Request_free(&r[0]));
  MUST(MPI_Request_free(&r[1]));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  unsigned char *out = make_buffer(), *in = make_buffer();
  pattern_fill(out, kPeriod, 3);
  to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
  both_ways(out, in, MPI_COMM_WORLD);
  one_way(out, in, MPI_COMM_WORLD);
  with_gaps(out, in, MPI_COMM_WORLD);
  buffered(out, in, MPI_COMM_WORLD);
  by_partitions(out, in, MPI_COMM_WORLD);
  return check_end();
}
