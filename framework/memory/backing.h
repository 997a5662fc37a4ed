#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
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
  /// so on down to 64 MiB. Fails with MPI_ERR_NO_MEM.
  Status make(std::uint64_t bytes);

  std::byte* base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  int fd() const { return fd_; }
  std::uint64_t nonce() const { return nonce_; }
  /// Touching what was not claimed could end the process.
  bool claims_all() const { return claims_all_; }

  /// Gives the pages memory. Fails with MPI_ERR_NO_MEM.
  Status claim(Range range);
  /// Takes the memory from the pages, which are all zero then. False: the system cannot do so.
  bool discard(Range range);
  /// From now on core dumps contain the memory up to there.
  void used_up_to(std::uint64_t end);

 private:
  Status make_file();
  Status make_parts(std::uint64_t bytes);
  void drop();
  Status map(std::uint64_t bytes);
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
