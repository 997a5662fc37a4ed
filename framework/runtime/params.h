#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::runtime {

/// What memory MPI calls accept (MPI-5.0, 11.4.3): the value of info key mpi_memory_alloc_kinds.
inline constexpr char kMemoryKinds[] = "mpi,system";

/// Parameters runtime.*; the rows describe this block.
struct Config {
  std::uint64_t start_timeout = 0;  // ns
  std::int32_t initial_errhandler = 0;
};

inline constexpr const char* kInitialErrhandlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return",
                                                      nullptr};

inline constexpr ashlar_param kParams[] = {
    {"start_timeout", "120s", "How long start-up waits for the other ranks before it says which are missing.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, start_timeout), nullptr},
    {"initial_errhandler", "mpi_errors_are_fatal",
     "The error handler that MPI_COMM_WORLD and MPI_COMM_SELF begin with, and that errors of no object go to in "
     "programs "
     "of sessions.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN,
     offsetof(Config, initial_errhandler), kInitialErrhandlers},
};

/// Parameters threads.*.
struct ThreadConfig {
  std::uint64_t lanes = 4;
};

inline constexpr ashlar_param kThreadParams[] = {
    {"lanes", "4",
     "Independent contexts that communicators are spread over with MPI_THREAD_MULTIPLE: threads on different ones do not "
     "share a lock.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(ThreadConfig, lanes),
     nullptr},
};

}  // namespace ashlar::runtime
