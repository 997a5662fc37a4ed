#include "components/launch/singleton/traces.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "framework/plugin/launch_board.h"

namespace ashlar::launch {
namespace {

long number(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return end == text ? -1 : value;
}

// The version of the board that an mpiexec of ours gave to this process. Only a rank itself has the descriptor: it is
// closed on exec.
bool board_there(std::uint32_t* version) {
  const char* const trace = std::getenv(kJobVariable);
  int fd = -1;
  BoardHeader header;
  constexpr auto kBytes = static_cast<ssize_t>(offsetof(BoardHeader, version) + sizeof header.version);
  if (!trace || std::sscanf(trace, "%*u:%d:", &fd) != 1) return false;
  if (pread(fd, static_cast<void*>(&header), static_cast<std::size_t>(kBytes), 0) != kBytes) return false;
  *version = header.version;
  return header.magic == kBoardMagic;
}

// A PMI launcher that launch/pmi has not joined, and why.
bool pmi_launch(char* words, std::size_t bytes, bool elevated) {
  const char* const fd = std::getenv("PMI_FD");
  const char* const port = std::getenv("PMI_PORT");
  const char* const rank = std::getenv("PMI_RANK");
  // With PMI_PORT it is the launcher that knows how many ranks there are.
  const bool by_port = port && std::getenv("PMI_ID");
  if (!by_port && !(number("PMI_SIZE") > 1 && (fd || port || rank))) return false;
  const char* why = "";
  if (elevated) {
    why = ", which it does not join: this program has more rights than the user who started it";
  } else if (fd && fcntl(static_cast<int>(number("PMI_FD")), F_GETFD) < 0) {
    why =
        ", but its descriptor (PMI_FD) is not open here: something between launcher and program has closed it, or a "
        "rank "
        "has started this program";
  } else if (!fd && !by_port) {
    why = ", without PMI_FD and without PMI_PORT and PMI_ID";
  }
  if (by_port && !fd)
    std::snprintf(words, bytes, "a PMI launcher: PMI_PORT=%s PMI_ID=%s%s", port, std::getenv("PMI_ID"), why);
  else
    std::snprintf(words, bytes, "a PMI launcher such as MPICH's mpiexec: PMI_RANK=%s PMI_SIZE=%s%s", rank ? rank : "?",
                  std::getenv("PMI_SIZE"), why);
  return true;
}

}  // namespace

bool parallel_launch(char* words, std::size_t bytes, bool elevated) {
  std::uint32_t version = 0;
  const bool board = board_there(&version);
  if (board && elevated) {
    std::snprintf(
        words, bytes,
        "Ashlar's mpiexec, whose job it does not join: this program has more rights than the user who started "
        "it (set-user-ID, set-group-ID or file capabilities); see launch.native.elevated");
    return true;
  }
  // launch/native joins no board but its own version's.
  if (board && version != kBoardVersion) {
    std::snprintf(words, bytes,
                  "an mpiexec of another version: its job board has version %u, this library reads version %u; use the "
                  "mpiexec that was installed with the library",
                  version, kBoardVersion);
    return true;
  }
  const char* space = std::getenv("PMIX_NAMESPACE");
  if (space && std::getenv("PMIX_RANK")) {
    std::snprintf(words, bytes, "a PMIx launcher: PMIX_NAMESPACE=%s PMIX_RANK=%s", space, std::getenv("PMIX_RANK"));
    return true;
  }
  if (pmi_launch(words, bytes, elevated)) return true;
  if (number("FLUX_JOB_SIZE") > 1 && std::getenv("FLUX_TASK_RANK")) {
    std::snprintf(words, bytes, "Flux: FLUX_TASK_RANK=%s FLUX_JOB_SIZE=%s, without PMI_FD (was -o pmi given?)",
                  std::getenv("FLUX_TASK_RANK"), std::getenv("FLUX_JOB_SIZE"));
    return true;
  }
  // Slurm keeps the allocation's variables in every process; the number of tasks of the *step* is what counts, and a
  // batch script's own "step" has a number near 2^32.
  const long step = number("SLURM_STEP_ID") >= 0 ? number("SLURM_STEP_ID") : number("SLURM_STEPID");
  if (step >= 0 && step < 0xfffffff0L && number("SLURM_STEP_NUM_TASKS") > 1 && std::getenv("SLURM_PROCID")) {
    std::snprintf(words, bytes, "Slurm: task %s of %s of step %s.%ld (was srun called with --mpi=pmix or --mpi=pmi2?)",
                  std::getenv("SLURM_PROCID"), std::getenv("SLURM_STEP_NUM_TASKS"),
                  std::getenv("SLURM_JOB_ID") ? std::getenv("SLURM_JOB_ID") : "?", step);
    return true;
  }
  return false;
}

}  // namespace ashlar::launch
