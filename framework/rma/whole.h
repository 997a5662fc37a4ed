#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Copies to and from memory that other processes update at the same time. Every element that lies at a multiple of its
/// width of 1, 2, 4 or 8 bytes is stored or loaded whole: a reader never sees one half old and half new.
namespace ashlar::rma {

inline bool is_aligned(const void* at, std::size_t to) {
  return (reinterpret_cast<std::uintptr_t>(at) & (to - 1)) == 0;
}

template <class Word>
Word load_word(const std::byte* from, int order) {
  return __atomic_load_n(reinterpret_cast<const Word*>(from), order);
}
template <class Word>
void store_word(std::byte* to, Word word, int order) {
  __atomic_store_n(reinterpret_cast<Word*>(to), word, order);
}

namespace detail {

template <class Word>
void store_words(std::byte*& to, const std::byte*& from, std::size_t& bytes) {
  for (; bytes >= sizeof(Word); bytes -= sizeof(Word), to += sizeof(Word), from += sizeof(Word)) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    store_word(to, word, __ATOMIC_RELAXED);
  }
}
template <class Word>
void load_words(std::byte*& to, const std::byte*& from, std::size_t& bytes) {
  for (; bytes >= sizeof(Word); bytes -= sizeof(Word), to += sizeof(Word), from += sizeof(Word)) {
    const Word word = load_word<Word>(from, __ATOMIC_RELAXED);
    std::memcpy(to, &word, sizeof word);
  }
}

// Words of eight bytes hold several narrower elements: only those before the first multiple of eight and behind the
// last one go alone.
template <class Word, class Copy>
void by_words(std::byte* to, const std::byte* from, std::size_t bytes, const void* aligned, Copy&& copy) {
  const std::size_t head = (8 - (reinterpret_cast<std::uintptr_t>(aligned) & 7)) & 7;
  std::size_t first = head < bytes ? head : bytes;
  bytes -= first;
  copy(Word{}, to, from, first);
  if constexpr (sizeof(Word) < 8) {
    copy(std::uint64_t{}, to, from, bytes);
    copy(Word{}, to, from, bytes);
  } else {
    copy(Word{}, to, from, bytes);
  }
}

}  // namespace detail

/// `to` is a multiple of sizeof(Word), `from` may lie anywhere; `bytes` is a multiple of sizeof(Word). What the caller
/// has stored before is visible to a process that sees the words.
template <class Word>
void store_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::atomic_thread_fence(std::memory_order_release);
  detail::by_words<Word>(to, from, bytes, to, [](auto word, std::byte*& t, const std::byte*& f, std::size_t& n) {
    detail::store_words<decltype(word)>(t, f, n);
  });
}

/// `from` is a multiple of sizeof(Word), `to` may lie anywhere.
template <class Word>
void load_whole(std::byte* to, const std::byte* from, std::size_t bytes) {
  detail::by_words<Word>(to, from, bytes, from, [](auto word, std::byte*& t, const std::byte*& f, std::size_t& n) {
    detail::load_words<decltype(word)>(t, f, n);
  });
  std::atomic_thread_fence(std::memory_order_acquire);
}

/// Calls `use` with a word of `width` bytes: 1, 2, 4 or 8.
template <class Use>
auto with_word(std::size_t width, Use&& use) {
  switch (width) {
    case 1:
      return use(std::uint8_t{});
    case 2:
      return use(std::uint16_t{});
    case 4:
      return use(std::uint32_t{});
    default:
      return use(std::uint64_t{});
  }
}

}  // namespace ashlar::rma
