// Reads what ldconfig writes: a head, entries in the order in which the loader takes them, and the texts that they
// point at, which are in another order and may be ends of each other.
#include "mpiexec/loader_cache.h"

#include <cstdint>
#include <cstring>

namespace ashlar::mpiexec {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
struct Head {
  char magic[20];
  std::uint32_t entries, text_bytes;
  std::uint32_t unused[5];
};
static_assert(sizeof(Head) == 48);
struct Entry {
  std::int32_t flags;
  std::uint32_t key, value;  // from the magic on
  std::uint32_t system;
  std::uint64_t capabilities;  // not 0: for some processors alone
};
static_assert(sizeof(Entry) == 24);

// Of a library for this machine's programs of 64 bits; 0: any.
#if defined(__x86_64__)
constexpr std::int32_t kFlags = 0x303;
#elif defined(__aarch64__)
constexpr std::int32_t kFlags = 0xa03;
#else
constexpr std::int32_t kFlags = 0;
#endif

std::string_view text_at(std::string_view cache, std::uint32_t at) {
  if (at >= cache.size()) return {};
  const std::size_t end = cache.find('\0', at);
  return end == cache.npos ? std::string_view() : cache.substr(at, end - at);
}

}  // namespace

std::string path_in_loader_cache(std::string_view cache, std::string_view library) {
  // An older form may stand in front.
  const std::size_t begin = cache.find(kMagic);
  if (begin == cache.npos) return {};
  cache.remove_prefix(begin);
  Head head;
  if (cache.size() < sizeof head) return {};
  std::memcpy(&head, cache.data(), sizeof head);
  for (std::uint32_t i = 0; i < head.entries; ++i) {
    Entry entry;
    const std::size_t at = sizeof head + std::size_t{i} * sizeof entry;
    if (at + sizeof entry > cache.size()) return {};
    std::memcpy(&entry, cache.data() + at, sizeof entry);
    if ((kFlags == 0 || entry.flags == kFlags) && entry.capabilities == 0 && text_at(cache, entry.key) == library)
      return std::string(text_at(cache, entry.value));
  }
  return {};
}

}  // namespace ashlar::mpiexec
