#pragma once
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "components/transport/common/wire.h"
#include "framework/plugin/component.h"
#include "framework/plugin/transport.h"

namespace ashlar::network {

struct Endpoint;
struct Buffer;
struct Transfer;
struct TagReceive;

/// A process, as the library knows it.
using Path = std::uint64_t;
inline constexpr Path kNoPath = ~Path{0};

/// Memory that the library has been told of, and how operations name it there. A library that needs no more of it than
/// its address leaves both null.
struct Registration {
  void* region = nullptr;
  void* description = nullptr;
};

/// Where a process is among those of its job.
struct Place {
  bool one_node = true;          // no process of the job is elsewhere
  std::uint32_t local_rank = 0;  // among those of its node
  std::uint32_t local_size = 1;
};

/// One lane's endpoint of a network library: libfabric, UCX. It knows processes by their addresses, carries frames to
/// them, which take receive buffers in the order in which they were sent, and reads and writes their memory. What it
/// does not do, Interface does: tell who a frame comes from, whether one is missing, and whether one arrived before its
/// turn.
class Fabric {
 public:
  /// What memory is used for, in bits.
  enum Use : unsigned {
    kFrames = 1,   // frames are sent from it, or arrive there
    kRead = 2,     // by peers
    kWritten = 4,  // by reads
    kPut = 8,      // written by peers
    kSource = 16   // of puts
  };

  enum class Posted {
    kDone,   // all before it has left, and its own bytes are kept elsewhere: the memory is free; never of a transfer
    kYes,    // under way; an event ends it
    kLater,  // there is no room, or no connection yet
    kFailed  // reason() says why
  };

  enum class TagEnd { kTaken, kNothing, kCancelled, kFailed };

  enum class Claimed {
    kNone,  // there is no such message
    kYes,   // an event ends it
    kLater  // there is no room
  };

  /// What look() tells.
  class Events {
   public:
    /// `in`: the receive buffer, where the fabric can leave it for a time; nullptr: frames arrive in order. False: an
    /// earlier frame has not arrived; the bytes stay as they are until reuse() of the buffer for them.
    virtual bool arrived(const std::byte* bytes, std::size_t length, Buffer* in) = 0;
    /// Something arrived that was no frame.
    virtual void damaged() = 0;
    virtual void sent(Buffer& buffer) = 0;
    virtual void not_sent(Buffer& buffer, const std::string& reason) = 0;
    virtual void transferred(Transfer& transfer) = 0;
    virtual void not_transferred(Transfer& transfer, const std::string& reason) = 0;
    /// How an operation on tags has ended; tag and data are the message's.
    virtual void tag_ended(TagReceive& receive, TagEnd end, std::uint64_t tag, std::uint64_t data,
                           const std::string& reason) = 0;
    /// The library has given the process up. Operations that it has for it end by themselves.
    virtual void lost(Endpoint& peer, const std::string& reason) = 0;

   protected:
    ~Events() = default;
  };

  virtual ~Fabric() = default;

  /// Fails with a sentence.
  virtual ashlar_result open(const ashlar_host& host, const Place& place, Events& events) = 0;
  /// Ends the endpoint: what was posted there is touched no more, and nothing is told.
  virtual void close() = 0;

  /// What both sides must have alike ("tcp;ofi_rxm"), the device ("eth0"), and what else there was.
  const std::string& name() const { return name_; }
  const std::string& device() const { return device_; }
  const std::string& others() const { return others_; }
  /// Whether the library may patch mmap() and its kin, by which it learns of memory that the program frees, so that it
  /// keeps registrations by itself. Since open().
  bool has_hooks() const { return has_hooks_; }
  /// Why it is these, in words.
  const std::string& why() const { return why_; }
  /// How other processes reach this one; empty: there is none.
  virtual std::vector<std::uint8_t> address() = 0;
  /// The device's address of IP; nullptr: it has none.
  virtual const sockaddr* source() const = 0;

