#include "framework/rma/apply.h"

#include <algorithm>

#include "framework/rma/alignment.h"
#include "framework/rma/combine.h"
#include "framework/rma/elements.h"
#include "framework/rma/pieces.h"
#include "framework/rma/range_gate.h"
#include "framework/rma/update_lock.h"
#include "framework/rma/whole.h"

namespace ashlar::rma {
namespace {

using Code = ReduceOp::Code;

// Bytes that are updated element by element, before a process that wants the gate closed has its turn.
constexpr std::size_t kTurnBytes = 4096;
// Elements from which on a range pays while the gate is closed already.
constexpr std::size_t kCheapRange = 16;
// How many elements in a row take the time of one that is found through a layout.
constexpr std::size_t kLayoutFactor = 2;

struct Job {
  const Guard& guard;
  const Update& u;
  const DataView target;
  const std::size_t total;  // bytes
};

std::size_t width_of(const Update& u) { return static_cast<std::size_t>(u.element.size()); }

// Compare and swap of one element, by a process that is alone with it.
void swap_alone(std::byte* at, const Update& u) {
  const std::size_t width = width_of(u);
  alignas(16) std::byte was[32];
  std::memcpy(was, at, width);
  if (std::memcmp(was, u.compare, width) == 0)
    combine_packed(u.op, u.element, static_cast<std::byte*>(u.origin.data), at, 1);
  std::memcpy(u.result.data, was, width);
}

// The owner's own updates: nothing else updates the memory.
void apply_alone(const Job& job) {
  const Update& u = job.u;
  if (u.compare != nullptr) return swap_alone(static_cast<std::byte*>(job.target.data), u);
  each_piece(u, job.total, job.total, [&](std::size_t first, std::size_t bytes, const std::byte* in, std::byte* out) {
    combine(u, job.target, first, bytes, in, out);
  });
}

void apply_locked(const Job& job) {
  const Update& u = job.u;
  if (u.compare != nullptr) {
    const UpdateLockGuard held(job.guard);
    return swap_alone(static_cast<std::byte*>(job.target.data), u);
  }
  each_piece(u, job.total, job.guard.range.bytes,
             [&](std::size_t first, std::size_t bytes, const std::byte* in, std::byte* out) {
               const UpdateLockGuard held(job.guard);
               combine(u, job.target, first, bytes, in, out);
             });
}

// All elements are aligned, and others than this process are kept out.
void apply_range(const Job& job) {
  const Update& u = job.u;
  RangeTurn turn(job.guard);
  std::size_t since = 0;
  each_piece(u, job.total, job.guard.range.bytes,
             [&](std::size_t first, std::size_t bytes, const std::byte* in, std::byte* out) {
               if (since + bytes > job.guard.range.bytes) {
                 turn.give_way();
                 since = 0;
               }
               combine(u, job.target, first, bytes, in, out);
               since += bytes;
             });
}

// One run of the target's memory.
void update_run(const Job& job, ElementLoop loop, std::byte* at, std::size_t bytes, const std::byte* in,
                std::byte* out) {
  const Update& u = job.u;
  const std::size_t width = width_of(u);
  if (!is_aligned(at, width)) {
    const UpdateLockGuard held(job.guard);
    if (out != nullptr) std::memcpy(out, at, bytes);
    return combine_packed(u.op, u.element, in, at, bytes / width);
  }
  if (passes_gate(u.op)) return loop(at, in, out, bytes / width, u.op, u.element);
  for (std::size_t done = 0; done < bytes; done += kTurnBytes) {
    const ElementTurn turn(job.guard);
    loop(at + done, in == nullptr ? in : in + done, out == nullptr ? out : out + done,
         std::min(kTurnBytes, bytes - done) / width, u.op, u.element);
  }
}

void apply_elements(const Job& job, ElementLoop loop) {
  const Update& u = job.u;
  each_piece(u, job.total, job.total, [&](std::size_t first, std::size_t bytes, const std::byte* in, std::byte* out) {
    each_run(job.target, first, bytes, [&](char* at, std::size_t n, std::size_t done) {
      update_run(job, loop, reinterpret_cast<std::byte*>(at), n, in == nullptr ? in : in + done,
                 out == nullptr ? out : out + done);
    });
  });
}

// Whether to close the gate for an update of so many elements. MPI_REPLACE and MPI_NO_OP are as fast with it open.
bool wants_range(const Guard& guard, const ReduceOp& op, std::size_t elements) {
  const std::uint32_t enough = guard.range.elements;
  if (elements < kCheapRange || op.code() >= Code::kReplace || enough == RangeLimits::kNever) return false;
  return elements >= enough || RangeTurn::cheap(guard);
}
bool wants_range(const Job& job) {
  const std::size_t elements = job.total / width_of(job.u) * (job.target.dense() ? 1 : kLayoutFactor);
  return wants_range(job.guard, job.u.op, elements) && all_aligned(job.target, width_of(job.u));
}

// Aligned elements in a row at all ends.
bool is_row(const Job& job) {
  const Update& u = job.u;
  return job.target.dense() && is_aligned(job.target.data, width_of(u)) && (!u.reads_origin() || u.origin.dense()) &&
         (!u.fetches() || u.result.dense());
}
void apply_row(const Job& job) {
  const Update& u = job.u;
  rma::apply_row(job.guard, u.op, u.element, static_cast<std::byte*>(job.target.data),
                 u.reads_origin() ? static_cast<const std::byte*>(u.origin.data) : nullptr,
                 u.fetches() ? static_cast<std::byte*>(u.result.data) : nullptr, job.total / width_of(u));
}

// Elements of a width for which there are atomic instructions, each of which may lie at a multiple of it or not.
void apply_by_width(const Job& job) {
  const Update& u = job.u;
  if (u.compare == nullptr && is_row(job)) return apply_row(job);
  if (wants_range(job)) return apply_range(job);
  if (u.compare == nullptr) return apply_elements(job, element_loop(u.op, u.element));
  auto* const at = static_cast<std::byte*>(job.target.data);
  if (!is_aligned(at, width_of(u))) return apply_locked(job);
  const ElementTurn turn(job.guard);
  swap_if_equal(at, u.compare, u.origin.data, u.result.data, width_of(u));
}

}  // namespace

void apply_row(const Guard& guard, const ReduceOp& op, Datatype& element, std::byte* at, const std::byte* in,
               std::byte* out, std::size_t n) {
  const auto width = static_cast<std::size_t>(element.size());
  const std::size_t total = n * width;
  const auto behind = [](auto* first, std::size_t bytes) { return first == nullptr ? first : first + bytes; };
  if (wants_range(guard, op, n)) {
    RangeTurn turn(guard);
    const std::size_t step = std::max<std::size_t>(guard.range.bytes / width, 1) * width;
    for (std::size_t done = 0; done < total; done += step) {
      if (done != 0) turn.give_way();
      const std::size_t now = std::min(step, total - done);
      if (out != nullptr) std::memcpy(out + done, at + done, now);
      combine_packed(op, element, behind(in, done), at + done, now / width);
    }
    return;
  }
  const ElementLoop loop = element_loop(op, element);
  if (passes_gate(op)) return loop(at, in, out, n, op, element);
  for (std::size_t done = 0; done < total; done += kTurnBytes) {
    const ElementTurn turn(guard);
    loop(at + done, behind(in, done), behind(out, done), std::min(kTurnBytes, total - done) / width, op, element);
  }
}

Status apply(const Guard& guard, std::byte* window, const Update& update) {
  const DataView target = update.place.in(window);
  const Job job{.guard = guard, .u = update, .target = target, .total = static_cast<std::size_t>(target.bytes())};
  if (job.total == 0) return {};
  if (guard.kind == Guard::Kind::kOwner) {
    apply_alone(job);
  } else if (guard.kind == Guard::Kind::kElements && atomic_width(update.element)) {
    apply_by_width(job);
  } else {
    apply_locked(job);
  }
  return {};
}

}  // namespace ashlar::rma
