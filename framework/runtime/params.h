#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::runtime {

/// Parameters runtime.*; the rows describe this block.
struct Config {
  std::uint64_t start_timeout = 0;    // ns
  std::uint64_t connect_timeout = 0;  // ns
  std::int32_t initial_errhandler = 0;
  std::int32_t errors_without_object = 0;
  const char* memory_alloc_kinds = "";
  const char* process_sets = "";
};

inline constexpr const char* kInitialErrhandlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return",
                                                      nullptr};

/// The values of errors_without_object, in the order of the names.
enum ErrorsWithoutObject : std::int32_t { kOfWorldOrSelf, kOfSelf };
inline constexpr const char* kErrorsWithoutObject[] = {"world_or_self", "self", nullptr};
inline constexpr const char* kStartRange[] = {"1s", "24h", nullptr};
inline constexpr const char* kConnectRange[] = {"1s", "1000h", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"start_timeout", "120s", "How long start-up waits for the other ranks before it says which are missing.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, start_timeout), kStartRange},
    {"connect_timeout", "600s",
     "How long MPI_Comm_connect waits for MPI_Comm_accept at the port, before it fails with MPI_ERR_PORT.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, connect_timeout), kConnectRange},
    {"initial_errhandler", "mpi_errors_are_fatal",
     "The error handler that MPI_COMM_WORLD and MPI_COMM_SELF begin with, and that errors of no object go to in "
     "programs of sessions.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN,
     offsetof(Config, initial_errhandler), kInitialErrhandlers},
    {"errors_without_object", "world_or_self",
     "Which error handler gets the errors of calls without an object: MPI_COMM_SELF's, as MPI 4 has it, or, when the "
     "program set one on MPI_COMM_WORLD alone, that one, as MPI 3 had it.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, errors_without_object), kErrorsWithoutObject},
    {"memory_alloc_kinds", "",
     "Kinds of memory that programs want to pass to calls of the world model (mpi_memory_alloc_kinds), as mpiexec "
     "-memory-alloc-kinds.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, memory_alloc_kinds), nullptr},
    {"process_sets", "",
     "Process sets that sessions see, as NAME=RANKS;NAME=RANKS with lists such as 0-3,8-14:2. mpiexec --pset writes "
     "it.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, process_sets),
     nullptr},
};

/// Parameters threads.*.
struct ThreadConfig {
  std::uint64_t lanes = 4;
};

inline constexpr const char* kLaneRange[] = {"1", "16", nullptr};

inline constexpr ashlar_param kThreadParams[] = {
    {"lanes", "4",
     "Independent contexts that communicators are spread over with MPI_THREAD_MULTIPLE: threads on different ones do "
     "not share a lock.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_ALL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(ThreadConfig, lanes),
     kLaneRange},
};

/// Parameters check.*, as far as they are of this room.
struct CheckConfig {
  bool leaks = false;
  bool hints = false;
  bool sessions = false;
  bool threads = false;
};

inline constexpr ashlar_param kCheckParams[] = {
    {"leaks", "false",
     "List at the end which communicators, datatypes, requests and other objects the program still holds, which calls "
     "made them, and which messages were never received.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(CheckConfig, leaks),
     nullptr},
    {"hints", "false",
     "Make it an error to break what mpi_assert_no_any_source and mpi_assert_no_any_tag promise; with check.datatypes, "
     "mpi_assert_exact_length too.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(CheckConfig, hints),
     nullptr},
    {"sessions", "false",
     "Make it an error to pass groups and communicators of different sessions, or of a session and MPI_Init, to one "
     "call.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(CheckConfig, sessions),
     nullptr},
    {"threads", "false",
     "End the job when a thread makes an MPI call that the thread level of MPI_Init_thread does not allow. Not "
     "together with progress.thread.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(CheckConfig, threads),
     nullptr},
};

}  // namespace ashlar::runtime
