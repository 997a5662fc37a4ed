#pragma once
#include <cstdint>

/// What the processes of a window send each other. A message has a word in its header and a payload.
///
/// From the origin, in order: kPut, kGet, kUpdate and kSwap are fragments of operations, complete in themselves (Head,
/// runs of the target's memory, data), and kPing, kPost, kComplete, kLock, kUnlock. Each has a sequence number, kPing
/// too: so the answer that a flush waits for is the last one under way. From the target, in order: what answers them.
namespace ashlar::rma::am {

enum class Sub : std::uint8_t {
  // From the origin.
  kPut = 1,
  kGet,
  kUpdate,
  kSwap,      // compare and swap: the data is the new value, then the one to compare with
  kPing,      // answer kPong when all before it is done
  kPost,      // the target of operations exposes its memory to the receiver
  kComplete,  // the origin has completed its operations on the receiver
  kLock,      // payload: LockRequest; answer kGranted, now or later
  kUnlock,    // payload: LockRequest

  // From the target.
  kData,     // the data that a fragment fetches
  kRefused,  // the same for fragments that failed. Payload: Fault
  kPong,     // everything up to the sequence number is done. Payload: Fault, if something that fetches nothing failed
  kGranted,  // payload: LockRequest
  kQueued    // payload: LockQueued
};

/// The word of a message.
struct Word {
  static constexpr std::uint8_t kAnswer = 1;  // of a fragment that fetches nothing: answer kPong

  Sub sub;
  std::uint8_t flags;
  std::uint32_t sequence;

  std::uint64_t pack() const {
    return std::uint64_t{static_cast<std::uint8_t>(sub)} << 56 | std::uint64_t{flags} << 48 | sequence;
  }
  static Word of(std::uint64_t word) {
    return {.sub = static_cast<Sub>(word >> 56),
            .flags = static_cast<std::uint8_t>(word >> 48),
            .sequence = static_cast<std::uint32_t>(word)};
  }
};

/// Whether sequence number `a` is not before `b`. Fewer than 2^31 are under way.
inline bool reached(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

/// Before the runs of a fragment.
struct Head {
  std::uint32_t element = 0;  // ElementName
  std::uint32_t index = 0;    // the same: of the index of a pair
  std::uint16_t op = 0;       // the constant of a predefined operation
  std::uint8_t fetches = 0;   // answer kData, else kUpdate fetches nothing
  std::uint8_t reserved = 0;
  std::uint16_t runs = 0;
  std::uint16_t reserved2 = 0;
};
static_assert(sizeof(Head) == 16);

/// Elements in the target's window, at multiples of their extent from `offset` on.
struct Run {
  std::int64_t offset;
  std::uint64_t bytes;  // of data in them
};
static_assert(sizeof(Run) == 16, "data of a fragment begins at a multiple of 16 bytes");

/// The first failure that an answer reports.
struct Fault {
  std::int32_t error = 0;  // error class; 0: none
  std::uint32_t sub = 0;   // of the fragment
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t missing = 0;  // bytes that were to be fetched and will not come
};

/// Which of two locks (WhichLock), and how.
struct LockRequest {
  std::uint16_t which = 0;  // WhichLock
  std::uint8_t mode = 0;    // LockMode
  std::uint8_t nested = 0;  // of kLock: the origin holds another lock of the window
};
struct LockQueued {
  LockRequest request;
  std::uint32_t mode = 0;    // LockMode of those that hold the lock
  std::int32_t holder = 0;   // rank of one that holds the lock
  std::uint32_t before = 0;  // requests that were there already
};

}  // namespace ashlar::rma::am
