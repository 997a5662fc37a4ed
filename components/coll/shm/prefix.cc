#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// Scan and exscan: each rank leaves its operand, and combines those of the ranks before it as soon as they are there.
/// Rank 0 waits for nobody. As our reduce; ranks run ahead of those behind them.
Co prefix(Op& op, const Call& call, Visit visit) {
  Status st;
  const MPI_Count bytes = call.bytes;
  const MPI_Count count = call.recv.count;
  const auto me = static_cast<std::uint32_t>(op.rank());
  const std::uint32_t operands = call.what == Collective::kScan ? me + 1 : me;
  contribute(op, call, visit);
  wake_sleepers(op, visit);
  LineWait wait(op, visit, visit.layout().contribution(visit.number, 0), operands);
  st = co_await wait;
  if (wait.failed()) co_return st;
  if (operands > 0) {
    // (a0 op a1) op a2 ...; the first two are combined where the result goes.
    std::byte* sum = operand(visit, bytes, 0);
    auto* const result = static_cast<std::byte*>(call.recv.data);
    std::byte* const other = operands > 2 ? op.scratch(bytes) : nullptr;
    for (std::uint32_t r = 1; r < operands; ++r) {
      std::byte* const to = sum == result ? other : result;
      op.combine(call, sum, operand(visit, bytes, r), to, count);
      sum = to;
    }
    op.copy_bytes(sum, result, bytes);
  }
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
