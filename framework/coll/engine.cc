#include "framework/coll/engine.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/base/shared_count.h"
#include "framework/coll/choose.h"
#include "framework/coll/lane_collectives.h"
#include "framework/coll/pvars.h"
#include "framework/p2p/params.h"
#include "framework/param/store.h"
#include "framework/plugin/coll_interface.h"
#include "framework/plugin/pvars.h"
#include "framework/plugin/registry.h"

namespace ashlar::coll {

LaneCollectives::LaneCollectives(Engine& owner) : engine(owner), compare_after(owner.config.compare_after) {
  flights.set_limit(static_cast<std::size_t>(owner.config.request_limit));
}

Engine::~Engine() {
  if (registry_ == nullptr) return;
  for (const auto& lane : lanes_) coll::remove_pvars(*lane);
  plugin::pvar_sets().close("coll");
}

void Engine::attach(Lane& lane) {
  lanes_.push_back(std::make_unique<LaneCollectives>(*this));
  lane.coll = lanes_.back().get();
  if (registry_ != nullptr) coll::add_pvars(*lane.coll);
}

void Engine::configure(Lane& lane, const Config& values) {
  lane.coll->flights.set_limit(static_cast<std::size_t>(values.request_limit));
  lane.coll->compare_after = values.compare_after;
  if (lane.review == nullptr) return;
  lane.review_every = values.compare_after;
  lane.next_review = 0;  // it was set by the time that held before, which may be an hour
}

Status Engine::open(plugin::Registry& registry, param::Store& params, const JobMap& job, std::unique_ptr<Engine>* out) {
  std::unique_ptr<Engine> engine(new (std::nothrow) Engine);
  if (engine == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the collectives"}});
  engine->registry_ = &registry;
  engine->job = job;
  ASHLAR_TRY(params.fill("coll", kParams, &engine->config));
  ASHLAR_TRY(params.fill("check", kCheckParams, &engine->checks));
  p2p::Config shared;
  ASHLAR_TRY(params.fill("check", p2p::kCheckParams, &shared));
  engine->checks.datatypes = shared.check_datatypes;
  ASHLAR_TRY(engine->load_components(registry, params));
  ASHLAR_TRY(engine->force_algorithms(params));
  if (*engine->config.tuning_file != '\0') ASHLAR_TRY(engine->read_tuning_file(params));
  const RuleTable table = default_rules();
  ASHLAR_TRY(engine->check_rules(std::span(table.first, table.count), false));
  engine->add_pvars();
  *out = std::move(engine);
  return {};
}

Status Engine::open(std::span<const AlgorithmList* const> lists, std::unique_ptr<Engine>* out) {
  std::unique_ptr<Engine> engine(new Engine);
  param::Store nothing_set;  // the texts of the defaults are those of the rows, and outlive it
  ASHLAR_TRY(nothing_set.fill("coll", kParams, &engine->config));
  for (const AlgorithmList* list : lists) engine->catalogue.add(*list);
  const RuleTable table = default_rules();
  ASHLAR_TRY(engine->check_rules(std::span(table.first, table.count), false));
  *out = std::move(engine);
  return {};
}

// Which components serve decides every choice, so ranks must have the same: chosen by parameter, or installed.
Status Engine::load_components(plugin::Registry& registry, param::Store& params) {
  std::vector<plugin::Chosen> chosen;
  std::string names;
  ASHLAR_TRY(registry.select("coll", nullptr, &chosen));
  for (const plugin::Chosen& choice : chosen) {
    if (choice.component->table().interface_version == ASHLAR_COLL_CXX_INTERFACE) {
      void* module = nullptr;
      ASHLAR_TRY(choice.component->create(nullptr, &module));
      catalogue.add(*static_cast<const AlgorithmList*>(module));
    } else {
      ashlar_coll* module = nullptr;
      ASHLAR_TRY(choice.component->create(nullptr, &module));
      ASHLAR_TRY(RoundsModule::make(*module, choice.component->name(), &rounds_.emplace_back()));
      catalogue.add(rounds_.back()->list());
    }
    names += (names.empty() ? "" : ",") + std::string(choice.component->name());
  }
  const param::Setting* const set = params.find("coll");
  for (const auto& module : rounds_)
    if (!module->rules().empty()) {
      char summary[64];
      std::snprintf(summary, sizeof summary, "(preferences %016llx)",
                    static_cast<unsigned long long>(fingerprint(module->rules())));
      names += summary;
    }
  params.job_settings().set("coll", names, set != nullptr ? set->origin : "all that are installed");
  return {};
}

// What the user asked for by name comes before every rule; the slowest algorithm, with coll.reference, comes after it.
Status Engine::force_algorithms(const param::Store& params) {
  for (int i = 0; i < kCollectives; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto collective = static_cast<Collective>(i);
    const char* const name = config.forced[i];
    Rule& rule = forced_rules_[at];
    rule.collective = collective;
    rule.source = Rule::Source::kParameter;
    if (*name == '\0') {
      if (config.reference) {
        rule.algorithm = "linear";
        rule.origin = "coll.reference";
      }
      continue;
    }
    const std::string key = std::string("coll.") + name_of(collective) + ".algorithm";
    const param::Setting* const setting = params.find(key);
    forced_origins_[at] = key + " from " + (setting != nullptr ? setting->origin : "the program");
    if (catalogue.find(collective, name) == nullptr)
      return catalogue.unknown(collective, name, forced_origins_[at].c_str());
    rule.algorithm = name;
    rule.origin = forced_origins_[at].c_str();
  }
  return {};
}

void Engine::add_pvars() {
  for (CatalogueEntry& entry : catalogue.entries()) {
    pvar_rows_.push_back(
        {entry.pvar_name.c_str(), "collectives started on this process", ASHLAR_PVAR_COUNTER, &entry.calls});
    for (int bin = 0; bin < kSizeBins; ++bin) {
      pvar_rows_.push_back({entry.pvar_names_of_size[bin].c_str(), "collectives of this size, by the quantity of bytes",
                            ASHLAR_PVAR_COUNTER, &entry.calls_of_size[bin]});
    }
  }
  plugin::pvar_sets().add("coll", pvar_rows_);
}

Status Engine::read_tuning_file(param::Store& params) {
  const char* const path = config.tuning_file;
  if (const Status found = read_rules(path, &user_rules_); !found.ok())
    return fail(MPI_ERR_ARG, "coll.tuning_file_unread", {{"lower", found.text()}});
  const std::vector<Rule>& rules = user_rules_->rules();
  if (!user_rules_->problems().empty()) {
    std::string all;
    for (const std::string& problem : user_rules_->problems()) all += (all.empty() ? "" : "; ") + problem;
    return fail(MPI_ERR_ARG, "coll.tuning_file_wrong", {{"mistakes", all}});
  }
  char summary[64];
  std::snprintf(summary, sizeof summary, "of %zu rules, fingerprint %016llx", rules.size(),
                static_cast<unsigned long long>(fingerprint(rules)));
  const param::Setting* const set = params.find("coll.tuning_file");
  params.job_settings().set("coll.tuning_file", summary,
                            std::string(path) + " from " + (set != nullptr ? set->origin : "the program"));
  return check_rules(rules, true);
}

Status Engine::check_rules(std::span<const Rule> rules, bool user) {
  for (const Rule& rule : rules) {
    if (catalogue.find(rule.collective, rule.algorithm) != nullptr) continue;
    const Status unknown = catalogue.unknown(rule.collective, rule.algorithm, rule.origin);
    if (user) return unknown;
    // A built-in rule for a component that is left out is passed over.
    ASHLAR_LOG(debug, "coll", "%s", unknown.text());
  }
  return {};
}

bool Engine::order_is_fixed(const Algorithm& algorithm) const {
  return !config.reproducible || !reduces(algorithm.collective) || algorithm.is(kFixedOrder);
}

const Plan& Engine::plan_for(const Shape& shape) {
  const std::lock_guard guard(mutex_);
  for (const Plan& plan : plans_) {
    if (plan.shape == shape) return plan;
  }
  Plan& plan = plans_.emplace_back();
  plan.engine = this;
  plan.shape = shape;
  const auto add = [&](const Rule& rule) {
    if (!rule.fits(shape)) return;
    CatalogueEntry* const entry = catalogue.find(rule.collective, rule.algorithm);
    if (entry == nullptr || entry->algorithm->is(kInter) != shape.inter) return;
    if (!order_is_fixed(*entry->algorithm)) return;
    plan.choices[static_cast<std::size_t>(rule.collective)].push_back({&rule, entry});
    if (rule.goes_by_bandwidth() && shape.nodes > 1)
      plan.goes_by_bandwidth[static_cast<std::size_t>(rule.collective)] = true;
  };
  for (const Rule& rule : forced_rules_) {
    if (*rule.algorithm != '\0') add(rule);
  }
  if (user_rules_ != nullptr) {
    for (const Rule& rule : user_rules_->rules()) add(rule);
  }
  for (const auto& module : rounds_)
    for (const Rule& rule : module->rules()) add(rule);
  const RuleTable table = default_rules();
  for (std::size_t i = 0; i < table.count; ++i) add(table.first[i]);
  for (CatalogueEntry& entry : catalogue.entries()) {
    const Algorithm& algorithm = *entry.algorithm;
    if (algorithm.is(kInter) == shape.inter && order_is_fixed(algorithm))
      plan.choices[static_cast<std::size_t>(algorithm.collective)].push_back({nullptr, &entry});
  }
  return plan;
}

void Engine::record_unfit(const Choice& choice, const Shape& shape, const Call& call, const char* why) {
  if (choice.rule == nullptr) return;
  {
    const std::lock_guard guard(mutex_);
    if (std::find(unfit_.begin(), unfit_.end(), choice.rule) != unfit_.end()) return;
    unfit_.push_back(choice.rule);
  }
  char subject[160];
  std::snprintf(subject, sizeof subject, "rule %s", choice.rule->origin);
  char because[200];
  std::snprintf(because, sizeof because, "%s cannot serve %lld bytes on %d ranks: %s", choice.entry->algorithm->name,
                static_cast<long long>(call.bytes), shape.ranks, why);
  ASHLAR_LOG(info, "coll", "%s passed over: %s", subject, because);
  if (registry_ != nullptr) registry_->records().add({"coll", subject, "passed over", because, "", "coll.tuning_file"});
}

void Engine::record(const Choice& choice, const Shape& shape, const Call& call) {
  if (!first_to_set(choice.entry->recorded) || registry_ == nullptr) return;
  const Algorithm& chosen = *choice.entry->algorithm;
  char because[320];
  std::snprintf(because, sizeof because, "first used for %lld bytes on %d ranks of %d node%s: %s",
                static_cast<long long>(call.bytes), shape.ranks, shape.nodes, shape.nodes == 1 ? "" : "s",
                choice.rule != nullptr ? choice.rule->origin : "no rule applies");
  std::string lost;
  for (const CatalogueEntry& entry : catalogue.entries()) {
    const Algorithm& other = *entry.algorithm;
    if (other.collective != chosen.collective || &other == &chosen || other.is(kInter) != shape.inter) continue;
    const char* excluded = why_not(other, shape, call);
    if (!order_is_fixed(other)) excluded = "coll.reproducible asks for rank order";
    if (!lost.empty()) lost += '\n';
    lost += std::string(other.name) + ": " + (excluded != nullptr ? excluded : "the rule for this size says otherwise");
  }
  const std::string setting = std::string("coll.") + name_of(chosen.collective) + ".algorithm, coll.tuning_file";
  registry_->records().add({"coll", name_of(chosen.collective),
                            std::string(chosen.name) + " (" + chosen.component + ")", because, lost, setting});
}

void Engine::record_network(const char* comm, const char* chosen, const std::string& because) {
  if (registry_ == nullptr) return;
  registry_->records().add({"coll", "network of '" + std::string(comm) + "'", chosen, because, "",
                            "coll.tuning_file (rows with bandwidth)"});
}

}  // namespace ashlar::coll
