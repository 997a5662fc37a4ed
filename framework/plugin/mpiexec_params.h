#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/param/param_row.h"

namespace ashlar::plugin {

/// The launcher's own parameters. They stand here and not in mpiexec/, so that the library and the tools know them when
/// they meet them in a file.
struct MpiexecConfig {
  std::int32_t pmix, bind_to, map_by, oversubscribe, on_failure;
  std::uint64_t kill_grace;      // nanoseconds
  std::uint64_t board_per_rank;  // bytes
  std::uint64_t pmix_data;       // bytes
  const char* launch_agent;
  std::uint64_t start_timeout;  // nanoseconds
  std::uint64_t start_retry;    // nanoseconds
  std::uint64_t host_silence;   // nanoseconds
  std::uint64_t check_timeout;  // nanoseconds
  std::uint64_t tree_from, tree_width;
};
inline constexpr const char* kPmixWords[] = {"auto", "on", "off", nullptr};
inline constexpr const char* kBindWords[] = {"auto", "none", "hwthread", "core", "numa", "socket", nullptr};
inline constexpr const char* kMapWords[] = {"auto", "hwthread", "core", "numa", "socket", nullptr};
inline constexpr const char* kOversubscribeWords[] = {"ok", "error", nullptr};
inline constexpr const char* kFailureWords[] = {"end", "continue", nullptr};

inline constexpr const char* kGraceRange[] = {"0", "1h", nullptr};
inline constexpr const char* kStartRange[] = {"1s", "1h", nullptr};
inline constexpr const char* kRetryRange[] = {"0", "1h", nullptr};
inline constexpr const char* kSilenceRange[] = {"0", "1000h", nullptr};
inline constexpr const char* kCheckRange[] = {"10ms", "1h", nullptr};
inline constexpr const char* kTreeRange[] = {"0", "1000000", nullptr};
inline constexpr const char* kWidthRange[] = {"1", "1000", nullptr};
inline constexpr const char* kBoardRange[] = {"4KiB", "1GiB", nullptr};
inline constexpr const char* kPmixRange[] = {"4KiB", "60MiB", nullptr};

inline constexpr ashlar_param kMpiexecParams[] = {
    {"pmix", "auto",
     "Whether ranks find a PMIx server: auto when a program is linked against PMIx. It opens a port on the loopback "
     "interface; programs that load PMIx only while they run need on.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, pmix), kPmixWords},
    {"bind_to", "auto", "What each rank is bound to, as --bind-to; auto: an equal share of the cores.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, bind_to), kBindWords},
    {"map_by", "auto", "Over what ranks are placed in turn, as --map-by.", ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER, offsetof(MpiexecConfig, map_by), kMapWords},
    {"oversubscribe", "ok", "Whether more ranks than cores may be started: ok or error.", ASHLAR_PARAM_ENUM,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, oversubscribe), kOversubscribeWords},
    {"on_failure", "end",
     "What a rank's failure does to the others: end ends the job; continue lets them go on, as --keep-going, and their "
     "calls that need the failed rank fail with MPI_ERR_PROC_ABORTED.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, on_failure), kFailureWords},
    {"kill_grace", "1s", "Time between SIGTERM and SIGKILL when a job is ended.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, kill_grace), kGraceRange},
    {"board_per_rank", "64KiB", "Most bytes each rank may publish for the others; used only as far as it is filled.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, board_per_rank), kBoardRange},
    {"pmix_data", "32MiB",
     "Most bytes that the ranks of several hosts give each other in a fence of PMIx, and that they publish; more is "
     "PMIX_ERR_OUT_OF_RESOURCE.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, pmix_data), kPmixRange},
    {"launch_agent",
     "ssh -x -T -o BatchMode=yes -o RemoteCommand=none -o ClearAllForwardings=yes -o ServerAliveInterval=5 "
     "-o ServerAliveCountMax=5 %h",
     "The command that starts mpiexec on another host, as --launch-agent: words separated by spaces, %h in the place "
     "of the host. It gets the daemon's path as further words, and joins its standard input and output.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, launch_agent), nullptr},
    {"start_timeout", "1min", "Time in which every host must be ready to start its ranks.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, start_timeout), kStartRange},
    {"start_retry", "5s",
     "Time in which ssh is started again that does not find its host, as one of a container that was just made, or "
     "whose "
     "connection is closed before a login. 0: no second try.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, start_retry), kRetryRange},
    {"host_silence", "30s",
     "Time without a sign of life after which a host of a job is lost. Ranks on another host than mpiexec's end when "
     "they have none of mpiexec for so long. 0: never.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, host_silence), kSilenceRange},
    {"check_timeout", "5s", "Time that --check gives each way between two hosts.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, check_timeout), kCheckRange},
    {"tree_from", "32",
     "Number of other hosts from which on mpiexec starts only some daemons itself, and these start further ones. What "
     "does not get through from there is started from nearer to mpiexec. 0: never. By srun: never.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, tree_from), kTreeRange},
    {"tree_width", "16", "Daemons that mpiexec, and each daemon, starts in such a tree.", ASHLAR_PARAM_U64,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN | ASHLAR_PARAM_LAUNCHER,
     offsetof(MpiexecConfig, tree_width), kWidthRange},
};

/// How mpiexec watches a running job.
struct WatchConfig {
  std::uint64_t stall;  // nanoseconds
};
inline constexpr const char* kStallRange[] = {"0", "1000h", nullptr};

inline constexpr ashlar_param kWatchParams[] = {
    {"stall", "10min",
     "Time after which mpiexec says which rank waits for which, when some rank is inside MPI and none gets on; the job "
     "goes on. Once for each stall. As --stall; 0: never. Under other launchers a rank reports its own waits.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(WatchConfig, stall),
     kStallRange},
};

}  // namespace ashlar::plugin
