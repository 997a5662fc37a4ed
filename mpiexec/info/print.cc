#include "mpiexec/info/print.h"

#include <algorithm>
#include <cstdio>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/suggest.h"
#include "framework/plugin/records.h"
#include "mpiexec/text.h"

namespace ashlar::info {
namespace {

using mpiexec::below;
using mpiexec::brief;
using plugin::json_string;

std::string hex(std::uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
  return text;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text + " ";
}

// In the order of the frameworks, then by name; files that belong to none come last.
std::vector<const plugin::Entry*> sorted(const plugin::Registry& registry, const std::string& framework) {
  std::vector<const plugin::Entry*> entries;
  for (const plugin::Entry* e : registry.entries()) {
    if (framework.empty() || framework == e->statement.framework) entries.push_back(e);
  }
  const auto place = [](const plugin::Entry* e) {
    std::size_t count = 0;
    const plugin::Framework* all = plugin::frameworks(&count);
    return std::find_if(all, all + count,
                        [&](const plugin::Framework& f) { return e->statement.framework == std::string(f.name); });
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const plugin::Entry* a, const plugin::Entry* b) {
    return std::pair(place(a), std::string_view(a->statement.name)) <
           std::pair(place(b), std::string_view(b->statement.name));
  });
  return entries;
}

template <class F>
void for_each_param(const param::Store& store, const std::string& prefix, int level, F f) {
  for (const param::Row& row : store.schema().rows()) {
    if ((row.spec->flags & ASHLAR_PARAM_SYNONYM) || row.spec->verbosity > level || !below(row.key, prefix)) continue;
    f(row, store.value(row.key, *row.spec));
  }
}

}  // namespace

std::string components_text(const plugin::Registry& registry, const std::string& framework) {
  std::string out, now;
  for (const plugin::Entry* e : sorted(registry, framework)) {
    const plugin::Statement& s = e->statement;
    if (now != s.framework || out.empty()) {
      now = s.framework;
      out += (now.empty() ? "not components" : now) + "\n";
    }
    out += "  " + padded(s.name, 12);
    if (!e->refused.empty()) {
      out += "REFUSED: " + e->refused + "\n               " + e->file + "\n";
      continue;
    }
    out += padded(s.version, 8) + s.description + "\n               " + e->file + ", " + s.framework + "/" +
           std::to_string(s.interface_version) + (s.build_id ? ", build " + hex(s.build_id) : ", any build") + "\n";
  }
  return out.empty() ? (framework.empty() ? std::string("no components are installed\n")
                                          : "no component of '" + framework + "' is installed\n")
                     : out;
}

std::string components_json(const plugin::Registry& registry, const std::string& framework) {
  std::string out = "[";
  for (const plugin::Entry* e : sorted(registry, framework)) {
    const plugin::Statement& s = e->statement;
    out += out.size() > 1 ? ",\n " : "\n ";
    out += "{\"framework\":" + json_string(s.framework) + ",\"name\":" + json_string(s.name) +
           ",\"version\":" + json_string(s.version) + ",\"description\":" + json_string(s.description) +
           ",\"file\":" + json_string(e->file) + ",\"interface\":" + std::to_string(s.interface_version) +
           ",\"build_id\":" + json_string(hex(s.build_id)) + ",\"parameters\":" + std::to_string(s.params.size());
    if (!e->refused.empty()) out += ",\"refused\":" + json_string(e->refused);
    out += "}";
  }
  return out + "\n]\n";
}

std::string params_text(const param::Store& store, const std::string& prefix, int level) {
  std::string out;
  for_each_param(store, prefix, level, [&](const param::Row& row, const param::Value& v) {
    const std::string text = *v.text ? v.text : "''";
    out += padded(row.key, 32) + padded(text, 12) + "(" + v.origin + (v.lock ? ", locked" : "") + ")\n    " +
           row.spec->help + "\n";
  });
  return out;
}

