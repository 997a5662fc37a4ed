#pragma once
#include <cstdint>

#include "framework/io/file.h"

namespace ashlar::io {

/// Holds a range of the file against other jobs that read a window of it and write it back, as far as its component
/// can: exclusively, or together with others that share it.
class OutsideLock {
 public:
  enum class Kind : unsigned char { kShared, kExclusive };
  OutsideLock(OpenFile& file, Kind kind, std::uint64_t first, std::uint64_t length)
      : bytes_(file.bytes), first_(first), length_(length) {
    const ashlar_io_file_ops& ops = *bytes_->ops;
    if (!ASHLAR_HAS(&ops, unlock) || ops.lock == nullptr) return;
    const auto lock = kind == Kind::kExclusive ? ops.lock : ASHLAR_HAS(&ops, share) ? ops.share : nullptr;
    held_ = lock != nullptr && lock(bytes_, first, length) == ASHLAR_OK;
  }
  ~OutsideLock() {
    if (held_) bytes_->ops->unlock(bytes_, first_, length_);
  }
  OutsideLock(const OutsideLock&) = delete;
  OutsideLock& operator=(const OutsideLock&) = delete;

 private:
  ashlar_io_file* const bytes_;
  const std::uint64_t first_, length_;
  bool held_ = false;
};

}  // namespace ashlar::io
