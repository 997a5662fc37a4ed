#pragma once
#include <sys/types.h>

#include <cstdint>

#include "components/coll/shm/layout.h"
#include "framework/base/status.h"

namespace ashlar::coll::shm {

/// What a member must know to map the segment: sent by the member that made it.
struct Invitation {
  std::int64_t pid;  // 0: it could not be made
  std::int32_t fd;
  std::uint32_t ranks;
  std::uint64_t nonce;
  std::uint64_t large_bytes;
};

/// A piece of anonymous memory (memfd) that the members of a communicator share. It has no name and is gone with the
/// last process that maps it.
class Segment {
 public:
  Segment() = default;
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Makes it, and keeps its descriptor open until all_attached().
  Status make(std::uint32_t ranks, std::uint64_t large_bytes, bool flat, Invitation* out);
  /// Maps the one that another process made, through its /proc entry, and checks the nonce in it: a process of that
  /// number in another name space is not taken for it.
  Status attach(const Invitation& invitation);
  void all_attached();

  const Layout& layout() const { return layout_; }

 private:
  Status map(int fd, std::uint32_t ranks, std::uint64_t large_bytes);

  int fd_ = -1;
  void* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  Layout layout_;
};

}  // namespace ashlar::coll::shm
