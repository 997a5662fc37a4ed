#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/param/param_row.h"

namespace ashlar::mpit {

/// Parameters tools.*; the rows describe this block.
struct Config {
  std::uint64_t handle_limit = 0;
  std::uint64_t session_limit = 0;
  std::uint64_t event_queue = 0;
};

inline constexpr const char* kHandleRange[] = {"1", "16777216", nullptr};
inline constexpr const char* kSessionRange[] = {"1", "1048576", nullptr};
inline constexpr const char* kEventRange[] = {"16", "1048576", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"handle_limit", "65536",
     "Handles of each kind (control variables, performance variables, event registrations) that tools may have at a "
     "time; beyond, MPI_T calls answer MPI_T_ERR_OUT_OF_HANDLES.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_ALL, 0, offsetof(Config, handle_limit), kHandleRange},
    {"session_limit", "1024",
     "Sessions of performance variables that tools may have at a time; beyond, MPI_T_pvar_session_create answers "
     "MPI_T_ERR_OUT_OF_SESSIONS.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_ALL, 0, offsetof(Config, session_limit), kSessionRange},
    {"event_queue", "256",
     "Events that a thread keeps until it can call the tools that listen; beyond, events are dropped, and dropped "
     "handlers hear how many.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_ALL, 0, offsetof(Config, event_queue), kEventRange},
};

}  // namespace ashlar::mpit
