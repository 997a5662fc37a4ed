#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "framework/base/status.h"
#include "framework/datatype/copy.h"
#include "framework/rma/guard.h"
#include "framework/rma/way.h"

/// What operations do to memory: by the origin in mapped memory, by the owner for messages, by the owner for itself.
/// Every path of every component ends here, so there is one discipline. `window`: where the target's window begins in
/// this process. Any thread. Nothing here makes progress or takes a lane's lock.
namespace ashlar::rma {

namespace detail {
void put_layouts(std::byte* window, const DataView& origin, const Place& place);
void get_layouts(const std::byte* window, const DataView& origin, const Place& place);
void copy_long(void* to, const void* from, std::size_t bytes);

// Short ones without a call; what has the size of a word is stored whole.
inline void copy_dense(void* to, const void* from, std::size_t bytes) {
  if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(to, from, sizeof(std::uint64_t));
  } else if (bytes <= 64) {
    datatype::copy_piece(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  } else {
    copy_long(to, from, bytes);
  }
}
}  // namespace detail

/// Copies between the origin's layout and the target's. The signatures agree, and the two do not overlap.
inline void put(std::byte* window, const DataView& origin, const Place& place) {
  if (!origin.dense() || !place.type->dense()) [[unlikely]]
    return detail::put_layouts(window, origin, place);
  detail::copy_dense(place.in(window).data, origin.data, static_cast<std::size_t>(origin.bytes()));
}
inline void get(const std::byte* window, const DataView& origin, const Place& place) {
  if (!origin.dense() || !place.type->dense()) [[unlikely]]
    return detail::get_layouts(window, origin, place);
  detail::copy_dense(origin.data, place.in(window).data, static_cast<std::size_t>(origin.bytes()));
}

/// Makes `update` of mapped memory, atomic per element against all others under an equal guard. Waits at most as long
/// as another process is inside a range or a locked update. The pair (op, element) was checked.
Status apply(const Guard& guard, std::byte* window, const Update& update);

/// The same for a row of `n` aligned elements with atomic_width() under a guard of kElements: at[i] = in[i] op at[i];
/// out[i] is what was there, unless `out` is nullptr. `in` and `out` may lie anywhere.
void apply_row(const Guard& guard, const ReduceOp& op, Datatype& element, std::byte* at, const std::byte* in,
               std::byte* out, std::size_t n);

/// Memory of a process that this one cannot map: a window that begins at the number `window` there. Runs are addresses
/// there with lengths, in packed order.
class FarMemory {
 public:
  explicit FarMemory(std::uint64_t window_begins) : window(window_begins) {}
  /// Copies the runs, one behind the other, to `to`, or from `from`; a failure is final. Returns 0 or an errno.
  virtual int read(void* to, std::span<const iovec> runs) = 0;
  virtual int write(const void* from, std::span<const iovec> runs) = 0;

  static constexpr std::size_t kRuns = 256;  // at most, in a call
  const std::uint64_t window;

 protected:
  ~FarMemory() = default;
};
/// The same through copies, all but the first `done` packed bytes, under the lock of `guard`, whose kind is kLocked.
/// *failed: an errno when a copy
/// failed, else 0: the update may be done in part.
Status apply_far(const Guard& guard, FarMemory& memory, const Update& update, std::size_t done, int* failed);

}  // namespace ashlar::rma
