#include "components/transport/common/record.h"

#include <cstring>

#include "framework/base/hash.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::network {
namespace {

constexpr std::uint32_t kRecordMagic = 0x6f6f6641;  // "Afoo"
constexpr std::uint16_t kRecordVersion = 4;

/// The library's name and its address follow.
struct Head {
  std::uint32_t magic;
  std::uint16_t version, name_bytes;
  std::uint32_t address_bytes, size;
  std::uint64_t nonce;
  Secret secret;
  HostAddress alive;
  std::uint32_t tag_bits, frame_bytes;
  std::uint64_t checksum;  // over all, with this 0
};
static_assert(sizeof(Head) == 96);

std::uint64_t checksum_of(const std::vector<char>& bytes) { return Hash::of({bytes.data(), bytes.size()}); }

}  // namespace

std::uint32_t write(const Record& record, void* out, std::uint32_t room) {
  const std::size_t size = sizeof(Head) + record.name.size() + record.address.size();
  if (room < size) return 0;
  Head head = {};
  head.magic = kRecordMagic;
  head.version = kRecordVersion;
  head.name_bytes = static_cast<std::uint16_t>(record.name.size());
  head.address_bytes = static_cast<std::uint32_t>(record.address.size());
  head.size = static_cast<std::uint32_t>(size);
  head.nonce = record.nonce;
  head.secret = record.secret;
  head.alive = record.alive;
  head.tag_bits = record.tag_bits;
  head.frame_bytes = record.frame_bytes;
  std::vector<char> bytes(size);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, record.name.data(), record.name.size());
  if (!record.address.empty())
    std::memcpy(bytes.data() + sizeof head + record.name.size(), record.address.data(), record.address.size());
  head.checksum = checksum_of(bytes);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(out, bytes.data(), size);
  return head.size;
}

ashlar_result parse(const ashlar_host& host, std::uint32_t peer, const void* bytes, std::uint32_t length, Record* out) {
  if (length < sizeof(Head)) return plugin::fail_address_size(host, peer, length, sizeof(Head));
  std::vector<char> copy(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + length);
  Head head;
  std::memcpy(&head, copy.data(), sizeof head);
  if (head.magic != kRecordMagic || head.version != kRecordVersion)
    return plugin::fail_address_foreign(host, peer, kRecordVersion);
  std::memset(copy.data() + offsetof(Head, checksum), 0, sizeof head.checksum);
  if (head.size != length || std::uint64_t{head.name_bytes} + head.address_bytes + sizeof head != length ||
      head.checksum != checksum_of(copy))
    return plugin::fail_address_damaged(host, peer);
  const char* const name = copy.data() + sizeof head;
  out->nonce = head.nonce;
  out->secret = head.secret;
  out->alive = head.alive;
  out->tag_bits = head.tag_bits;
  out->frame_bytes = head.frame_bytes;
  out->name.assign(name, head.name_bytes);
  out->address.assign(name + head.name_bytes, name + head.name_bytes + head.address_bytes);
  return ASHLAR_OK;
}

}  // namespace ashlar::network
