/* Random nests of constructors against an oracle that keeps the plain list of byte offsets: sent, received, packed and
 * unpacked, broadcast, gathered, scattered, exchanged, also between two unlike datatypes; at sizes on both sides of
 * every protocol switch. The seeds are the numbers of the rounds; a long run by hand: types_random 100000 [first
 * round]. */
#include "check.h"

enum { kMostBytes = 6000 };

typedef struct {
  MPI_Datatype type;
  int n;      /* bytes of data */
  int* at;    /* their offsets, in sending order */
  int lb, ub; /* bounds as the standard computes them (resized counts) */
} Oracle;

static Random dice;

static int roll(int below) { return random_below(&dice, below); }

static Oracle base(void) {
  static const struct { int size; } kinds[] = {{1}, {2}, {4}, {8}};
  const int k = roll(4);
  const MPI_Datatype types[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
  Oracle o = {types[k], kinds[k].size, check_alloc(8 * sizeof(int)), 0, kinds[k].size};
  for (int i = 0; i < o.n; i++) o.at[i] = i;
  return o;
}

/* Puts a copy of `inner` at byte offset `shift` behind what `o` has; `first` as long as o has no bounds. */
static void append(Oracle* o, const Oracle* inner, int shift, int* first) {
  for (int i = 0; i < inner->n; i++) o->at[o->n++] = inner->at[i] + shift;
  if (*first || inner->lb + shift < o->lb) o->lb = inner->lb + shift;
  if (*first || inner->ub + shift > o->ub) o->ub = inner->ub + shift;
  *first = 0;
}

static void release(Oracle* o, int depth) {
  if (depth > 0) MUST(MPI_Type_free(&o->type));
  free(o->at);
}

/* A constructor around `inner`. Places do not overlap: blocks move forward by at least what they cover. */
static Oracle wrap(const Oracle* inner) {
  Oracle o = {MPI_DATATYPE_NULL, 0, NULL, 0, 0};
  const int extent = inner->ub - inner->lb, most = kMostBytes / (inner->n ? inner->n : 1);
  int blocks = 1 + roll(4), length = 1 + roll(4), first = 1, lengths[4], places[4];
  if (blocks * length > most) blocks = length = 1;
  o.at = check_alloc(sizeof(int) * (size_t)(inner->n * 16 + 1));
  switch (roll(5)) {
    case 0:
      MUST(MPI_Type_contiguous(length, inner->type, &o.type));
      for (int i = 0; i < length; i++) append(&o, inner, i * extent, &first);
      break;
    case 1: {
      const int stride = (length + roll(3)) * (roll(4) == 0 ? -1 : 1);
      MUST(MPI_Type_vector(blocks, length, stride, inner->type, &o.type));
      for (int b = 0; b < blocks; b++)
        for (int i = 0; i < length; i++) append(&o, inner, (b * stride + i) * extent, &first);
      break;
    }
    case 2: {
      int place = roll(3);
      for (int b = 0; b < blocks; b++) {
        lengths[b] = 1 + roll(length);
        places[b] = place;
        place += lengths[b] + roll(3);
      }
      for (int b = 0; b + 1 < blocks && roll(2); b += 2) { /* out of order */
        const int p = places[b], l = lengths[b];
        places[b] = places[b + 1], lengths[b] = lengths[b + 1];
        places[b + 1] = p, lengths[b + 1] = l;
      }
      MUST(MPI_Type_indexed(blocks, lengths, places, inner->type, &o.type));
      for (int b = 0; b < blocks; b++)
        for (int i = 0; i < lengths[b]; i++) append(&o, inner, (places[b] + i) * extent, &first);
      break;
    }
    case 3: {
      MPI_Aint bytes[4];
      MPI_Datatype types[4];
      int place = 8 * roll(3);
      for (int b = 0; b < blocks; b++) {
        lengths[b] = 1 + roll(length);
        types[b] = inner->type;
        bytes[b] = place;
        place += (lengths[b] * extent + 8 * roll(2) + 15) / 8 * 8;
      }
      MUST(MPI_Type_create_struct(blocks, lengths, bytes, types, &o.type));
      for (int b = 0; b < blocks; b++)
        for (int i = 0; i < lengths[b]; i++) append(&o, inner, (int)bytes[b] + i * extent, &first);
      /* A struct ends where its strictest member would be aligned again; ask, for members may be nested. */
      MPI_Aint lb, is;
      MUST(MPI_Type_get_extent(o.type, &lb, &is));
      CHECK(lb == o.lb && lb + is >= o.ub && lb + is < o.ub + 8, "struct bounds %ld+%ld, data ends at %d", (long)lb,
            (long)is, o.ub);
      o.ub = (int)(lb + is);
      break;
    }
    default: {
      const int more = 8 * roll(3), less = 8 * roll(2);
      MUST(MPI_Type_create_resized(inner->type, inner->lb - less, extent + less + more, &o.type));
      append(&o, inner, 0, &first);
      o.lb = inner->lb - less;
      o.ub = inner->ub + more;
    }
  }
  return o;
}

static Oracle build(int depth) {
  Oracle o = base();
  for (int d = 0; d < depth; d++) {
    Oracle outer = wrap(&o);
    release(&o, d);
    o = outer;
  }
  MUST(MPI_Type_commit(&o.type));
  return o;
}

/* Memory for `count` items: [low, low + bytes) around the item's origin. */
typedef struct {
  unsigned char* memory;
  long low, bytes;
} Space;

static Space space_for(const Oracle* o, int count, int fill) {
  const long extent = o->ub - o->lb;
  long low = 0, high = 1;
  for (int c = 0; c<count; c += count> 1 ? count - 1 : 1)
    for (int i = 0; i < o->n; i++) {
      const long at = c * extent + o->at[i];
      if (at < low) low = at;
      if (at + 1 > high) high = at + 1;
    }
  Space s = {check_alloc((size_t)(high - low)), low, high - low};
  memset(s.memory, fill, (size_t)s.bytes);
  return s;
}

static unsigned char* origin(const Space* s) { return s->memory - s->low; }

/* Lays the packed bytes of message `seed` out as `count` items. */
static void lay_out(const Oracle* o, int count, unsigned seed, Space* s) {
  const long extent = o->ub - o->lb;
  for (int c = 0; c < count; c++)
    for (int i = 0; i < o->n; i++)
      origin(s)[c * extent + o->at[i]] = pattern_byte(seed, (size_t)c * (size_t)o->n + (size_t)i);
}

static void compare(const char* what, const Space* is, const Oracle* o, int count, unsigned seed) {
  Space should = space_for(o, count, 0x11);
  lay_out(o, count, seed, &should);
  for (long i = 0; i < is->bytes; i++)
    if (is->memory[i] != should.memory[i]) {
      CHECK(0, "%s: %d items of %d bytes: byte at %ld is %d, not %d", what, count, o->n, is->low + i, is->memory[i],
            should.memory[i]);
      break;
    }
  free(should.memory);
}

static void exchange(const Oracle* o, int count, unsigned seed) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  const int bytes = count * o->n;
  Space typed = space_for(o, count, 0x22), in = space_for(o, count, 0x11);
  unsigned char* flat = check_alloc((size_t)bytes);
  unsigned char* got = check_alloc((size_t)bytes);
  lay_out(o, count, seed, &typed);
  pattern_fill(flat, (size_t)bytes, seed);

  MUST(MPI_Sendrecv(origin(&typed), count, o->type, right, 1, got, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  CHECK_PATTERN(got, (size_t)bytes, seed);
  MUST(MPI_Sendrecv(flat, bytes, MPI_BYTE, right, 2, origin(&in), count, o->type, left, 2, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  compare("received", &in, o, count, seed);
  memset(in.memory, 0x11, (size_t)in.bytes);
  MUST(MPI_Sendrecv(origin(&typed), count, o->type, right, 3, origin(&in), count, o->type, left, 3, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  compare("sent and received", &in, o, count, seed);

  int position = 0, most = 0;
  MUST(MPI_Pack_size(count, o->type, MPI_COMM_WORLD, &most));
  CHECK(most >= bytes, "MPI_Pack_size says %d for %d bytes", most, bytes);
  unsigned char* packed = check_alloc((size_t)most);
  MUST(MPI_Pack(origin(&typed), count, o->type, packed, most, &position, MPI_COMM_WORLD));
  CHECK_EQ(position, bytes);
  CHECK_PATTERN(packed, (size_t)bytes, seed);
  position = 0;
  memset(in.memory, 0x11, (size_t)in.bytes);
  MUST(MPI_Unpack(packed, most, &position, origin(&in), count, o->type, MPI_COMM_WORLD));
  CHECK_EQ(position, bytes);
  compare("unpacked", &in, o, count, seed);

  /* The root's data is typed, everyone else's is flat. */
  const int root = (int)(seed % (unsigned)check_size);
  memset(got, 0, (size_t)bytes);
  if (check_rank == root)
    MUST(MPI_Bcast(origin(&typed), count, o->type, root, MPI_COMM_WORLD));
  else
    MUST(MPI_Bcast(got, bytes, MPI_BYTE, root, MPI_COMM_WORLD));
  if (check_rank != root) CHECK_PATTERN(got, (size_t)bytes, seed);

  Space all = space_for(o, count * check_size, 0x11);
  MUST(MPI_Gather(flat, bytes, MPI_BYTE, origin(&all), count, o->type, root, MPI_COMM_WORLD));
  for (int r = 0; check_rank == root && r < check_size; r++) {
    const long shift = (long)r * count * (o->ub - o->lb);
    for (int c = 0; c < count; c++)
      for (int i = 0; i < o->n; i++)
        if (origin(&all)[shift + c * (long)(o->ub - o->lb) + o->at[i]] !=
            pattern_byte(seed, (size_t)c * (size_t)o->n + (size_t)i)) {
          CHECK(0, "gathered: block %d, item %d, byte %d", r, c, i);
          c = count;
          break;
        }
  }
  /* Everyone's typed data to everyone, as flat bytes; and flat bytes back into typed data, from the root. */
  unsigned char* flats = check_alloc((size_t)bytes * (size_t)check_size);
  MUST(MPI_Allgather(origin(&typed), count, o->type, flats, bytes, MPI_BYTE, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_PATTERN(flats + (size_t)r * (size_t)bytes, (size_t)bytes, seed);
  memset(in.memory, 0x11, (size_t)in.bytes);
  MUST(MPI_Scatter(flats, bytes, MPI_BYTE, origin(&in), count, o->type, root, MPI_COMM_WORLD));
  compare("scattered", &in, o, count, seed);
  memset(all.memory, 0x11, (size_t)all.bytes);
  MUST(MPI_Alltoall(flats, bytes, MPI_BYTE, origin(&all), count, o->type, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++)
    for (int c = 0; c < count; c++)
      for (int i = 0; i < o->n; i++) {
        const long at = ((long)r * count + c) * (o->ub - o->lb) + o->at[i];
        if (origin(&all)[at] != pattern_byte(seed, (size_t)c * (size_t)o->n + (size_t)i)) {
          CHECK(0, "exchanged: block %d, item %d, byte %d", r, c, i);
          c = count;
          break;
        }
      }
  free(flats);
  free(all.memory);
  free(typed.memory);
  free(in.memory);
  free(flat);
  free(got);
  free(packed);
}

/* The same bytes travel however each side describes them: between two unlike datatypes, through nonblocking, persistent
 * and buffered calls, and through the collectives that have a datatype for each rank. `n` bytes on both sides. */
static void exchange_unlike(const Oracle* a, const Oracle* b, unsigned seed) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  const int count = b->n, counts_b = a->n; /* items: both are a->n * b->n bytes */
  const int root = (int)(seed % (unsigned)check_size);
  Space out = space_for(a, count, 0x22), in = space_for(b, counts_b, 0x11);
  lay_out(a, count, seed, &out);
  MPI_Request requests[2];

  MUST(MPI_Irecv(origin(&in), counts_b, b->type, left, 1, MPI_COMM_WORLD, &requests[0]));
  MUST(MPI_Isend(origin(&out), count, a->type, right, 1, MPI_COMM_WORLD, &requests[1]));
  MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  compare("unlike", &in, b, counts_b, seed);

  MUST(MPI_Recv_init(origin(&in), counts_b, b->type, left, 2, MPI_COMM_WORLD, &requests[0]));
  MUST(MPI_Bsend_init(origin(&out), count, a->type, right, 2, MPI_COMM_WORLD, &requests[1]));
  for (int start = 0; start < 2; start++) {
    memset(in.memory, 0x11, (size_t)in.bytes);
    MUST(MPI_Startall(2, requests));
    MUST(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    compare("unlike, persistent", &in, b, counts_b, seed);
  }
  MUST(MPI_Request_free(&requests[0]));
  MUST(MPI_Request_free(&requests[1]));

  memset(in.memory, 0x11, (size_t)in.bytes);
  if (check_rank == root) {
    MUST(MPI_Ibcast(origin(&out), count, a->type, root, MPI_COMM_WORLD, requests));
  } else {
    MUST(MPI_Ibcast(origin(&in), counts_b, b->type, root, MPI_COMM_WORLD, requests));
  }
  MUST(MPI_Wait(requests, MPI_STATUS_IGNORE));
  if (check_rank != root) compare("unlike, broadcast", &in, b, counts_b, seed);

  /* A block for each rank, all in the same place of the sender and apart at the receiver; types by turns. */
  const long apart = (in.bytes + 15) / 16 * 16;
  unsigned char* all = check_alloc((size_t)(apart * check_size));
  int* send_counts = check_alloc(sizeof(int) * (size_t)check_size);
  int* recv_counts = check_alloc(sizeof(int) * (size_t)check_size);
  int* send_at = check_alloc(sizeof(int) * (size_t)check_size);
  int* recv_at = check_alloc(sizeof(int) * (size_t)check_size);
  MPI_Datatype* send_types = check_alloc(sizeof(MPI_Datatype) * (size_t)check_size);
  MPI_Datatype* recv_types = check_alloc(sizeof(MPI_Datatype) * (size_t)check_size);
  for (int r = 0; r < check_size; r++) {
    send_counts[r] = count;
    recv_counts[r] = counts_b;
    send_at[r] = 0;
    recv_at[r] = (int)(r * apart - in.low);
    send_types[r] = a->type;
    recv_types[r] = b->type;
  }
  memset(all, 0x11, (size_t)(apart * check_size));
  MUST(MPI_Alltoallw(origin(&out), send_counts, send_at, send_types, all, recv_counts, recv_at, recv_types,
                     MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) {
    const Space block = {all + r * apart, in.low, in.bytes};
    compare("unlike, to each", &block, b, counts_b, seed);
  }
  /* One after the other as contiguous bytes, to everyone and to one; and back. */
  const int bytes = a->n * b->n;
  unsigned char* flat = check_alloc((size_t)bytes * (size_t)check_size);
  for (int r = 0; r < check_size; r++) {
    recv_counts[r] = bytes;
    recv_at[r] = (check_size - 1 - r) * bytes;
  }
  memset(flat, 0, (size_t)bytes * (size_t)check_size);
  MUST(MPI_Allgatherv(origin(&out), count, a->type, flat, recv_counts, recv_at, MPI_BYTE, MPI_COMM_WORLD));
  for (int r = 0; r < check_size; r++) CHECK_PATTERN(flat + (size_t)r * (size_t)bytes, (size_t)bytes, seed);
  memset(in.memory, 0x11, (size_t)in.bytes);
  MUST(MPI_Scatterv(flat, recv_counts, recv_at, MPI_BYTE, origin(&in), counts_b, b->type, root, MPI_COMM_WORLD));
  compare("unlike, scattered", &in, b, counts_b, seed);
  memset(flat, 0, (size_t)bytes * (size_t)check_size);
  MUST(MPI_Gatherv(origin(&in), counts_b, b->type, flat, recv_counts, recv_at, MPI_BYTE, root, MPI_COMM_WORLD));
  for (int r = 0; check_rank == root && r < check_size; r++)
    CHECK_PATTERN(flat + (size_t)r * (size_t)bytes, (size_t)bytes, seed);
  free(flat), free(all);
  free(send_counts), free(recv_counts), free(send_at), free(recv_at), free(send_types), free(recv_types);
  free(out.memory), free(in.memory);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  void* buffer;
  int buffered;
  MUST(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  const int rounds = argc > 1 ? atoi(argv[1]) : 120, first = argc > 2 ? atoi(argv[2]) : 0;
  for (int round = first; round < first + rounds && check_failures == 0; round++) {
    dice.state = (uint64_t)round * 1000003u + 17;
    const int depth = 1 + roll(4);
    Oracle o = build(depth);
    int size;
    MPI_Aint lb, extent;
    MUST(MPI_Type_size(o.type, &size));
    MUST(MPI_Type_get_extent(o.type, &lb, &extent));
    CHECK_EQ(size, o.n);
    CHECK_EQ(lb, o.lb);
    CHECK_EQ(extent, o.ub - o.lb);
    exchange(&o, 1, (unsigned)round);
    exchange(&o, 3, (unsigned)round + 1);
    if (round % 6 == 0) exchange(&o, 60000 / (o.n + 1) + 2, (unsigned)round + 2);
    if (round % 2 == 0) {
      Oracle other = build(1 + roll(3));
      if ((long)o.n * other.n <= 1 << 20) exchange_unlike(&o, &other, (unsigned)round + 3);
      release(&other, 1);
    }
    if (check_failures) fprintf(stderr, "rank %d: in round %d\n", check_rank, round);
    release(&o, depth);
  }
  MUST(MPI_Buffer_detach(&buffer, &buffered));
  return check_end();
}
