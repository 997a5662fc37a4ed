#pragma once
#include <iterator>

#include "framework/plugin/transport.h"

// The failures that all transports of this tree have, in the words of the kernel's catalogue.
namespace ashlar::plugin {

[[gnu::cold]] inline ashlar_result fail_too_long(const ashlar_host& host, std::uint32_t peer, std::uint32_t length,
                                                 std::uint32_t most) {
  const ashlar_fact sizes[] = {{.name = "peer", .text = nullptr, .number = peer},
                               {.name = "bytes", .text = nullptr, .number = length},
                               {.name = "most", .text = nullptr, .number = most}};
  return ashlar_fail_with(&host, ASHLAR_ERR_ARG, "transport.too_long", sizes, std::size(sizes));
}

/// A fill function ended after `got` of `wanted` bytes.
[[gnu::cold]] inline ashlar_result fail_too_short(const ashlar_host& host, std::uint32_t peer, std::uint64_t got,
                                                  std::uint64_t wanted) {
  const ashlar_fact sizes[] = {{.name = "peer", .text = nullptr, .number = peer},
                               {.name = "bytes_got", .text = nullptr, .number = static_cast<std::int64_t>(got)},
                               {.name = "bytes_wanted", .text = nullptr, .number = static_cast<std::int64_t>(wanted)}};
  return ashlar_fail_with(&host, ASHLAR_ERR_ARG, "transport.too_short", sizes, std::size(sizes));
}

/// [offset, offset + length) lies outside the `bytes` bytes that were exposed.
[[gnu::cold]] inline ashlar_result fail_outside(const ashlar_host& host, std::uint32_t peer, std::uint64_t offset,
                                                std::uint64_t length, std::uint64_t bytes) {
  const ashlar_fact range[] = {{.name = "peer", .text = nullptr, .number = peer},
                               {.name = "first", .text = nullptr, .number = static_cast<std::int64_t>(offset)},
                               {.name = "last", .text = nullptr, .number = static_cast<std::int64_t>(offset + length)},
                               {.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(bytes)}};
  return ashlar_fail_with(&host, ASHLAR_ERR_ARG, "transport.outside", range, std::size(range));
}

[[gnu::cold]] inline ashlar_result fail_memory_kind(const ashlar_host& host, int kind) {
  const ashlar_fact given = {.name = "kind", .text = nullptr, .number = kind};
  return ashlar_fail_with(&host, ASHLAR_ERR_UNSUPPORTED_OPERATION, "transport.memory_kind", &given, 1);
}

[[gnu::cold]] inline ashlar_result fail_address_size(const ashlar_host& host, std::uint32_t peer, std::uint32_t got,
                                                     std::uint32_t wanted) {
  const ashlar_fact sizes[] = {{.name = "peer", .text = nullptr, .number = peer},
                               {.name = "bytes_got", .text = nullptr, .number = got},
                               {.name = "bytes_wanted", .text = nullptr, .number = wanted}};
  return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "transport.address_size", sizes, std::size(sizes));
}

[[gnu::cold]] inline ashlar_result fail_address_foreign(const ashlar_host& host, std::uint32_t peer,
                                                        std::uint32_t version) {
  const ashlar_fact expected[] = {{.name = "peer", .text = nullptr, .number = peer},
                                  {.name = "version", .text = nullptr, .number = version}};
  return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "transport.address_foreign", expected, std::size(expected));
}

[[gnu::cold]] inline ashlar_result fail_address_damaged(const ashlar_host& host, std::uint32_t peer) {
  const ashlar_fact whose = {.name = "peer", .text = nullptr, .number = peer};
  return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "transport.address_damaged", &whose, 1);
}

}  // namespace ashlar::plugin
