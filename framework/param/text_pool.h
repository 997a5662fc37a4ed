#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace ashlar::param {

/// Keeps texts for the life of the store: their addresses never change, so configuration blocks may point at them.
class TextPool {
 public:
  /// A NUL-terminated copy of `text`.
  const char* keep(std::string_view text) {
    char* at = take(text.size() + 1);
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at[text.size()] = '\0';
    return at;
  }
  /// Uninitialised room for `bytes` characters.
  char* take(std::size_t bytes) {
    if (bytes > left_) {
      const std::size_t chunk = bytes > kChunk ? bytes : kChunk;
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk));
      at_ = chunks_.back().get();
      left_ = chunk;
    }
    char* result = at_;
    at_ += bytes;
    left_ -= bytes;
    return result;
  }

 private:
  static constexpr std::size_t kChunk = 4000;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace ashlar::param
