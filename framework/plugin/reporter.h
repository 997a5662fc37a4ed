#pragma once
#include <string>
#include <vector>

#include "framework/param/store.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/report.h"

namespace ashlar::plugin {

/// Brings errors, notices and decisions to the report components. They are opened when there is something to say, so a
/// process without errors never loads one; when none can be had, the text goes to standard error as it is.
class Reporter {
 public:
  explicit Reporter(Registry* registry) : registry_(registry) {}
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  /// Who this process is, once that is known. `host` must outlive the reporter.
  void speak_as(int world_rank, int world_size, const char* host, bool launcher_tells = false);
  /// Whether the launcher shows the reason of a fatal error.
  bool launcher_tells() const { return context_.launcher_tells != 0; }

  void error(const ashlar_error_record& record) noexcept;
  /// level: 0 error, 1 warning, 2 information. `id` may be null.
  void notice(int level, const char* id, const std::string& text) noexcept;
  void decisions(const std::vector<Decision>& decisions) noexcept;
  /// Tells what Store::load found: mistakes as an error, the rest as a warning.
  void problems(const param::Store& store) noexcept;

 private:
  struct Module {
    Component* component;
    ashlar_report* report;
  };
  const std::vector<Module>& modules();

  Registry* registry_;
  ashlar_report_context context_{.size = sizeof(ashlar_report_context),
                                 .world_rank = -1,
                                 .world_size = 0,
                                 .host = nullptr,
                                 .pid = 0,
                                 .launcher_tells = 0};
  bool looked_ = false;
  std::vector<Module> modules_;
};

}  // namespace ashlar::plugin
