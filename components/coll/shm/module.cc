#include "components/coll/shm/module.h"

#include <cstdio>

#include "components/coll/shm/catalogue.h"
#include "components/coll/shm/segment/mapping.h"

namespace ashlar::coll::shm {
namespace {

constexpr std::uint64_t kLeastBytes = 4096;
constexpr std::uint64_t kBytesOfAll = 1u << 20;  // buffers of all ranks for one number, so that a segment stays small

std::uint64_t to_lines(std::uint64_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

std::uint64_t share(std::uint64_t wanted, std::uint32_t ranks) {
  const std::uint64_t equal = kBytesOfAll / ranks / kCacheLine * kCacheLine;
  const std::uint64_t bytes = wanted < equal ? wanted : equal;
  return bytes < kLeastBytes ? kLeastBytes : bytes;
}

/// A decision record: a buffer's size is not what its parameter says.
void record_size(const ashlar_host& host, const char* parameter, std::uint64_t used, const char* because) {
  char words[32];
  const bool whole = used % 1024 == 0;
  std::snprintf(words, sizeof words, whole ? "%lluKiB" : "%llu",
                static_cast<unsigned long long>(whole ? used / 1024 : used));
  host.adjusted("coll", "shm", parameter, words, because);
}

}  // namespace

Module& module() {
  static constinit Module the_module;
  return the_module;
}

void Module::open(const ashlar_host& kernel, const Config& from) {
  algorithms = kAlgorithmList;
  host = &kernel;
  config = from;
  piece_set = from.piece;
  blocks_set = from.blocks;
  config.piece = to_lines(from.piece);  // buffers begin on cache lines
  config.blocks = to_lines(from.blocks);
  pvars = {{{.name = "copies",
             .help = "system calls of this process that copied from or to another one's memory in a collective",
             .kind = ASHLAR_PVAR_COUNTER,
             .value = &counters.copies},
            {.name = "late_starts",
             .help = "collectives that could not begin in the segment when they were called: it was not made yet, an "
                     "earlier collective of the communicator was before them, or the bounce buffers were in use",
             .kind = ASHLAR_PVAR_COUNTER,
             .value = &counters.late_starts},
            {.name = "segments",
             .help = "segments with bounce buffers that this process shares",
             .kind = ASHLAR_PVAR_LEVEL,
             .value = &SegmentMapping::counters.segments},
            {.name = "segment_bytes",
             .help = "bytes of these (coll.shm.blocks, coll.shm.piece)",
             .kind = ASHLAR_PVAR_LEVEL,
             .value = &SegmentMapping::counters.bytes}}};
  if (kernel.add_pvars != nullptr)
    kernel.add_pvars("coll", "shm", pvars.data(), static_cast<std::uint32_t>(pvars.size()));
}

std::uint64_t Module::piece_bytes(std::uint32_t ranks) const { return share(config.piece, ranks); }
std::uint64_t Module::buffer_bytes(std::uint32_t ranks) const {
  return share(config.blocks > config.piece ? config.blocks : config.piece, ranks);
}

void Module::record_buffers(std::uint32_t ranks) const {
  if (host == nullptr || host->adjusted == nullptr) return;
  char shared[120];
  std::snprintf(shared, sizeof shared, "that is a rank's share of a segment for %u ranks, which has %llu KiB for all",
                ranks, static_cast<unsigned long long>(kBytesOfAll / 1024));
  const std::uint64_t piece = piece_bytes(ranks), buffer = buffer_bytes(ranks);
  const char* const rounded = "buffers begin on cache lines";
  if (piece != piece_set) record_size(*host, "piece", piece, piece < piece_set ? shared : rounded);
  const char* const larger =
      config.blocks < config.piece ? "there is never less room than for coll.shm.piece" : rounded;
  if (buffer != blocks_set) record_size(*host, "blocks", buffer, buffer < blocks_set ? shared : larger);
}

}  // namespace ashlar::coll::shm
