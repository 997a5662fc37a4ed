#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "components/rma/am/message.h"
#include "framework/base/list.h"
#include "framework/rma/wire.h"

namespace ashlar::rma::am {

struct AmWindow;

/// A message to an origin that waits for room. Its payload follows it.
struct Answer : ListHook {
  Sub sub = Sub::kData;
  bool owned = false;  // made by new_answer()
  std::uint32_t sequence = 0;
  std::uint32_t length = 0;

  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};

enum WhichLock : std::uint16_t { kTargetLock, kWindowLock, kLocks };

/// The target's side: answers to one origin, in the order of what they answer. Those without which the origin would
/// wait for ever need no memory. Guarded by the lane's lock.
class Answers final : public Stream {
 public:
  Answers(AmWindow& window, Rank to);
  ~Answers() { end(); }

  /// Everything up to that sequence number is done.
  void done(std::uint32_t sequence) { done_ = sequence; }
  /// Room for fetched data, which add() then sends; nullptr: there is no memory.
  static Answer* make(Sub sub, std::uint32_t sequence, std::size_t length);
  void add(Answer* answer);
  static void drop(Answer* answer);
  /// A fragment that was to fetch `fault.missing` bytes has failed.
  void refuse(std::uint32_t sequence, const Fault& fault);
  /// The same, because there is no memory for the answer. Until the origin has been told, further ones fail as well.
  void lose(std::uint32_t sequence, Fault fault);
  bool losing() { return lost_.linked(); }
  /// A fragment that fetches nothing has failed: the next pong says so.
  void keep(const Fault& fault);
  void pong();
  void grant(WhichLock which);
  void queued(const LockQueued& queued);
  /// The origin is gone.
  void end();

  bool next(std::size_t room, StreamMessage* out) override;
  void fill(std::byte* to) override;
  void sent() override;

 private:
  const void* payload_of(Answer& answer);
  void push(Answer& answer);

  AmWindow& window_;
  List<Answer> queue_;
  std::uint32_t done_ = 0;
  Answer pong_, lost_;  // each is in the queue once at most
  Answer grants_[kLocks];
  Fault fault_, lost_fault_;  // of pong_, of lost_
  LockRequest granted_[kLocks];
};

}  // namespace ashlar::rma::am
