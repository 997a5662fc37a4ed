// launch/pmi: joins a job over the wire protocols PMI-1 and PMI-2, without any library: MPICH's mpiexec, Flux,
// srun --mpi=pmi2.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "components/launch/pmi/client.h"
#include "components/launch/pmi/environment.h"
#include "framework/plugin/component.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/launch_component.h"

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

/// Its default values are for a component without a configuration.
constexpr Config kDefaults = {0, 30'000'000'000, 120'000'000'000};

/// A fence moves nothing to this process: what others have put is asked for when it is wanted. PMI tells nothing of the
/// death of a rank, and the launcher has known since the greeting that this rank must finalize.
struct Module : ashlar_launch, PmiClient {
  using Config = ::Config;
  static constexpr char kWhat[] = "launch/pmi";
  Module(const ashlar_host& host, const Config* config) : Module(host, config != nullptr ? *config : kDefaults) {}
  Module(const ashlar_host& host, const Config& config)
      : ashlar_launch{},
        PmiClient(host, static_cast<Dialect>(config.protocol), config.answer_timeout, config.start_timeout) {}

  ashlar_result connect(const ashlar_job** job) {
    const ashlar_result result = PmiClient::connect();
    if (result == ASHLAR_OK) *job = &PmiClient::job();
    return result;
  }
  void abort(int code, const char*) { PmiClient::abort(code); }
};
using Maker = ashlar::plugin::LaunchMaker<Module>;

void query(const void*, ashlar_answer* answer) {
  answer->capabilities = 0;
  answer->priority = -1;
  PmiTrace trace;
  char reason[200];
  const bool there = ashlar::launch::read_trace(&trace, reason, sizeof reason);
  if (there && Maker::elevated()) {
    std::snprintf(answer->reason, sizeof answer->reason,
                  "this program has more rights than the user who started it, and the launcher that the environment "
                  "names is that user's");
    return;
  }
  // Below PMIx, which some launchers serve beside PMI and which says more.
  if (there) answer->priority = 40;
  std::snprintf(answer->reason, sizeof answer->reason, "%s", reason);
}

}  // namespace

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 =
    ashlar::plugin::launch_component<Module>({.name = "pmi",
                                              .version = "1.0.0",
                                              .description = "joins a job over PMI-1 or PMI-2, without a library",
                                              .param_count = sizeof kParams / sizeof kParams[0],
                                              .params = kParams,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .query = query});
