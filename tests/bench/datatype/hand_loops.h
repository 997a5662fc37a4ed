#pragma once
#include <cstddef>

/// What a user writes instead of a datatype. Compiled at -O3, in a source of its own so that no constant gets in.
namespace hand {

struct Hole {  // 1 byte, 7 of padding, 8, 4, 4 of padding
  char c;
  double d;
  int i;
};

void vector(double* out, const double* in, std::size_t count, std::size_t block, std::size_t stride);
void vector1(double* out, const double* in, std::size_t count, std::size_t stride);
void vector2(double* out, const double* in, std::size_t count, std::size_t stride);
void indexed(double* out, const double* in, std::size_t count, const int* lengths, const int* at);
void indexed_block(double* out, const double* in, std::size_t count, const int* at);
void structs(char* out, const Hole* in, std::size_t count);
void cube_face(double* out, const double* in, std::size_t n, std::size_t planes, std::size_t rows, std::size_t columns);
void transpose(double* out, const double* in, std::size_t n);
void unpack_vector(double* out, const double* in, std::size_t count, std::size_t block, std::size_t stride);
void unpack_structs(Hole* out, const char* in, std::size_t count);
void add(double* inout, const double* in, std::size_t count);

}  // namespace hand
