/* Scatterv and Gatherv whose blocks are of every length in one call, so that each may travel another way; packed at one
 * end and with gaps at the other; blocking, nonblocking and persistent; several under way; and blocks that are longer,
 * or shorter, than who gets them thinks. */
#include "coll.h"

/* Bytes on both sides of each limit: none, a line's, a place's (scatter, small pieces, gather), single copies. */
static const int kLengths[] = {0,    1,    8,    31,   32,   33,    56,    57,    1000,   4095,
                               4096, 4097, 8191, 8192, 8193, 65535, 65536, 65537, 100001, 300000};
enum { kLengthCount = sizeof kLengths / sizeof *kLengths, kPersistentWay = kWays, kAllWays };

static int length_of(int rank, int turn) { return kLengths[(rank * 7 + turn) % kLengthCount]; }
static unsigned seed_of(int root, int rank, int turn) { return (unsigned)(root * 1000 + rank * 30 + turn); }

static void fill(unsigned char* to, int bytes, unsigned seed, int stride) {
  for (int i = 0; i < bytes; i++) to[i * stride] = pattern_byte(seed, (size_t)i);
}
static void check(const unsigned char* at, int bytes, unsigned seed, int stride, const char* what, int way) {
  for (int i = 0; i < bytes; i++)
    if (at[i * stride] != pattern_byte(seed, (size_t)i)) {
      CHECK(0, "%s of %d bytes, stride %d, way %d: byte %d", what, bytes, stride, way, i);
      return;
    }
}

/* The second of two forms of every buffer has a hole behind each byte. */
static MPI_Datatype type_of[2];
static void make_types(void) {
  type_of[0] = MPI_BYTE;
  MUST(MPI_Type_create_resized(MPI_BYTE, 0, 2, &type_of[1]));
  MUST(MPI_Type_commit(&type_of[1]));
}

typedef struct {
  int *counts, *places;
  unsigned char *all, *mine;
  int bytes, total; /* ours; of everyone, with gaps */
} Buffers;

static Buffers make(Team t, int turn) {
  Buffers b = {.bytes = length_of(t.rank, turn)};
  b.counts = check_alloc((size_t)t.size * sizeof(int));
  b.places = check_alloc((size_t)t.size * sizeof(int));
  for (int r = t.size - 1; r >= 0; r--) {
    b.counts[r] = length_of(r, turn);
    b.places[r] = b.total + 3;
    b.total += b.counts[r] + 5;
  }
  b.all = check_alloc((size_t)b.total * 2);
  b.mine = check_alloc((size_t)(b.bytes + 1) * 2);
  return b;
}
static void drop(Buffers* b) { free(b->counts), free(b->places), free(b->all), free(b->mine); }

static void call(int scatters, int way, Buffers* b, int root, int here, int form, Team t) {
  MPI_Datatype all_type = here ? type_of[form % 2] : MPI_DATATYPE_NULL, my_type = type_of[form / 2];
  unsigned char* all = here ? b->all : NULL;
  int *counts = here ? b->counts : NULL, *places = here ? b->places : NULL;
  if (way < kWays) {
    if (scatters)
      COLL(way, MPI_Scatterv, MPI_Iscatterv, all, counts, places, all_type, b->mine, b->bytes, my_type, root, t.comm);
    else
      COLL(way, MPI_Gatherv, MPI_Igatherv, b->mine, b->bytes, my_type, all, counts, places, all_type, root, t.comm);
    return;
  }
  MPI_Request r;
  if (scatters)
    MUST(MPI_Scatterv_init(all, counts, places, all_type, b->mine, b->bytes, my_type, root, t.comm, MPI_INFO_NULL, &r));
  else
    MUST(MPI_Gatherv_init(b->mine, b->bytes, my_type, all, counts, places, all_type, root, t.comm, MPI_INFO_NULL, &r));
  for (int start = 0; start < 3; start++) {
    MUST(MPI_Start(&r));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  }
  MUST(MPI_Request_free(&r));
}

static void mixed(Team t) {
  int roots[4];
  const int nroots = roots_of(t.size, roots);
  for (int turn = 0; turn < (t.size > 4 ? 6 : kLengthCount); turn++) {
    const int root = roots[turn % nroots], here = root == t.rank, way = turn % kAllWays;
    for (int form = 0; form < 4; form++) { /* gaps at the root, at the others */
      Buffers b = make(t, turn);
      memset(b.all, 0xee, (size_t)b.total * 2), memset(b.mine, 0xee, (size_t)(b.bytes + 1) * 2);
      const int wide = form % 2 + 1, narrow = form / 2 + 1;
      for (int r = 0; r < t.size; r++) fill(b.all + b.places[r] * wide, b.counts[r], seed_of(root, r, turn), wide);
      call(1, way, &b, root, here, form, t);
      check(b.mine, b.bytes, seed_of(root, t.rank, turn), narrow, "scatterv", way);
      CHECK_EQ(b.mine[b.bytes * narrow], 0xee);
      memset(b.all, 0xee, (size_t)b.total * 2);
      call(0, way, &b, root, here, form, t);
      for (int r = 0; here && r < t.size; r++) {
        check(b.all + b.places[r] * wide, b.counts[r], seed_of(root, r, turn), wide, "gatherv", way);
        CHECK_EQ(b.all[(b.places[r] + b.counts[r]) * wide], 0xee);
      }
      drop(&b);
    }
  }
}

