#pragma once
#include <cstdint>

#include "framework/base/arena.h"
#include "framework/base/types.h"
#include "framework/match/table.h"
#include "framework/plugin/transport.h"

/// What point-to-point sends. The sixteen header bytes travel in registers; a payload follows where said.
/// Operations have names of 32 bits, which are sent only to the one process that has to answer.
namespace ashlar::p2p {

enum Id : std::uint8_t {
  // Messages to be matched. h0 = context << 32 | source, h1 = tag << 32 | sender's operation (where it has one).
  kEager = 1,  // payload: the message. The operation is only for recalling it; of a collective CallSignature::brief()
  kEagerSync = 2,  // the same; answer kAck when it is matched
  kRts = 3,        // payload: Rts. Answer kFin after reading the data, or kCts

  // Answers. h0 = operation they are for << 32 | operation at the side that answers.
  kAck = 4,
  kFin = 5,
  kCts = 6,   // h1 = bytes wanted
  kData = 7,  // h1 = offset in the packed message; payload: that piece

  // About the link.
  // A receiver with too many unexpected bytes throttles the sender: from now on messages of any size ask first (kRts).
  // h0 = the limit in bytes that was reached, h1 = 1 when it is the limit for all processes together.
  kThrottle = 8,
  kResume = 9,

  // Cancelling a send: the headers of its kEagerSync or kRts again. Answer kCancelled when it was still unmatched; else
  // the answer to the message itself is on its way.
  kCancel = 10,
  kCancelled = 11,

  // Ready sends while check.ready is on: as kEagerSync and kRts, but dropped and answered kUnready when no receive is
  // posted.
  kEagerReady = 12,
  kRtsReady = 13,
  kUnready = 14,

  // Only with check.datatypes, ahead of each message to be matched and of each kPartOffer. h0 = the hash of its type
  // signature, h1 = the number of its elements; payload: the signature in words.
  kSignature = 15,

  // Partitioned communication; partitioned.h says how.
  kPartOffer = 16,  // headers of a message; payload: PartOffer
  kPartGo = 17,     // h0 as in an answer, h1 = serial number of the offer
  kPartData = 18,   // as kData
  kPartReady = 19,  // as kData, but the payload is PartReady: the receiver may read that piece from the sender's memory
  kPartRead = 20,   // h1 = where that piece began: it has been read
  kPartUnread = 21,  // h1 = where reading ended, inside that piece: send the rest, and all others, as kPartData

  // Cancelling a send that left as kEager: its headers again. Answer kCancelled when it was still unmatched, kDelivered
  // when it was not.
  kRecall = 22,
  kDelivered = 23,

  // Receives posted in shared memory (shared_post.h): the sender was writing its message when the receiver withdrew the
  // receive; it has stopped. h0 as in an answer, h1 = number of the post.
  kStopped = 24,

  // Collectives whose calls do not agree (framework/coll/mismatch.h). h0 as in a message, h1 = its tag << 32.
  kCollectiveCall = 25,    // what this rank called; it still waits
  kCollectiveFailed = 26,  // it failed here

  // A message that can no more be received: its headers again. The receiver has freed the communicator, or closed its
  // last session.
  kUnreceived = 27,

  // Partitioned communication: the receiver could not keep the offer. h0 as in an answer, h1 = serial number of the
  // offer.
  kPartRefused = 28,

  // One-sided communication (framework/rma/wire.h). h0 = context of the window's communicator << 32 | source.
  kRma = 29,

  // Between processes of different jobs: the sender needs nothing more of the receiver. Nothing of it follows, until a
  // new communicator has both. With h0 = 1 it says nothing: there is a connection now, and its end will be noticed.
  // h1 = 1: the sender does not wait for the receiver to say the same, and does not hear it any more.
  kGoodbye = 30,
  kEnd = 31,  // the sender ends all processes of a communicator that both have (MPI_Abort). h0 = the exit code

  // Messages that the network matches (native.h).
  kTaggedRts = 32,    // as kRts; it is to be matched when the tagged message behind it is
  kTaggedFirst = 33,  // tagged messages follow
  kTaggedTaken = 34,  // h0 = what tagged messages have weighed that were taken, in all
  kTaggedAsk = 35,    // how many tagged messages were sent? Answer kTaggedSent
  kTaggedSent = 36    // h0 = so many, all of which were sent before this
};

/// The payload of kRts; without a key only what is before it travels.
struct Rts {
  std::uint64_t bytes;
  std::uint64_t called;  // CallSignature of a collective, or 0
  ashlar_key key;
};
static_assert(sizeof(Rts) == 64);

/// Names: the number in the arena (16 GiB of requests have one), and above it the lane, so that an answer which comes
/// on another one is handed over without a look at the operation.
inline constexpr unsigned kNameBits = 28;
inline std::uint32_t wire_name(const void* operation, unsigned lane) {
  return static_cast<std::uint32_t>(Arena::number_of(operation)) | lane << kNameBits;
}
inline unsigned lane_of_name(std::uint32_t name) { return name >> kNameBits; }
inline void* at_name(std::uint32_t name) {
  return Arena::at(static_cast<int>(name & ((std::uint32_t{1} << kNameBits) - 1)));
}

inline std::uint64_t tag_word(Tag tag, std::uint32_t operation) {
  return std::uint64_t{static_cast<std::uint32_t>(tag)} << 32 | operation;
}
inline match::Key key_of(const ashlar_am& am) {
  return {am.h0, static_cast<Tag>(static_cast<std::uint32_t>(am.h1 >> 32))};
}
inline std::uint64_t pair_word(std::uint32_t theirs, std::uint32_t ours) { return std::uint64_t{theirs} << 32 | ours; }
inline std::uint32_t high_word(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
inline std::uint32_t low_word(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

}  // namespace ashlar::p2p
