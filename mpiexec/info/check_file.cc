#include "mpiexec/info/check_file.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "framework/coll/rule.h"
#include "framework/param/trust.h"
#include "framework/plugin/manifest.h"
#include "framework/plugin/records.h"

namespace ashlar::info {
namespace {

constexpr std::size_t kMostMistakes = 10'000;

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

// ---- which kind of file ---------------------------------------------------------------------------------------------

/// Counts the settings of a YAML file by what they could belong to.
struct Settings {
  int all = 0, of_collectives = 0;
};

bool of_a_collective(const std::string& key) {
  coll::Collective collective;
  return key == "schema" || key == "origin" ||
         coll::parse_collective(key.substr(0, key.find('.')).c_str(), &collective);
}

/// A tuning file has the names of collectives where a parameter file has those of frameworks and rooms.
Status is_tuning_file(const std::string& text, bool* out) {
  ashlar_yaml_read* read = nullptr;
  ASHLAR_TRY(plugin::open_yaml(&read));
  Settings settings;
  const ashlar_yaml_sink sink{.self = &settings,
                              .setting =
                                  [](void* self, const char* key, const char*, int, int, const char*) {
                                    auto* const counts = static_cast<Settings*>(self);
                                    ++counts->all;
                                    if (of_a_collective(key)) ++counts->of_collectives;
                                  },
                              .host_class = [](void*, const char*, const char*, int) {},
                              .problem = [](void*, int, const char*) {},
                              .notice = [](void*, int, const char*) {}};
  read(text.data(), text.size(), &sink);
  *out = settings.of_collectives * 2 > settings.all;
  return {};
}

// ---- parameter files ------------------------------------------------------------------------------------------------

/// What MPI_Init would refuse of values that are texts to the parameter store: lists of components and of topics, and
/// names of algorithms.
void check_words(const param::Store& store, plugin::Registry* registry, std::vector<std::string>* mistakes) {
  const auto mistake = [&](const param::Setting& setting, const Status& why) {
    mistakes->push_back(std::string(setting.origin) + ": " + setting.key + ": " + why.text());
  };
  for (const param::Row& row : store.schema().rows()) {
    const param::Setting* const setting = store.find(row.key);
    const bool list = plugin::find_framework(row.key) != nullptr || std::string_view(row.key) == "explain";
    if (setting == nullptr || !list) continue;
    if (const Status chosen = registry->check_choice(row.key); !chosen.ok()) mistake(*setting, chosen);
  }
  coll::Catalogue catalogue;
  if (const Status found = algorithms(registry, &catalogue); !found.ok()) return;  // the mistake in `coll` is named
  for (int i = 0; i < coll::kCollectives; ++i) {
    const auto collective = static_cast<coll::Collective>(i);
    for (const param::Setting* setting :
         store.settings(std::string("coll.") + coll::name_of(collective) + ".algorithm")) {
      if (*setting->text == '\0' || catalogue.find(collective, setting->text) != nullptr) continue;
      mistake(*setting, catalogue.unknown(collective, setting->text, setting->origin));
    }
  }
}

/// The place of the file among the sources: one of this installation's or user's, else that of a site, which may say
/// most.
param::SourceFile placed(const std::string& file, const param::Sources& standard) {
  const std::string real = real_path(file);
  for (const param::SourceFile& one : standard.files) {
    if (real_path(one.path) == real) return {.path = file, .layer = one.layer, .class_folder = one.class_folder};
  }
  const std::string folder = real.substr(0, real.rfind('/'));
  if (folder.ends_with("/classes")) return {.path = file, .layer = param::Layer::host_class, .class_folder = {}};
  return {.path = file, .layer = param::Layer::site, .class_folder = folder + "/classes"};
}

void check_parameters(const std::string& file, const param::Sources& standard, param::Store* store,
                      plugin::Registry* registry, FileReport* report) {
  param::Sources alone;
  alone.files = {placed(file, standard)};
  alone.classes = false;
  alone.open_yaml = plugin::open_yaml;
  report->kind = "a parameter file, checked as one of the layer '" +
                 std::string(param::layer_name(alone.files.front().layer)) + "'";
  store->limit_problems(kMostMistakes);
  (void)store->load(alone).ok();  // its problems say more
  for (const param::Problem& problem : store->problems()) report->mistakes.push_back(problem.text);
  check_words(*store, registry, &report->mistakes);
}

// ---- tuning files ---------------------------------------------------------------------------------------------------

Status check_tuning(const std::string& file, param::Store* store, plugin::Registry* registry, FileReport* report) {
  report->kind = "a tuning file";
  std::unique_ptr<coll::RuleReader> reader;
  ASHLAR_TRY(coll::read_rules(file, &reader));
  const std::vector<coll::Rule>& rules = reader->rules();
  report->mistakes = reader->problems();
  param::Sources nothing;  // the algorithms of every component, whatever is set here
  (void)store->load(nothing).ok();
  coll::Catalogue catalogue;
  ASHLAR_TRY(algorithms(registry, &catalogue));
  for (const coll::Rule& rule : rules) {
    const std::string_view origin = rule.origin;
    const bool named = std::string_view(rule.algorithm) != "(none)";
    if (!named || catalogue.find(rule.collective, rule.algorithm) != nullptr) continue;
    report->mistakes.push_back(std::string(origin.substr(0, origin.find(" ("))) + ": " +
                               catalogue.unknown(rule.collective, rule.algorithm, rule.origin).text());
  }
  return {};
}

// ---- the report -----------------------------------------------------------------------------------------------------

/// "FILE:12: sentence" -> 12 and the sentence; 0 when the sentence is about the whole file.
int line_of(const FileReport& report, std::string_view* mistake) {
  const std::string_view prefix = report.file;
  if (!mistake->starts_with(prefix) || mistake->size() <= prefix.size() || (*mistake)[prefix.size()] != ':') return 0;
  std::size_t at = prefix.size() + 1;
  int line = 0;
  while (at < mistake->size() && std::isdigit(static_cast<unsigned char>((*mistake)[at])))
    line = line * 10 + ((*mistake)[at++] - '0');
  if (line == 0 || mistake->substr(at, 2) != ": ") return 0;
  mistake->remove_prefix(at + 2);
  return line;
}

}  // namespace

Status algorithms(plugin::Registry* registry, coll::Catalogue* out) {
  std::vector<plugin::Chosen> chosen;
  ASHLAR_TRY(registry->select("coll", nullptr, &chosen));
  for (const plugin::Chosen& choice : chosen) {
    void* module = nullptr;
    ASHLAR_TRY(choice.component->create(nullptr, &module));
    out->add(*static_cast<const coll::AlgorithmList*>(module));
  }
  return {};
}

bool is_component(const std::string& file) {
  if (file.ends_with(".so")) return true;
  int fd = -1;
  if (!param::open_trusted(file, param::Trust::installed(), &fd).ok()) return false;
  char first[4] = {};
  const bool elf = read(fd, first, sizeof first) == sizeof first && std::string_view(first, 4) == "\177ELF";
  close(fd);
  return elf;
}

namespace {

Status check(const std::string& file, const param::Sources& standard, param::Store* store, plugin::Registry* registry,
             FileReport* report) {
  std::string text;
  ASHLAR_TRY(param::read_trusted(file, param::Trust::installed(), &text));
  if (text.starts_with("ashlar-manifest") || file.ends_with(".manifest")) {
    report->kind = "the manifest of a component folder";
    return plugin::check_manifest(file, plugin::this_kernel(), &report->mistakes);
  }
  bool tuning = false;
  ASHLAR_TRY(is_tuning_file(text, &tuning));
  if (tuning) return check_tuning(file, store, registry, report);
  check_parameters(file, standard, store, registry, report);
  return {};
}

}  // namespace

Status check_file(const std::string& file, const param::Sources& standard, param::Store* store,
                  plugin::Registry* registry, FileReport* report) {
  report->file = file;
  ASHLAR_TRY(check(file, standard, store, registry, report));
  std::stable_sort(report->mistakes.begin(), report->mistakes.end(),
                   [&](std::string_view a, std::string_view b) { return line_of(*report, &a) < line_of(*report, &b); });
  return {};
}

std::string report_text(const FileReport& report) {
  std::string out = report.file + " is " + report.kind + ".\n";
  for (const std::string& mistake : report.mistakes) out += mistake + "\n";
  const std::size_t count = report.mistakes.size();
  if (count == 0) return out + "It has no mistake.\n";
  out += std::to_string(count) + (count == 1 ? " mistake.\n" : " mistakes.\n");
  if (report.kind.ends_with("component folder"))
    out += "ashlar_info --register " + report.file.substr(0, report.file.rfind('.')) + " writes it anew.\n";
  return out;
}

std::string report_json(const FileReport& report) {
  using plugin::json_string;
  std::string out =
      "{\"file\":" + json_string(report.file) + ",\"kind\":" + json_string(report.kind) + ",\"mistakes\":[";
  bool first = true;
  for (const std::string& mistake : report.mistakes) {
    std::string_view text = mistake;
    const int line = line_of(report, &text);
    out += std::string(first ? "" : ",") + "\n {" + (line > 0 ? "\"line\":" + std::to_string(line) + "," : "") +
           "\"text\":" + json_string(text) + "}";
    first = false;
  }
  return out + "]}\n";
}

std::string component_json(const std::string& file, bool right, std::string_view steps) {
  using plugin::json_string;
  std::string out = "{\"file\":" + json_string(file) +
                    ",\"kind\":\"a component\",\"right\":" + (right ? "true" : "false") + ",\"steps\":[";
  bool first = true;
  while (!steps.empty()) {
    const std::size_t end = std::min(steps.find('\n'), steps.size());
    out += std::string(first ? "" : ",") + "\n " + json_string(steps.substr(0, end));
    steps.remove_prefix(std::min(end + 1, steps.size()));
    first = false;
  }
  return out + "]}\n";
}

}  // namespace ashlar::info
