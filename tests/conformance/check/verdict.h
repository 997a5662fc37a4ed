#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ashlar::test {

/// What one rank of a job of the checker found. A rank leaves it in a file of the job's folder, because neither a
/// launcher's exit status nor its output says it of each rank.
struct Verdict {
  enum class Kind { kRight, kWrong, kSkipped, kEnds };
  std::uint32_t rank = 0, ranks = 1;
  Kind kind = Kind::kRight;
  std::string said;  // kEnds: what the launcher must show of the job's end; "": nothing
};

/// In a rank: its place in the job, known once it has joined, and the folder ("": this process is no rank of the
/// checker).
struct PlaceInJob {
  std::uint32_t rank = 0, ranks = 1;
  std::string folder;
};
PlaceInJob& place();

/// Sends standard output and error of this rank to a file of the folder, and its verdict to another.
void begin_rank(const std::string& folder);
void leave_verdict(Verdict::Kind kind, const std::string& said);
/// Ranks of a node tell each other what the component under test cannot: rank `rank` has come to the point `name`.
void mark(const std::string& name, std::uint32_t rank);
bool marked(const std::string& name, std::uint32_t rank);
void wait_for_mark(const std::string& name, std::uint32_t rank);

/// In the checker: the verdicts in `folder`, by rank; and what the processes that left none have printed.
std::vector<Verdict> read_verdicts(const std::string& folder, std::string* of_others);

}  // namespace ashlar::test
