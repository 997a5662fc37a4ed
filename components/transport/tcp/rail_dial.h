#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "components/transport/tcp/dial.h"

namespace ashlar::tcp {

class Rails;

/// Making rails to a peer: one address of each of its interfaces that has none yet is tried, all at one time.
class RailDial final : public Dialler {
 public:
  RailDial(Interface& iface, Endpoint& peer, Rails& rails);
  /// False: there is no address to try.
  bool start();
  void tick(std::uint64_t now);

  Call call() const override { return Call::kRail; }
  void lost(Attempt& attempt, const std::string& reason, bool refused) override;
  void won(Attempt& attempt) override;
  void told_to_wait(Attempt& attempt) override;
  bool answered(Attempt&) override { return true; }
  bool made() const { return made_; }

 private:
  void over_if_empty();

  Rails& rails_;
  std::uint64_t began_ = 0;
  bool starting_ = false, made_ = false;
};

}  // namespace ashlar::tcp
