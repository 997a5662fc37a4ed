#pragma once
#include <mpi.h>

#include <cstdint>

namespace ashlar::datatype {

/// A hash of a type signature: the sequence of basic types, whatever their displacements. It composes, so that a
/// constructor never walks the elements: hash(ab) = hash(a) * base^|b| + hash(b), modulo 2^61 - 1.
struct Signature {
  std::uint64_t hash = 0;
  std::uint64_t power = 1;  // base^elements
  MPI_Count elements = 0;

  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
  static constexpr std::uint64_t kBase = 0x1b8f6f1cbd3e5a97 % kPrime;

  static Signature of(std::uint32_t basic_handle) { return {(basic_handle * 0x9e3779b97f4a7c15u) % kPrime, kBase, 1}; }
  static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % kPrime);
  }
  Signature then(const Signature& next) const {
    return {(multiply(hash, next.power) + next.hash) % kPrime, multiply(power, next.power), elements + next.elements};
  }
  Signature repeated(MPI_Count times) const {
    Signature result, square = *this;
    for (; times > 0; times >>= 1) {
      if (times & 1) result = result.then(square);
      if (times > 1) square = square.then(square);
    }
    return result;
  }
  bool operator==(const Signature& other) const { return hash == other.hash && elements == other.elements; }
};

}  // namespace ashlar::datatype
