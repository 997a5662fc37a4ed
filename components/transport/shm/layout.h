#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

// What lies in a segment. A segment belongs to one process (its owner, the receiver); every process that sends to it
// maps it. Lines are grouped by the side that writes them and how often, so that a quiet line stays in all caches.
// Raise kLayout when anything here changes: processes of different builds then refuse each other with a sentence.
namespace ashlar::shm {

inline constexpr std::uint64_t kMagic = 0x314d4853'4c485341;  // "ASHLSHM1"
inline constexpr std::uint32_t kLayout = 7;
inline constexpr std::uint32_t kMaxSlots = 4096;
inline constexpr std::uint32_t kCopies = 64;  // one bit each in Attention::copies
inline constexpr std::uint32_t kPosts = 64;   // one bit each in SegmentHeader::posts
inline constexpr std::uint64_t kPage = 4096;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free,
              "shared memory needs atomics without locks");

/// One cache line of a ring, as the first line of a record. `head` is the publish word:
///   length << 32 | id << 24 | form << 16 | phase
/// phase is 0x8000 + lap: never 0, and different from what the lap before left there.
struct alignas(64) Line {
  std::atomic<std::uint64_t> head;
  std::uint64_t h0, h1;
  std::byte data[40];
};
static_assert(sizeof(Line) == 64);

inline constexpr std::uint32_t kInlineBytes = sizeof(Line::data);

enum Form : std::uint32_t {
  kPacked = 0,   // payload begins in the first line, behind the header
  kAligned = 1,  // payload begins at the second line: wide copies do not straddle lines
  kSkip = 2      // no message; the ring goes on at its beginning
};

enum SlotState : std::uint32_t { kFree = 0, kClaimed, kReady, kClosing };

/// A sender's place in the segment: slot i owns ring i.
struct alignas(64) Slot {
  // Quiet half: written at set-up, and by the receiver when the ring changes between polled and unpolled.
  std::atomic<std::uint64_t> claim;  // 0, or the nonce of the sender
  std::atomic<std::uint32_t> state;  // SlotState
  std::atomic<std::uint32_t> cold;   // not polled: ring the bell after publishing
  std::uint64_t start;               // ring position of the first record of this sender
  std::uint64_t start_time;          // of the sender's process
  std::int32_t pid;
  std::uint32_t rank;                          // of the sender in its job
  std::atomic<std::uint64_t> proof;            // target of the sender's proof that it may write into the owner's memory
  std::uint64_t pid_namespace;                 // where `pid` means something
  std::uint32_t used_before;                   // an earlier sender wrote in this ring
  std::atomic<std::uint32_t> looks_for_posts;  // the sender: wake it after the next post for it
  // Busy half: written by the receiver at every quarter of a lap.
  alignas(64) std::atomic<std::uint64_t> consumed;
  std::uint64_t job[2];  // of the sender; written at set-up
};
static_assert(sizeof(Slot) == 128);

/// One exposed region that reader and owner copy together. See copies.h for the protocol.
struct alignas(64) CopyDescriptor {
  std::atomic<std::uint64_t> claim;  // epoch << 40 | chunks taken at the back << 20 | chunks taken at the front
  alignas(64) std::atomic<std::uint64_t> lease;  // generation << 1 | a reader is at work
  std::atomic<std::uint64_t> reader;             // the reader's nonce
  std::atomic<std::uint64_t> to;                 // destination in the reader's memory
  std::atomic<std::uint64_t> offset;             // of the transfer in the exposed region
  std::atomic<std::uint64_t> length;
  std::atomic<std::uint64_t> chunk;
  alignas(64) std::atomic<std::uint64_t> back_done;  // chunks the owner has finished
  std::atomic<std::uint64_t> back_failed;            // errno of the owner's copy, or 0
};
static_assert(sizeof(CopyDescriptor) == 192);

