#include "framework/base/printable.h"

#include <cstdint>
#include <cstring>

namespace ashlar {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr std::size_t kLongest = 6;  // "\u202e"

struct Sequence {
  std::size_t bytes;  // of the text, at least 1
  std::uint32_t code;
  bool valid;
};

// The UTF-8 sequence that `text` (not empty) begins with. Overlong forms, surrogates and codes above U+10FFFF are no
// UTF-8: some terminals decode them all the same.
Sequence decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first, true};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xc2 || first > 0xf4 || bytes > text.size()) return {1, first, false};
  std::uint32_t code = first & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {1, first, false};
    code = code << 6 | (byte(i) & 0x3f);
  }
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {1, first, false};
  return {bytes, code, true};
}

// Characters that move the cursor, end a line or reorder what stands around them.
bool harmful(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  if (code == 0x061c || code == 0x200e || code == 0x200f || code == 0xfeff) return true;
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

// The escape of a sequence in `out`; its length.
std::size_t escape(const Sequence& s, char* out) {
  out[0] = '\\';
  constexpr std::string_view kCodes = "\n\t\r", kLetters = "ntr";
  if (s.code < 0x20) {
    if (const std::size_t known = kCodes.find(static_cast<char>(s.code)); known != std::string_view::npos) {
      out[1] = kLetters[known];
      return 2;
    }
  }
  const bool byte = !s.valid || s.code < 0x80;
  out[1] = byte ? 'x' : 'u';
  const std::size_t digits = byte ? 2 : 4;
  for (std::size_t i = 0; i < digits; ++i) out[2 + i] = kHex[s.code >> (4 * (digits - 1 - i)) & 0xf];
  return 2 + digits;
}

// Gives `take` one piece after the other: characters as they are, or an escape. Stops when `take` says false.
template <class Take>
void walk(std::string_view text, Newlines newlines, Take take) {
  while (!text.empty()) {
    const Sequence s = decode(text);
    const bool line = s.code == '\n' && newlines == Newlines::keep;
    char escaped[kLongest];
    const bool shown = line || (s.valid && !harmful(s.code));
    if (!take(shown ? text.substr(0, s.bytes) : std::string_view(escaped, escape(s, escaped)))) return;
    text.remove_prefix(s.bytes);
  }
}

}  // namespace

std::string printable(std::string_view text, Newlines newlines) {
  std::string out;
  out.reserve(text.size());
  walk(text, newlines, [&](std::string_view piece) {
    out += piece;
    return true;
  });
  return out;
}

std::size_t printable(std::string_view text, char* out, std::size_t room, Newlines newlines) noexcept {
  if (room == 0) return 0;
  std::size_t used = 0;
  walk(text, newlines, [&](std::string_view piece) {
    if (piece.size() >= room - used) return false;
    std::memcpy(out + used, piece.data(), piece.size());
    used += piece.size();
    return true;
  });
  out[used] = '\0';
  return used;
}

std::size_t utf8_bytes(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const Sequence s = decode(text);
  return s.valid ? s.bytes : 0;
}

}  // namespace ashlar