  /// `owner` is named by lost(); nullptr: nobody. kNoPath: that is no address.
  virtual Path insert(const std::vector<std::uint8_t>& address, Endpoint* owner) = 0;
  /// The path, over which nothing is under way, means nothing any more. False: the library has not closed it yet, and
  /// it is to be asked again; until then the path may be used.
  virtual bool remove(Path path) = 0;
  virtual Posted post(Buffer& buffer, Path to) = 0;
  virtual Posted post(Transfer& transfer, Path peer) = 0;
  /// Sends without an event. False: it is to be posted.
  virtual bool inject(const std::byte*, std::size_t, Path) { return false; }
  virtual std::size_t inject_most() const { return 0; }
  /// Whether all that was posted for the path has left the process, where a frame behind it does not tell that.
  virtual bool left(Path) { return true; }
  /// Ends sends that have left, and nothing else: what has arrived waits for the next look.
  virtual void make_room() {}
  /// A frame that was left in the receive buffer has been delivered, or is not wanted any more.
  virtual void reuse(Buffer&) {}
  /// Whether the library is to match tags (ashlar_transport_context::tags_wanted). Before open().
  void want_tags(unsigned how) { tags_wanted_ = how; }
  /// 0: it does not.
  std::uint32_t tag_bits() const { return tag_bits_; }
  /// Bytes of the longest frame that it sends and receives. Since open().
  std::uint32_t frame_bytes() const { return frame_bytes_; }
  /// Receives that it may have at one time.
  std::uint64_t tag_receives() const { return tag_receives_; }
  /// Why not, in words.
  const std::string& no_tags() const { return no_tags_; }
  virtual bool tags_pay() const { return false; }
  virtual Posted post_tag(TagReceive&) { return Posted::kFailed; }
  /// It ends, cancelled or otherwise.
  virtual void cancel(TagReceive&) {}
  /// Its receives are not of one process: the sender is in the upper bits of tags of 64 bits, and what else a message
  /// says of itself is in front of its bytes (TagHead).
  bool senders_in_tags() const { return senders_in_tags_; }
  /// Such a library takes what no receive was posted for in one step, from whichever process.
  virtual Claimed claim(TagReceive&) { return Claimed::kNone; }
  /// The memory of a receive that waits for the rest of a message is written no more, though the library may keep the
  /// receive for ever. False: the library ends it.
  virtual bool abandon(TagReceive&) { return false; }
  /// Returns how much there was.
  virtual unsigned look() = 0;
  /// Ends a transfer that is under way: its memory is not used any more. False: the library ends it, and tells that.
  virtual bool abandon(Transfer&) { return false; }
  /// The library no longer has the transfer, whose memory may be given back.
  virtual void drop(Transfer&) {}

  /// Further devices like this one, over which peers' memory may be read as well, after open().
  unsigned rails() const { return rails_; }
  /// Why there are so many, in words.
  const std::string& why_rails() const { return why_rails_; }
  /// A fabric on one of them, which is not open. It takes reads of peers' memory and lets them read, and nothing else.
  virtual std::unique_ptr<Fabric> rail(unsigned) { return nullptr; }
  /// Whether a transfer to a process that the network does not reach any more ends within seconds, as cards give up
  /// then. Connections of the system wait for a quarter of an hour.
  virtual bool ends_soon() const { return true; }
  /// What devices of two processes have alike that reach each other.
  const std::string& network() const { return network_; }

  /// Sends and transfers that the library may have at one time.
  std::uint64_t sends() const { return sends_; }
  bool reads() const { return reads_; }
  /// Bytes of a transfer, at most. Since open().
  std::uint64_t transfer_most() const { return transfer_most_; }
  /// Bytes that may be under way from one peer whose memory is read; 0: all that are asked for. Since open().
  std::uint64_t in_flight() const { return in_flight_; }
  /// Whether it writes peers' memory, and tells the end of that when their processors find the bytes, without anything
  /// that they do.
  bool puts() const { return puts_; }
  /// Why the last post() failed.
  virtual std::string reason() const = 0;

  /// Becomes readable with the next arrival, after may_sleep(); -1: there is none.
  virtual int wake_fd() const = 0;
  virtual bool may_sleep() = 0;

  /// Tells the library of memory. False: reason() says why.
  virtual bool enlist(const void* memory, std::size_t bytes, unsigned uses, Registration* out) = 0;
  /// Peers cannot read there any more.
  virtual void delist(Registration& registration) = 0;
  /// How peers name enlisted memory from `memory` on.
  virtual RemoteKey key_of(const Registration& registration, const void* memory) const = 0;
  /// Whether it is a work to tell of memory, which is worth to be done once for many operations.
  virtual bool keeps() const = 0;
  /// Whether the library has to be told of memory that reads write and puts read: Transfer::region.
  virtual bool uses_known_memory() const { return false; }

 protected:
  std::string name_, device_, others_, why_, why_rails_, network_;
  unsigned rails_ = 0;
  std::uint64_t sends_ = 0, transfer_most_ = ~std::uint64_t{0}, in_flight_ = 0;
  bool reads_ = false, puts_ = false, senders_in_tags_ = false, has_hooks_ = false;
  unsigned tags_wanted_ = ASHLAR_TAGS_NEVER;
  std::uint32_t tag_bits_ = 0;
  std::uint64_t tag_receives_ = 0;
  std::uint32_t frame_bytes_ = 0;
  std::string no_tags_ = "the library does not match tags";
};

}  // namespace ashlar::network
