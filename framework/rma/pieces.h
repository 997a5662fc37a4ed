#pragma once
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>

#include "framework/datatype/data_view.h"
#include "framework/datatype/layout.h"
#include "framework/rma/way.h"

/// How an update is cut: into pieces of its packed elements, for which the origin's and the result's are dense.
namespace ashlar::rma {

/// Bytes of a layout that are packed at a time, on the stack. Fewer than memcpy moves with string instructions, of
/// which no processor says that they store aligned elements whole.
inline constexpr std::size_t kBounceBytes = 2016;  // a multiple of every element's size that has a kernel

/// Elements of `bytes` each that fit into the bounce buffer, in bytes.
inline std::size_t bounce_bytes(std::size_t element) { return kBounceBytes / element * element; }

/// Calls `use(char* at, bytes, done)` for each contiguous run of packed bytes [first, first + bytes) of `view`; `done`
/// packed bytes of them come before the run.
template <class Use>
void each_run(const DataView& view, std::size_t first, std::size_t bytes, Use&& use) {
  constexpr std::size_t kRuns = 32;
  iovec runs[kRuns];
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = datatype::runs(view, first + done, kRuns, runs);
    for (std::size_t i = 0; i < n && done < bytes; ++i) {
      const std::size_t now = std::min(runs[i].iov_len, bytes - done);
      use(static_cast<char*>(runs[i].iov_base), now, done);
      done += now;
    }
  }
}

/// The mean length of a layout's runs.
inline std::size_t mean_run(const Datatype& type) {
  return type.dense() ? static_cast<std::size_t>(type.size()) : type.layout().bytes / type.layout().runs;
}

/// Calls `body(first, bytes, in, out)` for one piece of the update after the other: packed bytes [first, first +
/// bytes), at most `largest`. `in`: the origin's elements, or nullptr when the operation does not look at them; `out`:
/// where the elements go that were there, or nullptr.
/// Begins at packed byte `begin`.
template <class Body>
void each_piece_from(std::size_t begin, const Update& u, std::size_t total, std::size_t largest, Body&& body) {
  const auto element = static_cast<std::size_t>(u.element.size());
  const bool reads = u.reads_origin(), fetches = u.fetches();
  const bool dense_in = !reads || u.origin.dense(), dense_out = !fetches || u.result.dense();
  std::size_t step = std::max(largest / element, std::size_t{1}) * element;
  const auto* in = reads && dense_in ? static_cast<const std::byte*>(u.origin.data) : nullptr;
  auto* out = fetches && dense_out ? static_cast<std::byte*>(u.result.data) : nullptr;
  if (dense_in && dense_out) {
    for (std::size_t first = begin; first < total; first += step)
      body(first, std::min(step, total - first), in == nullptr ? in : in + first, out == nullptr ? out : out + first);
    return;
  }
  alignas(16) std::byte packed_in[kBounceBytes], packed_out[kBounceBytes];
  step = std::min(step, bounce_bytes(element));
  for (std::size_t first = begin; first < total; first += step) {
    const std::size_t now = std::min(step, total - first);
    if (!dense_in) datatype::pack(u.origin, first, packed_in, now);
    body(first, now,
         !dense_in       ? packed_in
         : in == nullptr ? in
                         : in + first,
         !dense_out       ? packed_out
         : out == nullptr ? out
                          : out + first);
    if (!dense_out) datatype::unpack(u.result, first, packed_out, now);
  }
}
template <class Body>
void each_piece(const Update& u, std::size_t total, std::size_t largest, Body&& body) {
  each_piece_from(0, u, total, largest, body);
}

}  // namespace ashlar::rma
