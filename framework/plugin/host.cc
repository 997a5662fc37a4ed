#include "framework/plugin/host.h"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/param/trust.h"
#include "framework/plugin/pvars.h"

namespace ashlar::plugin {
namespace {

std::atomic<Host*> in_force{nullptr};
thread_local Status last_failure;        // what the component that is being called said last
thread_local bool in_its_words = false;  // fail(): a sentence of its own, not a message of the catalogue

}  // namespace

Host::Host(param::Store* store)
    : table_{.size = sizeof(ashlar_host),
             .kernel_version = ASHLAR_VERSION,
             .fail = fail,
             .log = log,
             .log_enabled = log_enabled,
             .record = record,
             .add_pvars = add_pvars,
             .adjusted = adjusted,
             .elevated = param::elevated() ? 1 : 0,
             .fail_with = fail_with,
             .add_pvar_block = add_pvar_block,
             .remove_pvar_block = remove_pvar_block},
      store_(store) {
  in_force.store(this);
}

Host::~Host() {
  Host* self = this;
  in_force.compare_exchange_strong(self, nullptr);
}

ashlar_result Host::fail(int mpi_class, const char* format, ...) {
  char text[Status::kTextBytes];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (mpi_class <= 0) mpi_class = kErrOther;
  last_failure = Status::fail_text(mpi_class, text);
  in_its_words = true;
  return -mpi_class;
}

ashlar_result Host::fail_with(int mpi_class, const char* id, const ashlar_fact* facts, std::uint32_t count) {
  if (mpi_class <= 0) mpi_class = kErrOther;
  last_failure = ashlar::fail(mpi_class, id);
  for (std::uint32_t i = 0; i < count; ++i) {
    const ashlar_fact& f = facts[i];
    last_failure = add_facts(last_failure, {f.text ? Fact(f.name, f.text) : Fact(f.name, f.number)});
  }
  in_its_words = false;
  return -mpi_class;
}

void Host::log(int level, const char* component, const char* format, ...) {
  const auto wanted = static_cast<log::Level>(std::clamp(level, 0, 4));
  if (!log::enabled(wanted)) return;
  char text[900];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log::line(wanted, component ? component : "component", "%s", text);
}

int Host::log_enabled(int level) { return log::enabled(static_cast<log::Level>(std::clamp(level, 0, 4))); }

void Host::record(const char* topic, const char* subject, const char* chosen, const char* because, const char* lost,
                  const char* setting) {
  const auto text = [](const char* t) { return std::string(t ? t : ""); };
  if (Host* host = in_force.load())
    host->records_.add({.topic = text(topic),
                        .subject = text(subject),
                        .chosen = text(chosen),
                        .because = text(because),
                        .lost = text(lost),
                        .setting = text(setting)});
}

void Host::adjusted(const char* framework, const char* component, const char* parameter, const char* used,
                    const char* because) {
  Host* const host = in_force.load();
  if (!host || !host->store_) return;
  const std::string key = std::string(framework) + "." + component + "." + parameter;
  const param::Setting* const setting = host->store_->find(key);
  const std::string wanted = setting ? std::string(setting->text) + " (" + setting->origin + ") is set" : "the default";
  {
    // Threads that make communicators of their own may come here at the same time.
    const std::lock_guard guard(host->adjusting_);
    const auto known = host->store_->adjustment(key);
    if (known && known->used == used && known->because == because) return;
    host->store_->adjusted(key, used, because);
  }
  host->records_.add({.topic = framework,
                      .subject = "parameter " + key,
                      .chosen = used,
                      .because = wanted + "; " + because,
                      .lost = "",
                      .setting = key});
}

void Host::add_pvars(const char* framework, const char* component, const ashlar_pvar* rows, std::uint32_t count) {
  pvar_sets().add(std::string(framework) + "." + component, std::span(rows, count));
}

void Host::add_pvar_block(const char* framework, const char* component, const ashlar_pvar_row* rows,
                          std::uint32_t count, const void* block) {
  pvar_sets().add(std::string(framework) + "." + component, {rows, count}, block);
}

void Host::remove_pvar_block(const ashlar_pvar_row* rows, const void* block) { pvar_sets().remove(rows, block); }

std::string own_words(Status failed) {
  const Failure failure(failed);
  const Failure::Known* const said = failure.find("lower");
  if (failure.id && said && *said->text && std::strcmp(failure.id, "component.failed") == 0) return said->text;
  if (failure.id && failure.find("component"))
    return *failure.because ? failure.says + std::string(": ") + failure.because : failure.says;
  return *failed.text() ? failed.text() : "no reason given";
}

Status component_failed(ashlar_result result, const char* component) noexcept {
  const Status said = last_failure;
  last_failure = Status{};
  if (said.mpi_class() == -result && *said.text()) {
    if (!in_its_words) return add_facts(said, {{"component", component}});
    return fail(-result, "component.failed", {{"component", component}, {"lower", said.text()}});
  }
  // Component authors may return any negative number; only error classes mean something to the caller.
  const int mpi_class = result > -0x4000 ? -result : static_cast<int>(kErrOther);
  return fail(mpi_class, "component.silent", {{"component", component}, {"value", result}});
}

}  // namespace ashlar::plugin
