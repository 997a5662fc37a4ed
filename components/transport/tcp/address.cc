#include "components/transport/tcp/address.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "framework/base/descriptor.h"
#include "framework/base/hash.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::tcp {
namespace {

constexpr std::uint32_t kAddressMagic = 0x61637441;  // "Atca"
constexpr std::uint16_t kAddressVersion = 1;

struct Head {
  std::uint32_t magic;
  std::uint16_t version, count;
  std::uint64_t nonce, host;
  Secret secret;
  std::uint16_t port, reserved;
  std::uint32_t size;
  std::uint64_t checksum;  // over all, with this 0
};
static_assert(sizeof(Head) == 72);

std::uint64_t checksum_of(const void* bytes, std::uint32_t length) {
  return Hash::of({static_cast<const char*>(bytes), length});
}

}  // namespace

const Candidate* Address::find(const SocketAddress& at) const {
  for (const Candidate& candidate : candidates)
    if (candidate.family == at.family() && std::memcmp(candidate.bytes, at.bytes(), at.family() == 4 ? 4 : 16) == 0)
      return &candidate;
  return nullptr;
}

std::uint32_t write(const Address& address, void* out, std::uint32_t room) {
  if (room < sizeof(Head) + sizeof(Candidate)) return 0;
  const std::size_t count = std::min((room - sizeof(Head)) / sizeof(Candidate), address.candidates.size());
  Head head = {};
  head.magic = kAddressMagic;
  head.version = kAddressVersion;
  head.count = static_cast<std::uint16_t>(count);
  head.nonce = address.nonce;
  head.host = address.host;
  head.secret = address.secret;
  head.port = address.port;
  head.size = static_cast<std::uint32_t>(sizeof head + count * sizeof(Candidate));
  auto* const bytes = static_cast<std::byte*>(out);
  std::memcpy(bytes, &head, sizeof head);
  if (count != 0) std::memcpy(bytes + sizeof head, address.candidates.data(), count * sizeof(Candidate));
  head.checksum = checksum_of(bytes, head.size);
  std::memcpy(bytes, &head, sizeof head);
  return head.size;
}

ashlar_result parse(const ashlar_host& host, std::uint32_t peer, const void* bytes, std::uint32_t length,
                    Address* out) {
  if (length < sizeof(Head)) return plugin::fail_address_size(host, peer, length, sizeof(Head));
  std::vector<std::byte> copy(static_cast<const std::byte*>(bytes), static_cast<const std::byte*>(bytes) + length);
  Head head;
  std::memcpy(&head, copy.data(), sizeof head);
  if (head.magic != kAddressMagic || head.version != kAddressVersion)
    return plugin::fail_address_foreign(host, peer, kAddressVersion);
  std::memset(copy.data() + offsetof(Head, checksum), 0, sizeof head.checksum);
  if (head.size != length || head.size != sizeof head + head.count * sizeof(Candidate) ||
      head.checksum != checksum_of(copy.data(), length))
    return plugin::fail_address_damaged(host, peer);
  out->nonce = head.nonce;
  out->host = head.host;
  out->secret = head.secret;
  out->port = head.port;
  out->candidates.resize(head.count);
  if (head.count != 0) std::memcpy(out->candidates.data(), copy.data() + sizeof head, head.count * sizeof(Candidate));
  return ASHLAR_OK;
}

bool draw(void* out, std::size_t bytes) {
  if (getrandom(out, bytes, 0) == static_cast<ssize_t>(bytes)) return true;
  const Descriptor source(open("/dev/urandom", O_RDONLY | O_CLOEXEC));
  return source && read(source.get(), out, bytes) == static_cast<ssize_t>(bytes);
}

}  // namespace ashlar::tcp
