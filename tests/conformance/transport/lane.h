#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "framework/plugin/transport.h"
#include "tests/conformance/transport/component.h"

namespace ashlar::test {

struct Place {  // where a lane's process stands in its job
  std::uint32_t self = 0, local_size = 2;
  bool oversubscribed = false;
  bool tags = false;      // the network is to match tags where it can
  std::uint64_t job = 1;  // tells its job from others
};

/// One interface of a component with what it delivered.
class Lane {
 public:
  using Handler = std::function<void(const ashlar_am&)>;

  /// Throws std::runtime_error with the component's own words when it makes no interface.
  explicit Lane(const Component& component, Place place = {});
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  std::string address() const;
  /// nullptr when it fails; last_failure() says why.
  ashlar_endpoint* connect(std::uint32_t peer, const std::string& address);
  unsigned progress() { return iface_->ops->progress(iface_); }
  ashlar_iface* operator->() const { return iface_; }
  ashlar_iface* get() const { return iface_; }
  const ashlar_iface_ops& ops() const { return *iface_->ops; }

  Handler on_message;
  /// Its kernel's number of the processes of other jobs; ASHLAR_NOBODY: it knows none of them.
  std::uint32_t others = ASHLAR_NOBODY;
  std::vector<std::pair<std::uint32_t, std::string>> failures;  // peer, reason

 private:
  const Component& component_;
  const Place place_;
  ashlar_iface* iface_ = nullptr;
};

void progress_or_yield(const std::vector<Lane*>& lanes);

/// Sends, running `progress` of `lanes` while the way is full.
ashlar_result send_short(ashlar_endpoint* to, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                         std::uint32_t length, const std::vector<Lane*>& lanes);
ashlar_result send_bcopy(ashlar_endpoint* to, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                         std::uint32_t length, const std::vector<Lane*>& lanes);

/// Bytes that depend on `seed` and position.
std::vector<unsigned char> pattern(std::uint64_t seed, std::size_t length);
std::uint64_t checksum(const void* data, std::size_t length);

/// A fill callback's argument: hands out a buffer.
struct Source {
  const unsigned char* data;
  std::size_t left;
};
std::size_t fill_from(void* source, void* to, std::size_t room);

/// A completion that remembers.
struct Completion : ashlar_completion {
  Completion() {
    done = [](ashlar_completion* self, ashlar_result r) {
      static_cast<Completion*>(self)->finished = true;
      static_cast<Completion*>(self)->result = r;
    };
  }
  bool finished = false;
  ashlar_result result = ASHLAR_OK;
};

}  // namespace ashlar::test
