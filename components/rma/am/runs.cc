#include "components/rma/am/runs.h"

#include <sys/uio.h>

#include <algorithm>

#include "framework/datatype/data_view.h"

namespace ashlar::rma::am {
namespace {

/// Appends elements to a list of runs; false when the list is full.
class Lister {
 public:
  Lister(const Datatype& element, std::span<Run> out)
      : each_(static_cast<std::uint64_t>(element.size())), step_(element.extent()), out_(out) {}

  bool add(std::int64_t offset, std::uint64_t bytes) {
    if (used_ > 0) {
      Run& last = out_[used_ - 1];
      if (last.offset + static_cast<std::int64_t>(last.bytes / each_) * step_ == offset) {
        last.bytes += bytes;
        return true;
      }
    }
    if (used_ == out_.size()) return false;
    out_[used_++] = {.offset = offset, .bytes = bytes};
    return true;
  }
  std::size_t used() const { return used_; }

 private:
  const std::uint64_t each_;
  const std::int64_t step_;
  const std::span<Run> out_;
  std::size_t used_ = 0;
};

/// Of one element that has no gaps after it: pieces have whole elements.
std::uint64_t add_pieces(std::span<const iovec> pieces, std::uint64_t each, std::uint64_t most, Lister* list) {
  std::uint64_t done = 0;
  for (const iovec& piece : pieces) {
    const std::uint64_t take = std::min<std::uint64_t>(piece.iov_len, most - done) / each * each;
    if (take == 0 || !list->add(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(piece.iov_base)), take))
      break;
    done += take;
    if (take < piece.iov_len) break;
  }
  return done;
}

/// Of pairs, which may have gaps inside: an element lies where its first byte does.
std::uint64_t add_elements(std::span<const iovec> pieces, std::uint64_t each, std::uint64_t most, Lister* list) {
  std::uint64_t done = 0;
  std::size_t piece = 0;
  std::uint64_t into = 0;  // bytes of pieces[piece] that are taken
  while (piece < pieces.size() && done + each <= most) {
    const std::int64_t offset = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(pieces[piece].iov_base)) +
                                static_cast<std::int64_t>(into);
    std::uint64_t left = each;
    while (left > 0 && piece < pieces.size()) {
      const std::uint64_t take = std::min<std::uint64_t>(left, pieces[piece].iov_len - into);
      left -= take;
      into += take;
      if (into == pieces[piece].iov_len) {
        ++piece;
        into = 0;
      }
    }
    if (left > 0 || !list->add(offset, each)) break;  // the rest of the element is not listed
    done += each;
  }
  return done;
}

}  // namespace

std::size_t list_runs(const Place& place, const Datatype& element, std::uint64_t first, std::uint64_t most,
                      std::span<Run> out, std::uint64_t* bytes) {
  constexpr std::size_t kPieces = 64;
  iovec pieces[kPieces];
  // Only the items that may count: listing them joins neighbours, and that takes time for each.
  const auto size = static_cast<std::uint64_t>(place.type->size());
  const auto item = static_cast<MPI_Count>(first / size);
  const Place rest{.offset = place.offset + item * place.type->extent(),
                   .count = std::min(place.count - item, static_cast<MPI_Count>(most / size) + 2),
                   .type = place.type};
  const std::size_t count = datatype::runs(rest.in(nullptr), first % size, std::min(kPieces, 2 * out.size()), pieces);
  Lister list(element, out);
  const auto each = static_cast<std::uint64_t>(element.size());
  *bytes = element.size() == element.extent() ? add_pieces({pieces, count}, each, most, &list)
                                              : add_elements({pieces, count}, each, most, &list);
  return list.used();
}

std::uint64_t reach_of(const Run& run, const Datatype& element) {
  const std::uint64_t count = run.bytes / static_cast<std::uint64_t>(element.size());
  return (count - 1) * static_cast<std::uint64_t>(element.extent()) + static_cast<std::uint64_t>(element.true_extent());
}

}  // namespace ashlar::rma::am
