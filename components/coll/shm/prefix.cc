#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {

/// Scan and exscan: each rank leaves its operand, and combines those of the ranks before it as soon as they have
/// arrived. Rank 0 waits for none. As our reduce; ranks run ahead of those behind them.
Co prefix(Op& op, const Call& call, Ticket ticket) {
  Status st;
  const MPI_Count bytes = call.bytes;
  const std::uint32_t operands = call.what == Collective::kScan ? ticket.me() + 1 : ticket.me();
  write_operand(op, call, ticket);
  publish_and_wake(ticket);
  FlagWait wait = FlagWait::contributions(ticket, operands);
  st = co_await wait;
  if (wait.failed()) co_return st;
  if (operands > 0) {
    // (a0 op a1) op a2 ...; the first two are combined where the result goes.
    std::byte* sum = ticket.payload(0, bytes);
    auto* const result = static_cast<std::byte*>(call.recv.data);
    std::byte* const other = operands > 2 ? op.scratch(bytes) : nullptr;
    for (std::uint32_t r = 1; r < operands; ++r) {
      std::byte* const to = sum == result ? other : result;
      op.combine(call, sum, ticket.payload(r, bytes), to, call.recv.count);
      sum = to;
    }
    op.copy_bytes(sum, result, bytes);
  }
  done(ticket);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
