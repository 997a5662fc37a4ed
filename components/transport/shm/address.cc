#include "components/transport/shm/address.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "framework/base/descriptor.h"
#include "framework/base/hash.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::shm {
namespace {

constexpr std::uint32_t kAddressMagic = 0x6d687341;  // "Ashm"
constexpr std::uint16_t kAddressVersion = 2;

std::uint64_t checksum_of(const Address& address) {
  return Hash::of({reinterpret_cast<const char*>(&address), offsetof(Address, checksum)});
}

std::size_t read_file(const char* path, char* to, std::size_t room) {
  const Descriptor fd(open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return 0;
  const ssize_t n = read(fd.get(), to, room - 1);
  const std::size_t length = n > 0 ? static_cast<std::size_t>(n) : 0;
  to[length] = 0;
  return length;
}

/// 0 when it cannot be read.
std::uint64_t namespace_of_this_process(const char* link) {
  char text[64];
  const ssize_t n = readlink(link, text, sizeof text);
  return n > 0 ? Hash::of({text, static_cast<std::size_t>(n)}) : 0;
}

}  // namespace

Identity Identity::of_this_process() {
  Identity id;
  char text[256];
  if (const std::size_t n = read_file("/proc/sys/kernel/random/boot_id", text, sizeof text))
    id.node = Hash::of({text, n});
  id.pid_namespace = namespace_of_this_process("/proc/self/ns/pid");
  id.net_namespace = namespace_of_this_process("/proc/self/ns/net");
  id.pid = getpid();
  id.start_time = start_time_of(id.pid);
  return id;
}

void seal(Address& address) {
  address.magic = kAddressMagic;
  address.version = kAddressVersion;
  address.size = sizeof(Address);
  address.reserved = 0;
  address.checksum = checksum_of(address);
}

ashlar_result parse(const ashlar_host& host, std::uint32_t peer, const void* bytes, std::uint32_t length,
                    Address* out) {
  if (length != sizeof(Address)) return plugin::fail_address_size(host, peer, length, sizeof(Address));
  std::memcpy(out, bytes, sizeof(Address));
  if (out->magic != kAddressMagic || out->version != kAddressVersion || out->size != sizeof(Address))
    return plugin::fail_address_foreign(host, peer, kAddressVersion);
  if (out->checksum != checksum_of(*out)) return plugin::fail_address_damaged(host, peer);
  return ASHLAR_OK;
}

std::uint64_t start_time_of(std::int32_t pid, char* state) {
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if (state) *state = 0;
  if (read_file(path, text, sizeof text) == 0) return 0;
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const char* at = std::strrchr(text, ')');
  if (!at || !at[1]) return 0;
  at += 2;
  if (state) *state = *at;
  for (int field = 3; field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (!at) return 0;
    ++at;
  }
  return std::strtoull(at, nullptr, 10);
}

}  // namespace ashlar::shm
