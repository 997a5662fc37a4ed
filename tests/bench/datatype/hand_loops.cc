#include "tests/bench/datatype/hand_loops.h"

#include <cstring>

namespace hand {

void vector(double* out, const double* in, std::size_t count, std::size_t block, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < block; ++k) *out++ = in[i * stride + k];
}
void vector1(double* out, const double* in, std::size_t count, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) out[i] = in[i * stride];
}
void vector2(double* out, const double* in, std::size_t count, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    out[2 * i] = in[i * stride];
    out[2 * i + 1] = in[i * stride + 1];
  }
}
void indexed(double* out, const double* in, std::size_t count, const int* lengths, const int* at) {
  for (std::size_t i = 0; i < count; ++i)
    for (int k = 0; k < lengths[i]; ++k) *out++ = in[at[i] + k];
}
void indexed_block(double* out, const double* in, std::size_t count, const int* at) {
  for (std::size_t i = 0; i < count; ++i) out[i] = in[at[i]];
}
void structs(char* out, const Hole* in, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    *out = in[i].c;
    std::memcpy(out + 1, &in[i].d, 8);
    std::memcpy(out + 9, &in[i].i, 4);
    out += 13;
  }
}
void cube_face(double* out, const double* in, std::size_t n, std::size_t planes, std::size_t rows,
               std::size_t columns) {
  for (std::size_t p = 0; p < planes; ++p)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) *out++ = in[(p * n + r) * n + c];
}
void transpose(double* out, const double* in, std::size_t n) {
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t r = 0; r < n; ++r) *out++ = in[r * n + c];
}
void unpack_vector(double* out, const double* in, std::size_t count, std::size_t block, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < block; ++k) out[i * stride + k] = *in++;
}
void unpack_structs(Hole* out, const char* in, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i].c = *in;
    std::memcpy(&out[i].d, in + 1, 8);
    std::memcpy(&out[i].i, in + 9, 4);
    in += 13;
  }
}
void add(double* inout, const double* in, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) inout[i] += in[i];
}

}  // namespace hand
