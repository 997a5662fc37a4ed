// launch/pmi: joins a job over the wire protocols PMI-1 and PMI-2, without any library: MPICH's mpiexec, Flux,
// srun --mpi=pmi2.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <new>

#include "components/launch/pmi/client.h"
#include "components/launch/pmi/environment.h"
#include "framework/plugin/component.h"
#include "framework/plugin/launch.h"

namespace {

using ashlar::launch::Dialect;
using ashlar::launch::PmiClient;
using ashlar::launch::PmiTrace;

const char* const kDialects[] = {"auto", "pmi1", "pmi2", nullptr};
const char* const kTimeRange[] = {"100ms", "24h", nullptr};
struct Config {
  std::int32_t protocol;
  std::uint64_t answer_timeout, start_timeout;
};
const ashlar_param kParams[] = {
    {"protocol", "auto",
     "What to speak with the launcher, PMI-1 or PMI-2: auto takes PMI-2 with Slurm and PMI-1 with others, and the "
     "other one "
     "where that is refused.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, protocol),
     kDialects},
    {"answer_timeout", "30s", "How long an answer of the launcher is waited for, of which no other rank is the reason.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, answer_timeout), kTimeRange},
    {"start_timeout", "120s", "How long a rank that joins its job waits for the others to do so, too.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, start_timeout), kTimeRange},
};

struct Module {
  ashlar_launch base;
  PmiClient client;
};

const ashlar_host* g_host = nullptr;
Config g_config = {0, 30'000'000'000, 120'000'000'000};

PmiClient& of(ashlar_launch* self) { return reinterpret_cast<Module*>(self)->client; }

ashlar_result connect(ashlar_launch* self, const ashlar_job** job) {
  const ashlar_result result = of(self).connect();
  if (result == ASHLAR_OK) *job = &of(self).job();
  return result;
}
ashlar_result put(ashlar_launch* self, const char* key, const void* blob, size_t bytes) {
  return of(self).put(key, blob, bytes);
}
// A fence moves nothing to this process: what others have put is asked for when it is wanted.
ashlar_result fence(ashlar_launch* self, int64_t timeout_ms) { return of(self).fence(timeout_ms); }
ashlar_result get(ashlar_launch* self, uint32_t rank, const char* key, void* buffer, size_t* bytes) {
  return of(self).get(rank, key, buffer, bytes);
}
ashlar_result report_timeout(ashlar_launch* self) { return of(self).report_timeout(); }
const char* host_of(ashlar_launch* self, uint32_t rank) { return of(self).host_of(rank); }
// PMI tells nothing of the death of a rank; its launchers end the job.
void on_peer_failure(ashlar_launch*, ashlar_launch_peer_failed*, void*) {}
void poll(ashlar_launch*) {}
// The launcher has known since the greeting that this rank must finalize.
ashlar_result initialized(ashlar_launch*) { return ASHLAR_OK; }
void abort_job(ashlar_launch* self, int code, const char*) { of(self).abort(code); }
ashlar_result finalize(ashlar_launch* self) { return of(self).finalize(); }

const ashlar_launch_ops kOps = {
    .size = sizeof(ashlar_launch_ops),
    .connect = connect,
    .put = put,
    .fence = fence,
    .get = get,
    .view = nullptr,
    .barrier = fence,
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
  if (config) g_config = *static_cast<const Config*>(config);
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->capabilities = 0;
  answer->priority = -1;
  PmiTrace trace;
  char reason[200];
  const bool there = ashlar::launch::read_trace(&trace, reason, sizeof reason);
  if (there && g_host && g_host->elevated) {
    std::snprintf(answer->reason, sizeof answer->reason,
                  "this program has more rights than the user who started it, and the launcher that the environment "
                  "names is that user's");
    return;
  }
  // Below PMIx, which some launchers serve beside PMI and which says more.
  if (there) answer->priority = 40;
  std::snprintf(answer->reason, sizeof answer->reason, "%s", reason);
}

ashlar_result create(const void*, void** module) {
  auto* made = new (std::nothrow) Module{.base = {&kOps},
                                         .client = PmiClient(*g_host, static_cast<Dialect>(g_config.protocol),
                                                             g_config.answer_timeout, g_config.start_timeout)};
  if (!made) return ashlar_fail_no_memory(g_host, "launch/pmi", sizeof *made);
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
    .name = "pmi",
    .version = "1.0.0",
    .description = "joins a job over PMI-1 or PMI-2, without a library",
    .interface_version = ASHLAR_LAUNCH_INTERFACE,
    .config_size = sizeof(Config),
    .param_count = std::size(kParams),
    .params = kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = open_component,
    .query = query,
    .create = create,
    .destroy = destroy,
    .close = nullptr,
};
