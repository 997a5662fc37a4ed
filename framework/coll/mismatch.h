#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/base/list.h"
#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/coll/call_log.h"
#include "framework/object/comm.h"

/// How ranks whose collective calls mismatch, or whose collective failed, inform each other, so that none waits for
/// ever.
///
///   rank 0   allreduce, waits      --- kCollectiveCall ---->   rank 1   bcast, waits: compares, its call differs
///            fails, with the       <-- kCollectiveFailed ---            fails, and reports that to every member
///            report in its text
///
/// Three places find a mismatch: the receiver of a message whose size or CallSignature is not its own (p2p), the shared
/// segment (components/coll/shm), and a rank that still waits after coll.compare_after, which sends its call to the two
/// neighbouring ranks (kCollectiveCall). Both of two neighbours that wait do so, so the later one to enter compares,
/// and wherever calls differ there are neighbours whose calls differ. One that enters later and need not wait compares
/// the calls that it was sent before when its own is over. A rank whose collective fails reports that to every member,
/// once (kCollectiveFailed). A member that can complete the collective nevertheless drops the report; one that still
/// waits coll.compare_after later fails with it. Ranks that went through one collective by different algorithms may
/// count later ones differently in shared memory; their positions show that. Those of one node count together, so ranks
/// that fail with a report from another node report that to their own. Where positions differ, the communicator's
/// collectives are over: every member is notified, and calls fail from then on.
namespace ashlar::coll {

struct Call;
struct CommState;

/// The payload of both notices.
struct Notice {
  enum : std::uint8_t {
    kBroken = 1,       // the communicator's collectives are over
    kFreed = 2,        // the sender has freed the communicator, and never called this collective
    kToOne = 4,        // an answer to one rank: the other members have not received this
    kRequestFreed = 8  // the sender has freed the persistent request, after as many starts as other_bytes says
  };
  static constexpr std::uint8_t kUnknown = 0xff;
  std::uint64_t bytes = 0;
  std::uint64_t position = 0;
  Rank root = 0;
  std::uint16_t error_class = 0;
  std::uint8_t what = 0;
  std::uint8_t flags = 0;
  // The call of a third rank with which the sender's mismatched; with kUnknown there was none.
  std::uint64_t other_bytes = 0;
  PeerId other = 0;
  Rank other_root = 0;
  std::uint8_t other_what = kUnknown;
  std::uint8_t unused[3] = {};
  std::uint32_t start = 0;  // LoggedCall::start: a notice is about one start of a persistent collective
};
static_assert(sizeof(Notice) == 48);

/// A notice as it arrived: about the collective `tag`, from another member.
struct FailureReport {
  Tag tag = -1;
  PeerId from = 0;
  Notice notice{};
  std::uint64_t due_ns = 0;  // when a collective that still waits fails with it
};

/// What a communicator knows of failures; part of its CommState.
struct FailureReports {
  /// Reports of collectives that are open here, or not called yet. Beyond that many the oldest is dropped.
  static constexpr std::size_t kMost = 64;
  std::vector<FailureReport> kept;
  /// Calls of members that wait in what this rank has not called, or not started, yet. They are compared when it has,
  /// and answered when it turns out that it never will. Beyond kMost the oldest is dropped.
  std::vector<FailureReport> asked;
  FailureReport latest;  // the last one that ended something
  bool broken = false;   // the communicator's collectives are over
  bool any = false;      // `broken`, or `kept` or `asked` is not empty: the one flag that calls read

  void update_any() { any = broken || !kept.empty() || !asked.empty(); }
};

/// The last collective of each communicator that was freed a short while ago, so that a neighbour which still waits in
/// one learns that this rank's last one was another.
struct FreedComms {
  static constexpr unsigned kRemembered = 64;
  struct FreedComm {
    std::uint32_t context = 0;
    Tag number = 0;   // of its last collective; the one before the first, when there was none
    LoggedCall last;  // that collective, when it is in the log
  };
  FreedComm entries[kRemembered];  // a circular queue, of which all() are valid
  std::uint64_t count = 0;         // freed since the start

  const FreedComm& add(const FreedComm& freed) { return entries[count++ % kRemembered] = freed; }
  std::span<const FreedComm> all() const {
    return {entries, static_cast<std::size_t>(std::min<std::uint64_t>(count, kRemembered))};
  }
};

/// A report about a communicator of which this rank has called no collective yet, or the call of a member that waits.
struct EarlyReport {
  static constexpr std::size_t kMost = 256;  // on one lane
  std::uint32_t context;
  bool asks;
  FailureReport report;
};

/// Puts a new state on its lane's list; the lane's lock is held.
void add_to_lane(CommState& state);
/// Has the lane remember a communicator that the program has freed: members that wait in a collective which this rank
/// has not called get their answer, now or when they ask. Once; the lane's lock is held.
void leave_on_lane(Comm& comm);
/// Leaves a communicator that is being destroyed, unless this rank has, and removes its state, if it has one, from the
/// lane's list; the lane's lock is held.
void remove_from_lane(Comm& comm);

/// Fails when the communicator's collectives are over. For a call that is about to begin while FailureReports::any.
Status may_begin(CommState& state, LoggedCall& called);
/// Logs a persistent collective whose request was made, and that it was freed: members compare their starts with it.
void log_request(CommState& state, Tag tag, const Call& call);
void log_request_freed(CommState& state, Tag tag);

/// Ends a collective on this rank. A failure that the other members may not know is reported to them.
void end_call(CommState& state, Tag tag, Status outcome);
/// Ok, or why the collective with this number cannot complete.
Status can_go_on(CommState& state, Tag tag);

}  // namespace ashlar::coll
