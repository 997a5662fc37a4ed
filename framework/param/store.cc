#include "framework/param/store.h"

#include <algorithm>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"

namespace ashlar::param {
namespace {

int strength(const Setting& s) { return static_cast<int>(s.layer) + (s.lock ? 100 : 0); }

template <class T>
constexpr bool fits(ashlar_param_type type) {
  if constexpr (std::is_same_v<T, bool>) return type == ASHLAR_PARAM_BOOL;
  if constexpr (std::is_same_v<T, std::int64_t>) return type == ASHLAR_PARAM_I64;
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return type == ASHLAR_PARAM_U64 || type == ASHLAR_PARAM_BYTES || type == ASHLAR_PARAM_DURATION;
  if constexpr (std::is_same_v<T, double>) return type == ASHLAR_PARAM_F64;
  if constexpr (std::is_same_v<T, std::int32_t>) return type == ASHLAR_PARAM_ENUM;
  if constexpr (std::is_same_v<T, const char*>) return type == ASHLAR_PARAM_STRING;
}

template <class T>
T taken(const Parsed& parsed, const char* text) {
  if constexpr (std::is_same_v<T, bool>) return parsed.flag;
  if constexpr (std::is_same_v<T, std::int64_t>) return parsed.i64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return parsed.u64;
  if constexpr (std::is_same_v<T, double>) return parsed.f64;
  if constexpr (std::is_same_v<T, std::int32_t>) return parsed.choice;
  if constexpr (std::is_same_v<T, const char*>) return text;
}

template <class T>
void put(void* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

Status wrong_value(std::string_view key, const Value& value, Status why) {
  return fail(kErrArg, "param.bad_value", {{"parameter", key}, {"reason", why.text()}, {"origin", value.origin}});
}

/// Whether a value that was set is the row's own default, however it is spelt.
bool is_fallback(const ashlar_param& row, std::string_view text, const Parsed& parsed) {
  const std::string_view fallback = row.fallback != nullptr ? row.fallback : "";
  if (row.type == ASHLAR_PARAM_STRING) return text == fallback;
  Parsed built_in;
  return parse(row, fallback, &built_in).ok() && format(row, built_in) == format(row, parsed);
}

}  // namespace

void Store::declare(const Table& table) { schema_.add(table); }
void Store::declare(std::span<const Table> tables) {
  for (const Table& table : tables) schema_.add(table);
}

const Setting* Store::find(std::string_view key) const {
  const auto at = std::lower_bound(settings_.begin(), settings_.end(), key,
                                   [](const Setting& s, std::string_view k) { return std::string_view(s.key) < k; });
  return at != settings_.end() && at->key == key && !at->lost ? &*at : nullptr;
}

Value Store::value(std::string_view key, const ashlar_param& row) const {
  if (const Setting* s = settings_.empty() ? nullptr : find(key)) return {s->text, s->origin, s->layer, s->lock};
  return {row.fallback ? row.fallback : "", "built in", Layer::builtin, false};
}

Status Store::fill(std::string_view prefix, std::span<const ashlar_param> rows, void* config) {
  char key[256];
  if (prefix.size() > 120) return fail(kErrIntern, "param.name_too_long", {{"name", prefix}});
  std::size_t start = prefix.copy(key, prefix.size());
  if (start) key[start++] = '.';
  for (const ashlar_param& row : rows) {
    if (row.flags & ASHLAR_PARAM_SYNONYM) continue;
    const std::size_t length = std::strlen(row.name);
    if (start + length >= sizeof key) return fail(kErrIntern, "param.name_too_long", {{"name", row.name}});
    std::memcpy(key + start, row.name, length + 1);
    const std::string_view whole(key, start + length);
    const Value v = value(whole, row);
    Parsed parsed;
    if (Status status = parse(row, v.text, &parsed); !status.ok()) return wrong_value(whole, v, status);
    if (row.scope == ASHLAR_SCOPE_ALL_EQ && v.layer != Layer::builtin && !is_fallback(row, v.text, parsed))
      job_settings_.set(whole, row.type == ASHLAR_PARAM_STRING ? v.text : format(row, parsed), v.origin);
    char* at = static_cast<char*>(config) + row.offset;
    switch (row.type) {
      case ASHLAR_PARAM_BOOL:
        put(at, parsed.flag);
        break;
      case ASHLAR_PARAM_I64:
        put(at, parsed.i64);
        break;
      case ASHLAR_PARAM_U64:
      case ASHLAR_PARAM_BYTES:
      case ASHLAR_PARAM_DURATION:
        put(at, parsed.u64);
        break;
      case ASHLAR_PARAM_F64:
        put(at, parsed.f64);
        break;
      case ASHLAR_PARAM_STRING:
        put(at, v.text);
        break;
      case ASHLAR_PARAM_ENUM:
        put(at, parsed.choice);
        break;
    }
  }
  return {};
}

const Row* Store::require(std::string_view key, Status* status) const {
  const Row* row = schema_.find(key);
  if (row) return schema_.target(row);
  *status = fail(kErrArg, "param.unknown", {{"parameter", key}, {"hint", schema_.hint(key)}});
  return nullptr;
}

template <class T>
Status Store::get(std::string_view key, T* out) const {
  Status status;
  const Row* row = require(key, &status);
  if (!row) return status;
  if (!fits<T>(row->spec->type))
    return fail(kErrIntern, "param.other_type", {{"parameter", row->key}, {"type", type_name(row->spec->type)}});
  const Value v = value(row->key, *row->spec);
  Parsed parsed;
  if (status = parse(*row->spec, v.text, &parsed); !status.ok()) return wrong_value(row->key, v, status);
  *out = taken<T>(parsed, v.text);
  return {};
}

template Status Store::get(std::string_view, bool*) const;
template Status Store::get(std::string_view, std::int64_t*) const;
template Status Store::get(std::string_view, std::uint64_t*) const;
template Status Store::get(std::string_view, double*) const;
template Status Store::get(std::string_view, std::int32_t*) const;
template Status Store::get(std::string_view, const char**) const;

Status Store::settable(std::string_view key) const {
  Status status;
  const Row* row = require(key, &status);
  if (!row) return status;
  const ashlar_param& spec = *row->spec;
  if (spec.scope == ASHLAR_SCOPE_CONSTANT || spec.scope == ASHLAR_SCOPE_READONLY)
    return fail(kErrArg, "param.not_settable", {{"parameter", row->key}, {"scope", scope_name(spec.scope)}});
  if (frozen_ && (spec.flags & ASHLAR_PARAM_FROZEN)) return fail(kErrArg, "param.frozen", {{"parameter", row->key}});
  const Setting* now = find(row->key);
  if (now && now->lock) return fail(kErrArg, "param.locked", {{"parameter", row->key}, {"origin", now->origin}});
  return {};
}

Status Store::set(std::string_view key, std::string_view text, const char* origin) {
  Status status = settable(key);
  const Row* row = status.ok() ? require(key, &status) : nullptr;
  if (!row) return status;
  const ashlar_param& spec = *row->spec;
  Parsed parsed;
  if (status = parse(spec, text, &parsed); !status.ok())
    return fail(kErrArg, "param.bad_value", {{"parameter", row->key}, {"reason", status.text()}, {"origin", origin}});
  add(row->key, text, origin, Layer::tool, false, {});
  Context context;
  decide(context);
  return {};
}

void Store::add(std::string_view key, std::string_view text, std::string origin, Layer layer, bool lock,
                std::string_view when) {
  Setting s{pool_.keep(key), pool_.keep(text), pool_.keep(origin)};
  s.when = when.empty() ? "" : pool_.keep(when);
  s.layer = layer;
  s.lock = lock;
  settings_.push_back(s);
}

// Texts stay: blocks filled earlier point at them.
void Store::forget() {
  settings_.clear();
  decided_ = 0;
  problems_.clear();
  more_errors_ = more_notices_ = 0;
  filled_ = false;
}

// Sorts by key, the winner of each key first, and says of every other setting why it lost.
void Store::decide(Context& context) {
  if (!filled_) {  // conditions are judged once, where the sources were read
    for (Setting& s : settings_) {
      std::string why_not;
      s.applies = holds(s.when, context, &why_not);
      if (!s.applies) s.lost = pool_.keep(why_not);
    }
  }
  // Later in the same layer wins, so the later one has to come first: of those that are new, before those that are in
  // order already.
  const auto fresh = settings_.begin() + static_cast<std::ptrdiff_t>(decided_);
  std::reverse(fresh, settings_.end());
  std::rotate(settings_.begin(), fresh, settings_.end());
  decided_ = settings_.size();
  std::stable_sort(settings_.begin(), settings_.end(), [](const Setting& a, const Setting& b) {
    if (const int order = std::strcmp(a.key, b.key)) return order < 0;
    if (a.applies != b.applies) return a.applies;
    return strength(a) > strength(b);
  });
  for (std::size_t i = 0; i < settings_.size();) {
    Setting& winner = settings_[i];
    if (winner.applies) winner.lost = nullptr;
    std::size_t j = i + 1;
    for (; j < settings_.size() && std::strcmp(settings_[j].key, winner.key) == 0; ++j) {
      Setting& loser = settings_[j];
      if (!loser.applies) continue;
      const bool locked_out = winner.lock && !loser.lock && loser.layer > winner.layer;
      loser.lost = pool_.keep(std::string(locked_out ? "locked by " : "overridden by ") + winner.origin);
      if (locked_out && !filled_)
        problem(false, std::string(loser.key) + " = " + loser.text + " (" + loser.origin +
                           ") is not used: " + winner.origin + " locks it at " + winner.text);
    }
    i = j;
  }
}

void Store::adjusted(std::string_view key, std::string_view used, std::string_view because) {
  const std::lock_guard guard(*adjusting_);
  const auto known =
      std::find_if(adjustments_.begin(), adjustments_.end(), [&](const Adjustment& a) { return a.key == key; });
  if (known != adjustments_.end() && known->used == used && known->because == because) return;
  Adjustment& now = known != adjustments_.end() ? *known : adjustments_.emplace_back();
  now = {std::string(key), std::string(used), std::string(because)};
  if (on_adjusted_) on_adjusted_(now);
}

std::optional<Store::Adjustment> Store::adjustment(std::string_view key) const {
  const std::lock_guard guard(*adjusting_);
  for (const Adjustment& a : adjustments_) {
    if (a.key == key) return a;
  }
  return {};
}

std::vector<const Setting*> Store::settings(std::string_view key) const {
  std::vector<const Setting*> found;
  for (const Setting& s : settings_) {
    if (s.key == key) found.push_back(&s);
  }
  return found;
}

}  // namespace ashlar::param
