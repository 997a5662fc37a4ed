#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "components/transport/tcp/interface.h"
#include "framework/base/hash.h"

namespace ashlar::tcp::test {

inline thread_local std::string last_failure;

inline ashlar_result fail_with(int mpi_class, const char* id, const ashlar_fact* facts, std::uint32_t count) {
  last_failure = id;
  for (std::uint32_t i = 0; i < count; ++i)
    last_failure +=
        std::string(" ") + facts[i].name + "=" + (facts[i].text ? facts[i].text : std::to_string(facts[i].number));
  return -mpi_class;
}

inline std::vector<std::string> decisions;
inline std::string last_adjustment;

inline const ashlar_host& host() {
  static ashlar_host host = {};
  host.size = sizeof host;
  host.fail_with = fail_with;
  host.adjusted = [](const char* framework, const char* component, const char* parameter, const char* used,
                     const char*) {
    last_adjustment = std::string(framework) + "." + component + "." + parameter + "=" + used;
  };
  host.record = [](const char*, const char* subject, const char* chosen, const char* because, const char* lost,
                   const char*) {
    decisions.push_back(std::string(subject) + "|" + chosen + "|" + because + "|" + (lost ? lost : ""));
  };
  return host;
}

inline Config usual() {
  return {.interfaces = "lo",
          .ports = "0",
          .connections = 0,
          .max_bcopy = 64 << 10,
          .send_buffer = 256 << 10,
          .keep = 1 << 20,
          .get_from = 32 << 10,
          .get_chunk = 256 << 10,
          .in_flight = 256 << 10,
          .rails = 4,
          .stripe_from = 512 << 10,
          .stripe = 256 << 10,
          .coalesce_after = 8,
          .look_interval = 0,
          .connect_timeout = 3'000'000'000,
          .patience = 3'000'000'000,
          .handshake_timeout = 150'000'000,
          .strangers = 8,
          .full_exchange = 64 << 10,
          .user_timeout = 0,
          .keepalive = 0};
}

/// A completion that remembers.
struct Outcome : ashlar_completion {
  Outcome() {
    done = [](ashlar_completion* self, ashlar_result how) {
      static_cast<Outcome*>(self)->calls++;
      static_cast<Outcome*>(self)->result = how;
    };
  }
  int calls = 0;
  ashlar_result result = ASHLAR_AGAIN;
};

/// An interface with what it delivered.
class Process {
 public:
  explicit Process(std::uint32_t rank, const Config& config = usual(), const char* job = "job", std::uint32_t lanes = 1)
      : config_(config) {
    ashlar_transport_context context = {};
    context.size = sizeof context;
    context.self = rank;
    context.job_size = context.local_size = 16;
    context.local_rank = rank;
    context.lanes = lanes;
    context.job_id = job;
    context.job_cookie = 7;
    context.lane_context = this;
    job_ = Hash::of(job);
    context.job[0] = job_;
    context.peer_of = [](void* self, const std::uint64_t of[2], std::uint32_t sender) {
      const auto& process = *static_cast<Process*>(self);
      return process.knows_others && of[0] == process.job_ && of[1] == 0 ? sender + process.offset : ASHLAR_NOBODY;
    };
    context.deliver = [](void* self, const ashlar_am* am) {
      auto& process = *static_cast<Process*>(self);
      process.got.emplace_back(am->peer, am->h0);
      process.data.insert(process.data.end(), static_cast<const char*>(am->data),
                          static_cast<const char*>(am->data) + am->length);
      if (process.on_message) process.on_message(*am);
    };
    context.failed = [](void* self, std::uint32_t peer, const char* reason) {
      static_cast<Process*>(self)->failures.emplace_back(peer, reason);
    };
    iface = std::make_unique<Interface>(host(), config_, context);
    opened = iface->open();
  }
  std::string record() const {
    char bytes[4096];
    std::uint32_t length = sizeof bytes;
    EXPECT_EQ(iface->write_address(bytes, &length), ASHLAR_OK);
    return {bytes, length};
  }
  Address address() const {
    Address address;
    const std::string bytes = record();
    EXPECT_EQ(parse(host(), 0, bytes.data(), static_cast<std::uint32_t>(bytes.size()), &address), ASHLAR_OK);
    return address;
  }
  ashlar_endpoint* connect(std::uint32_t number, const std::string& to) {
    ashlar_endpoint* endpoint = nullptr;
    const ashlar_result result = iface->connect(number, to.data(), static_cast<std::uint32_t>(to.size()), &endpoint);
    return result == ASHLAR_OK ? endpoint : nullptr;
  }
  ashlar_endpoint* connect(std::uint32_t number, const Process& to) { return connect(number, to.record()); }
  template <class Bytes>
  ashlar_key expose(const Bytes& memory) {
    ashlar_key key = {};
    EXPECT_EQ(iface->expose(memory.data(), memory.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK) << last_failure;
    return key;
  }
  void send(ashlar_endpoint* to, std::uint64_t word) {
    EXPECT_EQ(to->ops->am_short(to, 1, word, 0, nullptr, 0), ASHLAR_OK) << last_failure;
  }

  std::unique_ptr<Interface> iface;
  ashlar_result opened;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> got;
  std::string data;
  std::vector<std::pair<std::uint32_t, std::string>> failures;
  std::function<void(const ashlar_am&)> on_message;
  std::uint32_t offset = 0;  // of this process's numbers for others
  bool knows_others = true;

 private:
  std::uint64_t job_ = 0;
  const Config config_;
};

template <class Done>
bool progress_until(const std::vector<Process*>& processes, Done done, int ms = 10000) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (!done()) {
    for (Process* process : processes) process->iface->progress();
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

inline void progress_for(const std::vector<Process*>& processes, int ms) {
  (void)progress_until(
      processes, [] { return false; }, ms);
}

}  // namespace ashlar::tcp::test
