#include "framework/io/meter.h"

#include <algorithm>

namespace ashlar::io {
namespace {

constexpr double kMost = 4096;   // times what is usual
constexpr double kLeast = 0.25;  // the same
constexpr double kLongPiece = 4096;

// A transfer may have waited for others, or for the processor, and is never quicker than the system. So what took less
// than expected counts at once by a half, and what took longer counts by little.
void correct(std::atomic<double>& value, double usual, double seen) {
  const double old = value.load(std::memory_order_relaxed);
  const double now = seen < old ? (old + seen) / 2 : std::min(old + (seen - old) / 4, old * 1.25);
  value.store(std::clamp(now, usual * kLeast, usual * kMost), std::memory_order_relaxed);
}

const Rate& usual(bool writes) { return writes ? cost::kUsual.write : cost::kUsual.read; }

}  // namespace

Rates Meter::rates() const {
  const auto of = [](const Measured& one) {
    return Rate{.call = one.call.load(std::memory_order_relaxed), .byte = one.byte.load(std::memory_order_relaxed)};
  };
  return {.read = of(read_), .write = of(write_)};
}

void Meter::moved_pieces(bool writes, std::uint64_t pieces, std::uint64_t bytes, double ns) {
  const auto count = static_cast<double>(pieces), all = static_cast<double>(bytes);
  if (pieces < kLeastPieces || all / count > kLongPiece) return;
  Measured& rate = of(writes);
  correct(rate.call, usual(writes).call, (ns - all * rate.byte.load(std::memory_order_relaxed)) / count);
}

void Meter::moved_window(bool writes, std::uint64_t bytes, double ns) {
  if (bytes < kLeastBytes) return;
  Measured& rate = of(writes);
  correct(rate.byte, usual(writes).byte, (ns - rate.call.load(std::memory_order_relaxed)) / static_cast<double>(bytes));
}

}  // namespace ashlar::io