/// A receive that its sender may write into. See posts.h for the protocol.
struct alignas(64) PostSlot {
  // The owner's, constant while the receive is posted.
  std::atomic<std::uint64_t> sender;  // the nonce of the process it is meant for
  std::atomic<std::uint64_t> h0, h1, before;
  std::atomic<std::uint64_t> seen;  // position in the sender's ring up to which records were delivered, or kNothingSeen
  std::atomic<std::uint64_t> address, length, token;
  alignas(64) std::atomic<std::uint64_t> state;  // generation << 3 | PostState
  std::atomic<std::uint64_t> written;
};
static_assert(sizeof(PostSlot) == 128);

inline constexpr std::uint64_t kNothingSeen = ~0ull;  // the sender has no ring here yet

inline constexpr std::uint64_t kAttendSlots = 1;   // a bell: new sender, unpolled ring with news, sender leaves
inline constexpr std::uint64_t kAttendCopies = 2;  // a reader asks the owner to copy along

/// SegmentHeader::sleeping. A thread of progress.thread copies for no reader, so it is not woken for
/// that.
enum Sleeping : std::uint32_t {
  kAwake = 0,
  kAsleep = 1,
  kAsleepInBackground = 2,
  kDormant = 3,        // until wake(): messages leave the owner asleep
  kSleepState = 3,     // the bits of the above
  kForDescriptors = 4  // with one of them: the owner is to be woken by its WakeSocket as well
};

struct SegmentHeader {
  // Identity: constant once the magic is there.
  alignas(64) std::atomic<std::uint64_t> magic;
  std::uint64_t nonce;
  std::uint64_t self;  // where the owner has this segment mapped
  std::uint64_t bytes;
  std::uint32_t layout, slots;
  std::uint64_t ring_bytes;
  std::uint32_t
      senders_fence;  // the owner has no membarrier: senders order "publish, then look at sleeping" themselves
  std::atomic<std::uint32_t> closed;  // the owner left in good order
  std::atomic<std::uint32_t> rests;   // odd while the owner is at rest: Slot::consumed is exact then

  // Quiet: read by every sender after every publish, written only around sleeps.
  alignas(64) std::atomic<std::uint32_t> sleeping;

  // The futex of the owner's sleep.
  alignas(64) std::atomic<std::uint32_t> wake;
  std::atomic<std::uint32_t> unreachable;  // a peer could not send to the owner's WakeSocket
  std::uint64_t net_namespace;             // of the owner: abstract names mean something only inside it

  // Written by the owner with each post, read by senders that wait for an answer.
  alignas(64) std::atomic<std::uint64_t> posts;  // bit per PostSlot in use
  std::atomic<std::uint32_t> posts_made;         // ever, never 0 again after the first

  // Polled by the owner in every progress call; set by others on rare events.
  alignas(64) std::atomic<std::uint64_t> attention;
  std::atomic<std::uint64_t> copies;  // bit per CopyDescriptor with a reader at work
  std::atomic<std::uint64_t> bells[kMaxSlots / 64];
};

inline constexpr std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

/// Offsets of the parts, from the two numbers that the address carries.
struct Geometry {
  std::uint32_t slots = 0;
  std::uint64_t ring_bytes = 0;

  static constexpr std::size_t copies_at() { return round_up(sizeof(SegmentHeader), 64); }
  static constexpr std::size_t posts_at() { return round_up(copies_at() + kCopies * sizeof(CopyDescriptor), kPage); }
  static constexpr std::size_t slots_at() { return round_up(posts_at() + kPosts * sizeof(PostSlot), kPage); }
  constexpr std::size_t rings_at() const { return round_up(slots_at() + slots * sizeof(Slot), kPage); }
  constexpr std::size_t ring_at(std::uint32_t slot) const { return rings_at() + slot * ring_bytes; }
  constexpr std::size_t bytes() const { return ring_at(slots); }
};

}  // namespace ashlar::shm
