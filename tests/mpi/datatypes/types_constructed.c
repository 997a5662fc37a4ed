/* Constructed types: size, bounds and the places of their data, with the numbers of the standard's own examples, found
 * out by sending one item to oneself and looking where bytes arrive. */
#include "check.h"

enum { kBuffer = 1024, kOrigin = 512 };

/* Byte offsets of one item's data, in the order they are sent. Returns how many. */
static int places_of(MPI_Datatype type, int* places) {
  unsigned char numbers[256], in[kBuffer];
  MPI_Status s;
  int size;
  MUST(MPI_Type_size(type, &size));
  for (int i = 0; i < size; i++) numbers[i] = (unsigned char)(i + 1);
  memset(in, 0, sizeof in);
  MUST(MPI_Sendrecv(numbers, size, MPI_BYTE, 0, 0, in + kOrigin, 1, type, 0, 0, MPI_COMM_SELF, &s));
  int found = 0;
  for (int at = 0; at < kBuffer; at++)
    if (in[at] != 0) {
      places[in[at] - 1] = at - kOrigin;
      found++;
    }
  CHECK_EQ(found, size);
  return size;
}

/* `runs`: pairs (offset, bytes) in sending order, ended by bytes 0. */
static void expect(const char* what, MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, const int* runs) {
  int places[256] = {0}, k = 0;
  MPI_Aint is_lb, is_extent;
  MUST(MPI_Type_get_extent(type, &is_lb, &is_extent));
  CHECK(is_lb == lb && is_extent == extent, "%s: lb %ld, extent %ld; should be %ld, %ld", what, (long)is_lb,
        (long)is_extent, (long)lb, (long)extent);
  MUST(MPI_Type_commit(&type));
  const int size = places_of(type, places);
  for (; runs[1] != 0; runs += 2)
    for (int b = 0; b < runs[1]; b++, k++)
      CHECK(k < size && places[k] == runs[0] + b, "%s: byte %d of the message lies at %d, not at %d", what, k,
            places[k], runs[0] + b);
  CHECK(k == size, "%s: %d bytes, not %d", what, size, k);
}

static MPI_Datatype double_char(void) {
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype t;
  MUST(MPI_Type_create_struct(2, lengths, places, types, &t));
  return t;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Datatype pair = double_char(), t, u; /* examples 3.19 to 3.24 */
  expect("{double, char}", pair, 0, 16, (int[]){0, 8, 8, 1, 0, 0});

  MUST(MPI_Type_contiguous(3, pair, &t));
  expect("contiguous(3)", t, 0, 48, (int[]){0, 8, 8, 1, 16, 8, 24, 1, 32, 8, 40, 1, 0, 0});
  MUST(MPI_Type_free(&t));
  MUST(MPI_Type_vector(2, 3, 4, pair, &t));
  expect("vector(2,3,4)", t, 0, 112,
         (int[]){0, 8, 8, 1, 16, 8, 24, 1, 32, 8, 40, 1, 64, 8, 72, 1, 80, 8, 88, 1, 96, 8, 104, 1, 0, 0});
  MUST(MPI_Type_free(&t));
  MUST(MPI_Type_vector(3, 1, -2, pair, &t));
  expect("vector(3,1,-2)", t, -64, 80, (int[]){0, 8, 8, 1, -32, 8, -24, 1, -64, 8, -56, 1, 0, 0});
  MUST(MPI_Type_free(&t));
  MUST(MPI_Type_indexed(2, (int[]){3, 1}, (int[]){4, 0}, pair, &t));
  expect("indexed", t, 0, 112, (int[]){64, 8, 72, 1, 80, 8, 88, 1, 96, 8, 104, 1, 0, 8, 8, 1, 0, 0});
  MUST(MPI_Type_free(&t));

  MUST(MPI_Type_create_struct(3, (int[]){2, 1, 3}, (MPI_Aint[]){0, 16, 26}, (MPI_Datatype[]){MPI_FLOAT, pair, MPI_CHAR},
                              &t));
  expect("struct", t, 0, 32, (int[]){0, 8, 16, 8, 24, 1, 26, 3, 0, 0});
  MUST(MPI_Type_free(&t));

  /* 3.26. Bounds set by hand: they place the next item, also through further constructors. */
  MUST(MPI_Type_create_resized(MPI_INT, -3, 9, &t));
  expect("resized int", t, -3, 9, (int[]){0, 4, 0, 0});
  MUST(MPI_Type_contiguous(2, t, &u));
  expect("two resized ints", u, -3, 18, (int[]){0, 4, 9, 4, 0, 0});
  MPI_Aint true_lb, true_extent;
  MUST(MPI_Type_get_true_extent(u, &true_lb, &true_extent));
  CHECK_EQ(true_lb, 0);
  CHECK_EQ(true_extent, 13);
  MUST(MPI_Type_free(&u));
  MUST(MPI_Type_free(&t));

  MUST(MPI_Type_create_resized(MPI_DOUBLE, 0, 4, &t)); /* items overlap: allowed where only one is received */
  expect("narrow double", t, 0, 4, (int[]){0, 8, 0, 0});
  MUST(MPI_Type_free(&t));

  /* Zero blocks and zero lengths are empty, not wrong. */
  MUST(MPI_Type_vector(0, 3, 4, MPI_INT, &t));
  expect("vector(0)", t, 0, 0, (int[]){0, 0});
  MUST(MPI_Type_free(&t));
  MUST(MPI_Type_indexed(3, (int[]){0, 2, 0}, (int[]){9, 1, 50}, MPI_INT, &t));
  expect("indexed with empty blocks", t, 4, 8, (int[]){4, 8, 0, 0});
  MUST(MPI_Type_free(&t));
  MUST(MPI_Type_contiguous(0, MPI_INT, &t));
  expect("contiguous(0)", t, 0, 0, (int[]){0, 0});
  MUST(MPI_Type_free(&t));

  /* 3.27. A handle copied before commit stays good; an inner type may be freed. */
  MUST(MPI_Type_contiguous(2, pair, &t));
  MUST(MPI_Type_free(&pair));
  u = t;
  MUST(MPI_Type_commit(&t));
  CHECK(u == t, "commit does not change the handle");
  expect("contiguous of a freed type", u, 0, 32, (int[]){0, 8, 8, 1, 16, 8, 24, 1, 0, 0});
  MUST(MPI_Type_dup(t, &u));
  MUST(MPI_Type_free(&t));
  CHECK(t == MPI_DATATYPE_NULL);
  expect("dup of a freed type", u, 0, 32, (int[]){0, 8, 8, 1, 16, 8, 24, 1, 0, 0});
  MUST(MPI_Type_free(&u));

  MUST(MPI_Type_create_hvector(3, 2, 10, MPI_SHORT, &t));
  expect("hvector", t, 0, 24, (int[]){0, 4, 10, 4, 20, 4, 0, 0});
  MUST(MPI_Type_free(&t));
  MUST(MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){-10, 6}, MPI_SHORT, &t));
  expect("hindexed", t, -10, 20, (int[]){-10, 2, 6, 4, 0, 0});
  MUST(MPI_Type_free(&t));
  MUST(MPI_Type_create_indexed_block(3, 2, (int[]){5, 0, 9}, MPI_SHORT, &t));
  expect("indexed_block", t, 0, 22, (int[]){10, 4, 0, 4, 18, 4, 0, 0});
  MUST(MPI_Type_free(&t));
  return check_end();
}
