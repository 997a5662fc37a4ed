#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "framework/memory/blocks.h"

namespace ashlar::memory {

inline constexpr std::uint64_t kPage = 4096;

/// At the beginning of every heap.
struct HeapHead {
  std::uint64_t nonce;
  std::uint64_t bytes;
};

/// Maps `bytes` of the file, for reading and writing, without giving them memory, even in a process that has called
/// mlockall(MCL_FUTURE). They are not part of core dumps. nullptr with errno.
std::byte* map_sparse(int fd, std::uint64_t bytes);

/// The file behind a heap, and its mapping. Set-up path, except claim() and discard(). Not for several threads.
class Backing {
 public:
  Backing() = default;
  ~Backing();
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  /// Makes a file of `bytes` and maps it; where a limit forbids so much (ulimit -v and -f, MCL_FUTURE) half of it, and
  /// so on down to 64 MiB. False: `*why` says what was refused last.
  bool make(std::uint64_t bytes, std::string* why);

  std::byte* base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  int fd() const { return fd_; }
  std::uint64_t nonce() const { return nonce_; }
  /// Touching what was not claimed could end the process.
  bool claims_all() const { return claims_all_; }

  /// Gives the pages memory. False: there is none, and `*why` says so in words.
  bool claim(Range range, std::string* why);
  /// Takes the memory from the pages, which are all zero then. False: the system cannot do so.
  bool discard(Range range);
  /// From now on core dumps contain the memory up to there.
  void used_up_to(std::uint64_t end);

 private:
  bool make_file(std::string* why);
  bool make_parts(std::uint64_t bytes, std::string* why);
  void drop();
  bool map(std::uint64_t bytes, std::string* why);
  /// Programs close descriptors that they did not open, and open files that get the same numbers.
  bool fd_is_ours() const;

  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t nonce_ = 0;
  std::uint64_t dumped_ = 0;  // bytes that core dumps contain
  dev_t device_ = 0;          // of the file
  ino_t inode_ = 0;
  int fd_ = -1;
  bool sealed_ = false;  // it is a memfd
  bool claims_all_ = false;
};

/// How much address space a heap of one of `processes` on this node may have, when no parameter says so.
std::uint64_t reserve_for(unsigned processes, std::uint64_t physical);

}  // namespace ashlar::memory
