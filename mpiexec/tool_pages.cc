#include "mpiexec/tool_pages.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "framework/plugin/tool_memory.h"

namespace ashlar::mpiexec {
namespace {

using plugin::ToolMemory;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMostOfPiece = 256 * 1024;

std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

void ToolPages::begin(bool whole) {
  whole_ = whole;
  turn_ = 0;
  ranges_.clear();
  left_ = true;
  sent_.resize(ranks_.size());
  for (std::vector<bool>& pages : sent_) pages.resize(board_.header()->tool_bytes / kPage);
}

std::uint64_t ToolPages::place_of(unsigned rank) const {
  return board_.header()->tools + rank * board_.header()->tool_bytes;
}

/// What is to be sent of a rank, last part first. The rank may have written anything there.
std::vector<ToolPages::Range> ToolPages::ranges_of(unsigned rank) const {
  const std::uint64_t all = board_.header()->tool_bytes;
  if (whole_) return {{0, all}};
  const auto& memory = *launch::board_at<ToolMemory>(board_.header(), place_of(rank));
  std::vector<Range> ranges;
  const std::uint32_t tools = std::min(memory.count.load(std::memory_order_acquire), plugin::kMostTools);
  for (std::uint32_t i = tools; i-- > 0;) {
    const ToolMemory::Row& row = memory.rows[i];
    if (row.offset >= all || row.sampled > all - row.offset) continue;
    ranges.push_back({row.offset / kPage * kPage, whole_pages(row.offset + row.sampled)});
  }
  ranges.push_back({0, plugin::kToolPage});
  return ranges;
}

bool ToolPages::next_rank() {
  while (ranges_.empty() && turn_ < ranks_.size()) ranges_ = ranges_of(ranks_[turn_++]);
  return !ranges_.empty();
}

/// Adds a page, unless it is zero at both ends.
bool ToolPages::take_page(std::size_t page, std::string* to) {
  const std::size_t before = to->size();
  to->resize(before + kPage);
  const auto at = static_cast<off_t>(place_of(ranks_[turn_ - 1]) + page * kPage);
  const bool read = pread(board_.board_fd(), to->data() + before, kPage, at) == static_cast<ssize_t>(kPage);
  const bool zero =
      std::all_of(to->begin() + static_cast<std::ptrdiff_t>(before), to->end(), [](char c) { return c == 0; });
  if (read && (!zero || sent_[turn_ - 1][page])) {
    sent_[turn_ - 1][page] = !zero;
    return true;
  }
  to->resize(before);
  return false;
}

// Pages that nobody has touched are no memory, and looking at them in the mapping would make them some.
bool ToolPages::next(Piece* piece) {
  piece->bytes.clear();
  while (left_ && piece->bytes.empty()) {
    if (!next_rank()) {
      left_ = false;
      break;
    }
    Range& range = ranges_.back();
    const std::uint64_t place = place_of(ranks_[turn_ - 1]);
    const std::vector<bool>& sent = sent_[turn_ - 1];
    while (range.from < range.to && piece->bytes.empty()) {
      const off_t data = lseek(board_.board_fd(), static_cast<off_t>(place + range.from), SEEK_DATA);
      const bool hole_to_end = data < 0 && errno == ENXIO;
      const std::uint64_t hole_end = hole_to_end ? range.to
                                     : data < 0  ? range.from
                                                 : std::min(range.to, static_cast<std::uint64_t>(data) - place);
      // A page that was given back since it was sent is a hole now.
      while (range.from < hole_end && !sent[range.from / kPage]) range.from += kPage;
      if (range.from >= range.to) break;
      piece->rank = ranks_[turn_ - 1];
      piece->offset = range.from;
      if (!take_page(range.from / kPage, &piece->bytes)) range.from += kPage;
    }
    while (!piece->bytes.empty() && (range.from += kPage) < range.to && piece->bytes.size() < kMostOfPiece)
      if (!take_page(range.from / kPage, &piece->bytes)) break;
    if (range.from >= range.to) ranges_.pop_back();
  }
  return !piece->bytes.empty();
}

}  // namespace ashlar::mpiexec
