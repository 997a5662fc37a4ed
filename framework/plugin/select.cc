// Registry::select: which components of a framework may and can serve, and the record of it.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/param/suggest.h"
#include "framework/plugin/params.h"
#include "framework/plugin/registry.h"

namespace ashlar::plugin {

// The value of a framework's list parameter, taken apart.
struct SelectionList {
  bool exclude = false;
  std::vector<std::string> names;
  std::string setting;  // "transport = ^shm (environment ASHLAR_transport)"

  bool has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
  bool allows(std::string_view name) const { return names.empty() || has(name) != exclude; }
};

namespace {

// Takes the words of "a,b" or "^a,b" apart.
void add_names(std::string_view text, SelectionList* list) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text.starts_with('^')) {
    list->exclude = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) list->names.emplace_back(name);
  }
}

SelectionList read_list(const param::Store& store, std::string_view framework) {
  const ashlar_param* row = nullptr;
  for (const ashlar_param& r : kSelection) {
    if (framework == r.name) row = &r;
  }
  SelectionList list;
  if (!row) return list;
  const param::Value value = store.value(framework, *row);
  const std::string_view text = value.text;
  list.setting =
      std::string(framework) + " = " + (text.empty() ? "(all)" : std::string(text)) + " (" + value.origin + ")";
  add_names(text, &list);
  // Leaving one more out keeps out what is left out anyway: the default's exclusions go with those of the user.
  if (list.exclude && *row->fallback == '^' && text != row->fallback) {
    list.setting += std::string(", beside the default ") + row->fallback;
    add_names(row->fallback, &list);
  }
  return list;
}

// Names that no installed component has are a mistake worth stopping for: the user meant something.
Status check_names(const SelectionList& list, std::string_view framework, const std::vector<Entry*>& entries) {
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
    return fail(kErrArg, "plugin.unknown_name",
                {{"framework", framework},
                 {"name", name},
                 {"suggestion", meant.empty() ? std::string() : " (did you mean '" + std::string(meant) + "'?)"},
                 {"setting", list.setting},
                 {"installed", installed.empty() ? "none" : installed}});
  }
  return {};
}

void append(std::string* list, std::string_view component, std::string_view why) {
  if (!list->empty()) *list += '\n';
  *list += component;
  *list += ": ";
  *list += why;
}

/// A component of priority 0 serves when the list names it, or when no other can.
void drop_last_resorts(const SelectionList& list, std::vector<Chosen>* chosen, std::string* lost) {
  if (chosen->empty() || chosen->front().priority == 0) return;
  std::erase_if(*chosen, [&](const Chosen& c) {
    const bool drop = c.priority == 0 && (list.exclude || !list.has(c.component->name()));
    if (drop) append(lost, c.component->name(), c.reason);
    return drop;
  });
}

}  // namespace

// Opens and asks one component; false, with the reason in `lost`, when it cannot serve.
bool Registry::ask(Entry* entry, const void* context, Chosen* out, std::string* lost) {
  const char* name = entry->statement.name;
  if (!entry->refused.empty()) {
    append(lost, name, entry->refused);
    return false;
  }
  Component* component = open(entry);
  if (!component->failed_.empty()) {
    append(lost, name, component->failed_);
    ASHLAR_LOG(info, "plugin", "%s", component->failed_.c_str());
    return false;
  }
  ashlar_answer answer{};
  answer.size = sizeof answer;
  component->table().query(context, &answer);
  answer.reason[sizeof answer.reason - 1] = '\0';
  if (answer.priority < 0) {
    append(lost, name, answer.reason[0] ? answer.reason : "it cannot serve and gives no reason");
    return false;
  }
  *out = {component, answer.priority, answer.capabilities, answer.reason};
  return true;
}

