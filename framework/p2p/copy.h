#pragma once
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace ashlar::p2p {

/// memcpy for the short path: up to 64 bytes without a call.
inline void copy(void* to, const void* from, std::size_t n) {
  auto* const d = static_cast<char*>(to);
  const auto* const s = static_cast<const char*>(from);
  // Two pieces that may overlap cover every size of a class; both are loaded before either is stored.
  const auto two = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    struct Piece {
      char bytes[N];
    } head, tail;
    std::memcpy(&head, s, N);
    std::memcpy(&tail, s + n - N, N);
    std::memcpy(d, &head, N);
    std::memcpy(d + n - N, &tail, N);
  };
  if (n > 64) [[unlikely]] {
    std::memcpy(d, s, n);
  } else if (n >= 32) {
    two(std::integral_constant<std::size_t, 32>{});
  } else if (n >= 16) {
    two(std::integral_constant<std::size_t, 16>{});
  } else if (n >= 8) {
    two(std::integral_constant<std::size_t, 8>{});
  } else if (n >= 4) {
    two(std::integral_constant<std::size_t, 4>{});
  } else if (n != 0) {
    d[0] = s[0];
    if (n > 1) d[1] = s[1];
    if (n > 2) d[2] = s[2];
  }
}

}  // namespace ashlar::p2p
