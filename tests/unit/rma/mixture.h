#pragma once
#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/rma/updates.h"

/// What each of several processes or threads does to the same words, by all paths at once, such that the outcome is
/// known: the same programs for both.
namespace ashlar::rma::test {

/// The words of a mixture, in shared memory; every one has its own kind of update.
struct Words {
  static constexpr std::size_t kRow = 1024;
  std::int64_t sums[kRow];
  std::int64_t tickets[8];  // fetched and increased
  std::int64_t swapped[8];  // increased by compare and swap
  std::int64_t chain[8];    // replaced by numbers that occur once
  std::int64_t most[kRow];
  std::int64_t least[kRow];
  std::int64_t growing[kRow];  // replaced by one writer, by greater numbers
  std::int32_t narrow[kRow];
  double reals[kRow];
  double complexes[64][2];  // both parts alike, always
  std::byte misaligned[8 * 64 + 8];
};

inline MPI_Aint at(const void* member) { return static_cast<MPI_Aint>(reinterpret_cast<std::intptr_t>(member)); }

/// One participant, and what it has done.
class Mixer {
 public:
  Mixer(const Guard& guard, Words& words, std::uint32_t number, bool far = false)
      : guard_(guard), words_(words), number_(number), far_(far), random_(number) {}

  void step();
  /// What it has added to each word.
  std::vector<std::int64_t> sums = std::vector<std::int64_t>(Words::kRow);
  std::vector<std::int64_t> tickets;   // fetched from tickets[0]
  std::vector<std::int64_t> replaced;  // what its replacements of chain[0] have found there
  std::int64_t swaps = 0, narrow = 0, complex = 0, misaligned = 0, reals = 0, largest = 0, smallest = 0, last = 0;
  std::string wrong;  // the first thing that cannot be

 private:
  template <class T>
  void run(void* target, MPI_Op op, MPI_Datatype type, const T* in, MPI_Count n, T* out = nullptr);
  void add_row();
  void read_growing();
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  const Guard guard_;
  Words& words_;
  const std::uint32_t number_;
  const bool far_;  // half of its updates as if it could not map the memory
  std::mt19937_64 random_;
  std::vector<std::int64_t> seen_ = std::vector<std::int64_t>(Words::kRow);
};

/// Adds one participant's account to another's.
void merge(Mixer& all, const Mixer& one);
/// What is wrong with the words at the end, given the accounts of all; "": nothing.
std::string verdict(const Words& words, const Mixer& all);
/// Before the first step.
void begin(Words& words);

}  // namespace ashlar::rma::test
