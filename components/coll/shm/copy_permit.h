#pragma once
#include "components/coll/shm/choices.h"
#include "components/coll/shm/segment/waits.h"

namespace ashlar::coll::shm {

/// A rank's permit to copy in an exchange: where ranks share cores, as many ranks copy at a time as there are cores
/// (Choices::copy_permits). A rank that has begun then ends without sharing its core, and with all copies between it
/// and the others done, so the first ranks leave early; if all copied side by side, all would leave last. A permit is
/// held for a stretch without a wait in it, so it is always returned.
struct CopyPermit : TicketWait {
  std::uint32_t limit;
  bool has = false, waited = false;

  CopyPermit(const Ticket& of, const Choices& choices);
  bool seen();
  void over(Status with);
  /// Returns the permit and wakes a rank that waits for one.
  void give_back();

 private:
  /// A mismatch elsewhere does not end this wait: a permit always comes, and other ranks count on this one's copies.
  static bool poll(Condition& self) { return static_cast<CopyPermit&>(self).seen(); }
};

}  // namespace ashlar::coll::shm
