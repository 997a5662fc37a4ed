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

const ashlar_host* g_host = nullptr;
const Config* g_config = nullptr;

struct Record {
  std::string key, blob;
};

struct Module {
  ashlar_launch base;
  ashlar_job job;
  std::list<Record> records;  // which never moves one: views of them live until finalize
  char host[256];
};

Module& of(ashlar_launch* self) { return *reinterpret_cast<Module*>(self); }

ashlar_result connect(ashlar_launch* self, const ashlar_job** job) {
  Module& m = of(self);
  char trace[320];
  if (ashlar::launch::parallel_launch(trace, sizeof trace, g_host && g_host->elevated)) {
    const int32_t policy = g_config ? g_config->despite_launcher : kError;
    if (policy == kError) {
      const ashlar_fact seen = {.name = "trace", .text = trace, .number = 0};
      return ashlar_fail_with(g_host, ASHLAR_ERR_OTHER, "launch.beside_others", &seen, 1);
    }
    if (policy == kWarn && g_host)
      g_host->log(1, "launch/singleton", "%s, but no launch component could join: running as a single process", trace);
  }
  std::snprintf(m.job.job_id, sizeof m.job.job_id, "single-%d-%llx", static_cast<int>(getpid()),
                static_cast<unsigned long long>(ashlar::now_ns()));
  m.job.size = sizeof m.job;
  // A job of one has no other process to recognise, so the cookie need not be hard to guess.
  m.job.cookie = ashlar::now_ns() ^ (static_cast<uint64_t>(getpid()) << 40);
  m.job.ranks = m.job.local_size = m.job.nodes = 1;
  m.job.universe_size = 1;
  m.job.shared_fd = -1;
  m.job.launcher = "none";
  m.job.placement = "";
  if (gethostname(m.host, sizeof m.host - 1) != 0) std::snprintf(m.host, sizeof m.host, "localhost");
  *job = &m.job;
  return ASHLAR_OK;
}

ashlar_result put(ashlar_launch* self, const char* key, const void* blob, size_t bytes) {
  try {
    of(self).records.push_front({key, std::string(static_cast<const char*>(blob), bytes)});
  } catch (const std::bad_alloc&) {
    return ashlar_fail_no_memory(g_host, key, bytes);
  }
  return ASHLAR_OK;
}

ashlar_result view(ashlar_launch* self, uint32_t rank, const char* key, const void** blob, size_t* bytes) {
  Module& m = of(self);
  for (const Record& record : m.records) {
    if (rank != 0 || record.key != key) continue;
    *blob = record.blob.data();
    *bytes = record.blob.size();
    return ASHLAR_OK;
  }
  return ASHLAR_LAUNCH_NOT_FOUND;
}

ashlar_result get(ashlar_launch* self, uint32_t rank, const char* key, void* buffer, size_t* bytes) {
  const void* blob = nullptr;
  size_t there = 0;
  const ashlar_result result = view(self, rank, key, &blob, &there);
  return result == ASHLAR_OK ? ashlar_launch_copy(g_host, rank, key, blob, there, buffer, bytes) : result;
}

ashlar_result nothing_to_wait_for(ashlar_launch*, int64_t) { return ASHLAR_OK; }
const char* host_of(ashlar_launch* self, uint32_t) { return of(self).host; }
void on_peer_failure(ashlar_launch*, ashlar_launch_peer_failed*, void*) {}
void poll(ashlar_launch*) {}
ashlar_result nothing_to_tell(ashlar_launch*) { return ASHLAR_OK; }
void abort_job(ashlar_launch*, int, const char*) {}  // the caller exits: that is the whole job

const ashlar_launch_ops kOps = {
    .size = sizeof(ashlar_launch_ops),
    .connect = connect,
    .put = put,
    .fence = nothing_to_wait_for,
    .get = get,
    .view = view,
    .barrier = nothing_to_wait_for,
    .report_timeout = nothing_to_tell,
    .host_of = host_of,
    .on_peer_failure = on_peer_failure,
    .poll = poll,
    .initialized = nothing_to_tell,
    .abort = abort_job,
    .finalize = nothing_to_tell,
    .news = nullptr,
    .asked = nullptr,
    .answer = nullptr,
    .process_sets = nullptr,
    .in_use = nullptr,
    .parameters = nullptr,
    .moved = nullptr,
    .waits = nullptr,
    .variables_asked = nullptr,
    .variables = nullptr,
    .further_job = nullptr,
    .connected = nullptr,
    .name_service = nullptr,
};

ashlar_result open_component(const ashlar_host* host, const void* config) {
  g_host = host;
  g_config = static_cast<const Config*>(config);
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->capabilities = 0;
  // Last of all: any other component that can connect is right.
  answer->priority = 0;
  char trace[320];
  if (ashlar::launch::parallel_launch(trace, sizeof trace, g_host && g_host->elevated))
    std::snprintf(answer->reason, sizeof answer->reason, "last resort, refuses unless allowed: %.190s", trace);
  else
    std::snprintf(answer->reason, sizeof answer->reason, "no launcher's trace in the environment");
}

ashlar_result create(const void*, void** module) {
  auto* made = new (std::nothrow) Module{.base = {&kOps}, .job = {}, .records = {}, .host = {}};
  if (!made) return ashlar_fail_no_memory(g_host, "launch/singleton", sizeof *made);
  *module = made;
  return ASHLAR_OK;
}
void destroy(void* module) { delete static_cast<Module*>(module); }

}  // namespace

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_LAUNCH_FRAMEWORK,
    .name = "singleton",
    .version = "1.0.0",
    .description = "a process without a launcher: a job of one",
    .interface_version = ASHLAR_LAUNCH_INTERFACE,
    .config_size = sizeof(Config),
    .param_count = sizeof kParams / sizeof kParams[0],
    .params = kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = open_component,
    .query = query,
    .create = create,
    .destroy = destroy,
    .close = nullptr,
};
