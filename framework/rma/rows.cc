#include "framework/rma/rows.h"

#include <sys/uio.h>

#include <algorithm>

#include "framework/datatype/copy.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/layout.h"

namespace ashlar::rma {
namespace {

using datatype::Layout;

/// Adds rows until there is no room, or no byte left.
class Lister {
 public:
  Lister(std::span<Row> out, std::size_t most) : out_(out), left_(most), most_(most) {}

  bool full() const { return left_ == 0 || used_ == out_.size(); }
  std::size_t used() const { return used_; }
  std::size_t bytes() const { return most_ - left_; }

  /// Without the first `skip` bytes. Fewer bytes than a block at the end become a row of their own.
  void add(Row row, std::size_t skip) {
    row.offset += static_cast<std::int64_t>(skip / row.block) * row.stride;
    row.count -= skip / row.block;
    if (const std::size_t into = skip % row.block; into != 0) {
      push({.offset = row.offset + static_cast<std::int64_t>(into), .block = row.block - into, .count = 1});
      row.offset += row.stride;
      --row.count;
    }
    if (row.count != 0) push(row);
  }

  /// A run that may continue the last row. False: there was no room for all of it.
  bool join(std::int64_t offset, std::size_t bytes) {
    if (used_ > 0 && bytes <= left_) {
      Row& last = out_[used_ - 1];
      if (last.count == 1) last.stride = offset - last.offset;
      if (last.block == bytes && offset == last.offset + static_cast<std::int64_t>(last.count) * last.stride) {
        ++last.count;
        left_ -= bytes;
        return true;
      }
    }
    push({.offset = offset, .block = bytes, .count = 1});
    return !full();
  }

 private:
  void push(Row row) {
    const std::uint64_t whole = std::min<std::uint64_t>(row.count, left_ / row.block);
    if (whole != 0) put({.offset = row.offset, .stride = row.stride, .block = row.block, .count = whole});
    if (whole == row.count || left_ == 0) return;
    put({.offset = row.offset + static_cast<std::int64_t>(whole) * row.stride, .block = left_, .count = 1});
  }
  void put(const Row& row) {
    if (used_ == out_.size()) return;
    out_[used_++] = row;
    left_ -= static_cast<std::size_t>(row.block * row.count);
  }

  const std::span<Row> out_;
  std::size_t used_ = 0, left_;
  const std::size_t most_;
};

/// Whether an item is a row of equal blocks, and which.
bool is_row(const Datatype& type, Row* row) {
  const Layout& layout = type.layout();
  if (layout.form == Layout::Form::kRun) {
    *row = {.stride = 0, .block = layout.bytes, .count = 1};
  } else if (layout.form == Layout::Form::kStrided && layout.child->form == Layout::Form::kRun) {
    *row = {.stride = layout.stride, .block = layout.child->bytes, .count = layout.count};
  } else {
    return false;
  }
  row->offset = static_cast<std::int64_t>(type.origin());
  return true;
}

/// Items that are rows, without a look at their blocks.
void list_items(const Place& place, Row item, std::size_t first, Lister* list) {
  const auto size = static_cast<std::size_t>(place.type->size());
  const auto extent = static_cast<std::int64_t>(place.type->extent());
  item.offset += place.offset;
  if (item.count == 1 && extent == static_cast<std::int64_t>(item.block)) {  // no gaps: one block
    item.block *= static_cast<std::uint64_t>(place.count);
    return list->add(item, first);
  }
  if (item.count == 1) {
    item.stride = extent;
    item.count = static_cast<std::uint64_t>(place.count);
    return list->add(item, first);
  }
  item.offset += static_cast<std::int64_t>(first / size) * extent;
  std::size_t skip = first % size;
  for (auto i = static_cast<MPI_Count>(first / size); i < place.count && !list->full(); ++i) {
    list->add(item, skip);
    item.offset += extent;
    skip = 0;
  }
}

/// Any layout, run by run.
void list_runs(const Place& place, std::size_t first, Lister* list) {
  constexpr std::size_t kRuns = 64;
  iovec runs[kRuns];
  for (;;) {
    const std::size_t n = datatype::runs(place.in(nullptr), first + list->bytes(), kRuns, runs);
    for (std::size_t i = 0; i < n; ++i)
      if (list->full() || !list->join(reinterpret_cast<std::intptr_t>(runs[i].iov_base), runs[i].iov_len)) return;
    if (n == 0) return;
  }
}

}  // namespace

std::size_t list_rows(const Place& place, std::size_t first, std::size_t most, std::span<Row> out, std::size_t* bytes) {
  const auto all = static_cast<std::size_t>(place.count) * static_cast<std::size_t>(place.type->size());
  Lister list(out, std::min(most, all - std::min(first, all)));
  Row item;
  if (!list.full()) {
    if (is_row(*place.type, &item)) {
      list_items(place, item, first, &list);
    } else {
      list_runs(place, first, &list);
    }
  }
  *bytes = list.bytes();
  return list.used();
}

template <class Copy>
void RowCursor::move(std::size_t bytes, Copy copy) {
  while (bytes > 0) {
    const Row& row = rows_.front();
    std::byte* const at = reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(window_) + row.offset +
                                                       static_cast<std::int64_t>(block_) * row.stride);
    const std::uint64_t whole = into_ == 0 ? std::min<std::uint64_t>(row.count - block_, bytes / row.block) : 0;
    if (whole != 0) {
      copy(reinterpret_cast<char*>(at), row.block, row.stride, whole);
      block_ += whole;
      bytes -= static_cast<std::size_t>(whole * row.block);
    } else {
      const std::uint64_t part = std::min<std::uint64_t>(row.block - into_, bytes);
      copy(reinterpret_cast<char*>(at + into_), part, 0, 1);
      into_ += part;
      bytes -= static_cast<std::size_t>(part);
      if (into_ == row.block) {
        into_ = 0;
        ++block_;
      }
    }
    if (block_ < row.count) continue;
    block_ = 0;
    rows_ = rows_.subspan(1);
  }
}

void RowCursor::gather(std::byte* packed, std::size_t bytes) {
  auto* to = reinterpret_cast<char*>(packed);
  move(bytes, [&](const char* at, std::uint64_t block, std::int64_t stride, std::uint64_t count) {
    datatype::with_block(block, [&](auto b) {
      datatype::copy_strided(b, to, static_cast<std::ptrdiff_t>(block), at, static_cast<std::ptrdiff_t>(stride), count);
    });
    to += block * count;
  });
}

void RowCursor::scatter(const std::byte* packed, std::size_t bytes) {
  const auto* from = reinterpret_cast<const char*>(packed);
  move(bytes, [&](char* at, std::uint64_t block, std::int64_t stride, std::uint64_t count) {
    datatype::with_block(block, [&](auto b) {
      datatype::copy_strided(b, at, static_cast<std::ptrdiff_t>(stride), from, static_cast<std::ptrdiff_t>(block),
                             count);
    });
    from += block * count;
  });
}

}  // namespace ashlar::rma
