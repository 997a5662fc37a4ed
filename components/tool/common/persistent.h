#pragma once
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace ashlar::recording {

/// What the persistent requests of sends send at each start. Bounded: of requests beyond the limit nothing is known.
class PreparedSends {
 public:
  static constexpr std::size_t kMost = 65536;
  struct Message {
    std::int32_t to;
    std::uint64_t bytes;
  };

  void add(std::uint64_t request, Message message) {
    const std::lock_guard guard(mutex_);
    if (known_.size() < kMost || known_.contains(request)) known_[request] = message;
  }
  void remove(std::uint64_t request) {
    const std::lock_guard guard(mutex_);
    known_.erase(request);
  }
  bool find(std::uint64_t request, Message* message) {
    const std::lock_guard guard(mutex_);
    const auto found = known_.find(request);
    if (found == known_.end()) return false;
    *message = found->second;
    return true;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Message> known_;
};

}  // namespace ashlar::recording
