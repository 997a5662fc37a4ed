/* Datatypes against packing by hand: time of MPI_Pack and of a ping-pong with the type, and the same with a
 * hand-written loop at -O3 and contiguous messages. Two ranks; `datatypes pack` measures only the packing, on any
 * number of ranks. Sizes in bytes may be given; shapes by name. Each shape's two ways run in turns, so that noise hits
 * both. */
#include <stddef.h>

#include "bench.h"
#include "datatypes_hand.h"

typedef struct {
  const char* name;
  MPI_Datatype type;
  int count;
  size_t bytes, span; /* of data; of memory */
  Hand hand;
  HandLoop *pack, *unpack;
} Shape;

static int rank, size;
static int *lengths, *places;

static void make(Shape* s, const char* name, MPI_Datatype type, int count, size_t bytes, size_t span, HandLoop* pack,
                 HandLoop* unpack) {
  MPI_Type_commit(&type);
  s->name = name;
  s->type = type;
  s->count = count;
  s->bytes = bytes;
  s->span = span;
  s->pack = pack;
  s->unpack = unpack;
}

static void make_vector(Shape* s, const char* name, size_t bytes, size_t block, HandLoop* pack, HandLoop* unpack) {
  MPI_Datatype type;
  s->hand.blocks = bytes / 8 / block;
  s->hand.block = block;
  s->hand.stride = 2 * block;
  MPI_Type_vector((int)s->hand.blocks, (int)block, (int)(2 * block), MPI_DOUBLE, &type);
  make(s, name, type, 1, bytes, 2 * bytes, pack, unpack);
}

static void make_indexed(Shape* s, size_t bytes) {
  MPI_Datatype type;
  size_t n = 0, total = 0;
  unsigned draw = 12345;
  int next = 0;
  lengths = malloc(bytes / 8 * sizeof *lengths);
  places = malloc(bytes / 8 * sizeof *places);
  while (total < bytes / 8) {
    draw = draw * 1664525u + 1013904223u;
    int length = 1 + (int)(draw >> 28) % 7;
    if (total + (size_t)length > bytes / 8) length = (int)(bytes / 8 - total);
    lengths[n] = length;
    places[n++] = next;
    next += length + 1 + (int)(draw >> 24 & 3);
    total += (size_t)length;
  }
  s->hand.blocks = n;
  s->hand.lengths = lengths;
  s->hand.places = places;
  MPI_Type_indexed((int)n, lengths, places, MPI_DOUBLE, &type);
  make(s, "indexed", type, 1, bytes, (size_t)next * 8, hand_pack_indexed, hand_unpack_indexed);
}

static void make_structs(Shape* s, size_t bytes) {
  const int one[3] = {1, 1, 1};
  const MPI_Aint at[3] = {offsetof(Holes, c), offsetof(Holes, d), offsetof(Holes, i)};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Datatype type;
  s->hand.blocks = bytes / 13;
  MPI_Type_create_struct(3, one, at, types, &type);
  make(s, "struct-holes", type, (int)s->hand.blocks, s->hand.blocks * 13, s->hand.blocks * sizeof(Holes),
       hand_pack_structs, hand_unpack_structs);
}

/* The face of a cube whose faces have `bytes`, or of the largest cube that is still reasonable. */
static void make_face(Shape* s, const char* name, size_t bytes, int axis) {
  int n = 1;
  while ((size_t)(n + 1) * (size_t)(n + 1) * 8 <= bytes) n++;
  const int starts[3] = {0, 0, 0};
  int sizes[3] = {n, n, n}, sub[3] = {n, n, n};
  sub[axis] = 1;
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes, sub, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  s->hand.n = (size_t)n;
  for (int d = 0; d < 3; d++) s->hand.sub[d] = (size_t)sub[d];
  make(s, name, type, 1, (size_t)n * (size_t)n * 8, (size_t)n * (size_t)n * (size_t)n * 8, hand_pack_cube,
       hand_unpack_cube);
}

static void make_transpose(Shape* s, size_t bytes) {
  int n = 1;
  while ((size_t)(n + 1) * (size_t)(n + 1) * 8 <= bytes) n++;
  MPI_Datatype column, narrow;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, 8, &narrow);
  MPI_Type_free(&column);
  s->hand.n = (size_t)n;
  make(s, "transpose", narrow, n, (size_t)n * (size_t)n * 8, (size_t)n * (size_t)n * 8, hand_pack_transpose,
       hand_unpack_transpose);
}

/* The two ways of one figure, in turns: the medians. */
typedef void Work(const Shape* s, char* memory, char* packed);

