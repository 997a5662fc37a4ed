#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::rma {

/// Parameters rma.*; the rows describe this block.
struct Config {
  bool reference = false;
  std::uint64_t range_elements = 128;
  std::int32_t progress = 0;        // Progress
  std::uint64_t patience = 50'000;  // ns
  // check.*
  bool check = false;
  std::uint64_t check_accesses = 4096;
};

enum Progress : std::int32_t { kInCalls = 0, kBackground };

inline constexpr const char* kProgressWords[] = {"calls", "background", nullptr};
inline constexpr const char* kPatienceRange[] = {"1us", "1s", nullptr};
inline constexpr const char* kElementsRange[] = {"16", "4294967295", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"reference", "false",
     "Every one-sided operation and every wait for a window's processes goes by messages, which the target answers: "
     "the "
     "way that works everywhere, to compare the others with.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, reference),
     nullptr},
    {"range_elements", "128",
     "Elements of an accumulate in mapped memory from which on the process keeps others out and combines them all at "
     "once; fewer are combined one by one, with atomic instructions. 4294967295: always one by one.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, range_elements), kElementsRange},
    {.name = "progress",
     .fallback = "calls",
     .help = "When a process makes the operations on its memory that others ask for by messages: in its MPI calls, or "
             "while it computes as well, by a thread that sleeps until an origin has waited for rma.patience. "
             "progress.thread = true does the same for all messages.",
     .type = ASHLAR_PARAM_ENUM,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_USER_BASIC,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = offsetof(Config, progress),
     .choices = kProgressWords},
    {.name = "patience",
     .fallback = "50us",
     .help = "With rma.progress = background, how long an origin waits for a target's answer before it wakes the "
             "target's thread.",
     .type = ASHLAR_PARAM_DURATION,
     .scope = ASHLAR_SCOPE_LOCAL,
     .verbosity = ASHLAR_TUNER_BASIC,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = offsetof(Config, patience),
     .choices = kPatienceRange},
};

inline constexpr const char* kAccessesRange[] = {"16", "1048576", nullptr};

/// Parameters check.*, as far as they are of this room.
inline constexpr ashlar_param kCheckParams[] = {
    {"rma", "false",
     "Log the one-sided operations that are not complete, and let the synchronization that ends an epoch fail when two "
     "of them conflict, naming both ranks, calls and byte ranges; compare the asserts of MPI_Win_fence, and the hints "
     "of windows, on all ranks.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, check), nullptr},
    {"rma_accesses", "4096",
     "With check.rma, accesses to the memory of a rank that are logged at one time; further ones are not checked.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, check_accesses),
     kAccessesRange},
};

}  // namespace ashlar::rma
