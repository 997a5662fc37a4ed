#include "tests/hostile/fuzz/mutate.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace ashlar::fuzz {
namespace {

constexpr std::size_t kMostWords = 2000;

constexpr std::uint64_t kExtremes[] = {0,
                                       1,
                                       2,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x100,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x7fffffff,
                                       0x80000000,
                                       0xfffffff0,
                                       0xffffffff,
                                       0x7fffffffffffffff,
                                       0x8000000000000000,
                                       0xffffffffffffff00,
                                       0xffffffffffffffff};

void add_words(const Bytes& seed, std::vector<Bytes>* words) {
  for (std::size_t at = 0; at < seed.size() && words->size() < kMostWords;) {
    std::size_t end = at;
    while (end < seed.size() && (std::isalnum(seed[end]) || seed[end] == '_')) ++end;
    if (end == at) end = at + 1;
    words->emplace_back(seed.begin() + static_cast<std::ptrdiff_t>(at),
                        seed.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
}

}  // namespace

Mutator::Mutator(std::span<const Bytes> seeds, std::uint64_t seed, std::size_t max_bytes)
    : seeds_(seeds.begin(), seeds.end()), random_(seed), max_bytes_(max_bytes) {
  for (const Bytes& s : seeds_) add_words(s, &words_);
  std::sort(words_.begin(), words_.end());
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
}

const Bytes& Mutator::next() {
  now_ = seeds_[below(seeds_.size())];
  // Mostly a few changes: an input that is wrong everywhere is refused by the first check.
  for (std::size_t changes = std::size_t{1} << below(5); changes > 0; --changes) once();
  if (now_.size() > max_bytes_) now_.resize(max_bytes_);
  return now_;
}

void Mutator::once() {
  const std::size_t size = now_.size();
  const std::size_t at = below(size + 1);
  const auto place = now_.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(11)) {
    case 0:
      if (at < size) now_[at] ^= static_cast<std::uint8_t>(1u << below(8));
      break;
    case 1:
      if (at < size) now_[at] = static_cast<std::uint8_t>(random_());
      break;
    case 2:
      change_number();
      break;
    case 3:
      now_.erase(place, place + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(size - at, 64) + 1)));
      break;
    case 4:
      insert(at, piece_of(now_));
      break;
    case 5:
      insert(at, piece_of(seeds_[below(seeds_.size())]));
      break;
    case 6:
    case 7:
      if (!words_.empty()) insert(at, words_[below(words_.size())]);
      break;
    case 8: {  // many of one piece: depth, long lists, long lines
      const auto piece = piece_of(now_);
      const Bytes unit(piece.begin(),
                       piece.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(piece.size(), 16)));
      Bytes many;
      for (std::size_t n = below(300); n > 0; --n) many.insert(many.end(), unit.begin(), unit.end());
      insert(at, many);
      break;
    }
    case 9:
      if (at < size) std::rotate(place, place + static_cast<std::ptrdiff_t>(below(size - at)), now_.end());
      break;
    default:
      if (below(8) == 0) now_.resize(at);
  }
}

void Mutator::change_number() {
  const std::size_t width = std::size_t{1} << below(4);
  if (now_.size() < width) return;
  // Formats align their numbers.
  std::size_t at = below(now_.size() - width + 1);
  if (below(4) != 0) at -= at % width;
  std::uint64_t number = 0;
  std::memcpy(&number, now_.data() + at, width);
  switch (below(3)) {
    case 0:
      number = kExtremes[below(std::size(kExtremes))];
      break;
    case 1:
      number += below(33) - 16;
      break;
    default:
      number = below(now_.size() * 2 + 2);  // an offset or a length near the end
  }
  std::memcpy(now_.data() + at, &number, width);
}

void Mutator::insert(std::size_t at, std::span<const std::uint8_t> piece) {
  if (now_.size() + piece.size() > max_bytes_) return;
  const Bytes copy(piece.begin(), piece.end());  // the piece may lie in what it goes into
  now_.insert(now_.begin() + static_cast<std::ptrdiff_t>(at), copy.begin(), copy.end());
}

std::span<const std::uint8_t> Mutator::piece_of(const Bytes& from) {
  const std::size_t at = below(from.size());
  return std::span(from).subspan(at, below(std::min<std::size_t>(from.size() - at, 256) + 1));
}

}  // namespace ashlar::fuzz
