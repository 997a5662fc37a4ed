#include "framework/base/flush_streams.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "framework/base/clock.h"

namespace ashlar {
namespace {

constexpr std::uint64_t kPatience = 1'000'000'000;

std::atomic<bool> flushed{false};

void* flush_all(void*) {
  // First the streams that matter most: one that is locked keeps fflush(nullptr) from all behind it.
  std::fflush(stdout);
  std::fflush(stderr);
  std::fflush(nullptr);
  flushed.store(true, std::memory_order_release);
  return nullptr;
}

}  // namespace

void flush_streams() {
  // A thread of its own, because nothing else can be left alone when a lock or a pipe does not come free. It takes no
  // signal: a reader that has gone must not end the process by SIGPIPE before the launcher knows why it ends.
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, flush_all, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) return;
  pthread_detach(thread);
  for (const std::uint64_t began = now_ns();
       !flushed.load(std::memory_order_acquire) && now_ns() - began < kPatience;) {
    const timespec moment = {0, 50'000};
    nanosleep(&moment, nullptr);
  }
}

}  // namespace ashlar
