#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/datatype/data_view.h"
#include "framework/match/queues.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/wire.h"
#include "framework/progress/peer.h"
#include "framework/progress/request.h"

namespace ashlar::p2p {

struct BufferedMessage;
struct UnansweredRts;

/// The MPI procedure that made an operation, for sentences about it.
enum class Procedure : std::uint8_t {
  kSend,
  kSsend,
  kRsend,
  kIsend,
  kIssend,
  kIrsend,
  kSendInit,
  kSsendInit,
  kRsendInit,
  kBsend,
  kIbsend,
  kBsendInit,
  kRecv,
  kIrecv,
  kRecvInit,
  kPsendInit,
  kPrecvInit,
  kMrecv,
  kImrecv,
  kSendrecv,
  kIsendrecv,
  kCollective
};
const char* name_of(Procedure call);

/// When a send is complete, and what its receiver does with it.
enum class SendMode : std::uint8_t {
  kStandard,     // complete when the buffer may be used again; buffered sends, and ready ones without check.ready, too
  kSynchronous,  // complete when it is matched
  kReady         // check.ready: synchronous, and refused by a receiver that has not posted a matching receive
};

/// How a message travels.
enum class Protocol : std::uint8_t {
  kEager,      // with its envelope
  kRendezvous  // the envelope asks first (RTS); the receiver then reads the message, or asks for fragments (CTS)
};

extern const RequestOps kSendOps;
extern const RequestOps kSentOps;  // a nonblocking send that left at once: recall.h
extern const RequestOps kRecvOps;
extern const RequestOps kBufferedOps;  // a persistent buffered send, which is a SendRequest too

/// A send or a receive in flight.
class Operation : public Request, public ActiveHook {  // hook: Link::active, while it waits for an answer
 public:
  Operation(const RequestOps& o, Comm& c, Procedure by, const DataView& view, MPI_Count bytes_of_view)
      : Request(o, c), data(view), size(bytes_of_view), call(by) {}
  ~Operation() {
    if (shares_objects_) release_objects();
  }

  /// Takes references to the communicator and the datatype, for an operation that outlives its call. Blocking calls
  /// need none: their caller keeps both.
  void share_objects();

  DataView data;
  MPI_Count size;        // bytes of `data`: to send, or room to receive into
  Link* link = nullptr;  // once the other side is known and connected
  Procedure call;
  bool collective = false;  // uses the communicator's collective context

 private:
  bool shares_objects_ = false;  // here because it fills a gap: see the size of RecvRequest

 public:
  std::uint32_t post = 0;  // of a receive: the number under which it is posted in shared memory

  std::uint32_t name() const { return wire_name(static_cast<const Object*>(this), lane().index); }
  std::uint32_t context() const { return comm->context + (collective ? 1u : 0u); }
  bool awaits() const { return ActiveHook::linked(); }
  /// Takes it off the link's list of active operations.
  void settle() {
    if (awaits()) List<ActiveHook>::remove(this);
  }

 private:
  void release_objects();
};

/// A message of which the receiver has said that nothing can receive it any more. A request that is used again keeps
/// this of the message before: with the same link and envelope, the later message cannot be received either.
struct Returned {
  const Link* link = nullptr;
  std::uint64_t place = 0;
  Tag tag = 0;
  bool operator==(const Returned&) const = default;
};

/// A send that did not leave at once. Its `source` and `tag` are where it goes.
class SendRequest : public Operation, public Pending {
 public:
  SendRequest(Comm& c, Procedure by, const DataView& view, MPI_Count bytes_of_view, Rank dest, Tag with_tag);

  SendMode mode = SendMode::kStandard;
  Protocol protocol = Protocol::kEager;
  bool matched = false;                 // the receiver has sent a CTS: too late to cancel
  bool left_eager = false;              // complete because it left as kEager: it may still be recalled
  bool cancelling = false;              // its RTS has left, followed by kCancel
  BufferedMessage* kept = nullptr;      // a buffered send's place in the buffer
  UnansweredRts* unanswered = nullptr;  // its RTS has left: looks for its receive in shared memory
  SendRequest* next_sent = nullptr;     // of kSentOps, while it is free
  bool asked = false;                   // its RTS has left
  bool exposed = false;                 // `key` is valid at the link's interface
  std::uint32_t remote = 0;             // the receiver's operation, after kCts; of kSentOps its own name
  std::uint64_t sent = 0, wanted = 0;   // packed bytes, after kCts
  std::uint64_t from = 0;               // of kSentOps: what the message said of its context and source
  CallSignature called;                 // of a collective's message
  Returned returned;
  ashlar_key key;  // NOLINT: written when exposed

  Pending& pending() { return *this; }
  static SendRequest& of(Pending& work) { return static_cast<SendRequest&>(work); }
};

struct Pull;

/// A receive; posted while it is filed in the queue. Its key says what it asks for.
class RecvRequest : public Operation, public match::Entry {
 public:
  RecvRequest(Comm& c, Procedure by, const DataView& view, MPI_Count bytes_of_view)
      : Operation(kRecvOps, c, by, view, bytes_of_view) {}

  std::uint64_t received = 0;  // packed bytes of a fragmented message; those that its sender has written here itself
  Pull* pull = nullptr;        // while it reads from the sender's memory

  /// What this rank called, in a collective's receive that nothing has matched yet; then its bytes are not known.
  void set_called(CallSignature called) { bytes = static_cast<MPI_Count>(called.value); }
  CallSignature called() const { return CallSignature{static_cast<std::uint64_t>(bytes)}; }
};

static_assert(sizeof(RecvRequest) <= 3 * kCacheLine - sizeof(void*), "a slab cell of three cache lines");

/// Reading a large message from the sender's memory.
struct Pull : Pending, ashlar_completion {
  explicit Pull(RecvRequest& r) : request(&r) {}
  RecvRequest* request;
  std::uint32_t remote = 0;  // the sender's operation
  std::uint64_t done_bytes = 0, asked = 0;
  ashlar_key key;  // NOLINT: set at once
};

/// A message that no receive wanted yet: the arrival as it was, with the payload kept.
struct Arrival : match::Message {
  static constexpr std::uint32_t kInline = 64;
  ashlar_am am;       // NOLINT: set at once
  bool lost = false;  // no memory for the payload
  std::byte storage[kInline];
  std::uint64_t weight() const { return sizeof(Arrival) + (am.length > kInline ? am.length : 0); }
};

/// The active operation of that name and kind, or nullptr.
template <class T>
T* named(std::uint32_t name, const RequestOps& ops) {
  void* const at = at_name(name);
  if (!Arena::contains(at)) return nullptr;
  auto* const request = static_cast<Request*>(static_cast<Object*>(at));
  if (request->kind != Kind::kRequest || request->ops != &ops || !request->active()) return nullptr;
  return static_cast<T*>(request);
}

}  // namespace ashlar::p2p
