#pragma once
#include <algorithm>
#include <cstring>
#include <string_view>

namespace ashlar::mpit {

/// The standard's rule for strings (MPI-5.0, 15.3.3): at most *length - 1 characters and a zero go to `out`, and
/// *length becomes what the whole string needs. Without a length nothing is given, without room only the length.
inline void give_text(std::string_view text, char* out, int* length) {
  if (length == nullptr) return;
  if (out != nullptr && *length > 0) {
    const std::size_t most = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(out, text.data(), most);
    out[most] = '\0';
  }
  *length = static_cast<int>(text.size() + 1);
}

/// Stores a result that the caller may not want.
template <class T, class V>
void give(T* out, V value) {
  if (out != nullptr) *out = static_cast<T>(value);
}

}  // namespace ashlar::mpit
