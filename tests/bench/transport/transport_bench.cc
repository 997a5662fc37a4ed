// The raw transport between two processes, without matching or requests above it: one-way latency, message rate, and
// bandwidth through rings, by single copy and by both sides. Also what the machine itself gives, in the same run.
//
//   transport_bench [--quick] [--set name=value ...]        e.g. --set both_sides_from=1GiB
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/conformance/transport/component.h"
#include "tests/conformance/transport/lane.h"

namespace {

using ashlar::test::Completion;
using ashlar::test::Component;
using ashlar::test::Lane;
using ashlar::test::Place;
using ashlar::test::Source;

struct Shared {
  alignas(64) std::atomic<std::uint64_t> there;
  alignas(64) std::atomic<std::uint64_t> back;
  alignas(64) std::atomic<int> ready[2];
  char address[2][ASHLAR_ADDRESS_MAX];
  std::uint32_t length[2];
};

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct Side {
  int rank;
  Lane& lane;
  ashlar_endpoint* peer;
  std::uint64_t seen = 0;  // messages that arrived
  std::uint64_t seen_bytes = 0;
  unsigned char* into = nullptr;  // where payloads go
  std::size_t into_size = 0, into_at = 0;
  ashlar_key key{};

  void wait_for(std::uint64_t count) {
    while (seen < count) lane.progress();
  }
  void send(const void* data, std::uint32_t length) {
    while (peer->ops->am_short(peer, 1, 0, 0, data, length) == ASHLAR_AGAIN) lane.progress();
  }
  void send_piece(const unsigned char* data, std::uint32_t length) {
    for (;;) {
      Source source{data, length};
      if (peer->ops->am_bcopy(peer, 1, 0, 0, ashlar::test::fill_from, &source, length) != ASHLAR_AGAIN) return;
      lane.progress();
    }
  }
};

int repeats = 5;

void machine(Shared& s, int rank) {
  const std::uint64_t rounds = 200000;
  for (int r = 0; r < repeats; ++r) {
    const double begin = now();
    const std::uint64_t base = static_cast<std::uint64_t>(r) * rounds;
    for (std::uint64_t i = base + 1; i <= base + rounds; ++i) {
      if (rank == 0) {
        s.there.store(i, std::memory_order_release);
        while (s.back.load(std::memory_order_acquire) != i) {
        }
      } else {
        while (s.there.load(std::memory_order_acquire) != i) {
        }
        s.back.store(i, std::memory_order_release);
      }
    }
    if (rank == 0)
      std::printf("machine, one cache line   %8.4f us\n", (now() - begin) / 2e-6 / static_cast<double>(rounds));
  }
}

void latency(Side& side, std::uint32_t length, const char* what) {
  const int rounds = 100000;
  std::vector<unsigned char> data(length + 1, 7);
  double best = 1e9, sum = 0;
  for (int r = 0; r < repeats; ++r) {
    const std::uint64_t base = side.seen;
    const double begin = now();
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      if (side.rank == 0) side.send(data.data(), length);
      side.wait_for(base + i);
      if (side.rank == 1) side.send(data.data(), length);
    }
    const double us = (now() - begin) / 2e-6 / rounds;
    best = std::min(best, us);
    sum += us;
  }
  if (side.rank == 0) std::printf("%-18s %6u B   best %8.4f  mean %8.4f us\n", what, length, best, sum / repeats);
}

void rate(Side& side, std::uint32_t length) {
  const std::uint64_t window = 64, windows = 20000;
  std::vector<unsigned char> data(length + 1, 7);
  double best = 0;
  for (int r = 0; r < repeats; ++r) {
    const std::uint64_t base = side.seen;
    const double begin = now();
    if (side.rank == 0) {
      for (std::uint64_t i = 0; i < window * windows; ++i) side.send(data.data(), length);
      side.wait_for(base + 1);
    } else {
      side.wait_for(base + window * windows);
      side.send(data.data(), 0);
    }
    best = std::max(best, static_cast<double>(window * windows) / (now() - begin) * 1e-6);
  }
  if (side.rank == 0) std::printf("rate               %6u B   best %8.2f M/s\n", length, best);
}

// Windows of messages of `length` bytes, in pieces of at most max_bcopy, answered at the end of a window.
void stream(Side& side, std::size_t length, std::vector<unsigned char>& buffer) {
  const int window = length >= (1 << 20) ? 4 : 16;
  const int windows = std::max<int>(3, static_cast<int>((256u << 20) / (length * static_cast<std::size_t>(window))));
  double best = 0;
  side.into = buffer.data();
  side.into_size = length;
  for (int r = 0; r < repeats; ++r) {
    const double begin = now();
    for (int w = 0; w < windows; ++w) {
      if (side.rank == 0) {
        const std::uint64_t base = side.seen;
        for (int m = 0; m < window; ++m) {
          for (std::size_t at = 0; at < length; at += side.peer->max_bcopy) {
            const std::size_t n = std::min<std::size_t>(side.peer->max_bcopy, length - at);
            side.send_piece(buffer.data() + at, static_cast<std::uint32_t>(n));
          }
        }
        side.wait_for(base + 1);
      } else {
        side.seen_bytes = 0;
        while (side.seen_bytes < length * static_cast<std::size_t>(window)) side.lane.progress();
        side.send(buffer.data(), 0);
      }
    }
    best = std::max(best, static_cast<double>(length) * window * windows / (now() - begin) * 1e-9);
  }
  side.into = nullptr;
  if (side.rank == 0) std::printf("rings            %8zu B   best %8.2f GB/s\n", length, best);
}

