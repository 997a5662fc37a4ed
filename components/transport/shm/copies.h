#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "components/transport/shm/config.h"
#include "components/transport/shm/layout.h"
#include "framework/plugin/transport.h"

// Single copies between two processes, by one side or by both.
//
// The owner exposes a region and hands out a key. The reader leases the region's descriptor, says where the bytes go,
// and then both take chunks from one word: the reader from the front (process_vm_readv), the owner, when it happens to
// be inside progress, from the back (process_vm_writev). If the owner never comes the reader takes all chunks itself.
// A get is complete when every chunk is taken and the owner has reported as many as it took.
//
// Order of words: the reader writes destination and length, then stores `claim` (release) with a new epoch. The owner
// loads `claim` (acquire), reads the rest, and takes a chunk by compare-exchange: were the lease another one by then,
// the epoch would differ and the exchange fail.
namespace ashlar::shm {

class Segment;
struct Endpoint;

/// What travels as an ashlar_key.
struct Key {
  std::uint64_t address, length, nonce, generation;
  std::uint32_t descriptor;  // kNoDescriptor: the reader copies alone
};
static_assert(sizeof(Key) <= ASHLAR_KEY_BYTES);
inline constexpr std::uint32_t kNoDescriptor = ~0u;

/// The owner's side: regions of this process that peers may copy.
class Exposed {
 public:
  void attach(const Segment* own) { own_ = own; }
  void expose(const void* address, std::uint64_t length, std::uint64_t nonce, ashlar_key* out);
  void unexpose(const ashlar_key& key);
  /// Takes note of the readers that asked for help.
  void collect();
  /// Copies up to `slice` bytes for them; `endpoint_of(nonce)` finds where the reader is. Returns chunks copied.
  template <class EndpointOf>
  unsigned help(std::uint64_t slice, EndpointOf&& endpoint_of);
  bool wanted() const { return asked_ != 0; }
  /// Whether peers are about to read from here.
  bool any() const { return used_ != 0; }
  const std::uint64_t& chunks_helped() const { return chunks_helped_; }

 private:
  /// True while the descriptor may have more to copy.
  bool help_one(std::uint32_t i, std::uint64_t* slice, const Endpoint* reader);

  struct Region {
    std::uint64_t address = 0, length = 0, generation = 0;
    bool used = false;
  };
  const Segment* own_ = nullptr;
  Region regions_[kCopies];
  unsigned used_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t chunks_helped_ = 0;
};

/// One get under way.
struct Get {
  Endpoint* from;
  std::byte* to;
  ashlar_completion* done;
  std::uint64_t remote;     // next byte to copy when alone
  std::uint64_t remaining;  // when alone
  CopyDescriptor* shared;   // nullptr: alone
  std::uint64_t base;       // remote address of byte 0 when shared
  std::uint64_t length, chunk, epoch, generation;
  std::uint64_t chunks;
  int failure;                        // errno of this side; reported when the owner has finished what it took
  std::uint64_t left_since, left_at;  // while it is left to the owner: chunks the owner had taken, and when

  enum class State { kMore, kWaiting, kDone, kFailed };
  /// Copies up to about *slice bytes and takes them off it. *error is an errno when it failed.
  State advance(std::uint64_t* slice, int* error);
  /// Whether the owner gets on with it by itself, so that this side may use its core for something else.
  bool owner_copies(std::uint64_t now);

 private:
  State advance_alone(std::uint64_t* slice, int* error);
  State finish(std::uint64_t taken_back, int* error);
  std::uint64_t close_claims();
};

/// Leases the descriptor of `key` at the owner and asks it to copy along; false when another reader has it.
bool lease(Get& get, const Key& key, std::uint64_t offset, std::uint64_t chunk, std::uint64_t own_nonce);
/// The whole region is copied by this side.
void alone(Get& get, const Key& key, std::uint64_t offset);

template <class EndpointOf>
unsigned Exposed::help(std::uint64_t slice, EndpointOf&& endpoint_of) {
  const std::uint64_t before = chunks_helped_;
  for (std::uint64_t bits = asked_; bits != 0 && slice > 0; bits &= bits - 1) {
    const auto i = static_cast<std::uint32_t>(__builtin_ctzll(bits));
    const Endpoint* reader = endpoint_of(i);
    if (!reader || !help_one(i, &slice, reader)) asked_ &= ~(1ull << i);
  }
  return static_cast<unsigned>(chunks_helped_ - before);
}

}  // namespace ashlar::shm
