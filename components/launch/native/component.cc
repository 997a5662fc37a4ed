// launch/native: joins a job started by our own mpiexec, over the board it made (framework/plugin/launch_board.h).
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "components/launch/native/client.h"
#include "framework/plugin/component.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/launch_component.h"
#include "framework/plugin/pvar_row.h"

namespace {

using ashlar::launch::Client;
using ashlar::launch::Trace;
namespace wish = ashlar::launch::wish;

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

const Client& client_behind(const void* block) { return *static_cast<const Client*>(block); }

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

/// `block`: a client that has joined its job; nullptr: the variables are only made known.
void show(const ashlar_host& host, const Client* block) {
  ashlar::plugin::show_block(host, "launch", "native", kRows, block);
}

/// The client's members are the functions of the contract, but for these.
class Module : public ashlar_launch, public Client {
 public:
  using Config = ::Config;
  static constexpr char kWhat[] = "launch/native";
  Module(const ashlar_host& host, const Config*) : ashlar_launch{}, Client(host), host_(host) {}
  ~Module() { ashlar::plugin::hide_block(host_, kRows, static_cast<const Client*>(this)); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  static void introduce(const ashlar_host& host) { show(host, nullptr); }

  ashlar_result connect(const ashlar_job** out) {
    Trace trace;
    const char* const text = std::getenv(ashlar::launch::kJobVariable);
    // query() has seen a variable in this form; the environment may have changed since.
    if (!ashlar::launch::parse_trace(text, &trace)) {
      const ashlar_fact variable[] = {{.name = "name", .text = ashlar::launch::kJobVariable, .number = 0},
                                      {.name = "value", .text = text ? text : "", .number = 0}};
      return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "launch.variable", variable, std::size(variable));
    }
    if (const ashlar_result result = attach(trace); result != ASHLAR_OK) return result;
    *out = &job();
    show(host_, this);
    return ASHLAR_OK;
  }
  ashlar_result get(uint32_t rank, const char* key, void* buffer, size_t* bytes) {
    const void* blob = nullptr;
    size_t there = 0;
    const ashlar_result result = view(rank, key, &blob, &there);
    return result == ASHLAR_OK ? ashlar_launch_copy(&host_, rank, key, blob, there, buffer, bytes) : result;
  }
  static bool parameters(void (*take)(void*, const char*), void* context) {
    Trace trace;
    return ashlar::launch::parse_trace(std::getenv(ashlar::launch::kJobVariable), &trace) &&
           ashlar::launch::peek(trace, take, context);
  }
  ashlar_result further_job(int* socket) { return call_launcher(wish::kJob, socket); }
  ashlar_result name_service(int* socket) { return call_launcher(wish::kNames, socket); }

 private:
  const ashlar_host& host_;
};
using Maker = ashlar::plugin::LaunchMaker<Module>;

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
  if (Maker::elevated() && Maker::config() && Maker::config()->elevated == kRefuse) {
    std::snprintf(
        answer->reason, sizeof answer->reason,
        "this program has more rights than the user who started the job; launch.native.elevated = join in the "
        "site's file lets it take part");
    return;
  }
  bool inherited = false;
  const int fd = ashlar::launch::open_board(trace, &inherited, answer->reason, sizeof answer->reason);
  if (fd < 0) {
    if (Maker::host() && Maker::host()->log)
      Maker::host()->log(2, "launch/native", "not part of a job: %s", answer->reason);
    return;
  }
  close(fd);
  answer->priority = 100;
  answer->capabilities = ASHLAR_LAUNCH_IMMEDIATE | ASHLAR_LAUNCH_OBSERVABLE | ASHLAR_LAUNCH_SHOWS_ABORT;
  std::snprintf(answer->reason, sizeof answer->reason, "rank %u of job %s of mpiexec, process %u", trace.rank,
                trace.job_id, trace.launcher_pid);
}

}  // namespace

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 =
    ashlar::plugin::launch_component<Module>({.name = "native",
                                              .version = "1.0.0",
                                              .description = "joins a job of Ashlar's own mpiexec over shared memory",
                                              .param_count = sizeof kParams / sizeof kParams[0],
                                              .params = kParams,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .query = query});
