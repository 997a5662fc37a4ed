// launch/pmix: joins a job through the PMIx server of its launcher: srun --mpi=pmix, prterun, flux.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "components/launch/pmix/client.h"
#include "framework/plugin/component.h"
#include "framework/plugin/launch.h"

namespace {

using ashlar::launch::PmixClient;

struct Config {
  const char* library;
};
const ashlar_param kParams[] = {
    {"library", "libpmix.so.2", "The PMIx library to load; one that fits the launcher's own.", ASHLAR_PARAM_STRING,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, library), nullptr},
};

struct Module {
  ashlar_launch base;
  PmixClient client;
};

const ashlar_host* g_host = nullptr;
const Config* g_config = nullptr;

PmixClient& of(ashlar_launch* self) { return reinterpret_cast<Module*>(self)->client; }

ashlar_result connect(ashlar_launch* self, const ashlar_job** job) {
  const char* library = g_config && g_config->library ? g_config->library : "libpmix.so.2";
  const ashlar_result result = of(self).connect(library);
  if (result == ASHLAR_OK) *job = &of(self).job();
  return result;
}
ashlar_result put(ashlar_launch* self, const char* key, const void* blob, size_t bytes) {
  return of(self).put(key, blob, bytes);
}
ashlar_result fence(ashlar_launch* self, int64_t timeout_ms) { return of(self).fence(true, timeout_ms); }
ashlar_result barrier(ashlar_launch* self, int64_t timeout_ms) { return of(self).fence(false, timeout_ms); }
ashlar_result get(ashlar_launch* self, uint32_t rank, const char* key, void* buffer, size_t* bytes) {
  return of(self).get(rank, key, buffer, bytes);
}
ashlar_result report_timeout(ashlar_launch* self) { return of(self).report_timeout(); }
const char* host_of(ashlar_launch* self, uint32_t rank) { return of(self).host_of(rank); }
void on_peer_failure(ashlar_launch* self, ashlar_launch_peer_failed* listener, void* context) {
  of(self).on_peer_failure(listener, context);
}
void poll(ashlar_launch* self) { of(self).poll(); }
// The launcher has known since PMIx_Init that this rank must finalize.
ashlar_result initialized(ashlar_launch*) { return ASHLAR_OK; }
void abort_job(ashlar_launch* self, int code, const char* text) { of(self).abort(code, text); }
ashlar_result finalize(ashlar_launch* self) { return of(self).finalize(); }
const char* process_sets(ashlar_launch* self) { return of(self).process_sets(); }

const ashlar_launch_ops kOps = {
    .size = sizeof(ashlar_launch_ops),
    .connect = connect,
    .put = put,
    .fence = fence,
    .get = get,
    .view = nullptr,
    .barrier = barrier,
    .report_timeout = report_timeout,
    .host_of = host_of,
    .on_peer_failure = on_peer_failure,
    .poll = poll,
    .initialized = initialized,
    .abort = abort_job,
    .finalize = finalize,
    .news = nullptr,
    .asked = nullptr,
    .answer = nullptr,
    .process_sets = process_sets,
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
  const char* space = std::getenv("PMIX_NAMESPACE");
  const char* rank = std::getenv("PMIX_RANK");
  if (g_host && g_host->elevated) {
    answer->priority = -1;
    std::snprintf(answer->reason, sizeof answer->reason,
                  "this program has more rights than the user who started it, and the PMIx library loads what the "
                  "environment names");
  } else if (space && rank) {
    answer->priority = 50;
    std::snprintf(answer->reason, sizeof answer->reason, "PMIX_RANK (%s) and PMIX_NAMESPACE (%.100s) are set", rank,
                  space);
  } else {
    answer->priority = -1;
    std::snprintf(answer->reason, sizeof answer->reason, "not under a PMIx launcher: %s is not set",
                  space ? "PMIX_RANK" : "PMIX_NAMESPACE");
  }
}

ashlar_result create(const void*, void** module) {
  auto* made = new (std::nothrow) Module{.base = {&kOps}, .client = PmixClient(*g_host)};
  if (!made) return ashlar_fail_no_memory(g_host, "launch/pmix", sizeof *made);
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
    .name = "pmix",
    .version = "1.0.0",
    .description = "joins a job through its launcher's PMIx server",
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
