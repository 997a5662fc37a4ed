#include <algorithm>
#include <cstring>

#include "framework/datatype/data_view.h"
#include "framework/datatype/layout.h"

namespace ashlar::datatype {
namespace {

// Fills an iovec array, joining neighbours; full() when the next separate run would not fit.
class Lister {
 public:
  Lister(iovec* out, std::size_t room) : out_(out), room_(room) {}
  std::size_t used() const { return used_; }

  // Lists `l` at `at` from packed byte `first` on; false when the room is used up.
  bool list(const Layout& l, char* at, std::size_t first) {
    switch (l.form) {
      case Layout::Form::kEmpty:
        return true;
      case Layout::Form::kRun:
        return add(at + first, l.bytes - first);
      case Layout::Form::kStrided:
      case Layout::Form::kIndexed: {
        const std::size_t each = l.child->bytes;
        std::size_t into = first % each;
        for (std::size_t i = first / each; i < l.count; ++i, into = 0) {
          const std::ptrdiff_t by =
              l.form == Layout::Form::kStrided ? static_cast<std::ptrdiff_t>(i) * l.stride : l.displacement(i);
          if (!list(*l.child, at + by, into)) return false;
        }
        return true;
      }
      case Layout::Form::kBlocks:
      case Layout::Form::kSequence: {
        std::size_t i = l.part_at(first);
        std::size_t into = first - l.start(i);
        for (; i < l.count; ++i, into = 0) {
          char* part = at + l.displacement(i);
          if (l.form == Layout::Form::kSequence) {
            if (!list(*l.children[i], part, into)) return false;
          } else if (!add(part + into, l.start(i + 1) - l.start(i) - into)) {
            return false;
          }
        }
        return true;
      }
    }
    return true;
  }

  bool add(char* at, std::size_t bytes) {
    if (used_ > 0) {
      iovec& last = out_[used_ - 1];
      if (static_cast<char*>(last.iov_base) + last.iov_len == at) {
        last.iov_len += bytes;
        return true;
      }
    }
    if (used_ == room_) return false;
    out_[used_++] = {at, bytes};
    return true;
  }

 private:
  iovec* out_;
  std::size_t room_;
  std::size_t used_ = 0;
};

}  // namespace

std::size_t runs(const DataView& view, std::size_t first, std::size_t max_runs, iovec* out) {
  const auto total = static_cast<std::size_t>(view.bytes());
  if (first >= total || max_runs == 0) return 0;
  if (view.dense()) {
    out[0] = {static_cast<char*>(view.data) + first, total - first};
    return 1;
  }
  const Layout& l = view.type->layout();
  char* const data = first_byte(view.data, *view.type);
  Lister lister(out, max_runs);
  std::size_t into = first % l.bytes;
  for (std::size_t i = first / l.bytes; i < static_cast<std::size_t>(view.count); ++i, into = 0)
    if (!lister.list(l, data + static_cast<std::ptrdiff_t>(i) * view.type->extent(), into)) break;
  return lister.used();
}

void copy_items(const void* from, void* to, MPI_Count count, const Datatype& type) {
  const auto total = static_cast<std::size_t>(count * type.size());
  if (type.dense()) {
    std::memcpy(to, from, total);
    return;
  }
  // The type is only read; DataView has no const form.
  const DataView source = DataView::of(from, count, const_cast<Datatype&>(type));
  iovec pieces[64];
  for (std::size_t done = 0; done < total;) {
    const std::size_t n = runs(source, done, 64, pieces);
    for (std::size_t i = 0; i < n; ++i) {
      const auto* piece = static_cast<const char*>(pieces[i].iov_base);
      std::memcpy(static_cast<char*>(to) + (piece - static_cast<const char*>(from)), piece, pieces[i].iov_len);
      done += pieces[i].iov_len;
    }
  }
}

}  // namespace ashlar::datatype
