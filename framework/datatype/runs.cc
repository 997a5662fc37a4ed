#include <cstring>

#include "framework/datatype/data_view.h"
#include "framework/datatype/runs.h"

namespace ashlar::datatype {
namespace {

// Fills an iovec array, joining neighbours; false when the next separate run would not fit.
class Lister {
 public:
  Lister(iovec* out, std::size_t room) : out_(out), room_(room) {}
  std::size_t used() const { return used_; }

  bool operator()(std::intptr_t at, std::size_t bytes) {
    if (used_ > 0 && at == end_) {
      out_[used_ - 1].iov_len += bytes;
    } else if (used_ == room_) {
      return false;
    } else {
      out_[used_++] = {reinterpret_cast<void*>(at), bytes};
    }
    end_ = at + static_cast<std::intptr_t>(bytes);
    return true;
  }

 private:
  iovec* out_;
  std::size_t room_;
  std::size_t used_ = 0;
  std::intptr_t end_ = 0;  // of the last entry
};

}  // namespace

std::size_t runs(const DataView& view, std::size_t first, std::size_t max_runs, iovec* out) {
  const auto total = static_cast<std::size_t>(view.bytes());
  if (first >= total || max_runs == 0) return 0;
  if (view.dense()) {
    out[0] = {reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(view.data) + static_cast<std::intptr_t>(first)),
              total - first};
    return 1;
  }
  const Layout& l = view.type->layout();
  const auto data = reinterpret_cast<std::intptr_t>(first_byte(view.data, *view.type));
  Lister lister(out, max_runs);
  std::size_t into = first % l.bytes;
  for (std::size_t i = first / l.bytes; i < static_cast<std::size_t>(view.count); ++i, into = 0)
    if (!each_run(l, data + static_cast<std::intptr_t>(i) * view.type->extent(), into, lister)) break;
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
