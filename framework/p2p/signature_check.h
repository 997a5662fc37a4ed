#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/p2p/operation.h"

namespace ashlar::p2p {

/// What a sender says of its message.
struct SentSignature {
  static constexpr std::size_t kWords = 112;  // longest text that travels
  std::uint64_t hash;
  MPI_Count elements;
  char words[kWords];
};

/// `check.datatypes`: the type signature of each message, and of each partitioned one's offer, goes ahead of it on the
/// same link (kSignature), and the receiver compares. The switch is the same in all processes, which connecting makes
/// sure of. Collectives send bytes of their own making; what their calls say is compared in coll/check_types.h. One per
/// lane, guarded by its lock; none when the switch is off, so that the short path knows nothing of all this.
class SignatureCheck {
 public:
  /// Sends the signature of `data` ahead of it. AGAIN: no room.
  static ashlar_result send_ahead(const DataView& data, ashlar_endpoint* endpoint);

  /// A signature arrived; it belongs to the next message of its sender.
  void arrived(const ashlar_am& am);
  /// A message is kept for later as `kept`: so is its signature.
  void keep(const ashlar_am& kept);
  void forget(const ashlar_am& kept) { kept_.erase(&kept); }
  /// Whether `r` may take `am`, which has just arrived or was kept. MPI_ERR_TYPE with both signatures when not.
  Status examine(const RecvRequest& r, const ashlar_am& am);
  /// The signature of the offer that `peer` has just made; nullptr: there is none.
  std::unique_ptr<SentSignature> take(PeerId peer);
  /// MPI_ERR_TYPE unless `r`, made by `call`, may take a message of `bytes` bytes with this signature.
  static Status compare(const Operation& r, const char* call, const SentSignature& sent, MPI_Count bytes);

 private:
  std::unordered_map<PeerId, SentSignature> next_;
  std::unordered_map<const ashlar_am*, SentSignature> kept_;
};

/// How a packed copy of `data` at `bytes` is sent: as MPI_PACKED, or with check.datatypes as a datatype that tells the
/// signature of `data`; `keep` then holds it.
Status stand_in(const Comm& comm, void* bytes, const DataView& data, Ref<Datatype>* keep, DataView* out);

}  // namespace ashlar::p2p
