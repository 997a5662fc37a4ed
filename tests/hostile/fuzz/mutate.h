#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace ashlar::fuzz {

using Bytes = std::vector<std::uint8_t>;

/// Makes inputs out of seeds, of any format: bytes and bits changed, numbers of 2, 4 and 8 bytes replaced by extreme
/// ones, pieces erased, doubled, repeated, moved, taken from other seeds, words of the seeds put in, ends cut off.
class Mutator {
 public:
  Mutator(std::span<const Bytes> seeds, std::uint64_t seed, std::size_t max_bytes);
  /// The next input. Valid until the next call.
  const Bytes& next();

 private:
  void once();
  void change_number();
  void insert(std::size_t at, std::span<const std::uint8_t> piece);
  std::span<const std::uint8_t> piece_of(const Bytes& from);
  std::size_t below(std::size_t bound) { return bound ? random_() % bound : 0; }

  std::vector<Bytes> seeds_;
  std::vector<Bytes> words_;  // of the seeds: runs of letters, digits and underscores, and single punctuation
  std::mt19937_64 random_;
  std::size_t max_bytes_;
  Bytes now_;
};

}  // namespace ashlar::fuzz
