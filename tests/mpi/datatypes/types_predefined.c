/* Every predefined C type: its size and extent, and that values travel in it. */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "check.h"

typedef struct {
  MPI_Datatype type;
  const char* name;
  size_t size, extent;
} Row;

#define ROW(type, c) \
  { type, #type, sizeof(c), sizeof(c) }

struct float_pair {
  float v;
  int i;
};
struct double_pair {
  double v;
  int i;
};
struct long_pair {
  long v;
  int i;
};
struct int_pair {
  int v;
  int i;
};
struct short_pair {
  short v;
  int i;
};
struct long_double_pair {
  long double v;
  int i;
};

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const Row rows[] = {
      ROW(MPI_CHAR, char),
      ROW(MPI_SIGNED_CHAR, signed char),
      ROW(MPI_UNSIGNED_CHAR, unsigned char),
      ROW(MPI_SHORT, short),
      ROW(MPI_UNSIGNED_SHORT, unsigned short),
      ROW(MPI_INT, int),
      ROW(MPI_UNSIGNED, unsigned),
      ROW(MPI_LONG, long),
      ROW(MPI_UNSIGNED_LONG, unsigned long),
      ROW(MPI_LONG_LONG, long long),
      ROW(MPI_LONG_LONG_INT, long long),
      ROW(MPI_UNSIGNED_LONG_LONG, unsigned long long),
      ROW(MPI_FLOAT, float),
      ROW(MPI_DOUBLE, double),
      ROW(MPI_LONG_DOUBLE, long double),
      ROW(MPI_WCHAR, wchar_t),
      ROW(MPI_C_BOOL, bool),
      ROW(MPI_INT8_T, int8_t),
      ROW(MPI_INT16_T, int16_t),
      ROW(MPI_INT32_T, int32_t),
      ROW(MPI_INT64_T, int64_t),
      ROW(MPI_UINT8_T, uint8_t),
      ROW(MPI_UINT16_T, uint16_t),
      ROW(MPI_UINT32_T, uint32_t),
      ROW(MPI_UINT64_T, uint64_t),
      ROW(MPI_C_COMPLEX, float complex),
      ROW(MPI_C_FLOAT_COMPLEX, float complex),
      ROW(MPI_C_DOUBLE_COMPLEX, double complex),
      ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double complex),
      ROW(MPI_AINT, MPI_Aint),
      ROW(MPI_COUNT, MPI_Count),
      ROW(MPI_OFFSET, MPI_Offset),
      ROW(MPI_BYTE, char),
      ROW(MPI_PACKED, char),
      /* Pairs: the size counts both parts, the extent is the C struct's. */
      {MPI_FLOAT_INT, "MPI_FLOAT_INT", sizeof(float) + sizeof(int), sizeof(struct float_pair)},
      {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", sizeof(double) + sizeof(int), sizeof(struct double_pair)},
      {MPI_LONG_INT, "MPI_LONG_INT", sizeof(long) + sizeof(int), sizeof(struct long_pair)},
      {MPI_2INT, "MPI_2INT", 2 * sizeof(int), sizeof(struct int_pair)},
      {MPI_SHORT_INT, "MPI_SHORT_INT", sizeof(short) + sizeof(int), sizeof(struct short_pair)},
      {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", sizeof(long double) + sizeof(int), sizeof(struct long_double_pair)},
  };
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const Row* row = &rows[k];
    int size = -1;
    MPI_Aint lb = -1, extent = -1;
    MPI_Count size_x = -1;
    MUST(MPI_Type_size(row->type, &size));
    MUST(MPI_Type_size_x(row->type, &size_x));
    MUST(MPI_Type_get_extent(row->type, &lb, &extent));
    CHECK(size == (int)row->size && size_x == size && lb == 0 && extent == (MPI_Aint)row->extent,
          "%s: size %d, lb %ld, extent %ld; should be %zu, 0, %zu", row->name, size, (long)lb, (long)extent, row->size,
          row->extent);
    unsigned char out[33 * 64], in[33 * 64];
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MUST(MPI_Type_get_name(row->type, name, &length));
    CHECK(strcmp(name, row->name) == 0 || k == 9 || k == 10 || k == 25 || k == 26, "%s is called %s", row->name, name);
    pattern_fill(out, sizeof out, (unsigned)k);
    memset(in, 0, sizeof in);
    MUST(MPI_Sendrecv(out, 33, row->type, right, (int)k, in, 33, row->type, left, (int)k, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    if (row->size == row->extent)
      CHECK(memcmp(in, out, 33 * row->extent) == 0, "33 items of %s arrived changed", row->name);
    /* Never beyond the last item, nor into a pair's padding at its end. */
    for (size_t i = 33 * row->extent; i < sizeof in; i++) CHECK(in[i] == 0, "%s: byte %zu written", row->name, i);
  }
  return check_end();
}
