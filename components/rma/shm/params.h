#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::rma::shm {

/// Parameters rma.shm.*; the rows describe this block.
struct Config {
  std::int32_t barrier;  // Barrier
  std::uint64_t delegate_from;
  std::uint64_t lock_again;
  std::uint64_t lock_bias;
  std::uint64_t slow_copy;  // ns
};

enum Barrier : std::int32_t { kByCores = 0, kCentral, kDissemination };

inline constexpr const char* kBarriers[] = {"auto", "central", "dissemination", nullptr};

inline constexpr const char* kAgainRange[] = {"0", "1000", nullptr};
inline constexpr const char* kBiasRange[] = {"0", "10000", nullptr};
inline constexpr const char* kSlowRange[] = {"0", "1s", nullptr};

inline constexpr ashlar_param kParams[] = {
    {.name = "barrier",
     .fallback = "auto",
     .help =
         "How the processes of a window wait for all others, in MPI_Win_fence and MPI_Win_free. central: the last one "
         "to come lets all go, so that each is scheduled once; dissemination: in rounds, of pairs; auto: central where "
         "ranks outnumber cores. That of rank 0 holds.",
     .type = ASHLAR_PARAM_ENUM,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, barrier)),
     .choices = kBarriers},
    {.name = "delegate_from",
     .fallback = "32",
     .help =
         "Runs of memory from which on an operation is offered to its target, where the memory cannot be mapped: a "
         "target that makes progress right now carries it out; if it does not take the offer within microseconds, the "
         "origin copies. Updates are offered with fewer runs, too, and a part of long puts and gets. 0: nothing is "
         "offered.",
     .type = ASHLAR_PARAM_U64,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, delegate_from)),
     .choices = nullptr},
    {.name = "lock_again",
     .fallback = "8",
     .help = "How often a process may take an exclusive lock again that others have waited for since it first took it, "
             "before it hands over. 0: locks are granted in the order in which they were asked for.",
     .type = ASHLAR_PARAM_U64,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, lock_again)),
     .choices = kAgainRange},
    {.name = "lock_bias",
     .fallback = "32",
     .help = "Shared locks of a target, with no exclusive one between them, from which on each process takes them in a "
             "line of memory of its own; the next exclusive lock then fences all processes and looks at their lines. "
             "0: never.",
     .type = ASHLAR_PARAM_U64,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, lock_bias)),
     .choices = kBiasRange},
    {.name = "slow_copy",
     .fallback = "1us",
     .help = "Where the system takes longer to copy a word between two processes, puts and gets of up to 4 KiB are "
             "offered to targets that make progress, too (rma.shm.delegate_from).",
     .type = ASHLAR_PARAM_DURATION,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, slow_copy)),
     .choices = kSlowRange},
};

}  // namespace ashlar::rma::shm
