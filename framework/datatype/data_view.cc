#include "framework/datatype/data_view.h"

#include <algorithm>

#include "framework/datatype/engine.h"

namespace ashlar::datatype {
namespace {

// Bytes of `view` from `first` on, at most `wanted`.
std::size_t clip(const DataView& view, std::size_t first, std::size_t wanted) {
  const auto total = static_cast<std::size_t>(view.bytes());
  return first >= total ? 0 : std::min(wanted, total - first);
}

// Out of line: the short cases beside it need no stack frame.
template <bool kPack>
[[gnu::noinline]] void whole(const DataView& view, typename Engine<kPack>::User user,
                             typename Engine<kPack>::Packed packed) {
  const Datatype& type = *view.type;
  Engine<kPack>::whole(type.layout(), user, packed, static_cast<std::size_t>(view.count), type.extent(), type.size());
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
    Engine<true>::items(view.type->layout(), user + view.type->origin(), packed, first, n, view.type->extent());
  }
  return n;
}

void pack_all(const DataView& view, void* to, std::size_t bytes) {
  const auto* user = static_cast<const char*>(view.data);
  auto* packed = static_cast<char*>(to);
  const Datatype& type = *view.type;
  if (view.dense()) {
    std::memcpy(packed, user, bytes);
    return;
  }
  const Layout& layout = type.layout();
  if (view.count == 1 && Engine<true>::is_row(layout)) return Engine<true>::row(layout, user + type.origin(), packed);
  whole<true>(view, user + type.origin(), packed);
}

void unpack_all(const DataView& view, const void* from, std::size_t bytes) {
  auto* user = static_cast<char*>(view.data);
  const auto* packed = static_cast<const char*>(from);
  const Datatype& type = *view.type;
  if (view.dense()) {
    std::memcpy(user, packed, bytes);
    return;
  }
  const Layout& layout = type.layout();
  if (view.count == 1 && Engine<false>::is_row(layout)) return Engine<false>::row(layout, user + type.origin(), packed);
  whole<false>(view, user + type.origin(), packed);
}

std::size_t unpack(const DataView& view, std::size_t first, const void* from, std::size_t n) {
  n = clip(view, first, n);
  if (n == 0) return 0;
  auto* user = static_cast<char*>(view.data);
  const auto* packed = static_cast<const char*>(from);
  if (view.dense()) {
    std::memcpy(user + first, packed, n);
  } else {
    Engine<false>::items(view.type->layout(), user + view.type->origin(), packed, first, n, view.type->extent());
  }
  return n;
}

}  // namespace ashlar::datatype
