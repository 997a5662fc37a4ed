#pragma once
#include <liburing.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "framework/plugin/io.h"

namespace ashlar::io::uring {

/// Queues of transfers that the process shares with the system. One thread at a time uses it.
class Ring {
 public:
  /// 0, or an errno.
  static int make(unsigned entries, std::unique_ptr<Ring>* out);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Moves pieces, all at once as far as the ring has room. Returns how many of the first ones are whole: the others
  /// are not, or are not known to be. No transfer is under way any more.
  std::uint32_t move(int descriptor, bool writes, const ashlar_io_piece* pieces, std::uint32_t count);
  /// Whether it can be used again.
  bool sound() const { return sound_; }

 private:
  Ring() = default;
  bool take_completion(const ashlar_io_piece* pieces, std::uint32_t* incomplete);

  io_uring ring_ = {};
  bool made_ = false, sound_ = true;
};

/// The rings of a process, made as they are needed.
class Rings {
 public:
  /// At most `most`, of `entries` each.
  void begin(std::uint64_t most, unsigned entries);
  /// A ring, nullptr: all are in use, or there can be no further one.
  std::unique_ptr<Ring> take();
  void give_back(std::unique_ptr<Ring> ring);
  void clear();

 private:
  std::mutex mutex_;  // guards the rest
  std::vector<std::unique_ptr<Ring>> free_;
  std::uint64_t made_ = 0, most_ = 0;
  unsigned entries_ = 0;
};

}  // namespace ashlar::io::uring
