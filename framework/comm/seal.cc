#include "framework/comm/seal.h"

namespace ashlar::comm {
namespace {

Digest derived(const Digest& key, std::uint8_t purpose) { return hmac(key, {{&purpose, 1}}); }

std::span<const std::uint8_t> bytes_of(const std::uint64_t& number) {
  return {reinterpret_cast<const std::uint8_t*>(&number), sizeof number};
}

}  // namespace

Seal::Seal(const Digest& key) : stream_key_(derived(key, 's')), tag_key_(derived(key, 't')) {}

void Seal::combine(void* bytes, std::size_t count) {
  auto* const at = static_cast<std::uint8_t*>(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    if (used_ == block_.size()) {
      block_ = hmac(stream_key_, {bytes_of(blocks_++)});
      used_ = 0;
    }
    at[i] ^= block_[used_++];
  }
}

Digest Seal::tag() {
  const Digest all = travelled_.end();
  travelled_ = Sha256();
  return hmac(tag_key_, {bytes_of(tags_++), all});
}

}  // namespace ashlar::comm
