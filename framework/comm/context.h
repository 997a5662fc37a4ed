#pragma once
#include <cstdint>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Group;
}  // namespace ashlar
namespace ashlar::comm {

/// Context ids: even 32-bit numbers that tell the traffic of communicators apart. Every process counts upwards and never
/// hands out a number twice, so a communicator's id is the largest of its members' next numbers: one reduction, flat in
/// the number of communicators alive, nothing to give back.
/// With threads, two agreements of one process may run at once and end at the same number; they then claim it, and all
/// members repeat the round when one of them could not. A round carries "threads are on" so that nobody else pays.
class ContextIds {
 public:
  struct Proposal {
    std::int64_t next;     // the smallest id this process can take
    std::int64_t threads;  // 1: confirm, because an agreement may run beside this one
  };
  static Proposal propose();
  /// Takes `id`; false when another agreement of this process took it meanwhile.
  static bool claim(std::int64_t id);

  /// Ids of the communicators that exist without agreement.
  static constexpr std::uint32_t kWorld = 0, kSelf = 2, kFirst = 4;
};

/// Agrees over all members of `comm`.
Status agree(Comm& comm, std::uint32_t* context);
/// Agrees over `group`, a subset of `comm`'s members, with messages of `comm` under `tag`.
Status agree(Comm& comm, Group& group, int tag, std::uint32_t* context);

}  // namespace ashlar::comm
