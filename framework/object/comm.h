#pragma once
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "framework/base/types.h"
#include "framework/object/attributes.h"
#include "framework/object/errhandler.h"
#include "framework/object/group.h"
#include "framework/object/name.h"
#include "framework/object/object.h"

namespace ashlar {

struct Lane;  // framework/progress
struct Peer;  // framework/progress
class Topology;
struct CommHints;  // framework/comm

namespace coll {
struct CommState;  // per-communicator state of the collective runtime; made and destroyed by framework/coll
}

namespace p2p {
class SendBuffer;
struct Traffic;
}  // namespace p2p

/// The data of a communicator. Its constructors are in framework/comm, because making one takes a collective; the
/// collectives need this class. Members are read by the short path; they do not change after construction except
/// where said.
class Comm : public Object {
 public:
  Comm() : Object(Kind::kComm) {}

  // --- short path, in the order it reads them -----------------------------------------------------------------------
  /// Context of point-to-point traffic; collective traffic uses context + 1. Even, agreed by all members.
  std::uint32_t context = 0;
  Rank rank = 0;           // of this process in the local group
  int size = 0;            // of the local group
  int remote_size = 0;     // of the group that ranks in calls refer to: the local one, or an intercommunicator's remote
  Peer** peers = nullptr;  // [remote_size], by that rank; an entry is made on first use (progress::peer_of)
  Lane* lane = nullptr;
  bool inter = false;
  bool revoked = false;         // changes, once
  std::uint8_t assertions = 0;  // what the user promised of all traffic here: Assertion bits
  std::uint8_t enforced = 0;    // of these, with check.hints: breaking the promise is an error
  bool left = false;            // changes, once: this process calls no collective here any more (coll::leave)

  // --- set-up path --------------------------------------------------------------------------------------------------
  /// Context ids that all members have agreed to keep for communicators made from this one, as [next, end): making one
  /// then takes no message. The same on every member. The last is how long that range was when it was agreed on.
  std::uint32_t child_context = 0, child_context_end = 0, child_context_range = 0;
  Ref<Group> local_group;
  Ref<Group> remote_group;  // equals local_group when not inter
  /// Of an intercommunicator: the members of the local group among themselves, for collectives and for the making of
  /// more communicators. Owned; never seen by users.
  Comm* local_comm = nullptr;
  Ref<Errhandler> errhandler;
  bool errhandler_set = false;  // by the program on this communicator, rather than inherited
  CommName name;
  AttributeSet attributes;
  std::shared_ptr<const Topology> topology;  // nullptr: none; never in an intercommunicator
  std::shared_ptr<const CommHints> hints;    // what the user asked for with info objects; nullptr: nothing
  std::uint32_t eager_limit = 0;             // bytes of the largest message sent eagerly here; 0: as the link
  coll::CommState* coll = nullptr;
  p2p::SendBuffer* send_buffer = nullptr;       // for buffered sends on this communicator; p2p makes and drops it
  std::atomic<p2p::Traffic*> traffic{nullptr};  // messages by rank, once a tool counts them; p2p makes and drops it
  std::uint32_t collective_sequence = 0;        // number of collectives started: their tag; the same on every member
  std::shared_ptr<Peer*[]> peer_table;          // storage behind `peers`; communicators of equal groups share it

  /// mpi_assert_no_any_tag, _no_any_source, _exact_length, _allow_overtaking.
  enum Assertion : std::uint8_t { kNoAnyTag = 1, kNoAnySource = 2, kExactLength = 4, kAllowOvertaking = 8 };
  static constexpr Tag kTagMax = 0x7fffffff;
};

void destroy(Comm* comm);  // framework/comm

}  // namespace ashlar