// The sender exposes and sends the key, the receiver gets and answers: a rendezvous without the rest of the protocol.
void gets(Side& side, std::size_t length, std::vector<unsigned char>& buffer, int window) {
  const int windows = std::max<int>(5, static_cast<int>((256u << 20) / (length * static_cast<std::size_t>(window))));
  double best = 0;
  for (int r = 0; r < repeats; ++r) {
    const double begin = now();
    for (int w = 0; w < windows; ++w) {
      const std::uint64_t base = side.seen;
      if (side.rank == 0) {
        std::vector<ashlar_key> keys(static_cast<std::size_t>(window));
        for (auto& key : keys) {
          (void)side.lane.ops().expose(side.lane.get(), buffer.data(), length, ASHLAR_MEMORY_HOST, &key);
          side.send(&key, sizeof key);
        }
        side.wait_for(base + static_cast<std::uint64_t>(window));
        for (auto& key : keys) side.lane.ops().unexpose(side.lane.get(), &key);
      } else {
        for (int m = 1; m <= window; ++m) {
          side.wait_for(base + static_cast<std::uint64_t>(m));
          Completion done;
          const ashlar_key key = side.key;
          if (side.peer->ops->get(side.peer, buffer.data(), &key, 0, length, &done) == ASHLAR_PENDING) {
            while (!done.finished) side.lane.progress();
          }
          side.send(buffer.data(), 0);
        }
      }
    }
    best = std::max(best, static_cast<double>(length) * window * windows / (now() - begin) * 1e-9);
  }
  if (side.rank == 0) std::printf("get, window %-4d %8zu B   best %8.2f GB/s\n", window, length, best);
}

void run(const Component& shm, Shared& s, int rank) {
  pin(rank);
  Lane lane(shm, Place{static_cast<std::uint32_t>(rank), 2});
  const std::string own = lane.address();
  std::memcpy(s.address[rank], own.data(), own.size());
  s.length[rank] = static_cast<std::uint32_t>(own.size());
  s.ready[rank].store(1);
  while (s.ready[1 - rank].load() == 0) {
  }
  const auto other = static_cast<std::uint32_t>(1 - rank);
  ashlar_endpoint* peer = lane.connect(other, std::string(s.address[other], s.length[other]));
  if (!peer) {
    std::printf("cannot connect: %s\n", ashlar::test::last_failure());
    std::exit(1);
  }
  Side side{rank, lane, peer};
  lane.on_message = nullptr;
  struct Hook {
    static void deliver(Side& me, const ashlar_am& am) {
      ++me.seen;
      me.seen_bytes += am.length;
      if (am.length == sizeof(ashlar_key)) std::memcpy(&me.key, am.data, sizeof me.key);
      if (me.into) {
        if (me.into_at + am.length > me.into_size) me.into_at = 0;
        std::memcpy(me.into + me.into_at, am.data, am.length);
        me.into_at += am.length;
      }
    }
  };
  lane.on_message = [&side](const ashlar_am& am) { Hook::deliver(side, am); };

  machine(s, rank);
  for (const std::uint32_t n : {0u, 8u, 40u, 64u, 256u, 488u}) latency(side, n, "latency");
  for (const std::uint32_t n : {0u, 8u, 40u, 128u}) rate(side, n);
  std::vector<unsigned char> buffer(8 << 20, static_cast<unsigned char>(rank));
  for (const std::size_t n : {4096ul, 16384ul, 65536ul, 1048576ul, 4194304ul}) stream(side, n, buffer);
  for (const std::size_t n : {16384ul, 65536ul, 262144ul, 1048576ul, 4194304ul}) {
    gets(side, n, buffer, 1);
    gets(side, n, buffer, 16);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ashlar::test::Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") repeats = 2;
    if (argument == "--set" && i + 1 < argc) {
      const std::string pair = argv[++i];
      settings[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
    }
  }
  const Component* shm = ashlar::test::transport_named("shm");
  if (!shm) {
    std::printf("no shm component found\n");
    return 1;
  }
  shm->open(settings);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& shared = *new (memory) Shared();
  const pid_t child = fork();
  run(*shm, shared, child == 0 ? 1 : 0);
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return 0;
}
