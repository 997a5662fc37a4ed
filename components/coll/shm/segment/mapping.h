#pragma once
#include <sys/types.h>

#include <cstdint>

#include "components/coll/shm/segment/layout.h"
#include "framework/base/status.h"

namespace ashlar::coll::shm {

/// What a member must know to map the segment. The member that made it sends this in a message.
struct SegmentHandle {
  std::int64_t pid;  // 0: the segment could not be made
  std::int32_t fd;
  std::uint32_t ranks;
  std::uint64_t nonce;
  std::uint64_t buffer_bytes;
};

/// Anonymous memory (memfd) that the members of a communicator share. It has no name, and is gone with the last process
/// that maps it.
class SegmentMapping {
 public:
  SegmentMapping() = default;
  ~SegmentMapping();
  SegmentMapping(const SegmentMapping&) = delete;
  SegmentMapping& operator=(const SegmentMapping&) = delete;

  /// Makes the memory and maps it. The descriptor stays open until all_attached(), because members open it.
  Status make(std::uint32_t ranks, std::uint64_t buffer_bytes, bool flat, SegmentHandle* out);
  /// Maps the memory that another process made, through that process's /proc entry, and checks the nonce in it: in
  /// another name space the process number belongs to a stranger.
  Status attach(const SegmentHandle& handle);
  void all_attached();

  const SegmentLayout& layout() const { return layout_; }

  /// Segments that this process maps now, and their bytes. Any thread, by count_shared() and the like.
  struct Counters {
    std::uint64_t segments = 0, bytes = 0;
  };
  static Counters counters;

 private:
  Status map(int fd, std::uint32_t ranks, std::uint64_t buffer_bytes);

  int fd_ = -1;
  void* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  SegmentLayout layout_;
};

}  // namespace ashlar::coll::shm
