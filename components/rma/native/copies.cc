// Put and get by a transport. Layouts are listed as pieces, of both ends at once.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <new>

#include "components/rma/native/state.h"
#include "framework/base/failure.h"
#include "framework/rma/apply.h"

namespace ashlar::rma::native {
namespace {

constexpr std::uint32_t kPiecesOfPart = 256;
constexpr std::uint32_t kPartsOfOperation = 16;  // under way: bounds the memory of its pieces

/// The runs of a layout in packed order.
class Runs {
 public:
  Runs(const DataView& view, std::uint64_t total) : view_(view), total_(total) { refill(); }
  bool over() const { return done_ == total_; }
  std::byte* at() const { return static_cast<std::byte*>(runs_[next_].iov_base) + into_; }
  std::uint64_t bytes() const { return std::min<std::uint64_t>(runs_[next_].iov_len - into_, total_ - done_); }
  void advance(std::uint64_t bytes) {
    into_ += bytes;
    done_ += bytes;
    if (into_ < runs_[next_].iov_len || over()) return;
    into_ = 0;
    if (++next_ == count_) refill();
  }

 private:
  void refill() {
    next_ = 0;
    if (view_.dense()) {
      runs_[0] = {view_.data, static_cast<std::size_t>(total_)};
      count_ = 1;
    } else {
      count_ = datatype::runs(view_, done_, runs_.size(), runs_.data());
    }
  }

  const DataView view_;
  const std::uint64_t total_;
  std::uint64_t done_ = 0, into_ = 0;
  std::size_t next_ = 0, count_ = 0;
  std::array<iovec, 32> runs_;
};

struct CopyPart final : Part {
  ashlar_result issue(ashlar_endpoint& to, ashlar_completion* done) override {
    const ashlar_endpoint_ops& ops = *to.ops;
    if (count > 1) return (writes ? ops.putv : ops.getv)(&to, key, pieces, count, done);
    const ashlar_piece& one = pieces[0];
    return writes ? ops.put(&to, one.local, key, one.offset, one.length, done)
                  : ops.get(&to, one.local, key, one.offset, one.length, done);
  }
  const ashlar_key* key = nullptr;
  bool writes = false;
  const ashlar_piece* pieces = nullptr;
  std::uint32_t count = 1;
};

std::uint32_t pieces_at_once(const ToTarget& to, bool writes) {
  const bool offered = (writes ? to.endpoint->ops->putv : to.endpoint->ops->getv) != nullptr;
  return offered ? std::clamp(to.attributes.pieces_most, 1u, kPiecesOfPart) : 1;
}

/// The next pieces of both layouts, at most `most`.
std::uint32_t list(Runs& here, Runs& there, std::uint32_t most, ashlar_piece* out) {
  std::uint32_t count = 0;
  for (; count < most && !here.over(); ++count) {
    const std::uint64_t bytes = std::min(here.bytes(), there.bytes());
    out[count] = {.local = here.at(), .offset = reinterpret_cast<std::uintptr_t>(there.at()), .length = bytes};
    here.advance(bytes);
    there.advance(bytes);
  }
  return count;
}

/// Starts all pieces, as many at once as the transport takes.
Status start_layouts(Operation& operation, const Access& access, CopyPart& part) {
  const auto total = static_cast<std::uint64_t>(access.origin.bytes());
  // The target's layout at address 0: its runs are offsets.
  Runs here(access.origin, total), there(access.place.in(nullptr), total);
  const std::uint32_t most = pieces_at_once(*operation.target, part.writes);
  while (!here.over()) {
    std::unique_ptr<ashlar_piece[]> pieces(new (std::nothrow) ashlar_piece[most]);
    if (pieces == nullptr)
      return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the pieces of a one-sided operation"}});
    part.pieces = pieces.get();
    part.count = list(here, there, most, pieces.get());
    ASHLAR_TRY(await_parts(operation, kPartsOfOperation - 1));
    if (operation.parts == 0) operation.pieces.clear();
    if (most > 1) operation.pieces.push_back(std::move(pieces));
    if (!add_part(operation, part)) return {};  // the operation knows
  }
  return {};
}

Status start(const Access& access, bool writes) {
  NativeWindow& state = state_of(access.window);
  ToTarget& to = state.to(access.target);
  const auto bytes = static_cast<std::uint64_t>(access.origin.bytes());
  if (bytes == 0) return {};
  const LaneGuard guard(access.window.lane().lock);
  (writes ? state.counters.puts : state.counters.gets).add();
  state.counters.bytes.add(bytes);
  Operation* operation = nullptr;
  ASHLAR_TRY(begin(state, to, writes ? "put" : "get", access.done, &operation));
  if (writes && to.attributes.put_completion != ASHLAR_PUT_AT_DONE) to.unflushed = true;
  CopyPart part;
  part.key = &to.key;
  part.writes = writes;
  if (access.origin.dense() && access.place.type->dense()) [[likely]] {
    const ashlar_piece whole{.local = access.origin.data,
                             .offset = reinterpret_cast<std::uintptr_t>(access.place.in(nullptr).data),
                             .length = bytes};
    part.pieces = &whole;
    add_part(*operation, part);
  } else if (const Status started = start_layouts(*operation, access, part); !started.ok()) {
    if (operation->outcome.ok()) operation->outcome = started;
  }
  return leave(*operation, access.target);
}

bool is_own(const Access& access) { return access.target.rank == access.window.me; }

}  // namespace

Status put(const Access& access) {
  if (!is_own(access)) return start(access, true);
  rma::put(static_cast<std::byte*>(access.window.base), access.origin, access.place);
  return {};
}

Status get(const Access& access) {
  if (!is_own(access)) return start(access, false);
  rma::get(static_cast<const std::byte*>(access.window.base), access.origin, access.place);
  return {};
}

}  // namespace ashlar::rma::native
