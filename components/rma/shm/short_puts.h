#pragma once
#include <cstddef>
#include <cstdint>

#include "components/rma/shm/delegate.h"
#include "framework/rma/way.h"

namespace ashlar::rma::shm {

struct Taker;

/// Short puts of this process that returned before the target has carried them out: of one window, to one target. The
/// first is offered at once. Those that follow while the target is at it are gathered, and then offered together: the
/// more the target is behind, the more it finds in an offer. What it does not take, the origin copies, at the latest
/// when it flushes. Guarded by Origin::mutex.
class ShortPuts {
 public:
  /// A put of one block of `bytes`. False: it is to be made in another way.
  bool add(const Access& access, Taker& taker, std::size_t bytes);
  /// All that were added are complete at the target, or have failed.
  void finish();

  struct Failure {
    const RmaWindow* window = nullptr;
    Rank rank = 0;
    int error = 0;  // an errno
  };
  /// finish(), of this window and target. Returns the first failure of the window since it was last asked for.
  Failure complete(const RmaWindow& window, Rank rank);

 private:
  bool offer_pending();
  void end_offer();
  void copy(Delegated* piece);

  RmaWindow* window_ = nullptr;  // nullptr: nothing is under way
  Rank rank_ = 0;
  std::int32_t pid_ = 0;
  std::uint64_t address_ = 0;  // where the window begins at the target
  Taker* taker_ = nullptr;
  Delegated* offered_ = nullptr;  // what the target may be at
  Delegated* pending_ = nullptr;
  std::uint64_t added_ = 0;
  Failure failure_;
};

/// Adds a put that is short enough to those of this process. False: it is to be made in another way.
bool post_put(const Access& access);
/// ShortPuts::complete() of those.
ShortPuts::Failure complete_puts(const RmaWindow& window, Rank target);

}  // namespace ashlar::rma::shm
