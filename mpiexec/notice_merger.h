#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiexec/output.h"

namespace ashlar::mpiexec {

/// Puts the warnings that many ranks write to standard error at nearly the same time into one paragraph. A warning of
/// the library begins a line with the rank's own name ("ashlar: rank 3 of 8 on node1: warning: "), and indented lines
/// may follow. It is held for a moment; what its rank writes after it is held too, so each rank's order stays. All
/// other text passes through at once.
class NoticeMerger {
 public:
  /// `to` outlives the merger. `on`: false passes everything through.
  NoticeMerger(unsigned ranks, bool on, LineMerger* to) : to_(*to), on_(on), ranks_(ranks) {}

  void add(unsigned rank, std::string_view bytes, std::uint64_t now);
  /// The rank's stream has ended.
  void end(unsigned rank);
  /// Passes on what is held.
  void flush();
  /// When to call flush(); 0: nothing is held.
  std::uint64_t due_ns() const { return due_ns_; }

 private:
  struct Notice {
    unsigned rank;
    std::string text;      // as it was written
    std::size_t body;      // where in it the rank's name ends
    std::string likeness;  // texts with the same one belong together
    unsigned number;       // so many such texts of the same rank are held already: the second belongs to others' second
  };
  struct Rank {
    bool in_line = false;  // its last line is unfinished
    bool ended = false;
    unsigned held = 0;  // notices
    std::string after;  // what it has written since then
  };

  std::size_t take_notices(unsigned rank, std::string_view bytes);
  std::size_t body_of(unsigned rank, std::string_view line) const;
  void pass(unsigned rank, std::string_view bytes);
  void tell(const std::vector<const Notice*>& alike);

  LineMerger& to_;
  const bool on_;
  std::vector<Rank> ranks_;
  std::vector<Notice> notices_;
  std::size_t held_bytes_ = 0;
  std::uint64_t due_ns_ = 0;
};

}  // namespace ashlar::mpiexec
