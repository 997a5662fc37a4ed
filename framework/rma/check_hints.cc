// With check.rma: what processes promise of a window has to be the same on all of them, and true.
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/rma/check.h"
#include "framework/rma/hints.h"

namespace ashlar::rma {
namespace {

Status differs(const RmaWindow& window, const char* what, std::size_t rank) {
  return fail(MPI_ERR_INFO_VALUE, "rma.hints_differ",
              {{"window", window.label()}, {"key", what}, {"rank", 0}, {"other_rank", rank}});
}

Status untrue(const RmaWindow& window, const char* key, std::size_t rank) {
  return fail(MPI_ERR_INFO_VALUE, "rma.hint_untrue",
              {{"window", window.label()}, {"key", key}, {"rank", 0}, {"other_rank", rank}});
}

}  // namespace

Status compare_hints(const RmaWindow& window, std::span<const Card> cards) {
  const Card& first = cards[0];
  for (std::size_t rank = 1; rank < cards.size(); ++rank) {
    const Card& card = cards[rank];
    if (const char* const key = differing_hint(first.hints, card.hints)) return differs(window, key, rank);
    if (first.granularity != card.granularity) return differs(window, "mpi_accumulate_granularity", rank);
    const Hints hints = hints_of(first.hints);
    if (hints.same_size && first.size != card.size) return untrue(window, "same_size", rank);
    if (hints.same_disp_unit && first.disp_unit != card.disp_unit) return untrue(window, "same_disp_unit", rank);
  }
  return {};
}

}  // namespace ashlar::rma
