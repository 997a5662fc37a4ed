#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "framework/p2p/operation.h"

/// How partitioned data travels. Making the sending request announces it (kPartOffer); the receiving side pairs offers
/// and receiving requests of equal envelope in the order in which they were made. Each start of the receiver lets one
/// round of data come (kPartGo); then every partition leaves when it is marked ready (kPartData), as bytes at an offset
/// of the packed message. So the cuts of the two sides need not agree.
namespace ashlar::p2p {

struct Announced;

extern const RequestOps kPartSendOps;
extern const RequestOps kPartRecvOps;

/// The payload of kPartOffer; its headers are those of a message. Names of requests are used again: the serial number
/// tells them apart.
struct PartOffer {
  std::uint64_t serial;
  std::uint64_t bytes;
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
  Status broken;              // the offer could not be made

  Pending& pending() { return *this; }
};

class PartRecv : public Operation, public match::Entry {
 public:
  PartRecv(Comm& c, const DataView& whole, int partition_count, Rank from, Tag with_tag);
  ~PartRecv();

  const int partitions;
  const std::uint64_t partition_bytes;
  std::uint32_t remote = 0;  // the sender's request; with its serial number, once paired
  std::uint64_t serial = 0;
  std::uint64_t coming = 0;              // bytes of the sender's message
  std::uint64_t received = 0;            // of them, in this round
  std::vector<std::uint64_t> missing;    // bytes of each partition
  std::unique_ptr<Announced> announced;  // with check.datatypes, once paired
  bool refused = false;                  // the datatypes do not match: what comes is not stored

  bool paired() const { return serial != 0; }
};

/// An offer that no receiving request has taken yet.
struct KeptOffer : match::Entry {
  KeptOffer();
  ~KeptOffer();
  PeerId peer = 0;
  std::uint32_t name = 0;
  PartOffer offer = {};
  std::unique_ptr<Announced> announced;
};

/// Partitioned communication's part of a lane: both sides of what is not paired.
struct Unpaired {
  match::Table receives, offers;
};

void on_part_offer(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_part_go(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_part_data(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);

/// A process is gone: receiving requests that wait for an offer of it are over.
void fail_unpaired(Lane& lane, PeerId peer, Status (*outcome)(const Operation&, void*), void* argument)
    ASHLAR_REQUIRES(lane.lock);
/// Forgets offers for a communicator that is going away; nullptr: all of them.
void drop_offers(Lane& lane, const Comm* comm) ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p