Status check_params(const param::Store& store, const std::string& prefix, int level) {
  bool any = false, above = false;
  for (const param::Row& row : store.schema().rows()) {
    if ((row.spec->flags & ASHLAR_PARAM_SYNONYM) || !below(row.key, prefix)) continue;
    (row.spec->verbosity > level ? above : any) = true;
  }
  if (any) return {};
  if (above) return fail(kErrArg, "info.higher_level", {{"prefix", brief(prefix)}});
  param::Suggestion group(prefix);
  for (const param::Row& row : store.schema().rows()) {
    const std::string_view key = row.key;
    for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1))
      group.consider(key.substr(0, dot));
  }
  const std::string_view meant = group.best().empty() ? store.schema().nearest(prefix) : group.best();
  return fail(kErrArg, "info.no_parameters", {{"suggestion", meant}, {"prefix", brief(prefix)}});
}

Status check_framework(const std::string& framework) {
  std::size_t count = 0;
  const plugin::Framework* all = plugin::frameworks(&count);
  std::string known;
  for (std::size_t i = 0; i < count; ++i) {
    if (framework.empty() || framework == all[i].name) return {};
    known += (i ? ", " : "") + std::string(all[i].name);
  }
  return fail(kErrArg, "info.no_framework", {{"known", known}, {"value", brief(framework)}});
}

std::string params_json(const param::Store& store, const std::string& prefix, int level) {
  std::string out = "[";
  for_each_param(store, prefix, level, [&](const param::Row& row, const param::Value& v) {
    const ashlar_param& p = *row.spec;
    out += out.size() > 1 ? ",\n " : "\n ";
    out += "{\"key\":" + json_string(row.key) + ",\"value\":" + json_string(v.text) +
           ",\"origin\":" + json_string(v.origin) + ",\"locked\":" + (v.lock ? "true" : "false") +
           ",\"default\":" + json_string(p.fallback ? p.fallback : "") +
           ",\"type\":" + json_string(param::type_name(p.type)) +
           ",\"scope\":" + json_string(param::scope_name(p.scope)) +
           ",\"level\":" + json_string(param::level_name(p.verbosity)) +
           ",\"environment\":" + json_string(param::environment_name(row.key)) + ",\"help\":" + json_string(p.help);
    if (p.type == ASHLAR_PARAM_ENUM && p.choices) {
      out += ",\"choices\":[";
      for (int i = 0; p.choices[i]; ++i) out += (i ? "," : "") + json_string(p.choices[i]);
      out += "]";
    }
    if (const std::string range = param::range_in_words(p); !range.empty()) out += ",\"range\":" + json_string(range);
    out += "}";
  });
  return out + "\n]\n";
}

std::string explain_json(const param::Store& store, const std::string& key) {
  const param::Row* row = store.schema().find(key);
  if (!row) {
    return "{\"key\":" + json_string(key) +
           ",\"unknown\":true,\"suggestion\":" + json_string(store.schema().nearest(key)) + "}\n";
  }
  row = store.schema().target(row);
  const param::Value v = store.value(row->key, *row->spec);
  std::string out = "{\"key\":" + json_string(row->key) + ",\"value\":" + json_string(v.text) +
                    ",\"origin\":" + json_string(v.origin) +
                    ",\"default\":" + json_string(row->spec->fallback ? row->spec->fallback : "") +
                    ",\"help\":" + json_string(row->spec->help);
  if (const auto a = store.adjustment(row->key))
    out += ",\"used\":" + json_string(a->used) + ",\"because\":" + json_string(a->because);
  out += ",\"settings\":[";
  bool first = true;
  for (const param::Setting* s : store.settings(row->key)) {
    out += std::string(first ? "" : ",") + "{\"value\":" + json_string(s->text) +
           ",\"origin\":" + json_string(s->origin) + ",\"layer\":" + json_string(param::layer_name(s->layer)) +
           ",\"locked\":" + (s->lock ? "true" : "false");
    if (*s->when) out += ",\"when\":" + json_string(param::when_in_words(s->when));
    if (s->lost) out += ",\"lost\":" + json_string(s->lost);
    out += "}";
    first = false;
  }
  return out + "]}\n";
}

}  // namespace ashlar::info
