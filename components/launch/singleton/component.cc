// launch/singleton: a process without a launcher is a job of one. It refuses when the environment shows that it was
// launched beside others after all: N silent singletons instead of one job is the worst way to fail.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <new>
#include <string>

#include "components/launch/singleton/traces.h"
#include "framework/base/clock.h"
#include "framework/plugin/component.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/launch_component.h"

namespace {

enum Policy : int32_t { kOk, kWarn, kError };
const char* const kPolicies[] = {"ok", "warn", "error", nullptr};

struct Config {
  int32_t despite_launcher;
};
const ashlar_param kParams[] = {
    {"despite_launcher", "error",
     "What to do when the environment shows a parallel launch but no launch component could join it: "
     "ok runs as a single process, warn says so first, error stops.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, despite_launcher),
     kPolicies},
};

struct Record {
  std::string key, blob;
};

/// A fence waits for nothing, and an abort tells no other process: this one is the whole job.
class Module : public ashlar_launch {
 public:
  using Config = ::Config;
  static constexpr char kWhat[] = "launch/singleton";
  Module(const ashlar_host& host, const Config* config)
      : ashlar_launch{}, host_(host), policy_(config ? config->despite_launcher : kError) {}

  ashlar_result connect(const ashlar_job** job);
  ashlar_result put(const char* key, const void* blob, size_t bytes);
  ashlar_result view(uint32_t rank, const char* key, const void** blob, size_t* bytes) const;
  ashlar_result get(uint32_t rank, const char* key, void* buffer, size_t* bytes) const;
  ashlar_result fence(int64_t) { return ASHLAR_OK; }
  const char* host_of(uint32_t) const { return name_; }
  void abort(int, const char*) {}
  ashlar_result finalize() { return ASHLAR_OK; }

 private:
  const ashlar_host& host_;
  const int32_t policy_;
  ashlar_job job_ = {};
  std::list<Record> records_;  // which never moves one: views of them live until finalize
  char name_[256] = {};
};
using Maker = ashlar::plugin::LaunchMaker<Module>;

ashlar_result Module::connect(const ashlar_job** job) {
  char trace[320];
  if (ashlar::launch::parallel_launch(trace, sizeof trace, host_.elevated)) {
    if (policy_ == kError) {
      const ashlar_fact seen = {.name = "trace", .text = trace, .number = 0};
      return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "launch.beside_others", &seen, 1);
    }
    if (policy_ == kWarn)
      host_.log(1, "launch/singleton", "%s, but no launch component could join: running as a single process", trace);
  }
  std::snprintf(job_.job_id, sizeof job_.job_id, "single-%d-%llx", static_cast<int>(getpid()),
                static_cast<unsigned long long>(ashlar::now_ns()));
  job_.size = sizeof job_;
  // A job of one has no other process to recognise, so the cookie need not be hard to guess.
  job_.cookie = ashlar::now_ns() ^ (static_cast<uint64_t>(getpid()) << 40);
  job_.ranks = job_.local_size = job_.nodes = 1;
  job_.universe_size = 1;
  job_.shared_fd = -1;
  job_.launcher = "none";
  job_.placement = "";
  if (gethostname(name_, sizeof name_ - 1) != 0) std::snprintf(name_, sizeof name_, "localhost");
  *job = &job_;
  return ASHLAR_OK;
}

ashlar_result Module::put(const char* key, const void* blob, size_t bytes) {
  try {
    records_.push_front({key, std::string(static_cast<const char*>(blob), bytes)});
  } catch (const std::bad_alloc&) {
    return ashlar_fail_no_memory(&host_, key, bytes);
  }
  return ASHLAR_OK;
}

ashlar_result Module::view(uint32_t rank, const char* key, const void** blob, size_t* bytes) const {
  for (const Record& record : records_) {
    if (rank != 0 || record.key != key) continue;
    *blob = record.blob.data();
    *bytes = record.blob.size();
    return ASHLAR_OK;
  }
  return ASHLAR_LAUNCH_NOT_FOUND;
}

ashlar_result Module::get(uint32_t rank, const char* key, void* buffer, size_t* bytes) const {
  const void* blob = nullptr;
  size_t there = 0;
  const ashlar_result result = view(rank, key, &blob, &there);
  return result == ASHLAR_OK ? ashlar_launch_copy(&host_, rank, key, blob, there, buffer, bytes) : result;
}

void query(const void*, ashlar_answer* answer) {
  answer->capabilities = 0;
  // Last of all: any other component that can connect is right.
  answer->priority = 0;
  char trace[320];
  if (ashlar::launch::parallel_launch(trace, sizeof trace, Maker::elevated()))
    std::snprintf(answer->reason, sizeof answer->reason, "last resort, refuses unless allowed: %.190s", trace);
  else
    std::snprintf(answer->reason, sizeof answer->reason, "no launcher's trace in the environment");
}

}  // namespace

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 =
    ashlar::plugin::launch_component<Module>({.name = "singleton",
                                              .version = "1.0.0",
                                              .description = "a process without a launcher: a job of one",
                                              .param_count = sizeof kParams / sizeof kParams[0],
                                              .params = kParams,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .query = query});
