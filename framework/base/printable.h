#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ashlar {

/// What `printable` does with newlines: one in a name would forge a line of output, one in a paragraph belongs there.
enum class Newlines { escape, keep };

/// `text` as a terminal may show it: control characters, characters that change the direction of writing, and bytes
/// that are not UTF-8 become \n, \t, \x1b or \u202e. Everything else, other scripts included, stays as it is. For every
/// text that comes from outside (file and program names, options, keys, values) on its way to a person.
std::string printable(std::string_view text, Newlines newlines = Newlines::escape);

/// The same into `out`, at most `room` bytes with the ending zero; a sequence that does not fit is left out whole.
/// Returns the length. Allocates nothing, for paths that must not.
std::size_t printable(std::string_view text, char* out, std::size_t room,
                      Newlines newlines = Newlines::escape) noexcept;

/// The bytes of the UTF-8 character that `text` begins with; 0 when it is empty or begins with something else.
std::size_t utf8_bytes(std::string_view text) noexcept;

}  // namespace ashlar
