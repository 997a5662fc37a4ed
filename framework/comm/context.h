#pragma once
#include <cstdint>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Group;
}  // namespace ashlar
namespace ashlar::comm {

/// Context ids: even 32-bit numbers that tell the traffic of communicators apart. Every process counts upwards and
/// never hands out a number twice, so a range of ids that is free for all of a set of processes begins at the largest
/// of their next numbers: one reduction, flat in the number of communicators alive, nothing to give back. A
/// communicator's members agree on a range for its children ahead of need, and twice as many each time: most
/// communicators are made without a single message about ids. Disjoint children may share one.
/// With threads, two agreements of one process may run at once and end at the same numbers; they then claim them, and
/// all members repeat the round when one of them could not. A round carries "threads are on" so that nobody else pays.
class ContextIds {
 public:
  struct Proposal {
    std::int64_t next;     // the smallest id this process can take
    std::int64_t threads;  // 1: confirm, because an agreement may run beside this one
  };
  static Proposal propose();
  /// Takes [id, end); false when another agreement of this process took a part of it meanwhile.
  static bool claim(std::int64_t id, std::int64_t end);

  /// An agreement that does not wait has begun (+1) or is over (-1): others may then run beside it, as with threads.
  static void set_in_flight(int change);

  /// Ids of the communicators that exist without agreement, those for the first children of MPI_COMM_WORLD, and the
  /// first that is agreed on.
  static constexpr std::uint32_t kWorld = 0, kSelf = 2, kEveryone = 4, kWorldChildren = 6, kFirst = 262;
  static constexpr std::uint32_t kStep = 2;  // from one id to the next: a communicator's collectives have the odd one
  static constexpr std::int64_t kEnd = 0x7ffffffe;  // the highest bit: kOwnGroupContext
};

/// The next id for a child of `comm`. Collective over `comm`.
Status take_id(Comm& comm, std::uint32_t* context);
/// The same without waiting: false when an agreement is due first (and nothing was taken).
bool take_agreed_id(Comm& comm, std::uint32_t* context);
/// How many ids the next agreement of `comm` is about, as a distance: twice what the last one was.
std::int64_t next_range(const Comm& comm);

/// Agrees on one id over `group`, a subset of `comm`'s members, with messages of `comm` under `tag`.
Status agree(Comm& comm, Group& group, int tag, std::uint32_t* context);

/// Fails when the numbers are used up.
Status ids_left(std::int64_t begin, std::int64_t span);

/// One reduction over whatever set of processes takes part: `max_over(values, n)` makes each value the largest of all.
/// Ends with `*context` the first of `span` / 2 ids that all of them have taken.
template <class MaxOver>
Status agree_with(MaxOver&& max_over, std::int64_t span, std::uint32_t* context) {
  std::int64_t floor = 0;
  for (;;) {
    const ContextIds::Proposal mine = ContextIds::propose();
    std::int64_t values[2] = {mine.next > floor ? mine.next : floor, mine.threads};
    ASHLAR_TRY(max_over(values, 2));
    const std::int64_t begin = values[0];
    ASHLAR_TRY(ids_left(begin, span));
    std::int64_t refused = ContextIds::claim(begin, begin + span) ? 0 : 1;
    if (values[1] != 0) ASHLAR_TRY(max_over(&refused, 1));
    if (refused == 0) {
      *context = static_cast<std::uint32_t>(begin);
      return {};
    }
    floor = begin + span;
  }
}

}  // namespace ashlar::comm
