// Accesses in the order of the ranks by the shared pointer, where the processes share memory: where each begins follows
// from what all have stored, without a message and without a meeting more than other collective accesses have.
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/io/together.h"

namespace ashlar::io {
namespace {

constexpr unsigned kRankBits = 24;
constexpr std::uint64_t kArrivals = (std::uint64_t{1} << kRankBits) - 1;

/// Counts an arrival at the access `number`, and returns how many there are. A number that some processes never arrive
/// at, because they make another call, is followed by the next one.
std::uint64_t count_arrival(std::atomic<std::uint64_t>& turn, std::uint64_t number) {
  const std::uint64_t name = number << kRankBits;
  std::uint64_t seen = turn.load(std::memory_order_relaxed), next = 0;
  do {
    next = (seen & ~kArrivals) == name ? seen + 1 : name + 1;
  } while (!turn.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed));
  return next & kArrivals;
}

/// Whether the data can be at `facts->at`; then where that is in the file.
Status find_place(const Transfer& what, Facts* facts) {
  const View& view = what.file.view;
  std::uint64_t byte = 0;
  MPI_Offset behind = 0;
  if (__builtin_add_overflow(facts->at, facts->etypes, &behind) || !view.stream_byte(facts->at, &byte))
    return fail(MPI_ERR_ARG, "io.pointer_too_large", {{"value", facts->at}, {"count", facts->etypes}});
  if (facts->bytes == 0) return {};
  ASHLAR_TRY(view.check_items(byte + facts->bytes, what.writes, what.file.path));
  if (!range_of(view, byte, facts->bytes, &facts->first, &facts->end)) facts->flags |= Facts::kUnordered;
  return {};
}

}  // namespace

void Together::arrive_in_turn() {
  OpenFile& open = file();
  const int ranks = open.comm->size;
  if (count_arrival(open.shared->turn, number) != static_cast<std::uint64_t>(ranks)) return;
  MPI_Offset etypes = 0, at = 0;
  for (Rank rank = 0; rank < ranks; ++rank)
    if (__builtin_add_overflow(etypes, slot(rank).facts.etypes, &etypes)) etypes = 0;
  static_cast<void>(open.pointers.add(open, etypes, &at));  // a word of this memory
  for (Rank rank = 0; rank < ranks; ++rank) {
    Facts& facts = slot(rank).facts;
    if (facts.failure != 0) continue;
    facts.at = at;
    facts.failure = find_place(what, &facts).mpi_class();
    if (facts.failure == 0) at += facts.etypes;
  }
}

void Together::take_place() {
  placed = true;
  Facts facts = own().facts;
  what.at = facts.at;
  if (!failure.ok()) return;
  if (facts.failure != 0) note(find_place(what, &facts));  // again, for the words of the process that has failed
  if (facts.bytes == 0) return;
  static_cast<void>(file().view.stream_byte(facts.at, &stream.from));
  stream.to = stream.from + facts.bytes;
}

}  // namespace ashlar::io
