#pragma once
#include <cstdint>

#include "framework/base/sha256.h"
#include "framework/plugin/transport.h"

/// What travels. Network libraries over IP take any process that reaches their port for a peer, and some lose messages
/// in silence when a connection breaks. So a session is opened first, for one direction, and its messages are numbered:
///
///   sending side                                  receiving side
///   Hello: who, to whom, its address,   ------->  is it for this process, and does the sender know the secret?
///   proof
///   is it the process of the record?    <-------  Welcome: proof
///   messages, with token and number,    ------->  is the token known, is none missing?
///   short ones together
///   Bye                                 ------->  the sender leaves in good order; a Wake takes it back
///
/// The secret is the receiving process's: its record has it, and only the job's processes get that from their launcher.
namespace ashlar::network {

inline constexpr std::uint32_t kMagic = 0x69664f41;  // "AOfi", as the first of these libraries was
inline constexpr std::uint16_t kWireVersion = 5;

using Secret = std::array<std::uint8_t, 32>;

enum class Kind : std::uint8_t {
  kHello = 1,
  kWelcome = 2,
  kMessage = 3,
  kBye = 4,
  kWake = 5,
  kTrial = 6,
  kRailsWanted = 7,   // RailsWanted follows
  kRailsOffered = 8,  // RailsOffered follows
  kGivenUp = 9        // the sender has given the receiver up
};

inline constexpr std::uint32_t kMaxShort = 1024;  // payload of a short message

/// Frame::length of a message to which all the rest of the buffer belongs, but for less than kFrameAlignment bytes: one
/// less for each of those.
inline constexpr std::uint16_t kRest = 0xffff;

/// In front of everything. Short messages may follow each other in one buffer.
struct Frame {
  std::uint64_t token;  // of the session; 0: of none
  std::uint64_t h0, h1;
  std::uint32_t number;  // of a message in its session, from 1
  Kind kind;
  std::uint8_t id;
  std::uint16_t length;  // of what follows
};
static_assert(sizeof(Frame) == 32);

/// Of frames in a buffer. What is sent has a length that keeps what a library puts behind it aligned.
inline constexpr std::size_t kFrameAlignment = alignof(Frame);
inline bool is_aligned(const void* at) { return reinterpret_cast<std::uintptr_t>(at) % kFrameAlignment == 0; }

/// Bytes of a frame and `length` bytes behind it, up to where the next frame begins.
constexpr std::size_t framed(std::size_t length) {
  return (sizeof(Frame) + length + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
}
/// The longest frame in a buffer of `bytes`.
constexpr std::size_t frame_in(std::size_t bytes) { return bytes / kFrameAlignment * kFrameAlignment; }

/// Frame::length of a message of `length` bytes that is alone in what is sent.
constexpr std::uint16_t rest_of(std::size_t length) {
  return static_cast<std::uint16_t>(kRest - (framed(length) - sizeof(Frame) - length));
}
/// What follows a frame with that `length`, behind which there are `left` bytes. More than `left`: the frame is cut
/// off.
constexpr std::size_t length_in(std::uint16_t length, std::size_t left) {
  return length > kRest - kFrameAlignment ? left - (kRest - length) : length;
}
static_assert(kMaxShort <= kRest - kFrameAlignment);

/// Where a process's host answers for it: a TCP port that listens as long as the process is there.
struct HostAddress {
  std::uint16_t family;  // 4 or 6; 0: there is none
  std::uint16_t port;
  std::uint32_t scope;
  std::uint8_t bytes[16];
};
static_assert(sizeof(HostAddress) == 24);

/// The library's address of the sender follows, then a Digest: the proof.
struct Hello {
  std::uint32_t magic;
  std::uint16_t version, address_bytes;
  std::uint64_t target, sender;  // nonces of the interfaces
  std::uint64_t job[2];          // of the sender, and its rank there
  std::uint64_t session;         // drawn by the sender
  std::uint32_t rank, reserved;
  HostAddress alive;
};
static_assert(sizeof(Hello) == 80);

/// A first message fits into the shortest frames that a process may receive.
inline constexpr std::size_t kLeastFrame = 4 << 10;
inline constexpr std::size_t kAddressMost = kLeastFrame - sizeof(Frame) - sizeof(Hello) - sizeof(Digest);

struct Welcome {
  std::uint64_t sender, session;
  Digest proof;
};
static_assert(sizeof(Welcome) % kFrameAlignment == 0);

/// What both sides compute of a Hello and the secret of the side that receives it.
struct SessionKeys {
  Digest proof;         // of the sending side
  Digest answer;        // of the receiving side
  std::uint64_t token;  // in each of the session's frames; never 0
};

inline SessionKeys keys_of(const Secret& secret, std::span<const std::uint8_t> hello) {
  const auto digest = [&](std::uint8_t which) { return hmac(secret, {{&which, 1}, hello}); };
  SessionKeys keys = {.proof = digest(1), .answer = digest(2), .token = 0};
  const Digest token = digest(3);
  std::memcpy(&keys.token, token.data(), sizeof keys.token);
  if (keys.token == 0) keys.token = 1;
  return keys;
}

/// What only processes of the job can put in front of a tagged message of `sender` (nonce) to the process with the
/// secret.
inline std::uint64_t tag_proof(const Secret& secret, std::uint64_t sender) {
  constexpr std::uint8_t kWhich = 4;
  std::uint8_t name[sizeof sender];
  std::memcpy(name, &sender, sizeof name);
  const Digest digest = hmac(secret, {{&kWhich, 1}, name});
  std::uint64_t proof = 0;
  std::memcpy(&proof, digest.data(), sizeof proof);
  return proof != 0 ? proof : 1;
}

/// What names exposed memory to the library of a peer: the library's words.
struct RemoteKey {
  std::uint64_t base;  // what offsets are added to
  std::uint8_t bytes[24];
};

/// The content of an ashlar_key.
struct Key {
  std::uint64_t owner, length;
  RemoteKey remote;
};
static_assert(sizeof(Key) <= ASHLAR_KEY_BYTES);

inline constexpr std::size_t kRailAddressMost = 64;

/// The reader of exposed memory would read it over rails, too.
struct RailsWanted {
  std::uint64_t read;  // a number of the reader's
  Key key;
};

/// One of the owner's further fabrics, and how memory is named there.
struct RailOffer {
  std::uint64_t network;  // Hash of Fabric::network()
  std::uint16_t number;   // of the rail, at the owner
  std::uint16_t address_bytes;
  std::uint32_t reserved;
  RemoteKey nonce;   // of 8 bytes: the nonce of the owner's interface, by which the rail shows that it leads there
  RemoteKey region;  // the exposed memory
  std::uint8_t address[kRailAddressMost];
};
static_assert(sizeof(RailOffer) == 144);

/// The owner's answer; `count` offers follow.
struct RailsOffered {
  std::uint64_t read;
  std::uint32_t rails;  // that the owner has, in use or not; 0: it is not to be asked again
  std::uint32_t count;
};
static_assert(sizeof(RailsOffered) + 3 * sizeof(RailOffer) <= kMaxShort);

}  // namespace ashlar::network
