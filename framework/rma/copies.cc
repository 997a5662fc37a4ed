// Put and get of memory that this process maps.
#include <algorithm>

#include "framework/datatype/data_view.h"
#include "framework/datatype/repeat.h"
#include "framework/rma/apply.h"
#include "framework/rma/pieces.h"

namespace ashlar::rma::detail {
namespace {

// Two layouts with runs of at least this mean length are walked side by side; shorter runs go through a buffer in the
// first-level cache, because the loops of packing take less for a short run than listing it does.
constexpr std::size_t kZipRun = 128;

// The runs of one layout in packed order, `bytes` at `at` being left of the present one.
class RunCursor {
 public:
  RunCursor(const DataView& view, std::size_t total) : view_(view), total_(total) { refill(); }

  char* at() const { return static_cast<char*>(runs_[next_].iov_base) + into_; }
  std::size_t bytes() const { return runs_[next_].iov_len - into_; }
  void advance(std::size_t n) {
    into_ += n;
    done_ += n;
    if (into_ < runs_[next_].iov_len) return;
    into_ = 0;
    if (++next_ == count_ && done_ < total_) refill();
  }

 private:
  void refill() {
    count_ = datatype::runs(view_, done_, kRuns, runs_);
    next_ = 0;
  }
  static constexpr std::size_t kRuns = 32;
  const DataView view_;
  const std::size_t total_;
  std::size_t done_ = 0, into_ = 0, next_ = 0, count_ = 0;
  iovec runs_[kRuns];
};

void copy_zipped(const DataView& to, const DataView& from, std::size_t total) {
  RunCursor target(to, total), source(from, total);
  for (std::size_t done = 0; done < total;) {
    const std::size_t now = std::min(target.bytes(), source.bytes());
    datatype::copy_piece(target.at(), source.at(), now);
    target.advance(now);
    source.advance(now);
    done += now;
  }
}

void copy_packed(const DataView& to, const DataView& from, std::size_t total) {
  alignas(16) std::byte packed[4096];
  for (std::size_t done = 0; done < total; done += sizeof packed) {
    const std::size_t now = std::min(sizeof packed, total - done);
    datatype::pack(from, done, packed, now);
    datatype::unpack(to, done, packed, now);
  }
}

// At least one of the two is not dense.
void copy_layouts(const DataView& to, const DataView& from) {
  const auto total = static_cast<std::size_t>(from.bytes());
  if (total == 0) return;
  if (to.dense()) {
    datatype::pack(from, 0, to.data, total);
  } else if (from.dense()) {
    datatype::unpack(to, 0, from.data, total);
  } else if (std::min(mean_run(*to.type), mean_run(*from.type)) >= kZipRun) {
    copy_zipped(to, from, total);
  } else {
    copy_packed(to, from, total);
  }
}

}  // namespace

void put_layouts(std::byte* window, const DataView& origin, const Place& place) {
  copy_layouts(place.in(window), origin);
}
void get_layouts(const std::byte* window, const DataView& origin, const Place& place) {
  copy_layouts(origin, place.in(window));
}

void copy_long(void* to, const void* from, std::size_t bytes) {
  datatype::spread(static_cast<char*>(to), static_cast<const char*>(from), bytes);
}

}  // namespace ashlar::rma::detail
