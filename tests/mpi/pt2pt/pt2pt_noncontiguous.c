/* Messages whose data does not lie in one piece, at either end or both, across the sizes where protocols switch; and
 * that nothing between the pieces is touched. */
#include <stddef.h>

#include "check.h"

static int right, left;

/* `n` doubles, every `stride`-th, out of one array into one of another stride. */
static void strided(int n, int out_stride, int in_stride, int synchronous) {
  double* out = check_alloc((size_t)n * (size_t)out_stride * sizeof *out + 8);
  double* in = check_alloc((size_t)n * (size_t)in_stride * sizeof *in + 8);
  MPI_Datatype send_type, receive_type;
  MPI_Request r[2];
  for (int i = 0; i < n * out_stride; i++) out[i] = check_rank * 1e6 + i;
  for (int i = 0; i < n * in_stride; i++) in[i] = -1;
  MUST(MPI_Type_vector(n, 1, out_stride, MPI_DOUBLE, &send_type));
  MUST(MPI_Type_vector(n, 1, in_stride, MPI_DOUBLE, &receive_type));
  MUST(MPI_Type_commit(&send_type));
  MUST(MPI_Type_commit(&receive_type));
  MUST(MPI_Irecv(in, 1, receive_type, left, 1, MPI_COMM_WORLD, &r[0]));
  if (synchronous)
    MUST(MPI_Issend(out, 1, send_type, right, 1, MPI_COMM_WORLD, &r[1]));
  else
    MUST(MPI_Isend(out, 1, send_type, right, 1, MPI_COMM_WORLD, &r[1]));
  /* Freed now, gone only when the messages have gone. */
  MUST(MPI_Type_free(&send_type));
  MUST(MPI_Type_free(&receive_type));
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  for (int i = 0; i < n * in_stride; i++) {
    const double should = i % in_stride == 0 ? left * 1e6 + i / in_stride * out_stride : -1;
    if (in[i] != should) {
      CHECK(0, "n %d, strides %d to %d: element %d is %g, not %g", n, out_stride, in_stride, i, in[i], should);
      break;
    }
  }
  free(out);
  free(in);
}

/* Strided out, contiguous in, and a receive that is cut short in the middle of a block. */
static void partial(int n) {
  int* out = check_alloc((size_t)n * 5 * sizeof *out);
  int* in = check_alloc((size_t)n * 5 * sizeof *in);
  MPI_Datatype blocks;
  MPI_Status s;
  int count;
  for (int i = 0; i < n * 5; i++) out[i] = i, in[i] = -1;
  MUST(MPI_Type_vector(n, 3, 5, MPI_INT, &blocks)); /* three, then a hole of two */
  MUST(MPI_Type_commit(&blocks));
  const int sent = 3 * n - 2;
  MUST(MPI_Sendrecv(out, sent, MPI_INT, right, 2, in, 1, blocks, left, 2, MPI_COMM_WORLD, &s));
  MUST(MPI_Get_count(&s, MPI_INT, &count));
  CHECK_EQ(count, sent);
  MUST(MPI_Get_count(&s, blocks, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  MUST(MPI_Get_elements(&s, blocks, &count));
  CHECK_EQ(count, sent);
  for (int i = 0; i < n * 5; i++) {
    const int at = i / 5 * 3 + i % 5;
    const int should = i % 5 < 3 && at < sent ? at : -1;
    if (in[i] != should) {
      CHECK(0, "n %d: element %d is %d, not %d", n, i, in[i], should);
      break;
    }
  }
  MUST(MPI_Type_free(&blocks));
  free(out);
  free(in);
}

/* A struct with holes, resized to the C type's extent; sent as an array, received as another array. */
static void structs(int n) {
  typedef struct {
    char c;
    double d;
    short s[3];
    int unsent;
  } Item;
  Item* out = check_alloc((size_t)n * sizeof *out);
  Item* in = check_alloc((size_t)n * sizeof *in);
  const int lengths[3] = {1, 1, 3};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  const MPI_Aint places[3] = {(MPI_Aint)offsetof(Item, c), (MPI_Aint)offsetof(Item, d), (MPI_Aint)offsetof(Item, s)};
  MPI_Datatype raw, item;
  MUST(MPI_Type_create_struct(3, lengths, places, types, &raw));
  MUST(MPI_Type_create_resized(raw, 0, (MPI_Aint)sizeof(Item), &item));
  MUST(MPI_Type_commit(&item));
  memset(in, 0x33, (size_t)n * sizeof *in);
  for (int i = 0; i < n; i++) out[i] = (Item){(char)i, i + 0.5, {(short)i, (short)(i + 1), (short)(i + 2)}, 12345};
  MUST(MPI_Sendrecv(out, n, item, right, 3, in, n, item, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < n; i++) {
    const Item* t = &in[i];
    if (t->c != (char)i || t->d != i + 0.5 || t->s[0] != (short)i || t->s[2] != (short)(i + 2) ||
        t->unsent != 0x33333333) {
      CHECK(0, "item %d of %d", i, n);
      break;
    }
  }
  MUST(MPI_Type_free(&raw));
  MUST(MPI_Type_free(&item));
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  static const int counts[] = {1, 2, 7, 100, 511, 1025, 4096, 10000, 100000};
  check_start(&argc, &argv);
  right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    strided(counts[i], 2, 1, 0);
    strided(counts[i], 1, 3, 0);
    strided(counts[i], 3, 2, 0);
    strided(counts[i], 4, 5, 1);
    partial(counts[i]);
    structs(counts[i]);
  }
  return check_end();
}
