// launch/pmix: joins a job through the PMIx server of its launcher: srun --mpi=pmix, prterun, flux.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "components/launch/pmix/client.h"
#include "framework/plugin/component.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/launch_component.h"

namespace {

using ashlar::launch::PmixClient;

struct Config {
  const char* library;
};
const ashlar_param kParams[] = {
    {"library", "libpmix.so.2", "The PMIx library to load; one that fits the launcher's own.", ASHLAR_PARAM_STRING,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, library), nullptr},
};

/// The launcher has known since PMIx_Init that this rank must finalize.
struct Module : ashlar_launch, PmixClient {
  using Config = ::Config;
  static constexpr char kWhat[] = "launch/pmix";
  Module(const ashlar_host& host, const Config* config)
      : ashlar_launch{}, PmixClient(host), library_(config && config->library ? config->library : "libpmix.so.2") {}

  ashlar_result connect(const ashlar_job** job) {
    const ashlar_result result = PmixClient::connect(library_);
    if (result == ASHLAR_OK) *job = &PmixClient::job();
    return result;
  }
  ashlar_result fence(std::int64_t timeout_ms) { return PmixClient::fence(true, timeout_ms); }
  ashlar_result barrier(std::int64_t timeout_ms) { return PmixClient::fence(false, timeout_ms); }

 private:
  const char* const library_;
};
using Maker = ashlar::plugin::LaunchMaker<Module>;

void query(const void*, ashlar_answer* answer) {
  answer->capabilities = 0;
  const char* space = std::getenv("PMIX_NAMESPACE");
  const char* rank = std::getenv("PMIX_RANK");
  if (Maker::elevated()) {
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

}  // namespace

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 =
    ashlar::plugin::launch_component<Module>({.name = "pmix",
                                              .version = "1.0.0",
                                              .description = "joins a job through its launcher's PMIx server",
                                              .param_count = sizeof kParams / sizeof kParams[0],
                                              .params = kParams,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .query = query});
