#pragma once
#include <cstdint>

#include "framework/base/descriptor.h"

namespace ashlar::shm {

/// What wakes a process that sleeps for descriptors, because peers on other hosts reach it by such: no call of the
/// system waits for a futex and for descriptors at once. A datagram socket with an abstract name, made from the
/// segment's nonce: no file, no port, and nothing is kept for a peer. A datagram says nothing but that the sleeper is
/// to look. The lane's lock guards it.
class WakeSocket {
 public:
  /// At the owner of the segment: the descriptor that peers make readable, opened by the first call. -1: there is none,
  /// or a process of another user has sent to it.
  int open(std::uint64_t nonce);
  bool is_open() const { return static_cast<bool>(own_); }
  /// At the owner, when the sleep is over: takes what has arrived. False: another user's process sent it, and the
  /// socket is closed, so that nobody else decides whether this process sleeps.
  bool clear();
  /// At a peer: wakes the owner of the segment with this nonce. False: it cannot be reached.
  bool send_to(std::uint64_t nonce);

 private:
  Descriptor own_, sender_;
  bool refused_ = false;
};

}  // namespace ashlar::shm
