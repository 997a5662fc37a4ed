#pragma once
#include <cstdint>
#include <map>
#include <mutex>

#include "framework/base/status.h"

namespace ashlar::comm {

/// The context ids that this process has taken: even 32-bit numbers that tell the traffic of communicators apart. Every
/// process counts upwards and never takes a number twice, so a range of ids that is free for all of a set of processes
/// begins at the largest of their next numbers: one reduction, flat in the number of communicators alive, nothing to
/// give back. A communicator's members agree on a range for its children ahead of need, and twice as many each time:
/// most communicators are made without a single message about ids. Disjoint children may share one. With threads, two
/// agreements of one process may run at once and end at the same numbers; they then claim them, and all members repeat
/// the round when one of them could not. A round carries "threads are on", so that processes without threads pay
/// nothing.
class ContextIds {
 public:
  struct Proposal {
    std::int64_t next;     // the smallest id this process can take
    std::int64_t threads;  // 1: confirm, because an agreement may run beside this one
  };
  Proposal propose();
  /// Takes [id, end); false when another agreement of this process took a part of it meanwhile.
  bool claim(std::int64_t id, std::int64_t end);

  /// An agreement that does not wait has begun (+1) or is over (-1): others may then run beside it, as with threads.
  void set_in_flight(int change);

  /// Ids of the communicators that exist without agreement, those for the first children of MPI_COMM_WORLD, and the
  /// first that is agreed on.
  static constexpr std::uint32_t kWorld = 0, kSelf = 2, kEveryone = 4, kWorldChildren = 6, kFirst = 262;
  static constexpr std::uint32_t kStep = 2;  // from one id to the next: a communicator's collectives have the odd one
  static constexpr std::int64_t kEnd = 0x7ffffffe;  // the highest bit: kOwnGroupContext

 private:
  bool overlaps_taken(std::int64_t id, std::int64_t end) const;

  std::mutex mutex_;  // guards all below
  std::int64_t next_ = kFirst;
  int in_flight_ = 0;
  // Ranges [first, second) above next_ that agreements took while a smaller one was still open. Empty unless threads
  // are on.
  std::map<std::int64_t, std::int64_t> taken_ahead_;
};

/// Fails when the numbers are used up.
Status ids_left(std::int64_t begin, std::int64_t span);

/// One reduction over whatever set of processes takes part: `max_over(values, n)` makes each value the largest of all.
/// Ends with `*context` the first of `span` / 2 ids that all of them have taken; `ids` are those of this process.
template <class MaxOver>
Status agree_with(ContextIds& ids, MaxOver&& max_over, std::int64_t span, std::uint32_t* context) {
  std::int64_t floor = 0;
  for (;;) {
    const ContextIds::Proposal mine = ids.propose();
    std::int64_t values[2] = {mine.next > floor ? mine.next : floor, mine.threads};
    ASHLAR_TRY(max_over(values, 2));
    const std::int64_t begin = values[0];
    ASHLAR_TRY(ids_left(begin, span));
    std::int64_t refused = ids.claim(begin, begin + span) ? 0 : 1;
    if (values[1] != 0) ASHLAR_TRY(max_over(&refused, 1));
    if (refused == 0) {
      *context = static_cast<std::uint32_t>(begin);
      return {};
    }
    floor = begin + span;
  }
}

}  // namespace ashlar::comm
