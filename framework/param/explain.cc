// Store::explain: everything there is to say about one key, for people.
#include "framework/param/store.h"

namespace ashlar::param {
namespace {

std::string meaning(const Row& row) {
  const ashlar_param& spec = *row.spec;
  std::string out = "\n  " + std::string(spec.help) + "\n  type " + type_name(spec.type);
  if (spec.type == ASHLAR_PARAM_ENUM) {
    out += " (";
    for (int i = 0; spec.choices && spec.choices[i]; ++i) out += std::string(i ? ", " : "") + spec.choices[i];
    out += ")";
  }
  if (const std::string range = range_in_words(spec); !range.empty()) out += " from " + range;
  out += std::string(", scope ") + scope_name(spec.scope) + ", level " + level_name(spec.verbosity);
  if (spec.flags & ASHLAR_PARAM_FROZEN) out += ", read once when MPI is initialised";
  if (spec.flags & ASHLAR_PARAM_DEPRECATED) out += ", deprecated";
  out += "\n  YAML key " + std::string(row.key) + ", environment " + environment_name(row.key) + "\n";
  return out;
}

std::string origin_of(const Setting& s) {
  std::string out = std::string(s.origin) + " (" + layer_name(s.layer);
  if (s.lock) out += ", locked";
  if (*s.when && s.applies) out += ", when " + when_in_words(s.when);
  return out + ")";
}

}  // namespace

std::string Store::explain(std::string_view key) const {
  Status status;
  const Row* row = require(key, &status);
  if (!row) return std::string(status.text()) + "\n";
  const ashlar_param& spec = *row->spec;
  std::string out = row->key;
  if (row->key != key) out = std::string(key) + " is now called " + row->key + "\n" + out;
  const Value v = value(row->key, spec);
  out += std::string(" = ") + v.text;
  Parsed parsed;
  if (Status read = parse(spec, v.text, &parsed); read.ok()) {
    const std::string canonical = format(spec, parsed);
    if (canonical != v.text) out += " (" + canonical + ")";
  }
  if (const auto a = adjustment(row->key)) out += ", used " + a->used + ": " + a->because;
  bool builtin_lost = false;
  for (const Setting* s : settings(row->key)) {
    if (!s->lost) {
      out += "\n  from  " + origin_of(*s);
      builtin_lost = true;
    } else {
      out += std::string("\n  not   ") + s->text + "  from " + origin_of(*s) + ": " + s->lost;
    }
  }
  if (!builtin_lost) {
    out += "\n  from  the built-in value";
  } else {
    out += std::string("\n  not   ") + (spec.fallback ? spec.fallback : "") + "  the built-in value";
  }
  return out + meaning(*row);
}

}  // namespace ashlar::param
