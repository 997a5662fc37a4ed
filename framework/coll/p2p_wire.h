#pragma once
#include "framework/coll/collective.h"
#include "framework/coll/wire.h"

namespace ashlar {
class Comm;
}

namespace ashlar::coll {

struct LoggedCall;

/// Messages of a communicator's collective context, through point-to-point. Every call under the lane's lock.
class P2pWire final : public Wire {
 public:
  explicit P2pWire(Comm& comm);
  /// Sets the call that waits through it, until the next one; for reports of what this process waits for.
  void serve(Collective what) { serving_ = what; }
  Status send(Rank to, const DataView& data, Tag tag, Gate& gate) override;
  Status recv(Rank from, const DataView& data, Tag tag, Gate& gate) override;
  void abandon(Gate& gate) override;
  void wait(Gate& gate) override;
  Status wait(Condition& condition) override;
  void watch(Condition& condition) override;
  void wake(Rank member) override;
  void give_way() override;
  Status can_go_on(Tag tag) override;

 private:
  struct Wait;
  const LoggedCall* called_as(Tag tag) const;
  static bool look(Poller& poller);
  static bool look_and_resume(Poller& poller);

  Comm& comm_;
  Collective serving_ = Collective::kBarrier;
  std::uint32_t failures_checked_ = 0;  // of PeerTable::failures(): as many are known not to be members
};

}  // namespace ashlar::coll
