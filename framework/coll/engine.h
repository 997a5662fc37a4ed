#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/thread_annotations.h"
#include "framework/base/types.h"
#include "framework/coll/catalogue.h"
#include "framework/coll/params.h"
#include "framework/coll/rounds.h"
#include "framework/coll/rule.h"
#include "framework/plugin/component.h"
#include "framework/progress/lane.h"

namespace ashlar {
class Group;
}
namespace ashlar::param {
class Store;
}
namespace ashlar::plugin {
class Registry;
}

namespace ashlar::coll {

class Engine;
struct LaneCollectives;

/// One rule as it applies to communicators of one shape.
struct Choice {
  const Rule* rule;  // nullptr: the last resort, when no rule applies
  CatalogueEntry* entry;
};
/// The choices for each collective on communicators of one shape, in the order of the rules. It belongs to its engine.
struct Plan {
  Engine* engine = nullptr;
  Shape shape;
  std::array<std::vector<Choice>, kCollectives> choices;
  std::array<bool, kCollectives> goes_by_bandwidth{};  // one of the rules does
};

/// What choices depend on beside the communicator: where the processes of the job run.
struct JobMap {
  const std::uint32_t* node_of = nullptr;  // the node of each rank of the job; nullptr: all are on one node
  std::uint32_t ranks = kNobody;           // of the job: processes with higher numbers are of other jobs
  // Equal in every process of every job for processes of one node; for communicators that several jobs share.
  std::uint64_t (*node_identity)(PeerId, std::uint64_t node_size) = nullptr;
  bool oversubscribed = false;  // ranks of this node take turns on its cores
};

/// The state of the collectives that belongs to no communicator: algorithms, rules, settings. The process owns one,
/// from initialisation to the end; lanes, plans and the states of communicators refer to it, so no code needs a global.
/// Constant once open() has returned, except the plans and the records, which the mutex guards, and the counters of the
/// catalogue, which are atomic.
class Engine {
 public:
  /// Loads the coll components, reads the parameters and the tuning file. Fails with MPI_ERR_ARG when a forced
  /// algorithm does not exist or the tuning file has a mistake. Before the first communicator.
  static Status open(plugin::Registry& registry, param::Store& params, const JobMap& job, std::unique_ptr<Engine>* out);
  /// For tests and simulations: these lists of algorithms, the default rules, and no parameter set.
  static Status open(std::span<const AlgorithmList* const> lists, std::unique_ptr<Engine>* out);
  /// After the last communicator of every lane.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Sets lane.coll. Before the first collective on the lane, which must not outlive this object.
  void attach(Lane& lane) ASHLAR_REQUIRES(lane.lock);
  /// Takes over, on an attached lane, the values of rows that are not frozen.
  static void configure(Lane& lane, const Config& values) ASHLAR_REQUIRES(lane.lock);

  /// The plan for a shape; made on first use, shared by all communicators of that shape. Any thread.
  const Plan& plan_for(const Shape& shape);
  /// Records the first use of an algorithm: the choice, its rule, and what lost.
  void record(const Choice& choice, const Shape& shape, const Call& call);
  /// Records, once for each rule, that a rule which applies names an algorithm that cannot serve the call.
  void record_unfit(const Choice& choice, const Shape& shape, const Call& call, const char* why);

  /// Records what the ranks of a communicator have agreed on. Rank 0 tells it.
  void record_network(const char* comm, const char* chosen, const std::string& because);

  Catalogue catalogue;
  Config config{};
  CheckConfig checks{};
  JobMap job;
  /// Whether members of the group may be on different nodes, as far as choices go.
  bool knows_nodes(const Group& group) const {
    return config.node_size > 0 || job.node_of != nullptr || spans_jobs(group);
  }
  /// The node of each member, for all choices that go by nodes. All members find the same.
  std::vector<std::uint32_t> nodes_of(const Group& group) const;

 private:
  Engine() = default;
  /// Whether the group has processes of other jobs.
  bool spans_jobs(const Group& group) const;
  Status load_components(plugin::Registry& registry, param::Store& params);
  Status force_algorithms(const param::Store& params);
  Status read_tuning_file(param::Store& params);
  Status check_rules(std::span<const Rule> rules, bool user);
  void add_pvars();
  /// Whether coll.reproducible allows the algorithm.
  bool order_is_fixed(const Algorithm& algorithm) const;

  plugin::Registry* registry_ = nullptr;               // nullptr in tests and simulations
  std::vector<std::unique_ptr<RoundsModule>> rounds_;  // of components that are written against the C interface
  std::unique_ptr<RuleReader> user_rules_;
  std::array<Rule, kCollectives> forced_rules_;
  std::array<std::string, kCollectives> forced_origins_;
  std::vector<ashlar_pvar> pvar_rows_;
  std::vector<std::unique_ptr<LaneCollectives>> lanes_;
  std::mutex mutex_;
  std::deque<Plan> plans_;          // guarded by mutex_; a plan never moves
  std::vector<const Rule*> unfit_;  // guarded by mutex_: rules that record_unfit() has recorded
};

}  // namespace ashlar::coll
