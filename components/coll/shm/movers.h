#pragma once
#include <cstdint>

#include "components/coll/shm/waits.h"

namespace ashlar::coll::shm {

/// A rank's turn to copy. Where ranks take turns on the cores, as many copy at a time as there are cores. Whoever has
/// begun then ends without having to share its core, and with all copies between it and the others done, so the first
/// ones leave early; if all went on side by side, all would leave last. A turn is held for a stretch without a wait in
/// it, so it always ends. Group::movers says how many; coll.shm.movers sets it.
struct Movers : VisitWait {
  bool has = false, waited = false;

  Movers(const Op& op, const Visit& of);
  /// Whether this exchange goes in turns; not where nothing is copied between ranks.
  static bool limited(const Visit& visit, MPI_Count amount) { return visit.group->movers != 0 && amount != 0; }
  bool seen();
  void over(Status with);
  /// The turn is over: whoever waits for one comes next.
  void next(Op& op);

 private:
  static bool look(Condition& self);
};

}  // namespace ashlar::coll::shm
