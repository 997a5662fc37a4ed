#pragma once
#include <cstdint>

#include "framework/base/sha256.h"

/// What travels over a connection. First both sides prove that they belong together:
///
///   dialling side                                listening side
///   Hello: who, to whom, a nonce       ------->  is it for this process?
///   does it know its own secret?       <-------  Challenge: a nonce, its proof, its verdict
///   Proof, and the full exchange       ------->  does the caller know that secret?
///   is the path good for long packets? <-------  Welcome: what it has received; and the full exchange
///   Frame kChosen, then frames         ------->  an earlier connection of the pair is closed
///   it is in use                       <-------  Frame kChosen, then frames
///
/// The secret is the listening process's: its record has it, and only the job's processes get that from their launcher.
/// Both nonces are new for each connection, so nothing of it can be used again.
///
/// Messages are numbered from 0 in each direction, over all connections of the pair. A side keeps those that it has
/// sent until the other one has said, in the head of any frame, that it has them. A connection that breaks is followed
/// by another one, which both sides begin by saying how many they have received, and the number of the first message
/// that will come: those that the other side has already are skipped there. Other frames are not repeated: a process
/// asks anew for what it was getting, from the byte that it has come to.
///
/// A rail is a further connection between the two, over other interfaces. The process that has made it asks for stripes
/// of large messages there, and their bytes come back; no message goes that way, so nothing has to be put in order. It
/// begins with a kChosen of zeros, which has no answer, and ends without a word.
namespace ashlar::tcp {

inline constexpr std::uint32_t kMagic = 0x70637441;  // "Atcp"
inline constexpr std::uint8_t kWireVersion = 3;

using Nonce = std::array<std::uint8_t, 16>;
using Secret = std::array<std::uint8_t, 32>;

/// What a process calls another one for.
enum class Call : std::uint8_t {
  kFirst = 0,   // the connection that carries messages
  kInVain = 1,  // the same, and it has called in vain before
  kRail = 2     // a further one, over which it reads large messages
};

struct Hello {
  std::uint32_t magic;
  std::uint8_t version;
  Call call;
  std::uint16_t port;            // that the sender listens on
  std::uint64_t target, sender;  // nonces of the interfaces
  std::uint64_t job[2];          // of the sender, and its rank there
  std::uint32_t rank;
  std::uint32_t exchange;  // bytes that follow the Proof, and the Welcome
  Nonce nonce;
};
static_assert(sizeof(Hello) == 64);

enum class Verdict : std::uint16_t {
  kGoOn = 0,
  kWait = 1  // the listening side dials, too, and its connection is kept; of a rail: there is no room for it
};

struct Challenge {
  std::uint32_t magic;
  std::uint16_t version;
  Verdict verdict;
  Nonce nonce;
  Digest proof;
};
static_assert(sizeof(Challenge) == 56);

struct Welcome {
  std::uint32_t magic;
  std::uint32_t exchange;  // bytes that follow
  std::uint64_t epoch;     // of the connection that it has now, or had last
  std::uint64_t received;  // messages; more may come meanwhile over that connection
};
static_assert(sizeof(Welcome) == 24);

enum class Side : std::uint8_t { kDialling = 1, kListening = 2 };

/// What shows that `side` knows the secret.
inline Digest proof_of(Side side, const Secret& secret, const Hello& hello, const Nonce& answer) {
  const auto which = static_cast<std::uint8_t>(side);
  return hmac(secret, {{&which, 1}, {reinterpret_cast<const std::uint8_t*>(&hello), sizeof hello}, answer});
}

enum class Kind : std::uint8_t {
  kMessage = 1,    // an active message
  kGet = 2,        // h0 = request; payload: GetRequest
  kGetData = 3,    // h0 = request, h1 = offset in what was asked for; payload: the bytes
  kGetFailed = 4,  // h0 = request
  kBye = 5,        // this direction ends; h0 = 1: for good, the sender wants nothing more of what was sent to it
  kWake = 6,
  kChosen = 7,  // the first frame of each direction; h0 = messages received, h1 = number of the next; payload: epoch
  kAck = 8,
  kOver = 9,  // after both kBye, the last frame
  kAsk = 10   // the peer is to say what it has received, by kAck
};

struct Frame {
  std::uint32_t length;  // of the payload
  Kind kind;
  std::uint8_t id;
  std::uint16_t ack;  // the last bits of the number of messages that its sender has received
  std::uint64_t h0, h1;
};
static_assert(sizeof(Frame) == 24);

/// How a direction begins. Each connection of a pair has a larger epoch than the one before it, so that a late one is
/// told from the current one.
struct Chosen {
  Frame frame;
  std::uint64_t epoch;
};
static_assert(sizeof(Chosen) == 32);

struct GetRequest {
  std::uint64_t region, offset, length;
};

/// The content of an ashlar_key.
struct Key {
  std::uint64_t owner, region, length;
};

}  // namespace ashlar::tcp
