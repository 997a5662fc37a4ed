#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "components/transport/tcp/endpoint.h"
#include "components/transport/tcp/socket.h"
#include "components/transport/tcp/stream.h"
#include "components/transport/tcp/watched.h"
#include "components/transport/tcp/wire.h"

namespace ashlar::tcp {

class Attempt;

/// Tries addresses of a peer.
class Dialler {
 public:
  Dialler(Interface& iface, Endpoint& peer);
  virtual ~Dialler();
  Dialler(const Dialler&) = delete;
  Dialler& operator=(const Dialler&) = delete;
  Interface& iface() const { return iface_; }
  Endpoint& peer() const { return peer_; }
  /// Why addresses that were tried led to no connection.
  const std::string& reasons() const { return reasons_; }

  // For attempts. All but answered() end the attempt.
  virtual Call call() const = 0;
  virtual void lost(Attempt& attempt, const std::string& reason, bool refused) = 0;
  virtual void won(Attempt& attempt) = 0;
  virtual void told_to_wait(Attempt& attempt) = 0;
  /// A system answers for a process at the address of the attempt. False: that was all there was to know, and the
  /// attempt is gone.
  virtual bool answered(Attempt& attempt) = 0;

 protected:
  /// Makes an attempt. Returns 0, or the error for which there is none.
  int try_address(const SocketAddress& to);
  void note(const SocketAddress& to, const std::string& reason);
  /// Ends the attempt.
  void drop(Attempt& attempt);
  /// The attempt goes on, and is not this object's any more.
  std::unique_ptr<Attempt> take(Attempt& attempt);

  Interface& iface_;
  Endpoint& peer_;
  std::vector<std::unique_ptr<Attempt>> attempts_;
  std::string reasons_;
};

/// One address of the peer being tried: from the connect to the peer's Welcome.
class Attempt final : public Watched {
 public:
  Attempt(Dialler& dial, Descriptor socket, const SocketAddress& to)
      : Watched(std::move(socket)), dial_(dial), to_(to) {}
  unsigned ready(std::uint32_t events) override;
  const SocketAddress& to() const { return to_; }
  bool connecting() const { return stage_ == Stage::kConnecting; }
  const Standing& theirs() const { return theirs_; }

 private:
  enum class Stage { kConnecting, kChallenge, kWelcome, kExchange };
  unsigned step(std::uint32_t events);
  bool say_hello();
  bool on_challenge();
  bool on_welcome();
  bool write_out();
  /// Collects `bytes` bytes in in_; false: not yet.
  bool collect(std::size_t bytes);
  bool lost(const std::string& reason);

  Dialler& dial_;
  const SocketAddress to_;
  Stage stage_ = Stage::kConnecting;
  Hello hello_ = {};
  Stream out_;
  std::vector<std::byte> in_;
  Standing theirs_ = {};
  std::uint64_t to_drop_ = 0;  // bytes of the full exchange that are still to come
};

/// Making a connection to a peer: all of its addresses at one time, the first that proves itself is kept; again and
/// again until the time is over. A peer whose record is not known here has called this process and has to call again
/// when its connection broke: then its port is only asked whether a process is there.
class Dial final : public Dialler {
 public:
  Dial(Interface& iface, Endpoint& peer);
  void start_round();
  /// By the clock, and when an attempt is over.
  void tick(std::uint64_t now);
  bool asking() const { return asking_; }
  bool failing() const { return rounds_lost_ > 0; }
  bool trying() const { return !attempts_.empty(); }
  /// All attempts of the first round are over already, and each was refused: there is no such process.
  bool refused_at_once() const { return attempts_.empty() && rounds_lost_ > 0 && round_refused_; }
  /// Looks at the attempts without waiting.
  void look();

  void wait();

  Call call() const override { return failing() ? Call::kInVain : Call::kFirst; }
  void lost(Attempt& attempt, const std::string& reason, bool refused) override;
  void won(Attempt& attempt) override;
  void told_to_wait(Attempt&) override { wait(); }
  bool answered(Attempt& attempt) override;

 private:
  void add(const SocketAddress& to);
  bool guesses_are_left() const;
  void round_over(std::uint64_t now);
  std::uint64_t spread(std::uint64_t pause) const;
  bool is_at_break(const SocketAddress& to) const;
  bool process_has_ended(std::uint64_t now) const;
  std::uint64_t connect_time() const;

  const bool asking_;
  std::uint64_t began_ = 0, round_began_ = 0, next_round_ = 0, answered_ = 0;
  unsigned rounds_lost_ = 0, rounds_refused_ = 0, tried_ = 0;
  unsigned refusals_ = 0;                          // of the round
  bool round_refused_ = false, starting_ = false;  // every address that is no guess has refused
  bool refused_at_break_ = false;                  // in this round, at the address at which the connection broke
};

}  // namespace ashlar::tcp
