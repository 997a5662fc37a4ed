#pragma once
#include <cstddef>

#include "components/transport/shm/layout.h"
#include "framework/base/descriptor.h"
#include "framework/base/sanitizers.h"
#include "framework/plugin/component.h"

namespace ashlar::shm {

struct Address;

// The thread sanitizer knows addresses, not pages: two interfaces in one process then use the owner's mapping, which is
// never unmapped, so that it sees both ends of a ring. Otherwise each has its own and may be destroyed in any order.
#ifdef ASHLAR_TSAN
inline constexpr bool kShareMapping = true;
#else
inline constexpr bool kShareMapping = false;
#endif

/// A mapping of a segment: the process's own (with its memfd) or a peer's.
/// Own segments live on a memfd, which /dev/shm's size does not bound; pages appear when touched, and whatever is
/// claimed for use is allocated first, so that a full machine is an error code and never SIGBUS.
class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  /// Makes this process's segment. Fails with ASHLAR_ERR_NO_MEM, ASHLAR_ERR_OTHER.
  ashlar_result create(const ashlar_host& host, const Geometry& geometry, std::uint64_t nonce);
  /// Maps the peer's segment from its memfd and checks that it is the one that the address means. `fd` is kept.
  ashlar_result attach(const ashlar_host& host, Descriptor fd, const Address& peer);
  /// The peer is another interface of this very process: uses its mapping.
  void attach_own_process(const Address& peer);

  explicit operator bool() const { return base_ != nullptr; }
  int fd() const { return fd_.get(); }
  SegmentHeader& header() const { return *reinterpret_cast<SegmentHeader*>(base_); }
  Slot& slot(std::uint32_t i) const { return reinterpret_cast<Slot*>(base_ + Geometry::slots_at())[i]; }
  CopyDescriptor& copy(std::uint32_t i) const {
    return reinterpret_cast<CopyDescriptor*>(base_ + Geometry::copies_at())[i];
  }
  PostSlot& post(std::uint32_t i) const { return reinterpret_cast<PostSlot*>(base_ + Geometry::posts_at())[i]; }
  Line* ring(std::uint32_t i) const { return reinterpret_cast<Line*>(base_ + geometry_.ring_at(i)); }
  const Geometry& geometry() const { return geometry_; }

  /// Makes sure that ring `i` of a peer's segment has memory, and lets the descriptor go. Fails with ASHLAR_ERR_NO_MEM.
  ashlar_result claim_ring(const ashlar_host& host, std::uint32_t i);
  /// Makes sure that the own segment's posts have memory. Fails with ASHLAR_ERR_NO_MEM.
  ashlar_result claim_posts(const ashlar_host& host) const;

 private:
  std::byte* base_ = nullptr;
  bool mapped_ = false;
  Geometry geometry_;
  Descriptor fd_;
};

}  // namespace ashlar::shm
