// Updates of memory that this process cannot map: read, combined and written back under the target's lock.
#include <algorithm>
#include <memory>
#include <new>

#include "framework/rma/apply.h"
#include "framework/rma/combine.h"
#include "framework/rma/pieces.h"
#include "framework/rma/update_lock.h"

namespace ashlar::rma {
namespace {

using Code = ReduceOp::Code;

// The target's runs from packed byte `first` on, at most `bytes` in all, which *covered counts.
std::size_t runs_of(const DataView& target, std::size_t first, std::size_t bytes, iovec* runs, std::size_t* covered) {
  const std::size_t listed = datatype::runs(target, first, FarMemory::kRuns, runs);
  std::size_t used = 0;
  for (*covered = 0; used < listed && *covered < bytes; ++used) {
    runs[used].iov_len = std::min(runs[used].iov_len, bytes - *covered);
    *covered += runs[used].iov_len;
  }
  return used;
}

class FarUpdate {
 public:
  FarUpdate(FarMemory& memory, const Update& u, const DataView& target) : memory_(memory), u_(u), target_(target) {}

  int piece(std::size_t first, std::size_t bytes, const std::byte* in, std::byte* out, std::byte* buffer) {
    iovec runs[FarMemory::kRuns];
    const auto size = static_cast<std::size_t>(u_.element.size());
    for (std::size_t done = 0; done < bytes;) {
      std::size_t now = 0;
      std::size_t count = runs_of(target_, first + done, bytes - done, runs, &now);
      if (now % size != 0) count = whole_elements(runs, count, &now, size);
      const std::byte* const from = in == nullptr ? in : in + done;
      const int failed = exchange({runs, count}, now, from, out == nullptr ? out : out + done, buffer);
      if (failed != 0) return failed;
      done += now;
    }
    return 0;
  }

 private:
  // A pair's holes may have cut the last element that is listed: it is left for the next call.
  static std::size_t whole_elements(iovec* runs, std::size_t count, std::size_t* covered, std::size_t size) {
    std::size_t over = *covered % size;
    *covered -= over;
    for (; over > 0; --count) {
      const std::size_t cut = std::min(over, runs[count - 1].iov_len);
      runs[count - 1].iov_len -= cut;
      over -= cut;
      if (runs[count - 1].iov_len != 0) break;
    }
    return count;
  }

  int exchange(std::span<const iovec> runs, std::size_t bytes, const std::byte* in, std::byte* out, std::byte* buffer) {
    const Code code = u_.op.code();
    if (code == Code::kReplace && u_.compare == nullptr) {
      if (out != nullptr)
        if (const int failed = memory_.read(out, runs); failed != 0) return failed;
      return memory_.write(in, runs);
    }
    if (const int failed = memory_.read(buffer, runs); failed != 0) return failed;
    if (out != nullptr) std::memcpy(out, buffer, bytes);
    if (code == Code::kNoOp) return 0;
    if (u_.compare != nullptr && std::memcmp(buffer, u_.compare, bytes) != 0) return 0;
    combine_packed(u_.op, u_.element, in, buffer, bytes / static_cast<std::size_t>(u_.element.size()));
    return memory_.write(buffer, runs);
  }

  FarMemory& memory_;
  const Update& u_;
  const DataView target_;
};

}  // namespace

Status apply_far(const Guard& guard, FarMemory& memory, const Update& u, std::size_t done, int* failed) {
  *failed = 0;
  const DataView target = u.place.in(reinterpret_cast<const std::byte*>(memory.window));
  const auto total = static_cast<std::size_t>(target.bytes());
  // Without memory for a large buffer the pieces are small.
  alignas(16) std::byte small[kBounceBytes];
  std::size_t room = std::min<std::size_t>(total, guard.range.bytes);
  std::unique_ptr<std::byte[]> large;
  if (room > sizeof small) large.reset(new (std::nothrow) std::byte[room]);
  if (!large) room = std::min(room, sizeof small);
  std::byte* const buffer = large ? large.get() : small;
  FarUpdate update(memory, u, target);
  each_piece_from(done, u, total, room, [&](std::size_t first, std::size_t bytes, const std::byte* in, std::byte* out) {
    if (*failed != 0) return;
    const UpdateLockGuard held(guard);
    *failed = update.piece(first, bytes, in, out, buffer);
  });
  return {};
}

}  // namespace ashlar::rma
