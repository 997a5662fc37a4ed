#pragma once
#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"

namespace ashlar {
class RmaWindow;
}
namespace ashlar::rma {

/// One run of bytes that an operation accesses at a target.
struct LoggedAccess {
  enum class Kind : std::uint8_t { kPut, kGet, kAccumulate, kGetAccumulate, kCompareAndSwap };

  std::uint64_t begin = 0, end = 0;  // bytes of the target's window; of a dynamic one, addresses
  Rank origin = 0;
  std::uint32_t op = 0, element = 0;  // constants of the standard; of the accumulate family
  std::uint32_t element_bytes = 0;
  Kind kind = Kind::kPut;
  bool no_op = false;    // `op` is MPI_NO_OP
  bool passive = false;  // in an epoch of a lock: over at the origin's next flush

  bool updates() const { return kind == Kind::kPut || (kind != Kind::kGet && !no_op); }
  bool accumulates() const { return kind >= Kind::kAccumulate; }
};

/// Whether the outcome of the two is undefined when nothing orders them (MPI-5.0, 12.7). `strict`: accumulate_ops is
/// same_op, so that MPI_NO_OP beside another operation is a conflict, too.
bool conflict(const LoggedAccess& a, const LoggedAccess& b, bool strict);

/// The name of the call that makes such an access.
const char* call_of(const LoggedAccess& access);

/// The accesses to each process's memory that are not complete: a table of each target, in a window of the library's
/// own, which origins change under an exclusive lock. One thread at a time.
class AccessLog {
 public:
  /// Collective over `window`'s processes.
  Status make(RmaWindow& window, std::uint64_t most);
  ~AccessLog();

  /// Adds `runs`, which are all of one operation. `*other`: the first access in the table that conflicts with one of
  /// them, and `*own` that one; `*found`: whether there is any.
  Status add(Rank target, std::span<const LoggedAccess> runs, bool strict, LoggedAccess* own, LoggedAccess* other,
             bool* found);
  /// Those of this process's accesses that belong to passive epochs are complete.
  Status complete_passive(Rank target);
  /// Every access to this process's own memory by active target synchronization is complete. `*first_update`: one that
  /// updated it, unless its `end` is 0.
  Status complete_active(LoggedAccess* first_update);
  /// How many updates of this process's own memory have begun, ever.
  Status updates(std::uint64_t* count);

 private:
  struct Head {
    std::uint64_t count = 0;
    std::uint64_t updates = 0;
    std::uint64_t lost = 0;  // accesses that had no room
  };
  class Turn;

  RmaWindow* log_ = nullptr;
  std::uint64_t most_ = 0;
};

}  // namespace ashlar::rma
