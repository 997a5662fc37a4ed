#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/param/param_row.h"

namespace ashlar::plugin {

/// "shm,self" uses these alone, "^shm" all but these, "" all that can serve.
struct Selection {
  const char *launch, *transport, *coll, *rma, *io, *topology, *report, *tool;
};
#define ASHLAR_SELECTION_ROW(framework, fallback, scope, help)                                                      \
  {                                                                                                                 \
#framework, fallback, help " List to use (\"a,b\") or to leave out (\"^a,b\"); empty: whatever can serve.",     \
        ASHLAR_PARAM_STRING, scope, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Selection, framework), nullptr \
  }
inline constexpr ashlar_param kSelection[] = {
    ASHLAR_SELECTION_ROW(launch, "", ASHLAR_SCOPE_ALL_EQ, "How a process finds its job."),
    ASHLAR_SELECTION_ROW(transport, "", ASHLAR_SCOPE_ALL_EQ, "Ways messages travel."),
    ASHLAR_SELECTION_ROW(coll, "", ASHLAR_SCOPE_ALL_EQ, "Implementations of collective operations."),
    ASHLAR_SELECTION_ROW(rma, "", ASHLAR_SCOPE_ALL_EQ, "Implementations of one-sided communication."),
    ASHLAR_SELECTION_ROW(io, "", ASHLAR_SCOPE_ALL_EQ, "Ways files are accessed."),
    ASHLAR_SELECTION_ROW(topology, "", ASHLAR_SCOPE_ALL_EQ, "Sources of topology."),
    // Records for tools are opt-in: people would find them between the lines of the program.
    ASHLAR_SELECTION_ROW(report, "^json", ASHLAR_SCOPE_LOCAL, "Where errors, notices and decisions are shown."),
    // Chosen by name alone: what watches the calls costs time, and is there for the job that asks for it.
    {"tool", "", "Tools that watch the program's MPI calls, as mpiexec --tool. List to use (\"a,b\"); empty: none.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Selection, tool), nullptr},
};
#undef ASHLAR_SELECTION_ROW

struct Config {
  const char* path;
  std::uint64_t records;
};
inline constexpr const char* kRecordRange[] = {"16", "1000000", nullptr};
inline constexpr ashlar_param kParams[] = {
    {"path", "",
     "More folders of components, separated by colons; a component there replaces an installed one of its name.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, path), nullptr},
    {"records", "1024", "Decisions of each topic that a process keeps for --explain; later ones are not kept.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_ALL, ASHLAR_PARAM_FROZEN, offsetof(Config, records),
     kRecordRange},
};

/// Parameters tools.*.
struct ToolConfig {
  std::uint64_t buffer;   // bytes
  std::uint64_t refresh;  // nanoseconds
};
inline constexpr const char* kToolRefreshRange[] = {"0", "1000h", nullptr};
inline constexpr const char* kToolBufferRange[] = {"64KiB", "64GiB", nullptr};
inline constexpr ashlar_param kToolParams[] = {
    {"buffer", "16MiB",
     "Memory in each rank for what the tools record, all of them together; used as far as it is filled, but for what "
     "tool.trace.populate takes at once. mpiexec reads it when the job is over.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(ToolConfig, buffer),
     kToolBufferRange},
    {"refresh", "10s",
     "Time between two looks at what the tools record while the job runs, for tools that tell of it then (--trace of a "
     "FILE.prom). 0: they tell when the job is over.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(ToolConfig, refresh),
     kToolRefreshRange},
};

/// Top-level switches of the kernel.
struct KernelConfig {
  const char* explain;
  std::int32_t log_level;
};
inline constexpr const char* kLogLevels[] = {"error", "warn", "info", "debug", "trace", nullptr};
inline constexpr ashlar_param kKernelParams[] = {
    {"explain", "", "Topics whose decisions are shown: all, or a list such as transport,coll. As mpiexec --explain.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(KernelConfig, explain),
     nullptr},
    {"log", "error", "Lines up to this level are written to standard error.", ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_DETAIL, 0, offsetof(KernelConfig, log_level), kLogLevels},
};

}  // namespace ashlar::plugin
