#pragma once
#include <cstdint>

#include "mpiexec/board.h"
#include "mpiexec/job_order.h"
#include "mpiexec/status_query.h"

namespace ashlar::mpiexec {

/// What the slot of a rank of this node says now.
RankView view_of(Board& board, unsigned rank, std::uint64_t now);
/// Adds the answers to a query.
void add_answers(Board& board, const StatusQuery& query, RankView* view);

/// Writes it into the slot that the rank has on another board. `asked_ns`: when that one's query began; 0: the view is
/// no answer. `clock`: what added to the other node's clock gives this one's.
void show(Board& board, const RankView& view, std::uint64_t now, std::uint64_t asked_ns, std::int64_t clock);

}  // namespace ashlar::mpiexec
