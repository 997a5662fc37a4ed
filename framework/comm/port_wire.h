#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "framework/base/sha256.h"
#include "framework/comm/port_name.h"
#include "framework/comm/seal.h"

/// What travels when a process connects to a port. Inside a host the kernel says whose process is at the other end, so
/// the key itself does:
///
///   calling side                                 accepting side
///   LocalHello: the key                ------->
///                                      <-------  kWelcome, when a call of MPI_Comm_accept takes it
///
/// Between hosts both sides prove that they know the key, and nothing can be used again:
///
///   NetworkHello: which port, a nonce  ------->  is there such a port?
///   Filling
///   does it know the key?              <-------  Challenge: a nonce, its proof
///                                      <-------  Filling
///   Digest: the proof                  ------->  does the caller know the key?
///                                      <-------  kWelcome
///   what follows is sealed (seal.h)
///
/// The filling shows that the path takes long packets both ways: one that does not is left before it is chosen. A
/// stranger gets no byte before it has named the port's place.
namespace ashlar::comm {

inline constexpr std::uint64_t kLocalMagic = 0x31545250'4c485341;    // "ASHLPRT1"
inline constexpr std::uint64_t kNetworkMagic = 0x3254524f'504c5341;  // "ASLPORT2"
inline constexpr std::size_t kFillingBytes = 16 << 10;               // more than a packet of any network
inline constexpr char kWelcome = 'w';
// A process that waits at a port may wait for minutes: a host that is gone is noticed by these.
inline constexpr std::uint64_t kUserTimeoutNs = 30'000'000'000, kKeepaliveNs = 10'000'000'000;

using PortNonce = std::array<std::uint8_t, 16>;

struct LocalHello {
  std::uint64_t magic;
  std::uint64_t reserved;
  PortName::Key key;
};
static_assert(sizeof(LocalHello) == 48);

struct NetworkHello {
  std::uint64_t magic;
  std::uint64_t place;
  PortNonce nonce;
};
static_assert(sizeof(NetworkHello) == 32);

struct Challenge {
  std::uint64_t magic;
  PortNonce nonce;
  Digest proof;
};
static_assert(sizeof(Challenge) == 56);

enum class PortSide : std::uint8_t { kCalling = 1, kAccepting = 2 };

/// What one connection to a port is known by: both nonces.
struct PortGreeting {
  NetworkHello hello;
  PortNonce answer;

  Digest proof(const PortName::Key& key, PortSide side) const { return digest(key, static_cast<std::uint8_t>(side)); }
  /// Of the side that calls them its own.
  std::unique_ptr<Seals> seals(const PortName::Key& key, PortSide own) const {
    const Seal calling(digest(key, 3)), accepting(digest(key, 4));
    return std::make_unique<Seals>(own == PortSide::kCalling ? Seals{calling, accepting} : Seals{accepting, calling});
  }

 private:
  Digest digest(const PortName::Key& key, std::uint8_t purpose) const {
    return hmac(key, {{&purpose, 1}, {reinterpret_cast<const std::uint8_t*>(&hello), sizeof hello}, answer});
  }
};

}  // namespace ashlar::comm
