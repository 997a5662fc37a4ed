#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "framework/base/sha256.h"

namespace ashlar::comm {

/// Hides what travels in one direction of a connection between hosts, and shows whether it was changed. The groups that
/// meet give each other the secrets with which transports know their peers, and a network has listeners.
///
/// The bytes are combined with a stream that HMAC makes of a key and a counter; HMAC with another key over what then
/// travels is the tag. Both sides do the same in the same order. A key serves one direction of one connection.
class Seal {
 public:
  explicit Seal(const Digest& key);

  void hide(void* bytes, std::size_t count) {
    combine(bytes, count);
    travelled_.add(bytes, count);
  }
  void show(void* bytes, std::size_t count) {
    travelled_.add(bytes, count);
    combine(bytes, count);
  }
  /// Of all since the last tag.
  Digest tag();

 private:
  void combine(void* bytes, std::size_t count);

  Digest stream_key_, tag_key_;
  Digest block_ = {};
  std::uint64_t blocks_ = 0, tags_ = 0;
  std::size_t used_ = sizeof(Digest);  // of block_
  Sha256 travelled_;
};

/// Both directions of a connection, seen from one side.
struct Seals {
  Seal out, in;
};

}  // namespace ashlar::comm
