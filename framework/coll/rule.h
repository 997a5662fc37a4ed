#pragma once
#include <mpi.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "framework/base/status.h"
#include "framework/coll/algorithm.h"
#include "framework/coll/collective.h"
#include "framework/coll/op.h"

namespace ashlar::coll {

/// From ... to, both included.
template <class T>
struct Range {
  T from, to;
  bool has(T value) const { return from <= value && value <= to; }
};

/// One row of a tuning file: where it applies, and what to use there. The first row that applies wins.
struct Rule {
  enum class Commute : std::uint8_t { kAny, kYes, kNo };
  /// Whose rule it is, for tools (events.h has the words).
  enum class Source : std::uint8_t { kBuiltIn, kComponent, kTuningFile, kParameter, kCommunicator };

  Collective collective = Collective::kBarrier;
  Commute commute = Commute::kAny;
  bool conditional = false;  // it has conditions that are no ranges of the shape or of bytes
  Range<int> ranks{0, INT_MAX}, nodes{0, INT_MAX}, node_ranks{0, INT_MAX};
  Range<MPI_Count> bytes{0, INT64_MAX};  // of quantity_of(collective)
  /// Bytes per second between the nodes, as the ranks have measured (Network); with bounds it holds only then. Without:
  /// -1.
  Range<MPI_Count> bandwidth{0, -1};
  const char* algorithm = "";
  Arguments arguments{};
  const char* origin = "";  // "default.yaml:31 (allreduce.large)"
  Source source = Source::kBuiltIn;

  bool goes_by_bandwidth() const { return bandwidth.to >= 0; }
  bool fits(const Shape& shape) const {
    return ranks.has(shape.ranks) && nodes.has(shape.nodes) && node_ranks.has(shape.node_ranks);
  }
};

struct RuleTable {
  const Rule* first;
  std::size_t count;
  const char* origin;  // who measured what, and when
};
/// config/tuning/default.yaml, compiled in by config/tuning/compile_rules.py.
RuleTable default_rules();

/// The same number for rules that choose alike, whatever their origin.
std::uint64_t fingerprint(std::span<const Rule> rules);

/// Rules from the settings of a tuning file, one "collective.row.condition" at a time, in the order of the file. The
/// strings of the result live as long as the reader.
class RuleReader {
 public:
  explicit RuleReader(std::string file) : file_(std::move(file)) {}
  void setting(const char* key, const char* value, int line);
  void problem(int line, const std::string& text);
  /// Sentences about what is wrong with the file; empty: it is in order.
  const std::vector<std::string>& problems() const { return problems_; }
  const std::vector<Rule>& rules();
  const std::string& origin() const { return origin_; }

 private:
  std::string file_, origin_ = "not stated";
  std::vector<Rule> rules_;
  std::vector<std::string> rows_;  // "allreduce.large", one per rule
  std::vector<int> lines_;         // where each begins
  std::set<std::string> known_rows_;
  std::vector<const std::string*> texts_;
  std::vector<std::string> problems_;
  const char* keep(std::string text);

 public:
  ~RuleReader();
  RuleReader(const RuleReader&) = delete;
  RuleReader& operator=(const RuleReader&) = delete;
};

/// Reads a tuning file whose name a parameter or a user gave. Fails when the file is refused or no reader of YAML is
/// installed; what is wrong in it is (*out)->problems().
Status read_rules(const std::string& path, std::unique_ptr<RuleReader>* out);

}  // namespace ashlar::coll
