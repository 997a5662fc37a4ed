#pragma once
#include "framework/coll/wire.h"

namespace ashlar {
class Comm;
}

namespace ashlar::coll {

/// Messages of a communicator's collective context, through point-to-point. Every call under the lane's lock.
class P2pWire final : public Wire {
 public:
  explicit P2pWire(Comm& comm);
  Status send(Rank to, const DataView& data, Tag tag, Gate& gate) override;
  Status recv(Rank from, const DataView& data, Tag tag, Gate& gate) override;
  void abandon(Gate& gate) override;
  void wait(Gate& gate) override;
  Status wait(Condition& condition) override;
  void watch(Condition& condition) override;
  void wake(Rank member) override;
  Status members_alive() override;

 private:
  static bool look(Poller& poller);
  static bool look_and_resume(Poller& poller);

  Comm& comm_;
  std::uint32_t failures_checked_ = 0;  // of PeerTable::failures(): as many are known not to be members
};

}  // namespace ashlar::coll
