#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "components/launch/pmi/wire.h"

namespace ashlar::launch {

/// Blobs under keys of ranks, in a launcher's space of short texts under short keys: a blob becomes text, which is cut
/// into pieces that the launcher takes.
class KeyValues {
 public:
  KeyValues(const ashlar_host& host, PmiWire& wire, std::size_t longest_key, std::size_t longest_value)
      : host_(host), wire_(wire), longest_key_(longest_key), longest_value_(longest_value) {}

  ashlar_result put(std::uint32_t rank, std::string_view key, std::string_view blob);
  /// ASHLAR_LAUNCH_NOT_FOUND: nothing is there.
  ashlar_result get(std::uint32_t rank, std::string_view key, std::string* blob);

 private:
  ashlar_result fail_with_value(std::uint32_t rank, std::string_view key, const char* why) const;

  const ashlar_host& host_;
  PmiWire& wire_;
  std::size_t longest_key_, longest_value_;
};

/// The text of `bytes`: letters, digits, - and _.
std::string text_of_bytes(std::string_view bytes);
/// False: it is no such text of `count` bytes.
bool bytes_of_text(std::string_view text, std::size_t count, std::string* bytes);

}  // namespace ashlar::launch
