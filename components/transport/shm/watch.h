#pragma once
#include <poll.h>

#include <cstdint>
#include <vector>

#include "framework/base/descriptor.h"

namespace ashlar::shm {

/// Knows which processes this interface talks to and whether they are alive. A pidfd per process where the kernel has
/// them (safe against reused pids); otherwise the process's start time in /proc.
class Watch {
 public:
  /// Starts to watch process `pid` for the interface with mark `nonce`; a second call for the same mark does nothing.
  /// False: it is dead already.
  bool add(std::uint64_t nonce, std::int32_t pid, std::uint64_t start_time);
  void remove(std::uint64_t nonce);
  /// Appends the marks of those that died; they are no longer watched. Set-up path: system calls.
  void look(std::vector<std::uint64_t>* dead);
  /// Whether the process with mark `nonce`, which is watched, ends before `milliseconds` are over; waits that long.
  /// Between the moment when a dying process loses its descriptors and its end a peer finds neither.
  bool ends_within(std::uint64_t nonce, int milliseconds) const;
  bool empty() const { return entries_.empty(); }
  static bool process_alive(std::int32_t pid, std::uint64_t start_time);

 private:
  struct Entry {
    std::uint64_t nonce;
    std::uint64_t start_time;
    std::int32_t pid;
    Descriptor pidfd;
  };
  std::vector<Entry> entries_;
  std::vector<pollfd> polls_;
};

}  // namespace ashlar::shm
