#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "framework/plugin/transport.h"

namespace ashlar::test {

/// An interface that another thread raises: by a futex word, by a descriptor, or by both.
struct FakeIface : ashlar_iface {
  explicit FakeIface(bool by_descriptor, bool by_word_too = false)
      : descriptor(by_descriptor ? eventfd(0, EFD_NONBLOCK) : -1), by_word(!by_descriptor || by_word_too) {
    static const ashlar_iface_ops kOps = {.size = sizeof(ashlar_iface_ops),
                                          .address = nullptr,
                                          .connect = nullptr,
                                          .disconnect = nullptr,
                                          .progress = progress,
                                          .expose = nullptr,
                                          .unexpose = nullptr,
                                          .arm = arm,
                                          .disarm = disarm,
                                          .wake_fd = wake_fd,
                                          .wake_word = wake_word,
                                          .idle = [](ashlar_iface*) { return 1; },
                                          .rest = nullptr,
                                          .attributes = nullptr,
                                          .forget = nullptr,
                                          .ended = nullptr,
                                          .tags = nullptr};
    ops = &kOps;
  }
  ~FakeIface() {
    if (descriptor >= 0) close(descriptor);
  }

  /// Lets an event arrive as a transport does it: news first, then the wake-up if a thread sleeps.
  void arrive();

  std::atomic<unsigned> news{0};
  std::atomic<bool> armed{false};
  std::uint32_t word = 0;
  const int descriptor;
  const bool by_word;
  unsigned calls = 0, arms = 0, disarms = 0;
  unsigned seen = 0;

 private:
  static FakeIface& self(ashlar_iface* i) { return *static_cast<FakeIface*>(i); }
  static unsigned progress(ashlar_iface* i) {
    ++self(i).calls;
    const unsigned events = self(i).news.exchange(0);
    self(i).seen += events;
    return events;
  }
  static ashlar_result arm(ashlar_iface* i) {
    ++self(i).arms;
    self(i).armed = true;
    return self(i).news != 0 ? ASHLAR_AGAIN : ASHLAR_OK;
  }
  static void disarm(ashlar_iface* i) {
    ++self(i).disarms;
    self(i).armed = false;
  }
  static int wake_fd(ashlar_iface* i) { return self(i).descriptor; }
  static std::uint32_t* wake_word(ashlar_iface* i) { return self(i).by_word ? &self(i).word : nullptr; }
};

}  // namespace ashlar::test
