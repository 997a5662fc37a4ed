/* Every predefined operation on each datatype that it is defined for, with an oracle: the same operation on the C type.
 */
#ifndef ASHLAR_TESTS_MPI_OPS_H
#define ASHLAR_TESTS_MPI_OPS_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "check.h"

/* An operation on a datatype, and the same on the C type. */
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
  const char* name;
  size_t size;
  void (*put)(void* at, int value);            /* writes a contribution */
  void (*fold)(void* inout, const void* next); /* inout = inout op next */
} Case;

#define PUT(tag, T)                            \
  static void put_##tag(void* at, int value) { \
    T v = (T)value;                            \
    memcpy(at, &v, sizeof v);                  \
  }
#define FOLD(tag, T, op, expression)                             \
  static void fold_##tag##_##op(void* inout, const void* next) { \
    T a, b;                                                      \
    memcpy(&a, inout, sizeof a), memcpy(&b, next, sizeof b);     \
    a = (T)(expression);                                         \
    memcpy(inout, &a, sizeof a);                                 \
  }
#define ARITHMETIC(tag, T) \
  PUT(tag, T)              \
  FOLD(tag, T, sum, a + b) FOLD(tag, T, prod, a* b) FOLD(tag, T, max, a > b ? a : b) FOLD(tag, T, min, a < b ? a : b)
#define INTEGER(tag, T)    \
  ARITHMETIC(tag, T)       \
  FOLD(tag, T, band, a& b) \
  FOLD(tag, T, bor, a | b) \
  FOLD(tag, T, bxor, a ^ b) FOLD(tag, T, land, a&& b) FOLD(tag, T, lor, a || b) FOLD(tag, T, lxor, !a != !b)

INTEGER(schar, signed char)
INTEGER(uchar, unsigned char)
INTEGER(short, short)
INTEGER(ushort, unsigned short)
INTEGER(int, int)
INTEGER(unsigned, unsigned)
INTEGER(long, long)
INTEGER(ulong, unsigned long)
INTEGER(llong, long long)
INTEGER(ullong, unsigned long long)
ARITHMETIC(float, float)
ARITHMETIC(double, double)
ARITHMETIC(ldouble, long double)
PUT(fcomplex, float complex)
FOLD(fcomplex, float complex, sum, a + b)
FOLD(fcomplex, float complex, prod, a* b)
PUT(dcomplex, double complex)
FOLD(dcomplex, double complex, sum, a + b)
FOLD(dcomplex, double complex, prod, a* b)
PUT(lcomplex, long double complex)
FOLD(lcomplex, long double complex, sum, a + b)
FOLD(lcomplex, long double complex, prod, a* b)

static void put_bool(void* at, int value) {
  bool v = value & 1;
  memcpy(at, &v, sizeof v);
}
FOLD(bool, bool, land, a&& b)
FOLD(bool, bool, lor, a || b)
FOLD(bool, bool, lxor, a != b)
/* Value and index: ties go to the lower index. */
#define PAIR(tag, T)                                                        \
  typedef struct {                                                          \
    T v;                                                                    \
    int i;                                                                  \
  } tag;                                                                    \
  static void put_##tag(void* at, int value) {                              \
    tag p;                                                                  \
    memset(&p, 0, sizeof p);                                                \
    p.v = (T)(value / 3);                                                   \
    p.i = value;                                                            \
    memcpy(at, &p, sizeof p);                                               \
  }                                                                         \
  FOLD(tag, tag, maxloc, (a.v > b.v || (a.v == b.v && a.i <= b.i)) ? a : b) \
  FOLD(tag, tag, minloc, (a.v < b.v || (a.v == b.v && a.i <= b.i)) ? a : b)
PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(int_int, int)
PAIR(short_int, short)
PAIR(ldouble_int, long double)
#define ROW(mpi, T, tag, OP, op) \
  { mpi, MPI_##OP, #tag " " #OP, sizeof(T), put_##tag, fold_##tag##_##op }
#define ROWS4(mpi, T, tag) \
  ROW(mpi, T, tag, SUM, sum), ROW(mpi, T, tag, PROD, prod), ROW(mpi, T, tag, MAX, max), ROW(mpi, T, tag, MIN, min)
#define ROWS10(mpi, T, tag)                                                                                   \
  ROWS4(mpi, T, tag), ROW(mpi, T, tag, BAND, band), ROW(mpi, T, tag, BOR, bor), ROW(mpi, T, tag, BXOR, bxor), \
      ROW(mpi, T, tag, LAND, land), ROW(mpi, T, tag, LOR, lor), ROW(mpi, T, tag, LXOR, lxor)
#define ROWS2(mpi, T, tag) ROW(mpi, T, tag, MAXLOC, maxloc), ROW(mpi, T, tag, MINLOC, minloc)

__attribute__((unused)) static const Case* op_cases(int* n) {
  static const Case all[] = {
      ROWS10(MPI_INT, int, int),
      ROWS4(MPI_DOUBLE, double, double), /* these two first: quick runs look at them only */
      ROWS10(MPI_SIGNED_CHAR, signed char, schar),
      ROWS10(MPI_UNSIGNED_CHAR, unsigned char, uchar),
      ROWS10(MPI_SHORT, short, short),
      ROWS10(MPI_UNSIGNED_SHORT, unsigned short, ushort),
      ROWS10(MPI_UNSIGNED, unsigned, unsigned),
      ROWS10(MPI_LONG, long, long),
      ROWS10(MPI_UNSIGNED_LONG, unsigned long, ulong),
      ROWS10(MPI_LONG_LONG, long long, llong),
      ROWS10(MPI_UNSIGNED_LONG_LONG, unsigned long long, ullong),
      ROWS10(MPI_INT8_T, signed char, schar),
      ROWS10(MPI_UINT8_T, unsigned char, uchar),
      ROWS10(MPI_INT16_T, short, short),
      ROWS10(MPI_UINT16_T, unsigned short, ushort),
      ROWS10(MPI_INT32_T, int, int),
      ROWS10(MPI_UINT32_T, unsigned, unsigned),
      ROWS10(MPI_INT64_T, long, long),
      ROWS10(MPI_UINT64_T, unsigned long, ulong),
      ROWS4(MPI_FLOAT, float, float),
      ROWS4(MPI_LONG_DOUBLE, long double, ldouble),
      ROW(MPI_C_FLOAT_COMPLEX, float complex, fcomplex, SUM, sum),
      ROW(MPI_C_FLOAT_COMPLEX, float complex, fcomplex, PROD, prod),
      ROW(MPI_C_DOUBLE_COMPLEX, double complex, dcomplex, SUM, sum),
      ROW(MPI_C_DOUBLE_COMPLEX, double complex, dcomplex, PROD, prod),
      ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, lcomplex, SUM, sum),
      ROW(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, lcomplex, PROD, prod),
      ROW(MPI_C_BOOL, bool, bool, LAND, land),
      ROW(MPI_C_BOOL, bool, bool, LOR, lor),
      ROW(MPI_C_BOOL, bool, bool, LXOR, lxor),
      ROW(MPI_BYTE, unsigned char, uchar, BAND, band),
      ROW(MPI_BYTE, unsigned char, uchar, BOR, bor),
      ROW(MPI_BYTE, unsigned char, uchar, BXOR, bxor),
      ROW(MPI_AINT, long, long, SUM, sum),
      ROW(MPI_COUNT, long, long, MAX, max),
      ROW(MPI_OFFSET, long, long, MIN, min),
      ROWS2(MPI_FLOAT_INT, float_int, float_int),
      ROWS2(MPI_DOUBLE_INT, double_int, double_int),
      ROWS2(MPI_LONG_INT, long_int, long_int),
      ROWS2(MPI_2INT, int_int, int_int),
      ROWS2(MPI_SHORT_INT, short_int, short_int),
      ROWS2(MPI_LONG_DOUBLE_INT, ldouble_int, ldouble_int),
  };
  *n = (int)(sizeof all / sizeof *all);
  return all;
}

/* The bytes of a value that say something: what lies between and behind them may differ. */
typedef struct {
  size_t at, n;
} Part;

/* Whether two values are the same. */
__attribute__((unused)) static int same_value(const Case* c, const void* a, const void* b) {
  enum { kLongDouble = 10 }; /* of its 16 bytes */
  Part parts[2] = {{0, c->size}, {0, 0}};
  if (c->type == MPI_LONG_DOUBLE) parts[0].n = kLongDouble;
  if (c->type == MPI_C_LONG_DOUBLE_COMPLEX) parts[0].n = parts[1].n = kLongDouble, parts[1].at = sizeof(long double);
#define TWO_PARTS(mpi, tag, value) \
  if (c->type == mpi) parts[0].n = value, parts[1].at = offsetof(tag, i), parts[1].n = sizeof(int)
  TWO_PARTS(MPI_SHORT_INT, short_int, sizeof(short));
  TWO_PARTS(MPI_LONG_INT, long_int, sizeof(long));
  TWO_PARTS(MPI_DOUBLE_INT, double_int, sizeof(double));
  TWO_PARTS(MPI_LONG_DOUBLE_INT, ldouble_int, kLongDouble);
#undef TWO_PARTS
  for (int i = 0; i < 2; i++)
    if (memcmp((const char*)a + parts[i].at, (const char*)b + parts[i].at, parts[i].n) != 0) return 0;
  return 1;
}

#endif
