/* The situations of the standard's examples on point-to-point communication (MPI-1.1, chapter 3), as checks. Numbers in
 * the comments are the standard's. They need two ranks or three; the others only meet in the barrier. */
#include <stddef.h>

#include "check.h"

enum { kBig = 300000 };
static float big_out[kBig], big_in[kBig];

static int is(int rank) { return check_rank == rank; }

/* The first program of chapter 3: a string, received into more room than it needs. */
static void hello_there(void) {
  char text[20];
  if (is(0)) MUST(MPI_Send("Hello, there", 13, MPI_CHAR, 1, 99, MPI_COMM_WORLD));
  if (is(1)) {
    MPI_Status s;
    int count;
    MUST(MPI_Recv(text, 20, MPI_CHAR, 0, 99, MPI_COMM_WORLD, &s));
    MUST(MPI_Get_count(&s, MPI_CHAR, &count));
    CHECK_EQ(count, 13);
    CHECK(strcmp(text, "Hello, there") == 0, "%.20s", text);
  }
}

/* 3.3: untyped bytes keep their value whatever they are. */
static void bytes(void) {
  float a[10], b[15];
  for (int i = 0; i < 10; i++) a[i] = (float)i / 3;
  if (is(0)) MUST(MPI_Send(a, 40, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
  if (is(1)) {
    MUST(MPI_Recv(b, 60, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(memcmp(a, b, 40) == 0);
  }
}

/* 3.6, without buffered mode: a later synchronous message is received first. */
static void other_order(void) {
  int a = 1, b = 2;
  MPI_Request r;
  if (is(0)) {
    MUST(MPI_Isend(&a, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &r));
    MUST(MPI_Ssend(&b, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  }
  if (is(1)) {
    MUST(MPI_Recv(&b, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Recv(&a, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(a == 1 && b == 2);
  }
}

/* 3.7: an exchange that needs no buffering; any size must work. */
static void safe_exchange(void) {
  if (is(0)) {
    MUST(MPI_Send(big_out, kBig, MPI_FLOAT, 1, 3, MPI_COMM_WORLD));
    MUST(MPI_Recv(big_in, kBig, MPI_FLOAT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  if (is(1)) {
    MUST(MPI_Recv(big_in, kBig, MPI_FLOAT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Send(big_out, kBig, MPI_FLOAT, 0, 3, MPI_COMM_WORLD));
  }
}

/* 3.9: both send first. Unsafe by the standard, but expected to work for messages of common size. */
static void unsafe_exchange(void) {
  double out[100] = {1}, in[100] = {0};
  if (check_rank > 1) return;
  MUST(MPI_Send(out, 100, MPI_DOUBLE, 1 - check_rank, 4, MPI_COMM_WORLD));
  MUST(MPI_Recv(in, 100, MPI_DOUBLE, 1 - check_rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(in[0] == 1);
}

/* 3.12: send requests are freed at once; the reply tells that the message arrived. */
static void freed_sends(void) {
  if (check_rank > 1) return;
  for (int i = 0; i < 200; i++) {
    int out = i, in = -1;
    MPI_Request r;
    if (is(0)) {
      MUST(MPI_Isend(&out, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r));
      MUST(MPI_Request_free(&r));
      MUST(MPI_Recv(&in, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
      MUST(MPI_Recv(&in, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      MUST(MPI_Send(&in, 1, MPI_INT, 0, 5, MPI_COMM_WORLD));
    }
    CHECK_EQ(in, i);
  }
}

/* 3.13: two sends, a wildcard and a named receive: the first message goes to the first receive. */
static void order_with_wildcard(void) {
  int a = 10, b = 20, x = 0, y = 0;
  MPI_Request r[2];
  if (is(0)) {
    MUST(MPI_Isend(&a, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r[0]));
    MUST(MPI_Isend(&b, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r[1]));
    MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  }
  if (is(1)) {
    MUST(MPI_Irecv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]));
    MUST(MPI_Irecv(&y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r[1]));
    MUST(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    CHECK(x == 10 && y == 20, "%d, %d", x, y);
  }
}

/* 3.14: a synchronous send completes because the receiver is in another receive. */
static void progress(void) {
  int a = 1, b = 2;
  MPI_Request r;
  if (is(0)) {
    MUST(MPI_Ssend(&a, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    MUST(MPI_Send(&b, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
  }
  if (is(1)) {
    a = b = 0;
    MUST(MPI_Irecv(&a, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r));
    MUST(MPI_Recv(&b, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK(a == 1 && b == 2);
  }
}

/* 3.15 and 3.16: a server with one receive per client, by Waitany and by Waitsome. */
static void server(int some) {
  enum { kEach = 25 };
  const int clients = check_size - 1;
  if (check_rank > 0) {
    for (int i = 0; i < kEach; i++) MUST(MPI_Ssend(&i, 1, MPI_INT, 0, 6, MPI_COMM_WORLD));
    return;
  }
  MPI_Request* r = check_alloc((size_t)clients * sizeof *r);
  int* got = check_alloc((size_t)clients * sizeof *got);
  int* next = calloc((size_t)clients, sizeof *next);
  int* done = check_alloc((size_t)clients * sizeof *done);
  for (int c = 0; c < clients; c++) MUST(MPI_Irecv(&got[c], 1, MPI_INT, c + 1, 6, MPI_COMM_WORLD, &r[c]));
  for (int served = 0; served < clients * kEach;) {
    int n = 1;
    if (some)
      MUST(MPI_Waitsome(clients, r, &n, done, MPI_STATUSES_IGNORE));
    else
      MUST(MPI_Waitany(clients, r, &done[0], MPI_STATUS_IGNORE));
    CHECK(n > 0 && n <= clients, "%d", n);
    for (int k = 0; k < n; k++, served++) {
      const int c = done[k];
      CHECK_EQ(got[c], next[c]);
      if (++next[c] < kEach) MUST(MPI_Irecv(&got[c], 1, MPI_INT, c + 1, 6, MPI_COMM_WORLD, &r[c]));
    }
  }
  free(r), free(got), free(next), free(done);
}

/* 3.17: the kind of the next message is known only from its source. */
static void probe_for_type(void) {
  int i = 7;
  float x = 2.5f;
  if (is(0)) MUST(MPI_Send(&i, 1, MPI_INT, 2, 8, MPI_COMM_WORLD));
  if (is(1)) MUST(MPI_Send(&x, 1, MPI_FLOAT, 2, 8, MPI_COMM_WORLD));
  for (int k = 0; is(2) && k < 2; k++) {
    MPI_Status s;
    MUST(MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &s));
    i = 0, x = 0;
    if (s.MPI_SOURCE == 0)
      MUST(MPI_Recv(&i, 1, MPI_INT, s.MPI_SOURCE, 8, MPI_COMM_WORLD, &s));
    else
      MUST(MPI_Recv(&x, 1, MPI_FLOAT, s.MPI_SOURCE, 8, MPI_COMM_WORLD, &s));
    CHECK(s.MPI_SOURCE == 0 ? i == 7 : x == 2.5f);
  }
}

/* 3.28: four ways to send four numbers match four ways to receive them. */
static void matching_signatures(void) {
  MPI_Datatype two, two_two, four;
  MUST(MPI_Type_contiguous(2, MPI_FLOAT, &two));
  MUST(MPI_Type_contiguous(2, two, &two_two));
  MUST(MPI_Type_contiguous(4, MPI_FLOAT, &four));
  MUST(MPI_Type_commit(&two));
  MUST(MPI_Type_commit(&two_two));
  MUST(MPI_Type_commit(&four));
  const struct {
    int count;
    MPI_Datatype type;
  } way[4] = {{4, MPI_FLOAT}, {2, two}, {1, two_two}, {1, four}};
  for (int o = 0; o < 4; o++)
    for (int i = 0; i < 4; i++) {
      float a[4] = {1, 2, 3, 4}, b[4] = {0};
      if (is(0)) MUST(MPI_Send(a, way[o].count, way[o].type, 1, 9, MPI_COMM_WORLD));
      if (is(1)) {
        MUST(MPI_Recv(b, way[i].count, way[i].type, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(memcmp(a, b, sizeof a) == 0, "sent %d, received %d", o, i);
      }
    }
  /* 3.29: whole items and parts of them. */
  for (int n = 2; n <= 3; n++) {
    float a[4] = {1, 2, 3, 4};
    MPI_Status s;
    int count, elements;
    if (is(0)) MUST(MPI_Send(a, n, MPI_FLOAT, 1, 9, MPI_COMM_WORLD));
    if (!is(1)) continue;
    MUST(MPI_Recv(a, 2, two, 0, 9, MPI_COMM_WORLD, &s));
    MUST(MPI_Get_count(&s, two, &count));
    MUST(MPI_Get_elements(&s, two, &elements));
    CHECK(count == (n == 2 ? 1 : MPI_UNDEFINED) && elements == n, "%d numbers: count %d, elements %d", n, count,
          elements);
  }
  MUST(MPI_Type_free(&two));
  MUST(MPI_Type_free(&two_two));
  MUST(MPI_Type_free(&four));
}

/* 3.31 to 3.33: parts of matrices, sent to oneself. */
static void matrices(void) {
  enum { n = 100 };
  static double a[n][n], b[n][n];
  int block[n], place[n];
  MPI_Datatype lower, column, transposed, row;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i][j] = i * 1000 + j, b[i][j] = -1;
  for (int i = 0; i < n; i++) block[i] = i, place[i] = i * n;
  MUST(MPI_Type_indexed(n, block, place, MPI_DOUBLE, &lower));
  MUST(MPI_Type_commit(&lower));
  MUST(MPI_Sendrecv(a, 1, lower, 0, 0, b, 1, lower, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (b[i][j] != (j < i ? a[i][j] : -1)) CHECK(0, "lower triangle: [%d][%d] is %g", i, j, b[i][j]);

  MUST(MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column));
  MUST(MPI_Type_create_hvector(n, 1, sizeof(double), column, &transposed));
  MUST(MPI_Type_commit(&transposed));
  MUST(MPI_Sendrecv(a, 1, transposed, 0, 0, b, n * n, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (b[i][j] != a[j][i]) CHECK(0, "transposed: [%d][%d] is %g", i, j, b[i][j]);

  memset(b, 0, sizeof b);
  MUST(MPI_Type_create_resized(column, 0, sizeof(double), &row)); /* the next column starts one number on */
  MUST(MPI_Type_commit(&row));
  MUST(MPI_Sendrecv(a, n, row, 0, 0, b, n * n, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (b[i][j] != a[j][i]) CHECK(0, "transposed by rows: [%d][%d] is %g", i, j, b[i][j]);
  MUST(MPI_Type_free(&lower));
  MUST(MPI_Type_free(&column));
  MUST(MPI_Type_free(&transposed));
  MUST(MPI_Type_free(&row));
}

/* 3.34 and 3.35: an array of particles; whole, with relative and with absolute addresses; and only those of one class.
 */
typedef struct {
  int class;
  double d[6];
  char b[7];
} Particle;

static void particles(void) {
  enum { n = 1000 };
  static Particle out[n], in[n];
  const int lengths[3] = {1, 6, 7};
  const MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Aint places[3] = {(MPI_Aint)offsetof(Particle, class), (MPI_Aint)offsetof(Particle, d),
                        (MPI_Aint)offsetof(Particle, b)};
  MPI_Datatype raw, particle;
  for (int i = 0; i < n; i++) out[i] = (Particle){i % 3, {i, i + 1, i + 2, i + 3, i + 4, i + 5}, "abcdef"};
  MUST(MPI_Type_create_struct(3, lengths, places, types, &raw));
  MUST(MPI_Type_create_resized(raw, 0, sizeof(Particle), &particle));
  MUST(MPI_Type_commit(&particle));
  MUST(MPI_Sendrecv(out, n, particle, 0, 0, in, n, particle, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < n; i++)
    CHECK(in[i].class == i % 3 && in[i].d[5] == i + 5 && strcmp(in[i].b, "abcdef") == 0, "particle %d", i);

  int chosen[n], ones[n], count = 0;
  for (int i = 0; i < n; i++)
    if (out[i].class == 0) chosen[count] = i, ones[count++] = 1;
  MPI_Datatype some;
  MUST(MPI_Type_indexed(count, ones, chosen, particle, &some));
  MUST(MPI_Type_commit(&some));
  memset(in, 0, sizeof in);
  MUST(MPI_Sendrecv(out, 1, some, 0, 0, in, count, particle, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < count; i++) CHECK(in[i].class == 0 && in[i].d[0] == 3 * i, "chosen particle %d", i);

  /* Addresses instead of offsets, from MPI_BOTTOM. */
  MPI_Aint from[2], to[2];
  MPI_Datatype absolute_out, absolute_in;
  int number_out = 77, number_in = 0;
  MUST(MPI_Get_address(&number_out, &from[0]));
  MUST(MPI_Get_address(out, &from[1]));
  MUST(MPI_Get_address(&number_in, &to[0]));
  MUST(MPI_Get_address(in, &to[1]));
  const MPI_Datatype kinds[2] = {MPI_INT, particle};
  MUST(MPI_Type_create_struct(2, (int[]){1, n}, from, kinds, &absolute_out));
  MUST(MPI_Type_create_struct(2, (int[]){1, n}, to, kinds, &absolute_in));
  MUST(MPI_Type_commit(&absolute_out));
  MUST(MPI_Type_commit(&absolute_in));
  memset(in, 0, sizeof in);
  MUST(MPI_Sendrecv(MPI_BOTTOM, 1, absolute_out, 0, 0, MPI_BOTTOM, 1, absolute_in, 0, 0, MPI_COMM_SELF,
                    MPI_STATUS_IGNORE));
  CHECK_EQ(number_in, 77);
  for (int i = 0; i < n; i++) CHECK(in[i].class == i % 3 && in[i].d[3] == i + 3, "particle %d by address", i);
  MPI_Datatype* const all[] = {&raw, &particle, &some, &absolute_out, &absolute_in};
  for (int k = 0; k < 5; k++) MUST(MPI_Type_free(all[k]));
}

/* 3.37 to 3.38: packed here, typed there, and the other way round. */
static void packing(void) {
  int i = 5, j = 6, place = 0, pair[2] = {0, 0}, numbers[5] = {1, 2, 3, 4, 5};
  char buffer[1000];
  if (is(0)) {
    MUST(MPI_Pack(&i, 1, MPI_INT, buffer, 1000, &place, MPI_COMM_WORLD));
    MUST(MPI_Pack(&j, 1, MPI_INT, buffer, 1000, &place, MPI_COMM_WORLD));
    MUST(MPI_Send(buffer, place, MPI_PACKED, 1, 10, MPI_COMM_WORLD));
    MUST(MPI_Send(numbers, 5, MPI_INT, 1, 11, MPI_COMM_WORLD));
  }
  if (is(1)) {
    MUST(MPI_Recv(pair, 2, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(pair[0] == 5 && pair[1] == 6);
    MUST(MPI_Recv(buffer, 1000, MPI_PACKED, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    memset(numbers, 0, sizeof numbers);
    MUST(MPI_Unpack(buffer, 1000, &place, &numbers[0], 2, MPI_INT, MPI_COMM_WORLD));
    MUST(MPI_Unpack(buffer, 1000, &place, &numbers[2], 3, MPI_INT, MPI_COMM_WORLD));
    for (int k = 0; k < 5; k++) CHECK_EQ(numbers[k], k + 1);
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int i = 0; i < kBig; i++) big_out[i] = (float)i;
  matrices();
  particles();
  if (check_size >= 2) {
    void (*const with_two[])(void) = {hello_there,         bytes,       other_order,         safe_exchange,
                                      unsafe_exchange,     freed_sends, order_with_wildcard, progress,
                                      matching_signatures, packing};
    for (size_t k = 0; k < sizeof with_two / sizeof *with_two; k++) {
      with_two[k]();
      MUST(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (check_rank < 2) CHECK(big_in[kBig - 1] == (float)(kBig - 1));
    server(0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    server(1);
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (check_size >= 3) probe_for_type();
  return check_end();
}
