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

/// Ranks whose collective calls do not agree, or whose collective failed, tell each other, so that none waits for ever.
///
/// Three places find a disagreement: the receiver of a message whose size or CallWord is not its own (p2p), the shared
/// segment (components/coll/shm), and a rank that still waits after coll.compare_after, which tells the ranks beside it
/// what it called (kCollectiveCall). Each of two neighbours that wait tells the other, so the later one to enter is
/// compared, and wherever calls differ there are neighbours whose calls differ.
/// A rank whose collective fails reports that to every member, once (kCollectiveFailed). A member whose collective can
/// come to its end all the same does not hear of it; one that still waits coll.compare_after later fails with the
/// report. Ranks that took different ways through one collective may count later ones differently in shared memory;
/// their positions tell. Then the communicator's collectives are over: all members are told, and calls fail from then
/// on.
namespace ashlar::coll {

struct CommState;

/// The payload of both notices.
struct Notice {
  enum : std::uint8_t {
    kBroken = 1,  // the communicator's collectives are over
    kFreed = 2,   // the sender has freed the communicator, and never called this collective
    kToOne = 4    // an answer: the others have not been told this
  };
  static constexpr std::uint8_t kUnknown = 0xff;
  std::uint64_t bytes = 0;
  std::uint64_t position = 0;
  Rank root = 0;
  std::uint16_t error_class = 0;
  std::uint8_t what = 0;
  std::uint8_t flags = 0;
  // The call that showed that the sender's could not come to its end; with kUnknown there was none.
  std::uint64_t other_bytes = 0;
  PeerId other = 0;
  Rank other_root = 0;
  std::uint8_t other_what = kUnknown;
  std::uint8_t unused[7] = {};
};
static_assert(sizeof(Notice) == 48);

/// A report that another member sent.
struct Report {
  Tag tag = -1;
  PeerId from = 0;
  Notice notice;
  std::uint64_t due_ns = 0;  // a collective that still waits then fails with it
};

/// What a communicator knows of failures; part of its CommState.
struct Troubles {
  /// Reports of collectives that are open here, or that this rank has not called yet. Beyond that many the oldest is
  /// dropped.
  static constexpr std::size_t kMostReports = 64;
  std::vector<Report> reports;
  Report latest;        // the last one that ended something
  bool broken = false;  // no collective can be called any more
  bool any = false;     // `broken`, or `reports` is not empty: calls take a look
};

/// What a lane remembers of communicators that were freed a short while ago, so that a neighbour which still waits in a
/// collective of one learns that its last one was another.
struct Freed {
  static constexpr unsigned kRemembered = 64;
  struct Entry {
    std::uint32_t context = 0;
    Called last;
  };
  Entry entries[kRemembered];  // of which the first `noted` mean something
  std::uint64_t noted = 0;     // so many were freed

  void note(std::uint32_t context, const Called& last) { entries[noted++ % kRemembered] = {context, last}; }
  std::span<const Entry> all() const {
    return {entries, static_cast<std::size_t>(std::min<std::uint64_t>(noted, kRemembered))};
  }
};

/// The collectives' records of one lane. Guarded by its lock.
struct LaneRecords {
  List<CommState> states;
  Freed freed;
  /// Reports about communicators of which this rank has called no collective yet. Beyond that many the oldest is
  /// dropped.
  struct Early {
    std::uint32_t context;
    Report report;
  };
  static constexpr std::size_t kMostEarly = 256;
  std::vector<Early> early;
};

/// Puts a new state on its lane's list, and back; the lane's lock is held.
void watch(CommState& state);
void unwatch(CommState& state);

/// For a call that is about to begin while Troubles::any: fails when the communicator has no collectives any more.
Status may_begin(CommState& state, Called& called);
/// The end of a collective on this rank. A failure that the others may not know is reported.
void left(CommState& state, Tag tag, Status outcome);
/// Ok, or why the collective with this number cannot go on.
Status can_go_on(CommState& state, Tag tag);

}  // namespace ashlar::coll
