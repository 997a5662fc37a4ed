#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "components/transport/common/buffer.h"
#include "components/transport/common/record.h"
#include "framework/plugin/stripes.h"
#include "framework/plugin/transport.h"

namespace ashlar::network {

class Interface;
class StripedReads;
struct Region;

/// A read of the peer's memory, or a put there: Operation::what says which.
struct Transfer : Operation {
  void* here = nullptr;
  RemoteKey there = {};
  std::uint64_t offset = 0, length = 0;
  ashlar_completion* done = nullptr;  // nullptr: nothing waits for it any more
  Region* region = nullptr;           // of the memory here, where the library has to know that
  std::uint8_t rail = 0;              // that it goes over; 0: the interface's first fabric
  bool part = false;                  // of a large read, which counts its bytes
  // What lasts until the library has ended it, the region among it, and maybe `done`. Empty: the region is the
  // transfer's own.
  std::shared_ptr<const void> keeps;
};

/// Reads of so many bytes over the first fabric count for what the path costs.
inline constexpr std::uint64_t kMeasuredFrom = 64 * 1024;
inline bool is_measured(const Transfer& transfer) {
  return transfer.what != Operation::What::kPut && transfer.rail == 0 && transfer.length >= kMeasuredFrom;
}

/// Reads that count for Fabric::in_flight(). Those over several rails are asked for as the rails take them.
inline bool is_bounded(const Transfer& transfer) { return transfer.what != Operation::What::kPut && !transfer.part; }

/// A frame, or several behind each other, that arrived before one that was sent earlier. A library may bring a long
/// message later than short ones behind it, though they have taken receive buffers in order.
struct OutOfOrder {
  const std::byte* bytes;
  std::size_t length;
  Buffer* in;
};

/// The way to one process: known by connect(), by its Hello, or both. There is a session for each direction.
struct Endpoint : ashlar_endpoint {
  Endpoint();
  ~Endpoint();

  enum class Way {
    kDown,      // nothing is sent
    kGreeting,  // the Hello is unanswered; messages wait
    kOpen,
    kFailed
  };

  Interface* iface = nullptr;
  std::uint64_t nonce = 0;      // of the peer's interface
  bool held = false;            // by the kernel: between connect() and disconnect()
  bool left = false;            // it has said Bye
  std::uint64_t parted_at = 0;  // ns: when the kernel has parted from it
  Path at = kNoPath;
  std::string failure;

  // What is sent there.
  Way way = Way::kDown;
  Record record;
  std::uint64_t session = 0;
  SessionKeys keys = {};
  std::uint32_t number = 0;    // of the last message
  BufferQueue first, waiting;  // those of the session's beginning; messages
  Buffer* batch = nullptr;     // takes short messages, behind those that wait
  std::uint64_t bytes_out = 0, under_way = 0;
  std::uint32_t burst = 0, burst_round = 0;  // short messages that left at once in that round of progress
  std::uint32_t injected = 0;                // messages that the library has copied, since the last whose end it tells
  bool to_flush = false;
  std::uint64_t greeted_at = 0, greet_again_at = 0;
  std::uint64_t round_trip = ~std::uint64_t{0};  // ns, the shortest: from the Hello to its answer, or between the hosts
  plugin::RailMeter meter;                       // of large reads

  std::uint64_t tag_proof = 0;  // of this process, in front of tagged messages

  // What comes from there.
  std::uint64_t token_in = 0;  // 0: no session
  std::uint64_t session_in = 0;
  std::uint32_t number_in = 0;  // of the last message
  std::vector<OutOfOrder> out_of_order;
  std::uint64_t out_of_order_since = 0;  // ns; that the frame before them is missing
  std::uint64_t job[2] = {};             // as its Hello says, and its rank there
  std::uint32_t rank = 0;
  std::uint64_t tag_proof_in = 0;

  std::deque<Transfer*> transfers_waiting;
  std::set<Transfer*> transfers;                          // the library has them
  std::uint64_t reading = 0;                              // bytes of these that is_bounded() counts
  std::unique_ptr<StripedReads> striped;                  // since the first large read
  std::vector<std::pair<std::uint8_t, Path>> rail_paths;  // that rails know the peer by

  // Whether the process is there (Liveness).
  HostAddress alive = {};
  bool was_there = false;
  std::uint64_t asked_at = 0, silent_since = 0, refused_at = 0;
  std::uint64_t give_up_at = 0;  // when transfers that the library has are waited for no longer; 0: not yet
};

extern const ashlar_endpoint_ops kEndpointOps;
/// What is said of an endpoint that has failed.
ashlar_result is_gone(const Endpoint& peer);
/// The head of the next message to the peer.
Frame next_frame(const Endpoint& peer, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, std::uint16_t length);

}  // namespace ashlar::network
