#include "datatypes_hand.h"

#include <string.h>

/* Both directions of one loop: a memory place and the next packed place, moved by MOVE. */
#define PACK(packed, memory) (packed) = (memory)
#define UNPACK(packed, memory) (memory) = (packed)

#define BOTH(DIRECTION, MOVE)                                                                      \
  void hand_##DIRECTION##_vector1(const Hand* h, char* restrict memory, char* restrict packed) {   \
    double *m = (double*)memory, *p = (double*)packed;                                             \
    for (size_t i = 0; i < h->blocks; i++) MOVE(p[i], m[i * 2]);                                   \
  }                                                                                                \
  void hand_##DIRECTION##_vector2(const Hand* h, char* restrict memory, char* restrict packed) {   \
    double *m = (double*)memory, *p = (double*)packed;                                             \
    for (size_t i = 0; i < h->blocks; i++) {                                                       \
      MOVE(p[2 * i], m[i * 4]);                                                                    \
      MOVE(p[2 * i + 1], m[i * 4 + 1]);                                                            \
    }                                                                                              \
  }                                                                                                \
  void hand_##DIRECTION##_vector(const Hand* h, char* restrict memory, char* restrict packed) {    \
    double *m = (double*)memory, *p = (double*)packed;                                             \
    const size_t block = h->block, stride = h->stride;                                             \
    for (size_t i = 0; i < h->blocks; i++)                                                         \
      for (size_t k = 0; k < block; k++) MOVE(*p++, m[i * stride + k]);                            \
  }                                                                                                \
  void hand_##DIRECTION##_indexed(const Hand* h, char* restrict memory, char* restrict packed) {   \
    double *m = (double*)memory, *p = (double*)packed;                                             \
    for (size_t i = 0; i < h->blocks; i++)                                                         \
      for (int k = 0; k < h->lengths[i]; k++) MOVE(*p++, m[h->places[i] + k]);                     \
  }                                                                                                \
  void hand_##DIRECTION##_cube(const Hand* h, char* restrict memory, char* restrict packed) {      \
    double *m = (double*)memory, *p = (double*)packed;                                             \
    const size_t n = h->n;                                                                         \
    for (size_t x = 0; x < h->sub[0]; x++)                                                         \
      for (size_t y = 0; y < h->sub[1]; y++)                                                       \
        for (size_t z = 0; z < h->sub[2]; z++) MOVE(*p++, m[(x * n + y) * n + z]);                 \
  }                                                                                                \
  void hand_##DIRECTION##_transpose(const Hand* h, char* restrict memory, char* restrict packed) { \
    double *m = (double*)memory, *p = (double*)packed;                                             \
    const size_t n = h->n;                                                                         \
    for (size_t c = 0; c < n; c++)                                                                 \
      for (size_t r = 0; r < n; r++) MOVE(*p++, m[r * n + c]);                                     \
  }

BOTH(pack, PACK)
BOTH(unpack, UNPACK)

void hand_pack_structs(const Hand* h, char* restrict memory, char* restrict packed) {
  const Holes* m = (const Holes*)memory;
  for (size_t i = 0; i < h->blocks; i++, packed += 13) {
    packed[0] = m[i].c;
    memcpy(packed + 1, &m[i].d, 8);
    memcpy(packed + 9, &m[i].i, 4);
  }
}

void hand_unpack_structs(const Hand* h, char* restrict memory, char* restrict packed) {
  Holes* m = (Holes*)memory;
  for (size_t i = 0; i < h->blocks; i++, packed += 13) {
    m[i].c = packed[0];
    memcpy(&m[i].d, packed + 1, 8);
    memcpy(&m[i].i, packed + 9, 4);
  }
}
