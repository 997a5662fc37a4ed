#include <cstddef>

#include "components/coll/shm/module.h"

namespace ashlar::coll::shm {
namespace {

constexpr const char* kPieceRange[] = {"4KiB", "16MiB", nullptr};
constexpr const char* kBlockRange[] = {"4KiB", "64MiB", nullptr};
constexpr const char* kSmallRange[] = {"0", "64MiB", nullptr};
constexpr const char* kPrefetchRange[] = {"0", "1TiB", nullptr};

/// Of most rows: tuners set it, before MPI_Init.
constexpr ashlar_param tuned(const char* name, const char* fallback, const char* help, ashlar_param_type type,
                             std::uint8_t scope, std::size_t offset, const char* const* range) {
  return {.name = name,
          .fallback = fallback,
          .help = help,
          .type = type,
          .scope = scope,
          .verbosity = ASHLAR_TUNER_DETAIL,
          .flags = ASHLAR_PARAM_FROZEN,
          .offset = static_cast<std::uint32_t>(offset),
          .choices = range};
}
/// A former name.
constexpr ashlar_param synonym(const char* name, const char* key, ashlar_param_type type, std::uint8_t scope) {
  return {.name = name,
          .fallback = "",
          .help = key,
          .type = type,
          .scope = scope,
          .verbosity = ASHLAR_TUNER_DETAIL,
          .flags = ASHLAR_PARAM_SYNONYM,
          .offset = 0,
          .choices = nullptr};
}

}  // namespace

constexpr ashlar_param kParams[kParamCount] = {
    tuned("piece", "64KiB",
          "Largest payload of one rank that goes through the shared segment at once (algorithm shm); larger ones go in "
          "pieces of this size (shm_large). With more than 16 ranks it is less, 4 KiB at least.",
          ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL_EQ, offsetof(Config, piece), kPieceRange),
    {.name = "single_copy",
     .fallback = "true",
     .help = "Whether ranks of a node may copy from and to each other's buffers in collectives (algorithm direct). "
             "Where the system forbids it, the ranks find that out and use other algorithms.",
     .type = ASHLAR_PARAM_BOOL,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_USER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, single_copy)),
     .choices = nullptr},
    tuned("small_block", "32KiB",
          "Largest block for one rank that its sender copies into its bounce buffer in the segment, as far as there is "
          "room (algorithm direct): a copy more, a system call less. A block for every rank goes there whenever there "
          "is room.",
          ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, offsetof(Config, small_block), kSmallRange),
    tuned("blocks", "256KiB",
          "Size of one rank's bounce buffer in the shared segment for blocks of algorithm direct (see small_block). "
          "With more than 4 ranks it is less; never less than a piece.",
          ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL_EQ, offsetof(Config, blocks), kBlockRange),
    tuned("prefetch_from", "4MiB",
          "From so many bytes that an exchange of blocks (algorithm direct) moves from and to a rank, blocks that stay "
          "on the rank are copied with prefetches of both sides, because they are in no cache of the core any more, "
          "and a rank begins before all have arrived. 1TiB switches it off.",
          ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, offsetof(Config, choices.prefetch_from), kPrefetchRange),
    tuned("read_once", "true",
          "Whether a rank whose neighbour sends it one block along several edges, as on a periodic grid two ranks "
          "wide, reads the block once and copies it on (algorithm direct).",
          ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, offsetof(Config, choices.read_once), nullptr),
    tuned("poll_for_root", "true",
          "Whether a rank that waits for one rank alone, which runs on another core, polls for a short while before it "
          "yields its core. For ranks that share cores.",
          ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, offsetof(Config, choices.poll_for_root), nullptr),
    tuned("yield_to_root", "true",
          "Whether a rank that leaves a barrier before the root of the broadcast or scatter ahead of that barrier, or "
          "a root of a gather or reduction before the other ranks, yields its core once. For ranks that share cores.",
          ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, offsetof(Config, choices.yield_to_root), nullptr),
    synonym("far_copy", "coll.shm.prefetch_from", ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL),
};

}  // namespace ashlar::coll::shm
