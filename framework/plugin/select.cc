// Registry::select: which components of a framework may and can serve, and the record of it.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "framework/base/catalogue.h"
#include "framework/base/error_class.h"
#include "framework/base/log.h"
#include "framework/param/suggest.h"
#include "framework/plugin/params.h"
#include "framework/plugin/registry.h"

namespace ashlar::plugin {
namespace {

// The value of a framework's list parameter, taken apart.
struct List {
  bool exclude = false;
  std::vector<std::string> names;
  std::string setting;  // "transport = ^shm (from environment ASHLAR_transport)"

  bool has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
  bool allows(std::string_view name) const { return names.empty() || has(name) != exclude; }
};

List read_list(const param::Store& store, std::string_view framework) {
  const ashlar_param* row = nullptr;
  for (const ashlar_param& r : kSelection) {
    if (framework == r.name) row = &r;
  }
  List list;
  if (!row) return list;
  const param::Value value = store.value(framework, *row);
  std::string_view text = value.text;
  list.setting =
      std::string(framework) + " = " + (text.empty() ? "(all)" : std::string(text)) + " (" + value.origin + ")";
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text.starts_with('^')) {
    list.exclude = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) list.names.emplace_back(name);
  }
  return list;
}

// Names that no installed component has are a mistake worth stopping for: the user meant something.
Status check_names(const List& list, std::string_view framework, const std::vector<Entry*>& entries) {
  for (const std::string& name : list.names) {
    param::Suggestion suggestion(name);
    std::string installed;
    bool known = false;
    for (const Entry* e : entries) {
      if (framework != e->statement.framework) continue;
      known = known || name == e->statement.name;
      suggestion.consider(e->statement.name);
      installed += (installed.empty() ? "" : ", ") + std::string(e->statement.name);
    }
    // Leaving out what is not there changes nothing.
    if (known || list.exclude) continue;
    const std::string_view meant = suggestion.best();
    return catalogue::fail(
        kErrArg, "plugin.unknown_name",
        {{"framework", framework},
         {"name", name},
         {"suggestion", meant.empty() ? std::string() : " (did you mean '" + std::string(meant) + "'?)"},
         {"setting", list.setting},
         {"installed", installed.empty() ? "none" : installed}});
  }
  return {};
}

void append(std::string* list, std::string_view who, std::string_view why) {
  if (!list->empty()) *list += '\n';
  *list += who;
  *list += ": ";
  *list += why;
}

}  // namespace

Status Registry::select(std::string_view framework, const void* context, std::vector<Chosen>* out) {
  out->clear();
  const List list = read_list(*store_, framework);
  ASHLAR_TRY(check_names(list, framework, entries_));
  std::string lost;
  for (Entry* entry : entries_) {
    if (framework != entry->statement.framework) continue;
    const char* name = entry->statement.name;
    if (!list.allows(name)) {
      append(&lost, name, list.exclude ? "left out by " + list.setting : "not in " + list.setting);
      continue;
    }
    if (!entry->refused.empty()) {
      append(&lost, name, entry->refused);
      continue;
    }
    Component* component = open(entry);
    if (!component->failed_.empty()) {
      append(&lost, name, component->failed_);
      ASHLAR_LOG(info, "plugin", "%s", component->failed_.c_str());
      continue;
    }
    ashlar_answer answer{};
    answer.size = sizeof answer;
    component->table().query(context, &answer);
    answer.reason[sizeof answer.reason - 1] = '\0';
    if (answer.priority < 0) {
      append(&lost, name, answer.reason[0] ? answer.reason : "it cannot serve and gives no reason");
      continue;
    }
    out->push_back({component, answer.priority, answer.capabilities, answer.reason});
  }
  std::stable_sort(out->begin(), out->end(), [](const Chosen& a, const Chosen& b) { return a.priority > b.priority; });

  Decision decision{std::string(framework), "components", "", "", lost, list.setting};
  for (const Chosen& c : *out) {
    decision.chosen += (decision.chosen.empty() ? "" : ", ") + std::string(c.component->name());
    if (!decision.because.empty()) decision.because += "; ";
    decision.because +=
        std::string(c.component->name()) + " (priority " + std::to_string(c.priority) + "): " + c.reason;
  }
  if (out->empty()) decision.chosen = "none";
  records().add(decision);
  if (!out->empty()) return {};
  std::replace(lost.begin(), lost.end(), '\n', ';');
  return catalogue::fail(
      kErrOther, "plugin.none_can_serve",
      {{"framework", framework}, {"reasons", lost.empty() ? "none is installed" : lost}, {"setting", list.setting}});
}

}  // namespace ashlar::plugin
