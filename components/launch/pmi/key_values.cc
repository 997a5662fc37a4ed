#include "components/launch/pmi/key_values.h"

#include <charconv>
#include <iterator>

#include "framework/plugin/launch.h"

namespace ashlar::launch {
namespace {

// base64url without padding (RFC 4648, 5): no blank, no "=", no ";", which dialects use between values.
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
// A bound for what a broken launcher can make us keep.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::size_t kLongestLength = 20;

std::size_t text_length(std::size_t bytes) { return bytes / 3 * 4 + (bytes % 3 != 0 ? bytes % 3 + 1 : 0); }

bool may_be_key(std::string_view key) {
  return !key.empty() && key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
                             std::string_view::npos;
}

// Spaces of keys belong to the job, so a rank's own begin with its number.
std::string wire_key(std::uint32_t rank, std::string_view key, std::size_t piece) {
  std::string text = "ashlar-" + std::to_string(rank) + "-" + std::string(key);
  return piece == 0 ? text : text + "+" + std::to_string(piece);
}

}  // namespace

std::string text_of_bytes(std::string_view bytes) {
  std::string text;
  text.reserve(text_length(bytes.size()));
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0u);
    for (std::size_t i = 0; i <= three.size(); ++i) text += kDigits[bits >> (18 - 6 * i) & 63];
  }
  return text;
}

bool bytes_of_text(std::string_view text, std::size_t count, std::string* bytes) {
  bytes->clear();
  if (text.size() != text_length(count)) return false;
  bytes->reserve(count);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    *bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes->size() == count;
}

ashlar_result KeyValues::put(std::uint32_t rank, std::string_view key, std::string_view blob) {
  const std::string whole = std::to_string(blob.size()) + "." + text_of_bytes(blob);
  const std::size_t pieces = (whole.size() + longest_value_ - 1) / longest_value_;
  const std::size_t length = wire_key(rank, key, pieces - 1).size();
  if (!may_be_key(key) || length > longest_key_ || blob.size() > kMostBytes) {
    const std::string shown(key);
    const ashlar_fact facts[] = {
        {.name = "key", .text = shown.c_str(), .number = 0},
        {.name = "bytes_wanted", .text = nullptr, .number = static_cast<std::int64_t>(blob.size())},
        {.name = "last", .text = nullptr, .number = static_cast<std::int64_t>(longest_key_)},
        {.name = "size", .text = nullptr, .number = static_cast<std::int64_t>(kMostBytes)}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_ARG, "pmi.key", facts, std::size(facts));
  }
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const ashlar_result put =
        wire_.put(wire_key(rank, key, piece), whole.substr(piece * longest_value_, longest_value_));
    if (put != ASHLAR_OK) return put;
  }
  return ASHLAR_OK;
}

ashlar_result KeyValues::get(std::uint32_t rank, std::string_view key, std::string* blob) {
  std::string whole, more;
  if (const ashlar_result got = wire_.get(wire_key(rank, key, 0), &whole); got != ASHLAR_OK) return got;
  std::size_t bytes = 0, head = 0;  // head: where the text begins, once the length is there
  for (std::size_t piece = 1;; ++piece) {
    const std::size_t dot = head > 0 ? head - 1 : whole.find('.');
    if (head == 0 && dot != std::string::npos) {
      const auto [end, error] = std::from_chars(whole.data(), whole.data() + dot, bytes);
      if (error != std::errc() || end != whole.data() + dot || bytes > kMostBytes)
        return fail_with_value(rank, key, "its length is missing");
      head = dot + 1;
    }
    if (head > 0 ? whole.size() >= head + text_length(bytes) : whole.size() > kLongestLength) break;
    const ashlar_result got = wire_.get(wire_key(rank, key, piece), &more);
    if (got != ASHLAR_OK && got != ASHLAR_LAUNCH_NOT_FOUND) return got;
    if (got == ASHLAR_LAUNCH_NOT_FOUND || more.empty()) return fail_with_value(rank, key, "a piece is missing");
    whole += more;
  }
  if (head == 0 || !bytes_of_text(std::string_view(whole).substr(head), bytes, blob))
    return fail_with_value(rank, key, "its text is not what was put");
  return ASHLAR_OK;
}

ashlar_result KeyValues::fail_with_value(std::uint32_t rank, std::string_view key, const char* why) const {
  const std::string shown(key);
  const ashlar_fact facts[] = {{.name = "rank", .text = nullptr, .number = rank},
                               {.name = "key", .text = shown.c_str(), .number = 0},
                               {.name = "reason", .text = why, .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.value", facts, std::size(facts));
}

}  // namespace ashlar::launch
