#include "framework/coll/room.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "framework/base/log.h"
#include "framework/base/shared_count.h"
#include "framework/coll/disagreement.h"
#include "framework/coll/flight.h"
#include "framework/p2p/internal.h"
#include "framework/p2p/params.h"
#include "framework/param/store.h"
#include "framework/param/trust.h"
#include "framework/plugin/loader.h"
#include "framework/plugin/registry.h"

namespace ashlar::coll {

Room* Room::current_ = nullptr;

Room* Room::current() { return current_; }
Room::~Room() = default;

Status Room::open(plugin::Registry& registry, param::Store& params, const Surroundings& around) {
  auto* const room = new (std::nothrow) Room;
  if (room == nullptr) return Status::fail(MPI_ERR_NO_MEM, "no memory for the collectives");
  current_ = room;
  room->registry_ = &registry;
  room->surroundings = around;
  const auto fill = [&]() -> Status {
    ASHLAR_TRY(params.fill("coll", kParams, &room->config));
    ASHLAR_TRY(params.fill("check", kCheckParams, &room->checks));
    p2p::Config shared;
    ASHLAR_TRY(params.fill("check", p2p::kCheckParams, &shared));
    room->checks.datatypes = shared.check_datatypes;
    std::vector<plugin::Chosen> chosen;
    ASHLAR_TRY(registry.select("coll", nullptr, &chosen));
    for (const plugin::Chosen& choice : chosen) {
      void* module = nullptr;
      ASHLAR_TRY(choice.component->create(nullptr, &module));
      room->catalogue.add(*static_cast<const AlgorithmList*>(module));
    }
    ASHLAR_TRY(room->finish(&params));
    return {};
  };
  const Status filled = fill();
  if (!filled.ok()) close();
  return filled;
}

Status Room::open(std::span<const AlgorithmList* const> lists, const Surroundings& around) {
  current_ = new Room;
  current_->surroundings = around;
  current_->config = Config{"", 8u << 20, 0, 100'000'000, 1u << 20, false, false, {}};
  for (const char*& name : current_->config.forced) name = "";
  for (const AlgorithmList* list : lists) current_->catalogue.add(*list);
  const Status finished = current_->finish(nullptr);
  if (!finished.ok()) close();
  return finished;
}

void Room::close() {
  delete current_;
  current_ = nullptr;
}

Status Room::finish(param::Store* params) {
  for (int i = 0; i < kCollectives; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const char* const name = config.forced[i];
    if (*name == '\0' && config.reference) {
      forced_rules_[at].collective = static_cast<Collective>(i);
      forced_rules_[at].algorithm = "linear";
      forced_rules_[at].origin = "coll.reference";
    }
    if (*name == '\0') continue;
    const auto collective = static_cast<Collective>(i);
    const std::string key = std::string("coll.") + name_of(collective) + ".algorithm";
    const param::Setting* const setting = params != nullptr ? params->find(key) : nullptr;
    forced_origins_[at] = key + " from " + (setting != nullptr ? setting->origin : "the program");
    if (catalogue.find(collective, name) == nullptr)
      return catalogue.unknown(collective, name, forced_origins_[at].c_str());
    forced_rules_[at].collective = collective;
    forced_rules_[at].algorithm = name;
    forced_rules_[at].origin = forced_origins_[at].c_str();
  }
  if (*config.tuning_file != '\0') ASHLAR_TRY(read_tuning_file());
  const RuleTable table = default_rules();
  ASHLAR_TRY(check_rules(std::span(table.first, table.count), false));
  if (registry_ == nullptr) return {};
  for (Entry& entry : catalogue.entries()) {
    pvar_rows_.push_back(
        {entry.pvar_name.c_str(), "collectives started on this process", ASHLAR_PVAR_COUNTER, &entry.calls});
    for (int bin = 0; bin < kSizeBins; ++bin) {
      pvar_rows_.push_back({entry.pvar_names_of_size[bin].c_str(), "collectives of this size, by the quantity of bytes",
                            ASHLAR_PVAR_COUNTER, &entry.calls_of_size[bin]});
    }
  }
  registry_->host().add_pvars("coll", pvar_rows_);
  return {};
}

Status Room::read_tuning_file() {
  const char* const path = config.tuning_file;
  std::string text;
  if (const Status found = param::read_trusted(path, param::Trust::named(), &text); !found.ok())
    return Status::fail(MPI_ERR_ARG, "coll.tuning_file: %s", found.text());
  ashlar_yaml_read* read = nullptr;
  ASHLAR_TRY(plugin::open_yaml(&read));
  user_rules_ = std::make_unique<RuleReader>(path);
  const ashlar_yaml_sink sink{
      user_rules_.get(),
      [](void* self, const char* key, const char* value, int line, int, const char*) {
        static_cast<RuleReader*>(self)->setting(key, value, line);
      },
      [](void*, const char*, const char*, int) {},
      [](void* self, int line, const char* problem) { static_cast<RuleReader*>(self)->problem(line, problem); },
      [](void* self, int line, const char* notice) { static_cast<RuleReader*>(self)->problem(line, notice); }};
  read(text.data(), text.size(), &sink);
  const std::vector<Rule>& rules = user_rules_->rules();
  if (!user_rules_->problems().empty()) {
    std::string all;
    for (const std::string& problem : user_rules_->problems()) all += (all.empty() ? "" : "; ") + problem;
    return Status::fail(MPI_ERR_ARG, "the tuning file has mistakes: %s", all.c_str());
  }
  return check_rules(rules, true);
}

Status Room::check_rules(std::span<const Rule> rules, bool user) {
  for (const Rule& rule : rules) {
    if (catalogue.find(rule.collective, rule.algorithm) != nullptr) continue;
    const Status unknown = catalogue.unknown(rule.collective, rule.algorithm, rule.origin);
    if (user) return unknown;
    // A built-in rule for a component that is left out is passed over.
    ASHLAR_LOG(debug, "coll", "%s", unknown.text());
  }
  return {};
}

bool Room::fit_for_bits(const Algorithm& algorithm) const {
  return !config.reproducible || !reduces(algorithm.collective) || algorithm.is(kFixedOrder);
}

const Plan& Room::plan_for(const Shape& shape) {
  const std::lock_guard guard(mutex_);
  for (const Plan& plan : plans_) {
    if (plan.shape == shape) return plan;
  }
  Plan& plan = plans_.emplace_back();
  plan.shape = shape;
  const auto add = [&](const Rule& rule) {
    if (!rule.fits(shape)) return;
    Entry* const entry = catalogue.find(rule.collective, rule.algorithm);
    if (entry == nullptr || entry->algorithm->is(kInter) != shape.inter) return;
    if (!fit_for_bits(*entry->algorithm)) return;
    plan.choices[static_cast<std::size_t>(rule.collective)].push_back({&rule, entry});
  };
  for (const Rule& rule : forced_rules_) {
    if (*rule.algorithm != '\0') add(rule);
  }
  if (user_rules_ != nullptr) {
    for (const Rule& rule : user_rules_->rules()) add(rule);
  }
  const RuleTable table = default_rules();
  for (std::size_t i = 0; i < table.count; ++i) add(table.first[i]);
  for (Entry& entry : catalogue.entries()) {
    const Algorithm& algorithm = *entry.algorithm;
    if (algorithm.is(kInter) == shape.inter && fit_for_bits(algorithm))
      plan.choices[static_cast<std::size_t>(algorithm.collective)].push_back({nullptr, &entry});
  }
  return plan;
}

void Room::report_unfit(const Choice& choice, const Shape& shape, const Call& call, const char* why) {
  if (choice.rule == nullptr) return;
  {
    const std::lock_guard guard(mutex_);
    if (std::find(reported_.begin(), reported_.end(), choice.rule) != reported_.end()) return;
    reported_.push_back(choice.rule);
  }
  char subject[160];
  std::snprintf(subject, sizeof subject, "rule %s", choice.rule->origin);
  char because[200];
  std::snprintf(because, sizeof because, "%s cannot serve %lld bytes on %d ranks: %s", choice.entry->algorithm->name,
                static_cast<long long>(call.bytes), shape.ranks, why);
  ASHLAR_LOG(info, "coll", "%s passed over: %s", subject, because);
  if (registry_ != nullptr) registry_->records().add({"coll", subject, "passed over", because, "", "coll.tuning_file"});
}

void Room::record(const Choice& choice, const Shape& shape, const Call& call) {
  if (!first_to_set(choice.entry->recorded) || registry_ == nullptr) return;
  const Algorithm& chosen = *choice.entry->algorithm;
  char because[320];
  std::snprintf(because, sizeof because, "first used for %lld bytes on %d ranks of %d node%s: %s",
                static_cast<long long>(call.bytes), shape.ranks, shape.nodes, shape.nodes == 1 ? "" : "s",
                choice.rule != nullptr ? choice.rule->origin : "no rule applies");
  std::string lost;
  for (const Entry& entry : catalogue.entries()) {
    const Algorithm& other = *entry.algorithm;
    if (other.collective != chosen.collective || &other == &chosen || other.is(kInter) != shape.inter) continue;
    const char* excluded = other.excluded != nullptr ? other.excluded(shape, call) : nullptr;
    if (!fit_for_bits(other)) excluded = "coll.reproducible asks for rank order";
    if (!lost.empty()) lost += '\n';
    lost += std::string(other.name) + ": " + (excluded != nullptr ? excluded : "the rule for this size says otherwise");
  }
  const std::string setting = std::string("coll.") + name_of(chosen.collective) + ".algorithm, coll.tuning_file";
  registry_->records().add({"coll", name_of(chosen.collective),
                            std::string(chosen.name) + " (" + chosen.component + ")", because, lost, setting});
}

Slab<Flight>& Room::flights(unsigned lane) {
  const std::lock_guard guard(mutex_);
  while (flights_.size() <= lane) {
    flights_.push_back(std::make_unique<Slab<Flight>>());
    flights_.back()->set_limit(static_cast<std::size_t>(config.request_limit));
  }
  return *flights_[lane];
}

LaneRecords& Room::records(unsigned lane) {
  const std::lock_guard guard(mutex_);
  while (records_.size() <= lane) records_.push_back(std::make_unique<LaneRecords>());
  return *records_[lane];
}

}  // namespace ashlar::coll
