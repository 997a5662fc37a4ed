#include "components/transport/shm/watch.h"

#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "components/transport/shm/address.h"
#include "framework/base/clock.h"

namespace ashlar::shm {

bool Watch::process_alive(std::int32_t pid, std::uint64_t start_time) {
  if (kill(pid, 0) != 0 && errno == ESRCH) return false;
  char state = 0;
  const std::uint64_t started = start_time_of(pid, &state);
  if (started == 0) return true;  // /proc is closed to us; the signal test is all there is
  return (start_time == 0 || started == start_time) && state != 'Z' && state != 'X';
}

bool Watch::add(std::uint64_t nonce, std::int32_t pid, std::uint64_t start_time) {
  const auto same = [nonce](const Entry& e) { return e.nonce == nonce; };
  if (pid <= 0 || std::any_of(entries_.begin(), entries_.end(), same)) return true;
  Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd && errno == ESRCH) return false;
  // With the pidfd in hand the pid cannot be reused unnoticed; what it names now must be the process we mean.
  if (!process_alive(pid, start_time)) return false;
  entries_.push_back(Entry{.nonce = nonce, .start_time = start_time, .pid = pid, .pidfd = std::move(pidfd)});
  return true;
}

void Watch::remove(std::uint64_t nonce) {
  std::erase_if(entries_, [nonce](const Entry& e) { return e.nonce == nonce; });
}

bool Watch::ends_within(std::uint64_t nonce, int milliseconds) const {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [nonce](const Entry& e) { return e.nonce == nonce; });
  if (entry == entries_.end()) return false;
  const std::uint64_t deadline = now_ns() + static_cast<std::uint64_t>(milliseconds) * 1'000'000;
  for (std::uint64_t now = now_ns();; now = now_ns()) {
    if (!entry->pidfd && !process_alive(entry->pid, entry->start_time)) return true;
    const std::uint64_t left_ms = now < deadline ? (deadline - now) / 1'000'000 + 1 : 0;
    // Without a pidfd poll is a short sleep.
    pollfd end{entry->pidfd.get(), POLLIN, 0};
    const int wait_ms = static_cast<int>(entry->pidfd ? left_ms : std::min<std::uint64_t>(left_ms, 5));
    if (poll(&end, 1, wait_ms) > 0) return true;
    if (left_ms == 0) return false;
  }
}

void Watch::look(std::vector<std::uint64_t>* dead) {
  polls_.clear();
  for (const Entry& e : entries_) polls_.push_back(pollfd{e.pidfd.get(), POLLIN, 0});  // poll skips negative ones
  if (poll(polls_.data(), polls_.size(), 0) < 0) return;
  for (std::size_t i = polls_.size(); i-- > 0;) {
    const Entry& e = entries_[i];
    const bool gone = e.pidfd ? polls_[i].revents != 0 : !process_alive(e.pid, e.start_time);
    if (!gone) continue;
    dead->push_back(e.nonce);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace ashlar::shm
