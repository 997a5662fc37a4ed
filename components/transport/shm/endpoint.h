#pragma once
#include <cstdint>
#include <memory>

#include "components/transport/shm/address.h"
#include "components/transport/shm/door.h"
#include "components/transport/shm/ring.h"
#include "components/transport/shm/segment.h"
#include "framework/base/process_barrier.h"
#include "framework/plugin/transport.h"

namespace ashlar::shm {

class Interface;

/// The way to one peer. Hot members first; the base is the C head of the interface.
struct Endpoint : ashlar_endpoint {
  Outbound out;
  SegmentHeader* owner = nullptr;  // of the peer's segment
  Slot* slot = nullptr;            // ours in the peer's segment
  bool fence_after_publish = false;

  enum class Way { kRequesting, kAttached, kDead };
  Way way = Way::kRequesting;
  bool may_write = false;  // proved: process_vm_writev into the peer
  std::int32_t pid = 0;    // as seen from here; 0: invisible
  std::uint64_t nonce = 0;
  Interface* iface = nullptr;
  Segment segment;
  const Inbound* inbound = nullptr;  // its ring here, once it sends; and its slot
  Slot* inbound_slot = nullptr;
  std::uint32_t slot_index = 0;
  std::unique_ptr<std::uint64_t[]> dirty;
  Address address{};
  DescriptorRequest request;
  bool request_sent = false;
  std::uint64_t request_until = 0;
  Outbound out_before_end;  // of kDead: `out` as it was
};

/// The functions of every endpoint.
extern const ashlar_endpoint_ops kEndpointOps;

/// Tells a peer that sleeps, or that does not poll our ring, about what was published. Short path: two quiet loads.
inline void after_publish(const Endpoint& ep);
/// The rare half of it.
void attract(const Endpoint& ep, bool cold);

inline void after_publish(const Endpoint& ep) {
  if (ep.fence_after_publish) [[unlikely]] {
    full_fence();
  } else {
    // The receiver's barrier_everywhere() stands for the fence.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  const std::uint32_t cold = ep.slot->cold.load(std::memory_order_relaxed);
  const std::uint32_t sleeping = ep.owner->sleeping.load(std::memory_order_relaxed);
  if ((cold | sleeping) != 0) [[unlikely]]
    attract(ep, cold != 0);
}

}  // namespace ashlar::shm
