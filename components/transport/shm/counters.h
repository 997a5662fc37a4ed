#pragma once
#include <atomic>
#include <cstdint>

namespace ashlar::shm {

/// What the component counts, over all its interfaces; shown as performance variables, so it lives with the process.
struct Counters {
  std::atomic<std::uint64_t> rings{0};          // that send to this process
  std::atomic<std::uint64_t> ring_bytes{0};     // their memory
  std::atomic<std::uint64_t> full{0};           // sends put off because the ring was full
  std::atomic<std::uint64_t> gets{0};           // single copies begun here
  std::atomic<std::uint64_t> gets_shared{0};    // of these, with the owner asked to copy along
  std::atomic<std::uint64_t> chunks_helped{0};  // chunks this process copied for readers
  std::atomic<std::uint64_t> sleeps{0};
  std::atomic<std::uint64_t> clients{0}, clients_most{0};  // peers that are being passed the descriptor (Door)
  std::atomic<std::uint64_t> passed{0};                    // descriptors passed
  std::atomic<std::uint64_t> turned_away{0};  // connections and datagrams of another user, or without a right request
};

extern Counters counters;

inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

}  // namespace ashlar::shm
