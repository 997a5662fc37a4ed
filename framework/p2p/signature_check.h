#pragma once
#include <cstdint>
#include <unordered_map>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/p2p/operation.h"

namespace ashlar::p2p {

/// `check.datatypes`: the type signature of each message goes ahead of it on the same link (kSignature), and the
/// receiver compares. The switch is the same in all processes, which connecting makes sure of. Collectives send bytes
/// of their own making and are not compared. One per lane, guarded by its lock; none when the switch is off, so that
/// the short path knows nothing of all this.
class SignatureCheck {
 public:
  /// Longest text about a signature that travels.
  static constexpr std::size_t kWords = 112;

  /// Sends the signature of `r` ahead of it. AGAIN: no room.
  static ashlar_result announce(const SendRequest& r, ashlar_endpoint* endpoint);

  /// A signature arrived; it belongs to the next message of its sender.
  void arrived(const ashlar_am& am);
  /// A message is kept for later as `kept`: so is what was announced of it.
  void keep(const ashlar_am& kept);
  void forget(const ashlar_am& kept) { kept_.erase(&kept); }
  /// Whether `r` may take `am`, which has just arrived or was kept. MPI_ERR_TYPE with both signatures when not.
  Status examine(const RecvRequest& r, const ashlar_am& am);

 private:
  struct Sent {
    std::uint64_t hash;
    MPI_Count elements;
    char words[kWords];
  };
  std::unordered_map<PeerId, Sent> next_;
  std::unordered_map<const ashlar_am*, Sent> kept_;
};

}  // namespace ashlar::p2p
