/* What a program would write instead of a datatype: one packing loop and its reverse per shape, compiled with -O3. */
#ifndef ASHLAR_BENCH_DATATYPES_HAND_H
#define ASHLAR_BENCH_DATATYPES_HAND_H

#include <stddef.h>

typedef struct {
  char c;
  double d;
  int i;
} Holes; /* 13 bytes of data in 24 */

/* A shape in memory: what its loops need to know. */
typedef struct {
  size_t blocks, block, stride; /* vectors */
  const int *lengths, *places;  /* indexed: blocks of them */
  size_t n, sub[3];             /* cube of n^3, its part; transpose of n^2 */
} Hand;

typedef void HandLoop(const Hand* h, char* restrict memory, char* restrict packed);

HandLoop hand_pack_vector1, hand_pack_vector2, hand_pack_vector, hand_pack_indexed, hand_pack_structs, hand_pack_cube,
    hand_pack_transpose;
HandLoop hand_unpack_vector1, hand_unpack_vector2, hand_unpack_vector, hand_unpack_indexed, hand_unpack_structs,
    hand_unpack_cube, hand_unpack_transpose;

#endif
