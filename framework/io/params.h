#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/io/facts.h"
#include "framework/plugin/component.h"

namespace ashlar::io {

/// Parameters io.*; the rows describe this block.
struct Config {
  std::uint64_t buffer_bytes = 4 * 1024 * 1024;
  std::uint64_t sieve_bytes = 128 * 1024;
  std::uint64_t sieve_piece = 8 * 1024;
  std::uint64_t cb_buffer_size = 1024 * 1024;
  std::uint64_t cb_nodes = 0;
  std::uint64_t map_bytes = 64 * 1024 * 1024;
  std::uint64_t async_above = 64 * 1024;
  std::uint64_t threads = 1;
  std::int32_t way = 0;                   // a Way
  std::int32_t collective_buffering = 0;  // a Switch
  std::int32_t errhandler = 0;            // of kErrhandlers
  bool verify = false;
  bool check = false;  // check.files

  Way forced() const { return static_cast<Way>(way); }
};

inline constexpr const char* kBufferRange[] = {"4KiB", "1GiB", nullptr};
inline constexpr const char* kSieveRange[] = {"4KiB", "1GiB", nullptr};
inline constexpr const char* kPieceRange[] = {"0", "1GiB", nullptr};
inline constexpr const char* kNodesRange[] = {"0", "1048576", nullptr};
inline constexpr const char* kThreadsRange[] = {"1", "64", nullptr};
inline constexpr const char* kErrhandlers[] = {"mpi_errors_return", "mpi_errors_are_fatal", "mpi_errors_abort",
                                               nullptr};
inline constexpr const char* kSwitches[] = {"auto", "false", "true", nullptr};  // as Switch

inline constexpr ashlar_param kParams[] = {
    {"buffer_bytes", "4MiB",
     "Bytes of a buffer through which data goes that is scattered in memory, or is converted; one for each access that "
     "is "
     "under way.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, buffer_bytes), kBufferRange},
    {"sieve_bytes", "128KiB",
     "Bytes of the file that an access to many small pieces takes in at once, with the gaps between them (keys "
     "ind_rd_buffer_size, ind_wr_buffer_size).",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, sieve_bytes), kSieveRange},
    {"sieve_piece", "8KiB",
     "Pieces of a read that are smaller on average are taken in with the gaps between them, where that is cheaper by "
     "estimate. 0: each piece is read by itself.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, sieve_piece), kPieceRange},
    {"cb_buffer_size", "1MiB",
     "Bytes of the file that one process moves at once for all of them in a collective access; it has two such windows "
     "during the access (key cb_buffer_size).",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, cb_buffer_size), kSieveRange},
    {"cb_nodes", "0", "Processes that move the windows of a collective access. 0: all of them (key cb_nodes).",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, cb_nodes), kNodesRange},
    {"map_bytes", "64MiB",
     "Bytes of a file that a process may keep mapped, because accesses to small pieces come back to them. 0: none.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, map_bytes), kPieceRange},
    {"async_above", "64KiB",
     "Nonblocking accesses of fewer bytes are made by the call itself; others by a thread of the library.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, async_above), kPieceRange},
    {"threads", "1", "Threads that make nonblocking accesses in a process; they start with the first of these.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, threads),
     kThreadsRange},
    {"way", "auto",
     "How data gets to files: each piece by itself (list), in windows with the gaps between pieces (sieve), combined "
     "by the processes of a collective access (two_phase), or through a mapping that stays (mapped). auto: the "
     "cheapest by estimate. A way that cannot serve an access leaves the choice to the others.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, way), kWays},
    {"collective_buffering", "auto",
     "Whether collective accesses combine the data of all processes (key collective_buffering). auto: where that is "
     "cheaper by estimate.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0, offsetof(Config, collective_buffering), kSwitches},
    {"errhandler", "mpi_errors_return",
     "The error handler that MPI_FILE_NULL, and with it every file, begins with: for programs that do not look at what "
     "the calls return.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, errhandler),
     kErrhandlers},
    {"verify", "false",
     "Read what a collective access has written again, and fail with MPI_ERR_IO where the file has something else. The "
     "value of rank 0 of the file counts.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, verify), nullptr},
};

inline constexpr ashlar_param kCheckParams[] = {
    {"files", "false",
     "Report every failure of a file that MPI_ERRORS_RETURN gives back; let collective calls fail that differ between "
     "the processes of a file, info keys that must be the same and are not, accesses by the shared file pointer with "
     "different views, buffers whose type signature is not made of etypes, and MPI_File_close and MPI_File_set_view "
     "with requests that are not completed.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, check), nullptr},
};

}  // namespace ashlar::io
