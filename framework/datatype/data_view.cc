#include "framework/datatype/data_view.h"

#include <algorithm>

#include "framework/datatype/layout_loops.h"
#include "framework/datatype/packing.h"

namespace ashlar::datatype {
namespace {

// Bytes of `view` from `first` on, at most `wanted`.
std::size_t clip(const DataView& view, std::size_t first, std::size_t wanted) {
  const auto total = static_cast<std::size_t>(view.bytes());
  return first >= total ? 0 : std::min(wanted, total - first);
}

}  // namespace

std::size_t pack(const DataView& view, std::size_t first, void* to, std::size_t room) {
  const std::size_t n = clip(view, first, room);
  if (n == 0) return 0;
  const auto* user = static_cast<const char*>(view.data);
  auto* packed = static_cast<char*>(to);
  if (view.dense()) {
    std::memcpy(packed, user + first, n);
  } else {
    LayoutLoops<true>::items(view.type->layout(), first_byte(view.data, *view.type), packed, first, n,
                             view.type->extent());
  }
  return n;
}

void pack_all(const void* data, MPI_Count count, const Datatype& type, void* to, std::size_t bytes) {
  const auto* user = static_cast<const char*>(data);
  auto* packed = static_cast<char*>(to);
  if (type.dense()) {
    copy_piece(packed, user, bytes);
  } else {
    LayoutLoops<true>::all(type.layout(), first_byte(data, type), packed, static_cast<std::size_t>(count),
                           type.extent());
  }
}

void unpack_all(void* data, MPI_Count count, const Datatype& type, const void* from, std::size_t bytes) {
  auto* user = static_cast<char*>(data);
  const auto* packed = static_cast<const char*>(from);
  if (type.dense()) {
    copy_piece(user, packed, bytes);
  } else {
    LayoutLoops<false>::all(type.layout(), first_byte(data, type), packed, static_cast<std::size_t>(count),
                            type.extent());
  }
}

std::size_t unpack(const DataView& view, std::size_t first, const void* from, std::size_t n) {
  n = clip(view, first, n);
  if (n == 0) return 0;
  auto* user = static_cast<char*>(view.data);
  const auto* packed = static_cast<const char*>(from);
  if (view.dense()) {
    std::memcpy(user + first, packed, n);
  } else {
    LayoutLoops<false>::items(view.type->layout(), first_byte(view.data, *view.type), packed, first, n,
                              view.type->extent());
  }
  return n;
}

}  // namespace ashlar::datatype
