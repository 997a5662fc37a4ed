#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/rma/guard.h"
#include "framework/rma/way.h"

/// What operations do to memory: by the origin in mapped memory, by the owner for messages, by the owner for itself.
/// Every path of every component ends here, so there is one discipline. `window`: where the target's window begins in
/// this process. Any thread. Nothing here makes progress or takes a lane's lock.
namespace ashlar::rma {

/// Copies between the origin's layout and the target's, without a buffer between. The signatures agree.
void put(std::byte* window, const DataView& origin, const Place& place);
void get(const std::byte* window, const DataView& origin, const Place& place);

/// Makes `update` of mapped memory, atomic per element against all others under an equal guard. Waits at most as long as
/// another process is inside a range or a locked update. `element` is not looked up again: the pair (op, element) was
/// checked.
Status apply(const Guard& guard, std::byte* window, const Update& update);

/// Memory of a process that this one cannot map. Offsets count from the beginning of the window.
class FarMemory {
 public:
  /// Copies; a failure is final. Returns 0 or an errno.
  virtual int read(void* to, MPI_Aint offset, std::size_t bytes) = 0;
  virtual int write(const void* from, MPI_Aint offset, std::size_t bytes) = 0;

 protected:
  ~FarMemory() = default;
};
/// The same through copies, all of it under the lock of `guard`, whose kind is kLocked. *failed: an errno when a copy
/// failed: the update may be done in part.
Status apply_far(const Guard& guard, FarMemory& memory, const Update& update, int* failed);

}  // namespace ashlar::rma
