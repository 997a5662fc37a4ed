#include "tests/conformance/check/subject.h"

#include <cstdio>

#include "framework/param/sources.h"
#include "framework/plugin/params.h"
#include "tests/conformance/transport/component.h"

namespace ashlar::test {

Subject& subject() {
  static Subject the_subject;
  return the_subject;
}

void begin_step(const char* what) {
  std::printf("%s%s\n", kStep, what);
  std::fflush(stdout);
}

// For the suite of transports.
std::vector<std::string> transport_files() {
  return subject().framework == "transport" ? std::vector<std::string>{subject().file} : std::vector<std::string>{};
}

SubjectRegistry::SubjectRegistry(const void* context, bool installed) {
  param::Sources sources;
  store_.declare({"", plugin::kSelection});
  registry_.add_file(subject().file);
  if (installed) registry_.add_folder(param::support_folder(param::installation_prefix()) + "/components");
  registry_.declare_params();
  for (const auto& [name, value] : settings_of_all_tests())
    sources.command_line.push_back({.key = subject().framework + "." + subject().name + "." + name,
                                    .value = value,
                                    .option = "--set " + name + "=" + value});
  status_ = store_.load(sources);
  begin_step("query");
  if (status_.ok()) status_ = registry_.select(subject().framework, context, &chosen_);
  begin_step("");
  for (const plugin::Chosen& c : chosen_) {
    if (subject().name != c.component->name()) continue;
    component_ = c.component;
    capabilities_ = c.capabilities;
  }
}

}  // namespace ashlar::test
