#pragma once
#include <cstdint>
#include <vector>

#include "components/transport/tcp/door.h"
#include "components/transport/tcp/stream.h"
#include "components/transport/tcp/watched.h"

namespace ashlar::tcp {

class Interface;

/// A connection to this process that has yet to prove that it comes from a process of the job, or is not yet chosen by
/// it. A stranger is told nothing, has little memory here, and little time.
class Guest final : public Watched {
 public:
  Guest(Interface& iface, Descriptor socket, std::uint64_t now);
  ~Guest() override;
  unsigned ready(std::uint32_t events) override;
  /// Its Hello was read on another lane.
  void greet(const Hello& hello);
  /// False: its time is over, and it is gone.
  bool in_time(std::uint64_t now);
  /// The interface that calls for a first connection, once that is known; 0: not yet.
  std::uint64_t sender() const { return stage_ == Stage::kHello || hello_.call == Call::kRail ? 0 : hello_.sender; }
  std::uint64_t began() const { return began_; }

 private:
  enum class Stage { kHello, kProof, kExchange, kChosen };
  void step();
  bool collect(std::size_t bytes);
  bool on_hello();
  bool on_proof();
  bool on_exchange();
  bool on_chosen();
  bool write_out();
  bool leave(bool stranger);

  Interface& iface_;
  const std::uint64_t began_;
  Stage stage_ = Stage::kHello;
  bool stranger_ = true;
  Hello hello_ = {};
  Nonce nonce_ = {};
  Stream out_;
  std::vector<std::byte> in_;
  std::uint64_t to_drop_ = 0;
};

}  // namespace ashlar::tcp
