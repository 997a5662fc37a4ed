#pragma once
#include <cstdint>

#include "framework/base/sha256.h"

/// What travels over a connection. First both sides prove that they belong together:
///
///   dialling side                                listening side
///   Hello: who, to whom, a nonce       ------->  is it for this process?
///   does it know its own secret?       <-------  Challenge: a nonce, its proof, its verdict
///   Proof, and the full exchange       ------->  does the caller know that secret?
///   is the path good for long packets? <-------  Welcome, and the full exchange
///   Frame kChosen, then messages       ------->  the other connections of the pair are closed
///
/// The secret is the listening process's: its record has it, and only the job's processes get that from their launcher.
/// Both nonces are new for each connection, so nothing of it can be used again.
namespace ashlar::tcp {

inline constexpr std::uint32_t kMagic = 0x70637441;  // "Atcp"
inline constexpr std::uint16_t kWireVersion = 1;

using Nonce = std::array<std::uint8_t, 16>;
using Secret = std::array<std::uint8_t, 32>;

struct Hello {
  std::uint32_t magic;
  std::uint16_t version, reserved;
  std::uint64_t target, sender;  // nonces of the interfaces
  std::uint64_t job[2];          // of the sender, and its rank there
  std::uint32_t rank;
  std::uint32_t exchange;  // bytes that follow the Proof, and the Welcome
  Nonce nonce;
};
static_assert(sizeof(Hello) == 64);

enum class Verdict : std::uint16_t {
  kGoOn = 0,
  kWait = 1  // the listening side dials, too, and its connection is kept
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
};

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
  kBye = 5,        // the last frame of this direction
  kWake = 6,
  kChosen = 7
};

struct Frame {
  std::uint32_t length;  // of the payload
  Kind kind;
  std::uint8_t id;
  std::uint16_t reserved;
  std::uint64_t h0, h1;
};
static_assert(sizeof(Frame) == 24);

struct GetRequest {
  std::uint64_t region, offset, length;
};

/// The content of an ashlar_key.
struct Key {
  std::uint64_t owner, region, length;
};

}  // namespace ashlar::tcp
