#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "framework/p2p/operation.h"

/// How partitioned data travels. Making the sending request offers it to the receiver (kPartOffer); the receiving side
/// pairs offers and receiving requests of equal envelope in the order in which they were made. Each start of the
/// receiver lets one round of data come (kPartGo); then every partition leaves when it is marked ready, as bytes at an
/// offset of the packed message. So the cuts of the two sides need not agree. Small pieces travel in messages
/// (kPartData). Of large ones the receiver gets the key (kPartReady), and reads them while the sender goes on
/// computing; a piece that it cannot read is sent after all (kPartUnread), and so are all later ones.
/// A receiver that has no room to keep an offer refuses it (kPartRefused): rounds of that request fail, and those of
/// the receiving request that would have paired with it (kept_offers.h).
namespace ashlar::p2p {

struct SentSignature;

extern const RequestOps kPartSendOps;
extern const RequestOps kPartRecvOps;

/// The payload of kPartOffer; its headers are those of a message. Names of requests are used again: the serial number
/// tells them apart.
struct PartOffer {
  std::uint64_t serial;
  std::uint64_t bytes;
};

/// The payload of kPartReady.
struct PartReady {
  std::uint64_t bytes;
  ashlar_key key;  // of the whole buffer
};

class PartSend : public Operation, public Pending {
 public:
  PartSend(Comm& c, const DataView& whole, int partition_count, Rank dest, Tag with_tag, std::uint64_t serial_number);

  struct Range {
    std::uint64_t first, last;  // packed bytes
  };
  const std::uint64_t serial;
  const int partitions;
  const std::uint64_t partition_bytes;
  std::uint32_t remote = 0;               // the receiver's request, once known
  std::uint64_t rounds = 0, allowed = 0;  // starts of this side, and of the other
  int marked = 0;                         // partitions that are ready
  std::uint64_t sent = 0;                 // bytes
  std::vector<bool> ready;
  std::deque<Range> leaving;  // ready and not yet sent, in the order of their marks
  std::vector<Range> lent;    // the receiver may read them (kPartReady)
  bool in_pieces = false;     // it cannot
  bool freed = false;         // by the user, before the offer could leave
  bool exposed = false;       // `key` is valid at the link's interface: in a round in which something was lent
  ashlar_key key;             // NOLINT: written when exposed
  Status broken;              // the offer could not be made, or was refused

  Pending& pending() { return *this; }
};

class PartRecv : public Operation, public match::Entry {
 public:
  PartRecv(Comm& c, const DataView& whole, int partition_count, Rank from, Tag with_tag);
  ~PartRecv();

  /// What may be read from the sender's memory; the oldest is being read, up to `next`.
  struct Lent {
    std::uint64_t first, next, last;
    ashlar_key key;
  };
  struct Reader : Pending, ashlar_completion {
    PartRecv* request = nullptr;
    std::uint64_t asked = 0;  // bytes that the transport is about to write into the buffer
  };

  const int partitions;
  const std::uint64_t partition_bytes;
  std::uint32_t remote = 0;  // the sender's request; with its serial number, once paired
  std::uint64_t serial = 0;
  std::uint64_t coming = 0;                       // bytes of the sender's message
  std::uint64_t received = 0;                     // of them, in this round
  std::vector<std::uint64_t> missing;             // bytes of each partition
  std::unique_ptr<SentSignature> sent_signature;  // with check.datatypes, once paired
  bool freed = false;    // by the user, before it was paired: only its place in the order counts
  bool refused = false;  // the datatypes do not match: what comes is not stored
  Status broken;         // it is not paired, and never will be: the offer was refused, or cannot be answered
  std::deque<Lent> lent;
  Reader reader;

  bool paired() const { return serial != 0; }
};

/// Partitioned communication's part of a lane: both sides of what is not paired.
struct Unpaired {
  match::Table receives, offers;
  bool order_lost = false;  // kept_offers.h
};

void on_part_offer(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_part_refused(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_part_go(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_part_data(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_part_ready(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_part_read(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);

/// Forgets offers, and freed receives, for a communicator that is going away; nullptr: all of them.
void drop_offers(Lane& lane, const Comm* comm) ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p
