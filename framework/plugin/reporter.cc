#include "framework/plugin/reporter.h"

#include <unistd.h>

#include "framework/base/catalogue.h"
#include "framework/base/log.h"
#include "framework/plugin/report_text.h"

namespace ashlar::plugin {

void Reporter::speak_as(int world_rank, int world_size, const char* host, bool launcher_tells) {
  context_.world_rank = world_rank;
  context_.world_size = world_size;
  context_.host = host;
  context_.launcher_tells = launcher_tells;
}

Reporter::~Reporter() {
  for (const Module& m : modules_) {
    m.component->destroy(m.report);
  }
}

const std::vector<Reporter::Module>& Reporter::modules() {
  if (looked_) return modules_;
  looked_ = true;  // first: a failure in here may want to report itself
  context_.pid = getpid();
  std::vector<Chosen> chosen;
  if (Status status = registry_->select("report", &context_, &chosen); !status.ok())
    ASHLAR_LOG(warn, "report", "%s", status.text());
  for (const Chosen& c : chosen) {
    ashlar_report* module = nullptr;
    if (Status status = c.component->create(&context_, &module); status.ok()) {
      modules_.push_back({c.component, module});
    } else {
      ASHLAR_LOG(warn, "report", "%s", status.text());
    }
  }
  return modules_;
}

void Reporter::error(const ashlar_error_record& record) noexcept {
  for (const Module& m : modules()) m.report->ops->error(m.report, &record);
  if (modules_.empty() && !(record.fatal && launcher_tells())) write_whole(STDERR_FILENO, error_text(context_, record));
}

void Reporter::notice(int level, const char* id, const std::string& text) noexcept {
  const ashlar_notice n{.size = sizeof n, .level = level, .id = id, .text = text.c_str()};
  for (const Module& m : modules()) m.report->ops->notice(m.report, &n);
  if (modules_.empty()) write_whole(STDERR_FILENO, notice_text(context_, n));
}

void Reporter::decisions(const std::vector<Decision>& decisions) noexcept {
  for (const Decision& d : decisions) {
    const ashlar_decision c{.size = sizeof c,
                            .topic = d.topic.c_str(),
                            .subject = d.subject.c_str(),
                            .chosen = d.chosen.c_str(),
                            .because = d.because.c_str(),
                            .lost = d.lost.c_str(),
                            .setting = d.setting.c_str()};
    bool shown = false;
    for (const Module& m : modules()) {
      if (!m.report->ops->decision) continue;
      m.report->ops->decision(m.report, &c);
      shown = true;
    }
    if (!shown) write_whole(STDERR_FILENO, decision_text(c));
  }
}

void Reporter::problems(const param::Store& store) noexcept {
  std::string mistakes, notes;
  std::size_t count = 0;
  for (const param::Problem& p : store.problems()) {
    std::string& list = p.error ? mistakes : notes;
    count += p.error ? 1 : 0;
    list += (list.empty() ? "" : "\n  ") + p.text;
  }
  if (count) {
    const auto m = catalogue::message("param.mistakes", {{"count", std::to_string(count)}, {"mistakes", mistakes}});
    notice(0, m.id, m.paragraph());
  }
  if (!notes.empty()) {
    const auto m = catalogue::message("param.notices", {{"notes", notes}});
    notice(1, m.id, m.paragraph());
  }
}

}  // namespace ashlar::plugin
