#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "framework/coll/algorithm.h"
#include "framework/coll/rule.h"
#include "framework/plugin/coll.h"

namespace ashlar::coll {

/// The algorithms of one component that are written against the C interface (framework/plugin/coll.h), as algorithms of
/// the kernel: one coroutine calls their rounds and awaits the messages between them. Constant once made; the engine
/// keeps it as long as calls may run.
class RoundsModule {
 public:
  /// Fails with MPI_ERR_OTHER when a row is not right; the sentence names row and member.
  static Status make(const ashlar_coll& module, const char* component, std::unique_ptr<RoundsModule>* out);
  AlgorithmList list() const { return list_of(algorithms_); }
  /// Where the component's maker prefers them.
  const std::vector<Rule>& rules() const { return rules_; }

 private:
  RoundsModule() = default;
  Status add(const ashlar_coll_algorithm& theirs, const char* component);

  std::deque<ashlar_coll_algorithm> rows_;  // whole
  std::vector<Algorithm> algorithms_;
  std::vector<Rule> rules_;
  std::deque<std::string> texts_;
};

/// Why the row's algorithm cannot serve the call, or nullptr. The same on all ranks.
const char* row_excluded(const ashlar_coll_algorithm& row, const Shape& shape, const Call& call);

}  // namespace ashlar::coll
