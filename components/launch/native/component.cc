// launch/native: joins a job started by our own mpiexec, over the board it made (framework/plugin/launch_board.h).
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <new>

#include "components/launch/native/client.h"
#include "framework/plugin/component.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/pvar_row.h"

namespace {

using ashlar::launch::Client;
using ashlar::launch::Trace;
namespace wish = ashlar::launch::wish;

struct Module {
  ashlar_launch base;
  Client client;
};

enum Elevated : std::int32_t { kRefuse, kJoin };
const char* const kElevatedWords[] = {"refuse", "join", nullptr};
struct Config {
  std::int32_t elevated;
};
const ashlar_param kParams[] = {
    {"elevated", "refuse",
     "Whether a program with more rights than the user who started it (set-user-ID, set-group-ID, file capabilities) "
     "joins the job that this user started: launcher and ranks share memory with it. Only the site's files can set it "
     "for such a program.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_ALL, ASHLAR_PARAM_FROZEN, offsetof(Config, elevated),
     kElevatedWords},
};

const ashlar_host* g_host = nullptr;
const Config* g_config = nullptr;

const Client& client_behind(const void* block) { return static_cast<const Module*>(block)->client; }

void read_board_used(const ashlar_pvar_row*, const void* block, const void*, uint64_t* values, uint32_t) {
  values[0] = client_behind(block).board()->heap_used.load(std::memory_order_relaxed);
}
void read_board_limit(const ashlar_pvar_row*, const void* block, const void*, uint64_t* values, uint32_t) {
  values[0] = client_behind(block).board()->heap_end;
}
void read_questions(const ashlar_pvar_row*, const void* block, const void*, uint64_t* values, uint32_t) {
  values[0] = client_behind(block).questions();
}
constexpr ashlar_pvar_row kRows[] = {
    ashlar::plugin::computed_pvar("board", "bytes of the job's board that are taken, by all ranks and mpiexec",
                                  ASHLAR_PVAR_LEVEL, read_board_used),
    ashlar::plugin::computed_pvar("board_limit", "the most such bytes (mpiexec.board_per_rank, of each rank)",
                                  ASHLAR_PVAR_SIZE, read_board_limit),
    ashlar::plugin::computed_pvar(
        "questions",
        "records of ranks on other hosts that this rank asked for, each a message to mpiexec and "
        "to the other host, and back",
        ASHLAR_PVAR_COUNTER, read_questions),
};

/// `block`: a module that has joined its job; nullptr: the variables are only made known.
void show(const Module* block) {
  if (ASHLAR_HAS(g_host, add_pvar_block) && g_host->add_pvar_block != nullptr)
    g_host->add_pvar_block("launch", "native", kRows, std::size(kRows), block);
}
void hide(const Module* block) {
  if (ASHLAR_HAS(g_host, remove_pvar_block) && g_host->remove_pvar_block != nullptr)
    g_host->remove_pvar_block(kRows, block);
}

Client& client_of(ashlar_launch* self) { return reinterpret_cast<Module*>(self)->client; }

ashlar_result connect(ashlar_launch* self, const ashlar_job** job) {
  Trace trace;
  const char* const text = std::getenv(ashlar::launch::kJobVariable);
  // query() has seen a variable in this form; the environment may have changed since.
  if (!ashlar::launch::parse_trace(text, &trace)) {
    const ashlar_fact variable[] = {{.name = "name", .text = ashlar::launch::kJobVariable, .number = 0},
                                    {.name = "value", .text = text ? text : "", .number = 0}};
    return ashlar_fail_with(g_host, ASHLAR_ERR_OTHER, "launch.variable", variable, std::size(variable));
  }
  const ashlar_result result = client_of(self).attach(trace);
  if (result != ASHLAR_OK) return result;
  *job = &client_of(self).job();
  show(reinterpret_cast<Module*>(self));
  return ASHLAR_OK;
}
ashlar_result put(ashlar_launch* self, const char* key, const void* blob, size_t bytes) {
  return client_of(self).put(key, blob, bytes);
}
ashlar_result report_timeout(ashlar_launch* self) { return client_of(self).report_timeout(); }
ashlar_result fence(ashlar_launch* self, int64_t timeout_ms) { return client_of(self).fence(timeout_ms); }
ashlar_result view(ashlar_launch* self, uint32_t rank, const char* key, const void** blob, size_t* bytes) {
  return client_of(self).view(rank, key, blob, bytes);
}
ashlar_result get(ashlar_launch* self, uint32_t rank, const char* key, void* buffer, size_t* bytes) {
  const void* blob = nullptr;
  size_t there = 0;
  const ashlar_result result = client_of(self).view(rank, key, &blob, &there);
  return result == ASHLAR_OK ? ashlar_launch_copy(g_host, rank, key, blob, there, buffer, bytes) : result;
}
const char* host_of(ashlar_launch* self, uint32_t rank) { return client_of(self).host_of(rank); }
void on_peer_failure(ashlar_launch* self, ashlar_launch_peer_failed* listener, void* context) {
  client_of(self).on_peer_failure(listener, context);
}
void poll(ashlar_launch* self) { client_of(self).poll(); }
ashlar_result initialized(ashlar_launch* self) { return client_of(self).initialized(); }
void abort_job(ashlar_launch* self, int code, const char* text) { client_of(self).abort(code, text); }
ashlar_result finalize(ashlar_launch* self) { return client_of(self).finalize(); }
uint32_t* news(ashlar_launch* self) { return client_of(self).news(); }
int asked(ashlar_launch* self) { return client_of(self).asked(); }
void answer(ashlar_launch* self, const char* account, size_t bytes, int settled) {
  client_of(self).answer(account, bytes, settled != 0);
}

void in_use(ashlar_launch* self, int world, unsigned sessions) { client_of(self).in_use(world != 0, sessions > 0); }

int parameters(ashlar_launch*, void (*take)(void*, const char*), void* context) {
  Trace trace;
  if (!ashlar::launch::parse_trace(std::getenv(ashlar::launch::kJobVariable), &trace)) return 0;
  return ashlar::launch::peek(trace, take, context) ? 1 : 0;
}
void moved(ashlar_launch* self, uint64_t moved_ns, int waits) { client_of(self).moved(moved_ns, waits != 0); }
void waits(ashlar_launch* self, const char* account, size_t bytes) { client_of(self).waits(account, bytes); }
int variables_asked(ashlar_launch* self) { return client_of(self).variables_asked() ? 1 : 0; }
void variables(ashlar_launch* self, const char* text, size_t bytes) { client_of(self).variables(text, bytes); }

ashlar_result further_job(ashlar_launch* self, int* socket) {
  return client_of(self).call_launcher(wish::kJob, socket);
}
ashlar_result name_service(ashlar_launch* self, int* socket) {
  return client_of(self).call_launcher(wish::kNames, socket);
}
void connected(ashlar_launch* self, int others) { client_of(self).connected(others != 0); }

const ashlar_launch_ops kOps = {
    .size = sizeof(ashlar_launch_ops),
    .connect = connect,
    .put = put,
    .fence = fence,
    .get = get,
    .view = view,
    .barrier = fence,
    .report_timeout = report_timeout,
    .host_of = host_of,
    .on_peer_failure = on_peer_failure,
    .poll = poll,
    .initialized = initialized,
    .abort = abort_job,
    .finalize = finalize,
    .news = news,
    .asked = asked,
    .answer = answer,
    .process_sets = nullptr,
    .in_use = in_use,
    .parameters = parameters,
    .moved = moved,
    .waits = waits,
    .variables_asked = variables_asked,
    .variables = variables,
    .further_job = further_job,
    .connected = connected,
    .name_service = name_service,
};

ashlar_result open_component(const ashlar_host* host, const void* config) {
  g_host = host;
  g_config = static_cast<const Config*>(config);
  show(nullptr);
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = -1;
  answer->capabilities = 0;
  const char* text = std::getenv(ashlar::launch::kJobVariable);
  Trace trace;
  if (!text) {
    std::snprintf(answer->reason, sizeof answer->reason, "not started by Ashlar's mpiexec: %s is not set",
                  ashlar::launch::kJobVariable);
    return;
  }
  if (!ashlar::launch::parse_trace(text, &trace)) {
    std::snprintf(answer->reason, sizeof answer->reason, "%s is from another version of mpiexec: \"%.80s\"",
                  ashlar::launch::kJobVariable, text);
    return;
  }
  if (g_host && g_host->elevated && g_config && g_config->elevated == kRefuse) {
    std::snprintf(
        answer->reason, sizeof answer->reason,
        "this program has more rights than the user who started the job; launch.native.elevated = join in the "
        "site's file lets it take part");
    return;
  }
  bool inherited = false;
  const int fd = ashlar::launch::open_board(trace, &inherited, answer->reason, sizeof answer->reason);
  if (fd < 0) {
    if (g_host && g_host->log) g_host->log(2, "launch/native", "not part of a job: %s", answer->reason);
    return;
  }
  close(fd);
  answer->priority = 100;
  answer->capabilities = ASHLAR_LAUNCH_IMMEDIATE | ASHLAR_LAUNCH_OBSERVABLE | ASHLAR_LAUNCH_SHOWS_ABORT;
  std::snprintf(answer->reason, sizeof answer->reason, "rank %u of job %s of mpiexec, process %u", trace.rank,
                trace.job_id, trace.launcher_pid);
}

ashlar_result create(const void*, void** module) {
  auto* made = new (std::nothrow) Module{.base = {&kOps}, .client = Client(*g_host)};
  if (!made) return ashlar_fail_no_memory(g_host, "launch/native", sizeof *made);
  *module = made;
  return ASHLAR_OK;
}
void destroy(void* module) {
  hide(static_cast<Module*>(module));
  delete static_cast<Module*>(module);
}

}  // namespace

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_LAUNCH_FRAMEWORK,
    .name = "native",
    .version = "1.0.0",
    .description = "joins a job of Ashlar's own mpiexec over shared memory",
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