static void pack_typed(const Shape* s, char* memory, char* packed) {
  int position = 0;
  MPI_Pack(memory, s->count, s->type, packed, (int)s->bytes, &position, MPI_COMM_SELF);
}
static void pack_hand(const Shape* s, char* memory, char* packed) { s->pack(&s->hand, memory, packed); }
static void unpack_typed(const Shape* s, char* memory, char* packed) {
  int position = 0;
  MPI_Unpack(packed, (int)s->bytes, &position, memory, s->count, s->type, MPI_COMM_SELF);
}
static void unpack_hand(const Shape* s, char* memory, char* packed) { s->unpack(&s->hand, memory, packed); }

static void pingpong_typed(const Shape* s, char* memory, char* packed) {
  (void)packed;
  const int peer = 1 - rank;
  for (int half = 0; half < 2; half++) {
    if (half == rank) {
      MPI_Send(memory, s->count, s->type, peer, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(memory, s->count, s->type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}
static void pingpong_hand(const Shape* s, char* memory, char* packed) {
  const int peer = 1 - rank;
  for (int half = 0; half < 2; half++) {
    if (half == rank) {
      s->pack(&s->hand, memory, packed);
      MPI_Send(packed, (int)s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(packed, (int)s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      s->unpack(&s->hand, memory, packed);
    }
  }
}

static void measure(const Shape* s, const char* what, const char* unit, double scale, Work* typed, Work* hand,
                    char* memory, char* packed) {
  double times[2][kBatches];
  Work* const ways[2] = {typed, hand};
  const int repeats = s->bytes <= 8192 ? 1000 : 10;
  for (int batch = -1; batch < kBatches; batch++) {
    for (int way = 0; way < 2; way++) {
      ways[way](s, memory, packed);
      const double start = MPI_Wtime();
      for (int i = 0; i < repeats; i++) ways[way](s, memory, packed);
      if (batch >= 0) times[way][batch] = (MPI_Wtime() - start) / repeats * scale;
    }
  }
  if (rank != 0) return;
  const double a = bench_median(times[0], kBatches), b = bench_median(times[1], kBatches);
  printf("%s %s %zu type %s %.3f\n", what, s->name, s->bytes, unit, a);
  printf("%s %s %zu hand %s %.3f\n", what, s->name, s->bytes, unit, b);
  printf("%s %s %zu ratio-to-hand x %.3f\n", what, s->name, s->bytes, a / b);
  fflush(stdout);
}

static int wanted(int argc, char** argv, const char* name) {
  int names = 0;
  for (int i = 1; i < argc; i++) {
    if ((argv[i][0] >= '0' && argv[i][0] <= '9') || strcmp(argv[i], "pack") == 0) continue;
    names++;
    if (strcmp(argv[i], name) == 0) return 1;
  }
  return names == 0;
}

int main(int argc, char** argv) {
  int only_pack = 0;
  for (int i = 1; i < argc; i++) only_pack |= strcmp(argv[i], "pack") == 0;
  bench_start(&argc, &argv, only_pack ? 0 : 2, &rank, &size);
  const long fallback[] = {4096, 1 << 20, -1};
  long sizes[16];
  const int n = bench_sizes(argc, argv, fallback, sizes, 16);
  for (int k = 0; k < n; k++) {
    const size_t bytes = (size_t)sizes[k];
    Shape shapes[10];
    memset(shapes, 0, sizeof shapes);
    make_vector(&shapes[0], "vector-1", bytes, 1, hand_pack_vector1, hand_unpack_vector1);
    make_vector(&shapes[1], "vector-2", bytes, 2, hand_pack_vector2, hand_unpack_vector2);
    make_vector(&shapes[2], "vector-8", bytes, 8, hand_pack_vector, hand_unpack_vector);
    make_vector(&shapes[3], "vector-64", bytes, 64, hand_pack_vector, hand_unpack_vector);
    make_indexed(&shapes[4], bytes);
    make_structs(&shapes[5], bytes);
    make_face(&shapes[6], "face-yz", bytes, 0);
    make_face(&shapes[7], "face-xz", bytes, 1);
    make_face(&shapes[8], "face-xy", bytes, 2);
    make_transpose(&shapes[9], bytes);
    for (int i = 0; i < 10; i++) {
      Shape* const s = &shapes[i];
      if (wanted(argc, argv, s->name)) {
        char* const memory = bench_alloc(s->span);
        char* const packed = bench_alloc(s->bytes);
        measure(s, "pack", "us", 1e6, pack_typed, pack_hand, memory, packed);
        measure(s, "unpack", "us", 1e6, unpack_typed, unpack_hand, memory, packed);
        if (!only_pack) measure(s, "pingpong", "us", 1e6, pingpong_typed, pingpong_hand, memory, packed);
        free(memory);
        free(packed);
      }
      MPI_Type_free(&s->type);
    }
    free(lengths);
    free(places);
  }
  return MPI_Finalize();
}
