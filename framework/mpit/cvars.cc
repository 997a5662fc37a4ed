#include "framework/mpit/cvars.h"

#include <unistd.h>

#include "framework/base/event.h"
#include "framework/mpit/comm_cvars.h"
#include "framework/mpit/cvar_values.h"
#include "framework/param/table.h"
#include "framework/plugin/in_force.h"
#include "framework/plugin/registry.h"

namespace ashlar::mpit {
namespace {

constexpr int kTextRoom = 1024;  // characters of a text, the zero included: writes of more are refused

}  // namespace

Cvars& cvars() {
  static Cvars& all = *new Cvars;  // indices stay good for as long as the program runs
  return all;
}

Cvar* Cvars::make(std::string name) {
  if (by_name_.contains(name)) return nullptr;
  Cvar& made = list_.emplace_back();
  try {
    by_name_.emplace(name, static_cast<int>(list_.size()) - 1);
  } catch (...) {
    list_.pop_back();
    throw;
  }
  made.name = std::move(name);
  return &made;
}

void Cvars::shrink_to(std::size_t count) {
  for (; list_.size() > count; list_.pop_back()) by_name_.erase(list_.back().name);
}

// Of the rows that were known before nothing changes; new ones come behind them.
void Cvars::add_tables(std::string_view prefix, std::span<const ashlar_param> rows) {
  const std::size_t before = list_.size();
  try {
    add_rows(prefix, rows);
  } catch (...) {
    shrink_to(before);
    throw;
  }
}

void Cvars::add_rows(std::string_view prefix, std::span<const ashlar_param> rows) {
  std::vector<ashlar_param>& copies = rows_.emplace_back();
  copies.reserve(rows.size());
  for (const ashlar_param& row : rows) {
    if (row.flags & ASHLAR_PARAM_SYNONYM) continue;
    std::string name(prefix);
    if (!name.empty()) name += '.';
    name += row.name;
    Cvar* const made = make(std::move(name));
    if (made == nullptr) continue;
    Cvar& c = *made;
    ashlar_param& copy = copies.emplace_back(row);
    copy.name = pool_.keep(row.name);
    copy.help = pool_.keep(row.help);
    copy.fallback = row.fallback ? pool_.keep(row.fallback) : nullptr;
    if (row.choices != nullptr) {
      int words = 0;
      while (row.choices[words] != nullptr) ++words;
      std::vector<const char*>& kept = choices_.emplace_back();
      for (int i = 0; i < words; ++i) kept.push_back(pool_.keep(row.choices[i]));
      kept.push_back(nullptr);
      copy.choices = kept.data();
    }
    c.category = prefix;
    c.row = &copy;
    c.description = describe(copy);
    c.datatype = datatype_of(copy.type);
    c.words = copy.type == ASHLAR_PARAM_BOOL   ? truth()
              : copy.type == ASHLAR_PARAM_ENUM ? enumeration(c.name, copy.choices)
                                               : nullptr;
    c.verbosity = copy.verbosity;
    c.scope = copy.scope;
  }
  if (!copies.empty()) store_->declare({pool_.keep(prefix), copies});
}

void Cvars::add_components(const plugin::Registry& registry) {
  for (const plugin::Entry* entry : registry.entries()) {
    if (!entry->refused.empty()) continue;
    components_.emplace(entry->prefix, entry->statement.description);
    add_tables(entry->prefix, entry->statement.params);
  }
}

// The parameters of a process that runs: what it read, and not what the environment says by now.
void Cvars::know_running() {
  plugin::InForce& in_force = plugin::in_force();
  const unsigned published = in_force.published();
  std::string text;
  const bool there = in_force.with([&](const param::Store& store, const plugin::Registry& registry) {
    text = store.serialize();
    // Copied while the registry is there.
    add_components(registry);
  });
  if (!there) return;
  (void)store_->adopt(text).ok();  // the text is one of ours
  store_->freeze();
  seen_ = published;
}

void Cvars::read_before_start() {
  if (before_start_ != nullptr) return;
  auto start = std::make_unique<StartParams>();
  start->read();
  add_components(start->registry);
  (void)store_->adopt(start->params.serialize()).ok();
  before_start_ = std::move(start);
}

void Cvars::know() {
  if (store_ == nullptr) {
    store_ = std::make_unique<param::Store>();
    try {
      know_kernel();
    } catch (...) {
      shrink_to(0);
      store_.reset();
      throw;
    }
  }
  if (plugin::in_force().published() != seen_) know_running();
  if (seen_ == 0) read_before_start();
}

void Cvars::know_kernel() {
  for (const param::Table& table : param::kernel_tables()) add_tables(table.prefix, table.rows);
  for (const CommVariable& v : comm_variables()) {
    Cvar& c = *make(v.name);
    c.description = v.help;
    c.category = "comm";
    c.of_comm = &v;
    c.datatype = v.datatype;
    c.verbosity = v.verbosity;
    c.scope = v.scope;
    c.bind = MPI_T_BIND_MPI_COMM;
  }
}

int Cvars::size() {
  const std::lock_guard guard(mutex_);
  know();
  return static_cast<int>(list_.size());
}

Cvar* Cvars::at(int index) {
  const std::lock_guard guard(mutex_);
  know();
  return index >= 0 && static_cast<std::size_t>(index) < list_.size() ? &list_[static_cast<std::size_t>(index)]
                                                                      : nullptr;
}

int Cvars::find(std::string_view name) {
  const std::lock_guard guard(mutex_);
  know();
  const auto at = by_name_.find(name);
  return at != by_name_.end() ? at->second : -1;
}

/// The value in use: what the owner made of it, where it could not take it as it was set.
std::string Cvars::text_of(const Cvar& cvar) {
  std::string used;
  bool adjusted = false;
  plugin::in_force().with([&](const param::Store& store, const plugin::Registry&) {
    if (const auto a = store.adjustment(cvar.name)) {
      used = a->used;
      adjusted = true;
    }
  });
  return adjusted ? used : store_->value(cvar.name, *cvar.row).text;
}

int Cvars::count(const Cvar& cvar) {
  if (cvar.datatype != MPI_CHAR) return 1;
  if (cvar.row == nullptr) return kTextRoom;
  const std::lock_guard guard(mutex_);
  know();
  return std::max(kTextRoom, static_cast<int>(text_of(cvar).size()) + 1);
}

int Cvars::read(const Cvar& cvar, void* out, int count) {
  const std::lock_guard guard(mutex_);
  know();
  const std::string text = text_of(cvar);
  return put_value(*cvar.row, text, out, count);
}

int Cvars::write(const Cvar& cvar, const void* in, int count) {
  const event::Hold hold;  // lanes' locks may be given up in here
  const std::lock_guard guard(mutex_);
  know();
  if (cvar.row->flags & ASHLAR_PARAM_LAUNCHER) return MPI_T_ERR_CVAR_SET_NEVER;
  if (!store_->settable(cvar.name).ok()) return MPI_T_ERR_CVAR_SET_NEVER;
  std::string text;
  if (!text_from(*cvar.row, in, count, &text)) return MPI_T_ERR_INVALID;
  param::Parsed parsed;
  if (!param::parse(*cvar.row, text, &parsed).ok()) return MPI_T_ERR_INVALID;
  switch (plugin::in_force().write(cvar.name, text, *store_, seen_)) {
    case plugin::InForce::Written::kDone:
      break;
    case plugin::InForce::Written::kRefused:
      return MPI_T_ERR_INVALID;
    case plugin::InForce::Written::kNotNow:
      return MPI_T_ERR_CVAR_SET_NOT_NOW;
    case plugin::InForce::Written::kNever:
      return MPI_T_ERR_CVAR_SET_NEVER;
  }
  if (cvar.category == "tools") event::set_queue_capacity(read_limits().event_queue);
  return MPI_SUCCESS;
}

Config Cvars::read_limits() {
  Config config;
  (void)store_->fill("tools", kParams, &config).ok();  // what it cannot read was refused before
  return config;
}

Config Cvars::limits() {
  const std::lock_guard guard(mutex_);
  know();
  return read_limits();
}

std::string Cvars::component(std::string_view prefix) {
  const std::lock_guard guard(mutex_);
  const auto at = components_.find(prefix);
  return at != components_.end() ? at->second : std::string();
}

}  // namespace ashlar::mpit
