#pragma once
#include <string>
#include <vector>

namespace ashlar::mpiexec {

/// A text of one rank: an error, a warning.
struct RankText {
  unsigned rank;
  std::string text;
};

/// What several ranks said alike: their texts differ in numbers at most, and where they do, `text` has all the numbers:
/// "argument dest is 4-7, but communicator 'rows' has ranks 0..3".
struct SaidAlike {
  std::vector<unsigned> ranks;  // ascending
  std::string text;
};

/// Puts equal texts together; the order is that of the first of each.
std::vector<SaidAlike> put_together(const std::vector<RankText>& texts);

/// Texts that differ in numbers at most have the same one.
std::string without_numbers(const std::string& text);

/// "Rank 17", "Ranks 0-2"; from five ranks on "1,023 ranks (0-16 and 18-1023)".
std::string these_ranks(const std::vector<unsigned>& ranks);

}  // namespace ashlar::mpiexec
