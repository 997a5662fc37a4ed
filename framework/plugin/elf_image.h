#pragma once
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::plugin {

/// A shared library as the loader would lay it out, without loading it: addresses are translated to offsets of the file
/// through the segments. Whatever the file says of itself, only bytes of the file are read.
class ElfImage {
 public:
  ~ElfImage();
  ElfImage() = default;
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;

  Status open(const char* path);

  // Where `bytes` bytes at `address` lie in the file, or nullptr.
  const char* at(std::uint64_t address, std::uint64_t bytes) const;
  template <class T>
  bool read(std::uint64_t address, T* out) const {
    const char* from = at(address, sizeof(T));
    if (from) std::memcpy(out, from, sizeof(T));
    return from != nullptr;
  }
  // The NUL-terminated text at `address`; nullptr when there is none.
  const char* text(std::uint64_t address) const;
  // The pointer that the loader would store at `address` (relative to the library's start); 0 for null.
  std::uint64_t pointer(std::uint64_t address) const;
  // The address of the defined symbol `name`; 0 when this very file does not define it.
  std::uint64_t symbol(const char* name) const;

 private:
  struct Relocation {
    std::uint64_t at, value;
  };

  const char* file(std::uint64_t offset, std::uint64_t bytes) const;

  Status headers();

  Status dynamic(const Elf64_Phdr& segment);

  // The symbol table does not say its length; the hash tables do.
  void count_symbols(std::uint64_t hash, std::uint64_t gnu_hash);

  const char* base_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Relocation> relocations_;  // sorted by address
  std::uint64_t symbols_ = 0, strings_ = 0, symbol_count_ = 0;
};

}  // namespace ashlar::plugin
