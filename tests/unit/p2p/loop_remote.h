#pragma once
#include "tests/unit/p2p/loop_transport.h"

/// The loop transport's puts, pieces, atomic operations and flushes, with delays and failures from its seed.
namespace ashlar::test {

/// Whether what happens with this probability happens now.
inline bool chance(std::mt19937& random, double probability) {
  return probability > 0 && std::uniform_real_distribution<double>(0, 1)(random) < probability;
}

ashlar_result loop_put(ashlar_endpoint*, const void* from, const ashlar_key*, std::uint64_t offset,
                       std::uint64_t length, ashlar_completion*);
ashlar_result loop_getv(ashlar_endpoint*, const ashlar_key*, const ashlar_piece*, std::uint32_t count,
                        ashlar_completion*);
ashlar_result loop_putv(ashlar_endpoint*, const ashlar_key*, const ashlar_piece*, std::uint32_t count,
                        ashlar_completion*);
ashlar_result loop_amo(ashlar_endpoint*, int op, std::uint32_t width, const ashlar_key*, std::uint64_t offset,
                       std::uint64_t operand, std::uint64_t compare, void* result, ashlar_completion*);
ashlar_result loop_flush(ashlar_endpoint*, ashlar_completion*);
void loop_attributes(ashlar_iface*, ashlar_iface_attributes*);
/// In a round of progress: some of what is under way comes to its end.
unsigned advance_remotes(LoopIface& iface);

}  // namespace ashlar::test
