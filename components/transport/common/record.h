#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/transport/common/wire.h"
#include "framework/plugin/component.h"

namespace ashlar::network {

/// How a process can be reached, and what proves that it is reached: its record, a secret among the job's processes.
struct Record {
  std::uint64_t nonce = 0;  // of the interface
  Secret secret = {};
  HostAddress alive = {};
  std::uint32_t tag_bits = 0;         // of the tags that its library matches; 0: it matches none
  std::uint32_t frame_bytes = 0;      // the longest frame that it receives
  std::string name;                   // Fabric::name(), which both sides have alike
  std::vector<std::uint8_t> address;  // the library's, of any size
};

/// Returns its length; 0: there is no room for it.
std::uint32_t write(const Record& record, void* out, std::uint32_t room);
/// Reads a record that came from a peer. Fails with ASHLAR_ERR_OTHER and a sentence when it is damaged or not ours.
ashlar_result parse(const ashlar_host& host, std::uint32_t peer, const void* bytes, std::uint32_t length, Record* out);

}  // namespace ashlar::network
