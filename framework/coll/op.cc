#include "framework/coll/op.h"

#include <cstring>

#include "framework/base/failure.h"

namespace ashlar::coll {

DataView Op::view(const void* bytes, MPI_Count length) {
  static Datatype& byte = datatype::predefined(MPI_BYTE);
  return DataView::of(bytes, length, byte);
}

std::byte* Op::scratch(MPI_Count bytes) {
  auto* const memory = static_cast<std::byte*>(block_.take(static_cast<std::size_t>(bytes)));
  if (memory == nullptr) [[unlikely]] {
    fail(ashlar::fail(MPI_ERR_NO_MEM, "memory.none",
                      {{"what", "the temporaries of a collective"}, {"bytes_wanted", bytes}}));
  }
  return memory;
}

std::byte* Op::scratch_items(MPI_Count count, const Datatype& type) {
  if (count == 0) return scratch(0);
  // Items may lie before the address (negative lower bound) or run backwards (negative extent).
  const MPI_Count last = (count - 1) * type.extent();
  const MPI_Count low = type.true_lb() + (last < 0 ? last : 0);
  const MPI_Count span = type.true_extent() + (last < 0 ? -last : last);
  std::byte* const memory = scratch(span);
  return memory == nullptr ? nullptr : memory - low;
}

Packed Op::packed_out(const DataView& v) {
  const MPI_Count size = v.bytes();
  if (v.dense()) return Packed{static_cast<std::byte*>(v.data), size, true};
  return Packed{scratch(size), size, false};
}

Packed Op::packed_in(const DataView& v) {
  const Packed packed = packed_out(v);
  if (!packed.is_buffer && packed.bytes != nullptr)
    datatype::pack(v, 0, packed.bytes, static_cast<std::size_t>(packed.size));
  return packed;
}

void Op::unpack(const Packed& packed, const DataView& v) {
  if (packed.is_buffer || !failure_.ok()) return;
  datatype::unpack(v, 0, packed.bytes, static_cast<std::size_t>(packed.size));
}

void Op::send(Rank to, const DataView& data, Gate& gate) {
  if (!failure_.ok()) [[unlikely]]
    return;
  const Status outcome = wire_.send(to, data, tag_, gate);
  if (!outcome.ok()) [[unlikely]]
    fail(outcome);
}

void Op::recv(Rank from, const DataView& data, Gate& gate) {
  if (!failure_.ok()) [[unlikely]]
    return;
  const Status outcome = wire_.recv(from, data, tag_, gate);
  if (!outcome.ok()) [[unlikely]]
    fail(outcome);
}

void Op::copy(const DataView& from, const DataView& to) {
  if (!failure_.ok()) [[unlikely]]
    return;
  const MPI_Count bytes = from.bytes();
  if (bytes == 0) return;
  if (from.dense() && to.dense()) return copy_bytes(from.data, to.data, bytes);
  if (to.dense()) {
    datatype::pack(from, 0, to.data, static_cast<std::size_t>(bytes));
  } else if (from.dense()) {
    datatype::unpack(to, 0, from.data, static_cast<std::size_t>(bytes));
  } else {
    // Neither is a run of bytes: through a window on the packed stream.
    constexpr std::size_t kWindow = 8192;
    std::byte window[kWindow];
    for (std::size_t at = 0; at < static_cast<std::size_t>(bytes); at += kWindow) {
      const std::size_t moved = datatype::pack(from, at, window, kWindow);
      datatype::unpack(to, at, window, moved);
    }
  }
}

void Op::copy_items(const void* from, void* to, MPI_Count count, Datatype& type) {
  if (!failure_.ok() || from == to || count == 0) return;
  if (type.dense()) {
    std::memcpy(to, from, static_cast<std::size_t>(count * type.size()));
  } else {
    datatype::copy_items(from, to, count, type);
  }
}

void Op::join(Co child, Gate& gate) {
  if (!child.started()) return;  // the missing frame is already noted as the operation's failure
  if (!child.done()) {
    gate.add();
    child.promise().joined = &gate;
    return;
  }
  if (!child.status().ok()) fail(child.status());
}

}  // namespace ashlar::coll
