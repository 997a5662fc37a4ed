#include "framework/rma/combine.h"

#include <algorithm>
#include <cstring>

#include "framework/rma/elements.h"
#include "framework/rma/pieces.h"
#include "framework/rma/whole.h"

namespace ashlar::rma {
namespace {

using Code = ReduceOp::Code;

// Runs of at least so many bytes are combined where they lie; shorter ones are packed, combined and unpacked, which
// takes less than one call of a kernel for each.
constexpr std::size_t kDirectRun = 256;

// What the kernel's loads and stores rely on. Pairs that the room of datatypes interprets lie anywhere.
std::size_t kernel_alignment(const Datatype& element) {
  const auto size = static_cast<std::size_t>(element.size());
  switch (element.basic()) {
    case Basic::kC16:
    case Basic::kC32:
    case Basic::kC64:
    case Basic::kCLongDouble:
    case Basic::kC128:
    case Basic::kF32F32:
    case Basic::kF64F64:
    case Basic::kIntInt:
    case Basic::kF32Int:
      return size / 2;
    case Basic::kPair:
      return 1;
    default:
      return size;
  }
}

// Pairs with holes: the kernel reads and writes them in the form of the C struct.
void combine_structs(const ReduceOp& op, Datatype& element, const std::byte* in, std::byte* inout, std::size_t n) {
  alignas(16) std::byte a[kBounceBytes], b[kBounceBytes];
  const auto size = static_cast<std::size_t>(element.size());
  const std::size_t most = kBounceBytes / static_cast<std::size_t>(element.extent());
  for (std::size_t i = 0; i < n; i += most) {
    const std::size_t now = std::min(most, n - i);
    const auto count = static_cast<MPI_Count>(now);
    const DataView structs_a{.data = a, .count = count, .type = &element};
    const DataView structs_b{.data = b, .count = count, .type = &element};
    datatype::unpack(structs_a, 0, in + i * size, now * size);
    datatype::unpack(structs_b, 0, inout + i * size, now * size);
    op.apply(a, b, count, element);
    datatype::pack(structs_b, 0, inout + i * size, now * size);
  }
}

// Elements that the kernel cannot load where they lie.
void combine_copies(const ReduceOp& op, Datatype& element, const std::byte* in, std::byte* inout, std::size_t n) {
  alignas(16) std::byte a[kBounceBytes], b[kBounceBytes];
  const auto size = static_cast<std::size_t>(element.size());
  const std::size_t most = kBounceBytes / size, alignment = kernel_alignment(element);
  for (std::size_t i = 0; i < n; i += most) {
    const std::size_t now = std::min(most, n - i);
    std::memcpy(a, in + i * size, now * size);
    std::byte* const at = inout + i * size;
    if (is_aligned(at, alignment)) {
      op.apply(a, at, static_cast<MPI_Count>(now), element);
    } else {
      std::memcpy(b, at, now * size);
      op.apply(a, b, static_cast<MPI_Count>(now), element);
      std::memcpy(at, b, now * size);
    }
  }
}

// One run of the target's memory.
void combine_run(const Update& u, std::byte* at, std::size_t bytes, const std::byte* in, std::byte* out) {
  if (out != nullptr) std::memcpy(out, at, bytes);
  combine_packed(u.op, u.element, in, at, bytes / static_cast<std::size_t>(u.element.size()));
}

// A target of short runs, or of pairs whose holes cut the elements themselves.
void combine_short_runs(const Update& u, const DataView& target, std::size_t first, std::size_t bytes,
                        const std::byte* in, std::byte* out) {
  alignas(16) std::byte packed[kBounceBytes];
  const Code code = u.op.code();
  const auto size = static_cast<std::size_t>(u.element.size());
  const std::size_t step = bounce_bytes(size);
  for (std::size_t done = 0; done < bytes; done += step) {
    const std::size_t now = std::min(step, bytes - done);
    std::byte* const was = out == nullptr ? packed : out + done;
    if (out != nullptr || code != Code::kReplace) datatype::pack(target, first + done, was, now);
    if (code == Code::kNoOp) continue;
    if (code == Code::kReplace) {
      datatype::unpack(target, first + done, in + done, now);
      continue;
    }
    if (was != packed) std::memcpy(packed, was, now);
    combine_packed(u.op, u.element, in + done, packed, now / size);
    datatype::unpack(target, first + done, packed, now);
  }
}

}  // namespace

void combine_packed(const ReduceOp& op, Datatype& element, const std::byte* in, std::byte* inout, std::size_t n) {
  if (op.code() == Code::kNoOp) return;
  const auto size = static_cast<std::size_t>(element.size());
  if (op.code() == Code::kReplace) {
    if (atomic_width(element) && is_aligned(inout, size)) {
      with_word(size, [&](auto word) { store_whole<decltype(word)>(inout, in, n * size); });
    } else {
      std::memcpy(inout, in, n * size);
    }
    return;
  }
  if (element.size() != element.extent()) return combine_structs(op, element, in, inout, n);
  const std::size_t alignment = kernel_alignment(element);
  if (!is_aligned(in, alignment) || !is_aligned(inout, alignment)) return combine_copies(op, element, in, inout, n);
  op.apply(in, inout, static_cast<MPI_Count>(n), element);
}

void combine(const Update& u, const DataView& target, std::size_t first, std::size_t bytes, const std::byte* in,
             std::byte* out) {
  if (target.dense()) return combine_run(u, static_cast<std::byte*>(target.data) + first, bytes, in, out);
  if (u.element.size() == u.element.extent() && mean_run(*target.type) >= kDirectRun) {
    each_run(target, first, bytes, [&](char* at, std::size_t n, std::size_t done) {
      combine_run(u, reinterpret_cast<std::byte*>(at), n, in == nullptr ? in : in + done,
                  out == nullptr ? out : out + done);
    });
    return;
  }
  combine_short_runs(u, target, first, bytes, in, out);
}

}  // namespace ashlar::rma