/* Many under way: the root runs ahead of the others, and meets its own slots again. */
static void many(Team t) {
  enum { kMany = 100 };
  MPI_Request requests[kMany];
  Buffers b[kMany];
  for (int k = 0; k < kMany; k++) {
    const int root = k % 3 == 0 ? k % t.size : 0;
    const int turn = t.size > 4 ? k % 9 : k;
    b[k] = make(t, turn);
    if (k % 2) {
      fill(b[k].mine, b[k].bytes, seed_of(root, t.rank, k), 1);
      MUST(MPI_Igatherv(b[k].mine, b[k].bytes, MPI_BYTE, b[k].all, b[k].counts, b[k].places, MPI_BYTE, root, t.comm,
                        &requests[k]));
    } else {
      for (int r = 0; r < t.size; r++) fill(b[k].all + b[k].places[r], b[k].counts[r], seed_of(root, r, k), 1);
      MUST(MPI_Iscatterv(b[k].all, b[k].counts, b[k].places, MPI_BYTE, b[k].mine, b[k].bytes, MPI_BYTE, root, t.comm,
                         &requests[k]));
    }
  }
  MUST(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int k = 0; k < kMany; k++) {
    const int root = k % 3 == 0 ? k % t.size : 0;
    if (k % 2 == 0) check(b[k].mine, b[k].bytes, seed_of(root, t.rank, k), 1, "one of many scatterv", k);
    for (int r = 0; k % 2 && root == t.rank && r < t.size; r++)
      check(b[k].all + b[k].places[r], b[k].counts[r], seed_of(root, r, k), 1, "one of many gatherv", k);
    drop(&b[k]);
  }
}

static int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MUST(MPI_Error_class(code, &error_class));
  return error_class;
}

/* Rank 1 and the root disagree about its block by a byte. Its receiver gets an error and keeps what lies behind its
 * buffer; no other rank is harmed, and none waits for ever. */
static void disagreeing(void) {
  if (check_size < 2) return;
  MPI_Comm comm;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  const Team t = team_of(comm);
  for (int k = 1; k < kLengthCount; k++) {
    const int n = kLengths[k], here = t.rank == 0, odd = t.rank == 1;
    int* counts = check_alloc((size_t)t.size * sizeof(int));
    int* places = check_alloc((size_t)t.size * sizeof(int));
    for (int r = 0; r < t.size; r++) counts[r] = n, places[r] = r * (n + 1);
    unsigned char* all = check_alloc((size_t)t.size * (size_t)(n + 1));
    unsigned char* mine = check_alloc((size_t)n + 2);
    for (int longer = 0; longer < 2; longer++) {
      /* scatterv: rank 1 has room for more, or for less */
      const int room = odd ? n + 1 - 2 * longer : n;
      const int expected = longer ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
      memset(all, 7, (size_t)t.size * (size_t)(n + 1)), memset(mine, 9, (size_t)n + 2);
      int code = MPI_Scatterv(all, counts, places, MPI_BYTE, mine, room, MPI_BYTE, 0, comm);
      CHECK(class_of(code) == (odd ? expected : MPI_SUCCESS), "scatterv of %d bytes into %d", n, room);
      if (!odd) CHECK_EQ(mine[n - 1], 7);
      CHECK_EQ(mine[room], 9);
      /* gatherv: rank 1 sends less, or more */
      const int bytes = odd ? n - 1 + 2 * longer : n;
      memset(all, 7, (size_t)t.size * (size_t)(n + 1)), memset(mine, 9, (size_t)n + 2);
      code = MPI_Gatherv(mine, bytes, MPI_BYTE, all, counts, places, MPI_BYTE, 0, comm);
      if (here) {
        CHECK(class_of(code) == expected, "gatherv of %d bytes into %d", n - 1 + 2 * longer, n);
        CHECK_EQ(all[places[1] + n], 7);
      } else if (!odd) {
        CHECK_EQ(class_of(code), MPI_SUCCESS);
      }
    }
    MUST(MPI_Barrier(comm));
    free(counts), free(places), free(all), free(mine);
  }
  MUST(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  make_types();
  on_teams(mixed);
  many(team_of(MPI_COMM_WORLD));
  disagreeing();
  MUST(MPI_Type_free(&type_of[1]));
  return check_end();
}
