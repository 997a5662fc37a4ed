#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "components/transport/common/interface.h"
#include "framework/plugin/tables.h"

// Processes over a network library, for the tests of what these transports share and of each.
namespace ashlar::network::test {

inline thread_local std::string last_failure;

inline thread_local std::string last_record, last_adjustment;

inline void log(int, const char*, const char*, ...) {}

inline const ashlar_host& host() {
  static ashlar_host host = {};
  host.size = sizeof host;
  host.log = log;
  host.fail_with = [](int mpi_class, const char* id, const ashlar_fact* facts, std::uint32_t count) -> ashlar_result {
    last_failure = id;
    for (std::uint32_t i = 0; i < count; ++i)
      last_failure +=
          std::string(" ") + facts[i].name + "=" + (facts[i].text ? facts[i].text : std::to_string(facts[i].number));
    return -mpi_class;
  };
  host.adjusted = [](const char* framework, const char* component, const char* parameter, const char* used,
                     const char*) {
    last_adjustment = std::string(framework) + "." + component + "." + parameter + "=" + used;
  };
  host.record = [](const char*, const char* subject, const char* chosen, const char* reason, const char* rejected,
                   const char*) {
    last_record = std::string(subject) + ": " + chosen + "; because " + reason + "; not " + rejected;
  };
  return host;
}

inline Config usual_sessions() {
  return {.frame_bytes = 16 << 10,
          .send_buffer = 64 << 10,
          .sends = 64,
          .get_from = 32 << 10,
          .registered_bytes = 1 << 20,
          .registered_regions = 8,
          .memory_hooks = false,
          .coalesce_after = 8,
          .look_interval = 0,
          .handshake_timeout = 1'000'000'000,
          .liveness_interval = 20'000'000,
          .rails = 1,
          .stripe_from = 512 << 10,
          .stripe = 256 << 10};
}

/// What the kernel says of memory: that which a test has put there lasts until it takes it away.
class LastingMemory {
 public:
  void add(const void* address, std::uint64_t length) {
    all_.push_back({.address = reinterpret_cast<std::uint64_t>(address), .length = length, .serial = ++last_serial_});
  }
  void remove(const void* address) {
    std::erase_if(all_, [&](const auto& one) { return one.address == reinterpret_cast<std::uint64_t>(address); });
  }
  bool find(const void* address, std::uint64_t length, ashlar_lasting* out) const {
    const auto begin = reinterpret_cast<std::uint64_t>(address);
    for (const ashlar_lasting& one : all_) {
      if (begin < one.address || begin + length > one.address + one.length) continue;
      *out = one;
      return true;
    }
    return false;
  }

 private:
  std::vector<ashlar_lasting> all_;
  std::uint64_t last_serial_ = 0;
};

inline LastingMemory& lasting_memory() {
  static LastingMemory memory;
  return memory;
}

/// An interface with what it delivered.
class Process {
 public:
  template <class Of>
  Process(std::in_place_type_t<Of>, std::uint32_t rank, const typename Of::Config& config,
          std::uint32_t tags_wanted = 0) {
    ashlar_transport_context context = {};
    context.tags_wanted = tags_wanted;
    context.size = sizeof context;
    context.self = context.local_rank = rank;
    context.job_size = context.local_size = 8;
    context.job_id = "unit";
    context.lane_context = this;
    context.deliver = [](void* self, const ashlar_am* am) {
      Process& process = *static_cast<Process*>(self);
      process.got.push_back(am->h0);
      process.data.emplace_back(static_cast<const char*>(am->data), am->length);
      if (process.on_arrival) process.on_arrival();
    };
    context.lasting = [](void*, const void* address, std::uint64_t length, ashlar_lasting* out) {
      return lasting_memory().find(address, length, out) ? 1 : 0;
    };
    context.peer_of = [](void* self, const std::uint64_t*, std::uint32_t of) {
      return static_cast<Process*>(self)->unknown.contains(of) ? ASHLAR_NOBODY : of;
    };
    context.failed = [](void* self, std::uint32_t peer, const char* reason) {
      static_cast<Process*>(self)->failures.emplace_back(peer, reason);
    };
    const auto kept = std::make_shared<const typename Of::Config>(config);
    config_ = kept;
    iface = std::make_unique<Of>(host(), *kept, context);
    opened = iface->open();
  }

  std::string address() const {
    std::string bytes(16 << 10, '\0');
    auto length = static_cast<std::uint32_t>(bytes.size());
    EXPECT_EQ(iface->write_address(bytes.data(), &length), ASHLAR_OK);
    bytes.resize(length);
    return bytes;
  }
  Endpoint* connect(std::uint32_t peer, const std::string& address) {
    ashlar_endpoint* out = nullptr;
    const ashlar_result r = iface->connect(peer, address.data(), static_cast<std::uint32_t>(address.size()), &out);
    return r == ASHLAR_OK ? static_cast<Endpoint*>(out) : nullptr;
  }
  /// As the kernel parts from a process of another job.
  void part_from(std::uint32_t rank) {
    unknown.insert(rank);
    iface->forget(rank);
  }
  static ashlar_result send(Endpoint* to, std::uint64_t word, const std::string& data = {}) {
    return to->ops->am_short(to, 1, word, 0, data.data(), static_cast<std::uint32_t>(data.size()));
  }
  /// As a message of several pieces.
  static ashlar_result send_long(Endpoint* to, std::uint64_t word, const std::string& data) {
    std::pair<const std::string*, std::size_t> left{&data, 0};
    const auto fill = [](void* argument, void* out, std::size_t room) {
      auto& [from, done] = *static_cast<std::pair<const std::string*, std::size_t>*>(argument);
      const std::size_t n = std::min<std::size_t>({room, from->size() - done, 1000});
      std::memcpy(out, from->data() + done, n);
      done += n;
      return n;
    };
    return to->ops->am_bcopy(to, 1, word, 0, fill, &left, static_cast<std::uint32_t>(data.size()));
  }

  std::shared_ptr<const void> config_;
  std::unique_ptr<Interface> iface;
  ashlar_result opened = ASHLAR_OK;
  std::vector<std::uint64_t> got;
  std::vector<std::string> data;  // of each
  std::function<void()> on_arrival;
  std::set<std::uint32_t> unknown;  // ranks of other jobs that the kernel does not know
  std::vector<std::pair<std::uint32_t, std::string>> failures;
};

/// How an operation has ended; ASHLAR_PENDING: it has not.
struct Got : ashlar_completion {
  Got() {
    done = [](ashlar_completion* self, ashlar_result how) { static_cast<Got*>(self)->result = how; };
  }
  ashlar_result result = ASHLAR_PENDING;
};

template <class Done>
bool run(const std::vector<Process*>& all, Done done, int ms = 10000) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (!done()) {
    for (Process* process : all) process->iface->progress();
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

}  // namespace ashlar::network::test
