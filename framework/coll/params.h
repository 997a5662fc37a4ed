#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/coll/collective.h"
#include "framework/param/param_row.h"

namespace ashlar::coll {

/// Parameters coll.*; the rows describe this block. What a choice depends on has ASHLAR_SCOPE_ALL_EQ and is compared
/// between the processes of a job (param/job_settings.h); of tuning_file the rules are, wherever the file lies.
struct Config {
  const char* tuning_file;
  std::uint64_t scratch_cache;
  std::uint64_t node_size;
  std::uint64_t compare_after;  // ns
  std::uint64_t request_limit;
  bool reference;
  bool reproducible;
  const char* forced[kCollectives];  // coll.<collective>.algorithm
};

inline constexpr const char* kScratchRange[] = {"0", "1TiB", nullptr};
inline constexpr const char* kCompareRange[] = {"0", "1h", nullptr};
inline constexpr const char* kRequestRange[] = {"1", "268435456", nullptr};
inline constexpr const char* kNodeRange[] = {"0", "1000000000", nullptr};

#define ASHLAR_FORCED_ROW(collective, index)                                                            \
  {                                                                                                     \
#collective ".algorithm", "",                                                                       \
        "Algorithm to use for every " #collective                                                       \
        " that it can serve, instead of what the rules say; empty: the rules.",                         \
        ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL_EQ, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN,              \
        static_cast < std::uint32_t>(offsetof(Config, forced) + sizeof(const char*) * (index)), nullptr \
  }
inline constexpr ashlar_param kParams[] = {
    {"tuning_file", "", "A tuning file whose rules come before the built-in ones; its form: man ashlar-tuning.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, tuning_file),
     nullptr},
    {"scratch_cache", "8MiB", "Memory for temporaries that a communicator keeps between collectives, at most.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, scratch_cache),
     kScratchRange},
    {"node_size", "0",
     "As many processes, in the order of their numbers, count as one node in all choices, wherever they run; 0: as "
     "they are placed. For tests and for tuning: the algorithms for several nodes run on one.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_ALL_EQ, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, node_size),
     kNodeRange},
    {"compare_after", "100ms",
     "Time after which a collective that still waits compares its call with those of the neighbouring ranks, so that "
     "ranks whose calls do not agree fail instead of waiting for ever; 0: never.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, 0, offsetof(Config, compare_after), kCompareRange},
    {"request_limit", "1048576",
     "Requests of nonblocking and persistent collectives that a lane may have at a time; beyond, calls fail with "
     "MPI_ERR_NO_MEM.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, 0, offsetof(Config, request_limit), kRequestRange},
    {"reference", "false",
     "Run the simplest algorithm of each collective, straight from the standard's definition, to separate a mistake of "
     "the program from one of an algorithm. Slow.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, reference),
     nullptr},
    {"reproducible", "false",
     "Combine the operands of every reduction in the order of the ranks, so that its bits depend on nothing but the "
     "operands: not on the placement of the ranks, nor on sizes or tuning.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, reproducible),
     nullptr},
    ASHLAR_FORCED_ROW(barrier, 0),
    ASHLAR_FORCED_ROW(bcast, 1),
    ASHLAR_FORCED_ROW(reduce, 2),
    ASHLAR_FORCED_ROW(allreduce, 3),
    ASHLAR_FORCED_ROW(gather, 4),
    ASHLAR_FORCED_ROW(gatherv, 5),
    ASHLAR_FORCED_ROW(scatter, 6),
    ASHLAR_FORCED_ROW(scatterv, 7),
    ASHLAR_FORCED_ROW(allgather, 8),
    ASHLAR_FORCED_ROW(allgatherv, 9),
    ASHLAR_FORCED_ROW(alltoall, 10),
    ASHLAR_FORCED_ROW(alltoallv, 11),
    ASHLAR_FORCED_ROW(alltoallw, 12),
    ASHLAR_FORCED_ROW(reduce_scatter, 13),
    ASHLAR_FORCED_ROW(reduce_scatter_block, 14),
    ASHLAR_FORCED_ROW(scan, 15),
    ASHLAR_FORCED_ROW(exscan, 16),
    ASHLAR_FORCED_ROW(neighbor_allgather, 17),
    ASHLAR_FORCED_ROW(neighbor_allgatherv, 18),
    ASHLAR_FORCED_ROW(neighbor_alltoall, 19),
    ASHLAR_FORCED_ROW(neighbor_alltoallv, 20),
    ASHLAR_FORCED_ROW(neighbor_alltoallw, 21),
};
#undef ASHLAR_FORCED_ROW
static_assert(kCollectives == 22, "a row for each collective");

/// Parameters check.*, as far as they are of this room.
struct CheckConfig {
  bool collectives;
  bool datatypes;  // the row is point-to-point's
  bool any() const { return datatypes | collectives; }
};
inline constexpr ashlar_param kCheckParams[] = {
    {"collectives", "false",
     "Before each collective, compare on all ranks which one it is, its root, operation, counts and type signatures, "
     "and fail on all of them, saying which ranks differ, instead of hanging or mixing up data.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(CheckConfig, collectives),
     nullptr},
};

}  // namespace ashlar::coll
