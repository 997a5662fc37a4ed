#include "framework/comm/port_name.h"

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace ashlar::comm {
namespace {

constexpr std::string_view kPrefix = "ashlar-port:2:";
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kAddressBytes = 3 + 16;  // of the longest: family, reach, prefix, bytes
static_assert(kPrefix.size() + 16 + 1 + 16 + 1 + 64 + 1 + 4 + PortName::kMostAddresses * (1 + 2 * kAddressBytes) <
              MPI_MAX_PORT_NAME);

std::size_t bytes_of(const ip::Candidate& address) { return address.family == 4 ? 4 : 16; }

void write(std::span<const std::uint8_t> bytes, std::string* out) {
  for (const std::uint8_t byte : bytes) {
    *out += kDigits[byte >> 4];
    *out += kDigits[byte & 15];
  }
}

void write(std::uint64_t number, unsigned digits, std::string* out) {
  while (digits-- > 0) *out += kDigits[(number >> (4 * digits)) & 15];
}

/// What is left of a name. Once something is not as it must be, good() is false.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}
  bool good() const { return good_; }
  bool done() const { return left_.empty(); }

  void expect(std::string_view word) {
    good_ = good_ && left_.starts_with(word);
    if (good_) left_.remove_prefix(word.size());
  }
  std::uint64_t number(unsigned digits) {
    std::uint64_t value = 0;
    for (; digits > 0; --digits) value = value << 4 | digit();
    return value;
  }
  void read(std::span<std::uint8_t> bytes) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(number(2));
  }

 private:
  std::uint64_t digit() {
    const std::size_t value = left_.empty() ? kDigits.npos : kDigits.find(left_.front());
    good_ = good_ && value != kDigits.npos;
    if (!good_) return 0;
    left_.remove_prefix(1);
    return value;
  }

  std::string_view left_;
  bool good_ = true;
};

}  // namespace

std::string PortName::text() const {
  std::string out(kPrefix);
  write(host, 16, &out);
  out += ':';
  write(place, 16, &out);
  out += ':';
  write(key, &out);
  if (port == 0) return out;
  out += ':';
  write(port, 4, &out);
  for (const ip::Candidate& address : addresses) {
    out += ',';
    const std::uint8_t front[] = {address.family, address.reach, address.prefix};
    write(front, &out);
    write({address.bytes, bytes_of(address)}, &out);
  }
  return out;
}

bool PortName::parse(const char* text, PortName* name) {
  Reader from(text);
  *name = {};
  from.expect(kPrefix);
  name->host = from.number(16);
  from.expect(":");
  name->place = from.number(16);
  from.expect(":");
  from.read(name->key);
  if (!from.good() || from.done()) return from.good();
  from.expect(":");
  name->port = static_cast<std::uint16_t>(from.number(4));
  while (from.good() && !from.done() && name->addresses.size() < kMostAddresses) {
    ip::Candidate& address = name->addresses.emplace_back();
    from.expect(",");
    address.family = static_cast<std::uint8_t>(from.number(2));
    address.reach = static_cast<std::uint8_t>(from.number(2));
    address.prefix = static_cast<std::uint8_t>(from.number(2));
    if (address.family != 4 && address.family != 6) return false;
    from.read({address.bytes, bytes_of(address)});
  }
  return from.good() && from.done() && name->port != 0 && !name->addresses.empty();
}

}  // namespace ashlar::comm
