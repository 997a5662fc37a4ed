#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpiexec/board.h"

namespace ashlar::mpiexec {

/// What the tools of this host's ranks have recorded, piece by piece for mpiexec on another host. Most of a rank's
/// memory for tools is zero, and is at the other end: pages that are stay behind.
class ToolPages {
 public:
  struct Piece {
    std::uint32_t rank = 0;
    std::uint64_t offset = 0;  // in the rank's memory
    std::string bytes;
  };
  ToolPages(Board& board, std::vector<unsigned> ranks) : board_(board), ranks_(std::move(ranks)) {}
  /// From the first rank on; `whole`: all of it, and not only what samples read.
  void begin(bool whole);
  /// False: that was all.
  bool next(Piece* piece);
  /// Whether next() has not said so yet.
  bool left() const { return left_; }

 private:
  struct Range {
    std::uint64_t from, to;
  };
  std::vector<Range> ranges_of(unsigned rank) const;
  std::uint64_t place_of(unsigned rank) const;
  bool next_rank();
  bool take_page(std::size_t page, std::string* to);

  Board& board_;
  std::vector<unsigned> ranks_;
  std::vector<std::vector<bool>> sent_;  // of each of them, by page: those that are not zero at the other end
  std::vector<Range> ranges_;            // of the rank whose turn it is, as far as they were not sent
  std::size_t turn_ = 0;                 // its index, plus 1
  bool whole_ = false, left_ = false;
};

}  // namespace ashlar::mpiexec
