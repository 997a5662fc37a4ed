#pragma once
#include <atomic>
#include <cstdint>

#include "framework/io/cost.h"

namespace ashlar::io {

/// What this process has measured of a file system. Any thread; a measurement that meets another one may be lost.
class Meter {
 public:
  /// Transfers that are worth reading the clock for.
  static constexpr std::uint64_t kLeastPieces = 16;
  static constexpr std::uint64_t kLeastBytes = 64 * 1024;

  Rates rates() const;

  /// `pieces` that lie apart took so long.
  void moved_pieces(bool writes, std::uint64_t pieces, std::uint64_t bytes, double ns);
  /// A contiguous transfer did.
  void moved_window(bool writes, std::uint64_t bytes, double ns);

 private:
  struct Measured {
    explicit Measured(const Rate& usual) : call(usual.call), byte(usual.byte) {}
    std::atomic<double> call, byte;
  };
  Measured& of(bool writes) { return writes ? write_ : read_; }

  Measured read_{cost::kUsual.read}, write_{cost::kUsual.write};
};

}  // namespace ashlar::io
