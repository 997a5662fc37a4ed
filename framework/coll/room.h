#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "framework/base/slab.h"
#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/coll/catalogue.h"
#include "framework/coll/params.h"
#include "framework/coll/rule.h"
#include "framework/plugin/component.h"

namespace ashlar::param {
class Store;
}
namespace ashlar::plugin {
class Registry;
}

namespace ashlar::coll {

class Flight;
struct LaneRecords;

/// One rule as it applies to communicators of one shape.
struct Choice {
  const Rule* rule;  // nullptr: the last resort, when no rule applies
  Entry* entry;
};
/// The choices for each collective on communicators of one shape, in the order of the rules.
struct Plan {
  Shape shape;
  std::array<std::vector<Choice>, kCollectives> choices;
};

/// What the runtime tells this room about the job.
struct Surroundings {
  std::uint32_t (*node_of)(PeerId) = nullptr;  // nullptr: all on one node
  bool oversubscribed = false;
};

/// All of this room that is not a communicator's: algorithms, rules, settings. One per process, from open() to close().
class Room {
 public:
  /// Loads the coll components, reads parameters and the tuning file. A forced algorithm that does not exist, or a
  /// tuning file with a mistake, fails with a sentence. Before the first communicator.
  static Status open(plugin::Registry& registry, param::Store& params, const Surroundings& surroundings);
  /// For tests and tools: these lists alone, with the default rules and no parameter set.
  static Status open(std::span<const AlgorithmList* const> lists, const Surroundings& surroundings);
  /// After the last communicator.
  static void close();
  /// nullptr outside open .. close.
  static Room* current();

  /// The plan for a shape; made on first use, shared by all communicators of that shape. Any thread.
  const Plan& plan_for(const Shape& shape);
  /// Tells of the first use of an algorithm: what was chosen, by which rule, and what lost.
  void record(const Choice& choice, const Shape& shape, const Call& call);
  /// A rule that applies to this call names an algorithm that does not: told once.
  void report_unfit(const Choice& choice, const Shape& shape, const Call& call, const char* why);

  Catalogue catalogue;
  Config config{};
  CheckConfig checks{};
  Surroundings surroundings;
  /// The node of a process, for all that goes by nodes. Without knowledge of nodes all are on one.
  bool knows_nodes() const { return config.node_size > 0 || surroundings.node_of != nullptr; }
  std::uint32_t node_of(PeerId process) const {
    return config.node_size > 0              ? static_cast<std::uint32_t>(process / config.node_size)
           : surroundings.node_of != nullptr ? surroundings.node_of(process)
                                             : 0;
  }
  Slab<Flight>& flights(unsigned lane);
  LaneRecords& records(unsigned lane);

 private:
  Room() = default;
  ~Room();
  Status finish(param::Store* params);
  Status read_tuning_file();
  /// Whether coll.reproducible allows it.
  bool fit_for_bits(const Algorithm& algorithm) const;
  Status check_rules(std::span<const Rule> rules, bool user);

  static Room* current_;  // not inline: components would each have their own
  plugin::Registry* registry_ = nullptr;
  std::unique_ptr<RuleReader> user_rules_;
  std::array<Rule, kCollectives> forced_rules_;
  std::array<std::string, kCollectives> forced_origins_;
  std::mutex mutex_;
  std::deque<Plan> plans_;
  std::vector<const Rule*> reported_;
  std::vector<ashlar_pvar> pvar_rows_;
  std::vector<std::unique_ptr<Slab<Flight>>> flights_;
  std::vector<std::unique_ptr<LaneRecords>> records_;
};

}  // namespace ashlar::coll
