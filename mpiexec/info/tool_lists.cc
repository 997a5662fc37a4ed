#include "mpiexec/info/tool_lists.h"

#include <mpi.h>

#include <span>
#include <string_view>
#include <vector>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/mpit/api.h"
#include "framework/param/parse.h"
#include "framework/param/suggest.h"
#include "framework/plugin/records.h"
#include "framework/rma/engine.h"
#include "framework/runtime/api.h"
#include "mpiexec/text.h"

namespace ashlar::info {
namespace {

using mpiexec::below;

using plugin::json_string;

constexpr const char* kClasses[] = {"",          "state",   "level",     "size",  "percentage", "high-water",
                                    "low-water", "counter", "aggregate", "timer", "generic"};

/// A text of MPI_T, of any length: asked for twice.
template <class Ask>
std::string text_of(Ask ask) {
  int length = 0;
  ask(nullptr, &length);
  std::string text(static_cast<std::size_t>(length), '\0');
  ask(text.data(), &length);
  if (!text.empty()) text.pop_back();
  return text;
}

/// What there is to say of a variable, an event or a category.
struct Item {
  std::string name, help;
  std::vector<std::pair<const char*, std::string>> facts;  // "class", "counter"
  int verbosity = 0;
};

std::string bound_to(int bind) { return bind == MPI_T_BIND_MPI_COMM ? "communicator" : "process"; }

Item pvar(int i) {
  Item item;
  int kind = 0, bind = 0, readonly = 0, continuous = 0;
  item.name = text_of([i](char* to, int* length) {
    mpit::pvar_get_info(i, to, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr);
  });
  item.help = text_of([&](char* to, int* length) {
    mpit::pvar_get_info(i, nullptr, nullptr, &item.verbosity, &kind, nullptr, nullptr, to, length, &bind, &readonly,
                        &continuous, nullptr);
  });
  item.facts = {{"class", kClasses[kind]}, {"bound_to", bound_to(bind)}};
  if (readonly) item.facts.emplace_back("readonly", "yes");
  if (continuous) item.facts.emplace_back("continuous", "yes");
  return item;
}

Item event(int i) {
  Item item;
  int bind = 0, fields = 0;
  item.name = text_of([i](char* to, int* length) {
    mpit::event_get_info(i, to, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  });
  item.help = text_of([&](char* to, int* length) {
    mpit::event_get_info(i, nullptr, nullptr, &item.verbosity, nullptr, nullptr, &fields, nullptr, nullptr, to, length,
                         &bind);
  });
  item.facts = {{"fields", std::to_string(fields)}, {"bound_to", bound_to(bind)}};
  return item;
}

Item category(int i) {
  Item item;
  int cvars = 0, pvars = 0, categories = 0, events = 0;
  item.name = text_of([i](char* to, int* length) {
    mpit::category_get_info(i, to, length, nullptr, nullptr, nullptr, nullptr, nullptr);
  });
  item.help = text_of([&](char* to, int* length) {
    mpit::category_get_info(i, nullptr, nullptr, to, length, &cvars, &pvars, &categories);
  });
  mpit::category_get_num_events(i, &events);
  item.facts = {{"control_variables", std::to_string(cvars)},
                {"performance_variables", std::to_string(pvars)},
                {"events", std::to_string(events)},
                {"categories", std::to_string(categories)}};
  return item;
}

std::vector<Item> items_of(Question question) {
  int count = 0;
  Item (*describe)(int) = pvar;
  if (question == Question::pvars) {
    mpit::pvar_get_num(&count);
  } else if (question == Question::events) {
    mpit::event_get_num(&count);
    describe = event;
  } else {
    mpit::category_get_num(&count);
    describe = category;
  }
  std::vector<Item> items;
  for (int i = 0; i < count; ++i) items.push_back(describe(i));
  return items;
}

std::string in_words(const Item& item) {
  std::string facts;
  for (const auto& [name, value] : item.facts) {
    if (name == std::string_view("class") || value == "yes")
      facts += (facts.empty() ? "" : ", ") + (value == "yes" ? std::string(name) : value);
    else if (name == std::string_view("bound_to"))
      facts += value == "process" ? "" : ", of each " + value;
    else
      facts += (facts.empty() ? "" : ", ") + value + " " + name;
  }
  for (char& c : facts) c = c == '_' ? ' ' : c;
  std::string head = item.name;
  if (head.size() < 40) head.append(40 - head.size(), ' ');
  return head + " (" + facts + ")\n    " + item.help + "\n";
}

std::string as_json(const Item& item) {
  std::string out = "{\"name\":" + json_string(item.name);
  for (const auto& [name, value] : item.facts) out += ",\"" + std::string(name) + "\":" + json_string(value);
  if (item.verbosity != 0) out += ",\"level\":" + json_string(param::level_name(item.verbosity));
  return out + ",\"help\":" + json_string(item.help) + "}";
}

}  // namespace

Status tool_list(const Options& question, std::string* out) {
  int provided = 0;
  ASHLAR_TRY(runtime::init(nullptr, nullptr));
  mpit::init_thread(MPI_THREAD_SINGLE, &provided);
  // Programs without windows do not open these components; a list of all variables has theirs. Where none can serve
  // there is no window, and no variable of one.
  std::span<const rma::Component* const> of_windows;
  (void)rma::Engine::current().components(&of_windows).ok();
  const std::vector<Item> items = items_of(question.question);
  mpit::finalize();
  ASHLAR_TRY(runtime::finalize());
  param::Suggestion meant(question.subject);
  bool any = false, above = false;
  *out = question.json ? "[" : "";
  for (const Item& item : items) {
    if (!below(item.name, question.subject)) {
      meant.consider(item.name);
      meant.consider(std::string_view(item.name).substr(0, item.name.rfind('.')));
    } else if (item.verbosity > question.level) {
      above = true;
    } else {
      if (question.json) *out += any ? ",\n " : "\n ";
      *out += question.json ? as_json(item) : in_words(item);
      any = true;
    }
  }
  if (question.json) *out += "\n]\n";
  if (any) return {};
  if (above) return fail(kErrArg, "info.higher_level", {{"prefix", mpiexec::brief(question.subject)}});
  return fail(kErrArg, "info.nothing_listed",
              {{"suggestion", meant.best()}, {"prefix", mpiexec::brief(question.subject)}});
}

}  // namespace ashlar::info