Status Registry::conclude(std::string_view framework, const SelectionList& list, const std::vector<Chosen>& chosen,
                          std::string lost) {
  Decision decision{.topic = std::string(framework),
                    .subject = "components",
                    .chosen = "",
                    .because = "",
                    .lost = lost,
                    .setting = list.setting};
  for (const Chosen& c : chosen) {
    decision.chosen += (decision.chosen.empty() ? "" : ", ") + std::string(c.component->name());
    if (!decision.because.empty()) decision.because += "; ";
    decision.because +=
        std::string(c.component->name()) + " (priority " + std::to_string(c.priority) + "): " + c.reason;
  }
  if (chosen.empty()) decision.chosen = "none";
  records().add(decision);
  if (!chosen.empty()) return {};
  for (std::size_t at = 0; (at = lost.find('\n', at)) != std::string::npos;) lost.replace(at, 1, "; ");
  return fail(
      kErrOther, "plugin.none_can_serve",
      {{"framework", framework}, {"reasons", lost.empty() ? "none is installed" : lost}, {"setting", list.setting}});
}

Status Registry::candidates(std::string_view framework, SelectionList* list, std::vector<Entry*>* out,
                            std::string* lost) {
  *list = read_list(*store_, framework);
  ASHLAR_TRY(check_names(*list, framework, entries_));
  for (Entry* entry : entries_) {
    if (framework != entry->statement.framework) continue;
    if (list->allows(entry->statement.name)) {
      out->push_back(entry);
    } else {
      append(lost, entry->statement.name, (list->exclude ? "left out by " : "not in ") + list->setting);
    }
  }
  return {};
}

Status Registry::check_choices() const {
  for (const ashlar_param& row : kSelection) ASHLAR_TRY(check_choice(row.name));
  return check_choice("explain");
}

Status Registry::check_choice(std::string_view parameter) const {
  if (parameter != "explain") return check_names(read_list(*store_, parameter), parameter, entries_);
  const param::Setting* explain = store_->find("explain");
  return explain ? check_topics(explain->text, explain->origin) : Status();
}

Status Registry::select(std::string_view framework, const void* context, std::vector<Chosen>* out) {
  out->clear();
  SelectionList list;
  std::vector<Entry*> entries;
  std::string lost;
  ASHLAR_TRY(candidates(framework, &list, &entries, &lost));
  for (Entry* entry : entries) {
    if (Chosen chosen; ask(entry, context, &chosen, &lost)) out->push_back(std::move(chosen));
  }
  std::stable_sort(out->begin(), out->end(), [](const Chosen& a, const Chosen& b) { return a.priority > b.priority; });
  drop_last_resorts(list, out, &lost);
  return conclude(framework, list, *out, lost);
}

Status Registry::select_first(std::string_view framework, const void* context, std::span<const char* const> order,
                              Chosen* out) {
  const param::Setting* explain = store_->find("explain");
  std::vector<Chosen> chosen;
  if (explain && wants(explain->text, framework)) {
    ASHLAR_TRY(select(framework, context, &chosen));
    *out = chosen.front();
    return {};
  }
  SelectionList list;
  std::vector<Entry*> entries;
  std::string lost;
  ASHLAR_TRY(candidates(framework, &list, &entries, &lost));
  const auto place = [&](const Entry* e) {
    return std::find_if(order.begin(), order.end(),
                        [&](const char* n) { return std::strcmp(n, e->statement.name) == 0; });
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry* a, const Entry* b) { return place(a) < place(b); });
  for (Entry* entry : entries) {
    if (!chosen.empty()) {
      append(&lost, entry->statement.name,
             "not asked: " + std::string(chosen.front().component->name()) + " can serve");
    } else if (Chosen one; ask(entry, context, &one, &lost)) {
      *out = one;
      chosen.push_back(std::move(one));
    }
  }
  return conclude(framework, list, chosen, lost);
}

bool allows(const param::Store& store, std::string_view framework, std::string_view name) {
  return read_list(store, framework).allows(name);
}

}  // namespace ashlar::plugin
