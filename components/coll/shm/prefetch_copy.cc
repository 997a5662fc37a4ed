#include "components/coll/shm/prefetch_copy.h"

#include <cstring>

#include "framework/base/types.h"

namespace ashlar::coll::shm {
namespace {

constexpr std::size_t kAhead = 1024;

}  // namespace

void prefetch_copy(void* to, const void* from, std::size_t bytes) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  for (; bytes >= kCacheLine; bytes -= kCacheLine, in += kCacheLine, out += kCacheLine) {
    __builtin_prefetch(in + kAhead, 0);
    __builtin_prefetch(out + kAhead, 1);
    std::memcpy(out, in, kCacheLine);
  }
  std::memcpy(out, in, bytes);
}

}  // namespace ashlar::coll::shm
