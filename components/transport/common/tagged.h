#pragma once
#include <cstdint>
#include <vector>

#include "components/transport/common/buffer.h"
#include "framework/base/list.h"
#include "framework/plugin/transport.h"

namespace ashlar::network {

struct Region;

/// A tagged message's immediate data: its length above, what the kernel gave below. Not every library tells how long a
/// message was that a receive has cut off.
inline constexpr unsigned kTagLengthBits = 16;
inline constexpr std::uint32_t kTagMost = (1U << kTagLengthBits) - 1;
static_assert(ASHLAR_TAG_IMMEDIATE_BITS + kTagLengthBits == 64);

inline std::uint64_t tag_data(std::uint64_t immediate, std::uint32_t length) {
  return immediate | std::uint64_t{length} << ASHLAR_TAG_IMMEDIATE_BITS;
}
inline std::uint32_t tag_length(std::uint64_t data) {
  return static_cast<std::uint32_t>(data >> ASHLAR_TAG_IMMEDIATE_BITS);
}
inline std::uint64_t tag_immediate(std::uint64_t data) {
  return data & ((std::uint64_t{1} << ASHLAR_TAG_IMMEDIATE_BITS) - 1);
}

/// In front of the bytes of a tagged message, where the library sends nothing beside them and does not tell receives of
/// one process from others' (Fabric::senders_in_tags). The sender's rank is then above the bits of the tag.
struct TagHead {
  std::uint64_t proof;  // tag_proof(): that the sender is of the job, and which of its processes
  std::uint64_t data;
};
static_assert(sizeof(TagHead) <= sizeof(Frame));
inline constexpr unsigned kSenderBits = 16;

/// A receive of a tagged message that the library has: posted, or a claim, which looks for a message first and then
/// takes it.
struct TagReceive : Operation, ListHook {  // hook: all that the library has
  enum class Stage : std::uint8_t { kPosted, kPeek, kTake };

  Stage stage = Stage::kPosted;
  Path at = kNoPath;  // of the peer
  std::uint64_t tag = 0, ignored = 0;
  void* to = nullptr;
  std::uint32_t length = 0;
  void* description = nullptr;         // of that memory, for the library
  ashlar_tag_receive* user = nullptr;  // nullptr: its end is not to be told
  Region* region = nullptr;            // kPosted: that has the memory, where the library has to know it
  Buffer* buffer = nullptr;            // kTake
  unsigned looks = 0;                  // kTake: since it was posted
  unsigned patience = 4;               // kTake: looks until it is given up; twice as many each time
  bool cancelled = false;              // its end was asked for
  TagHead head = {};                   // of the message that was taken
  std::vector<Endpoint*> others;       // that a claim looks at after this one; nullptr: this process itself
};

}  // namespace ashlar::network
