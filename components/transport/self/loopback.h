#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "framework/base/counter.h"
#include "framework/plugin/transport.h"

namespace ashlar::loopback {

struct Config {
  std::uint64_t queue_bytes;
};

class Interface;

struct Endpoint : ashlar_endpoint {
  Interface* iface = nullptr;
};

/// A process's way to itself: messages wait in a queue until progress delivers them, so that a handler never runs
/// inside a send.
class Interface : public ashlar_iface {
 public:
  using Config = loopback::Config;
  static constexpr const char* kWhat = "the loopback transport";

  Interface(const ashlar_host& host, const Config& config, const ashlar_transport_context& context);
  ~Interface();

  ashlar_result write_address(void* out, std::uint32_t* length) const;
  ashlar_result connect(std::uint32_t peer, const void* address, std::uint32_t length, ashlar_endpoint** out);
  void disconnect(const Endpoint& endpoint);
  /// Delivers what was queued when it was called; what handlers send waits for the next call.
  unsigned progress();
  ashlar_result expose(const void* address, std::uint64_t length, int kind, ashlar_key* out) const;
  void unexpose(const ashlar_key&) {}
  // Nothing arrives while the process sleeps, so there is nothing to be woken by.
  ashlar_result arm() const { return arriving_.empty() ? ASHLAR_OK : ASHLAR_AGAIN; }
  void disarm() {}
  bool idle() const { return arriving_.empty(); }

  /// A place for a message of `length` bytes at the queue's end, or nullptr: no room now.
  std::byte* append(std::uint8_t id, std::uint64_t h0, std::uint64_t h1, std::uint32_t length);
  void take_back(std::uint32_t length);
  const ashlar_host& host() const { return host_; }

  /// Shown as performance variables.
  struct Counters {
    MarkedLevel queued;
    Counter sent, bytes, full;
  };
  Counters counters;

 private:
  struct Record {
    std::uint64_t h0, h1;
    std::uint32_t length;
    std::uint8_t id;
  };

  const ashlar_host& host_;
  const Config& config_;
  ashlar_transport_context context_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  // Records with their payloads, each rounded up to 16 bytes. Two buffers: one is filled while the other is delivered.
  std::vector<std::byte> arriving_, delivering_;
};

extern const ashlar_iface_ops kInterfaceOps;

}  // namespace ashlar::loopback
