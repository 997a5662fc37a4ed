// The raw transport between two processes, without matching or requests above it: one-way latency, message rate, and
// bandwidth through rings, by single copy and by both sides. Also what the machine itself gives, in the same run.
// Every figure is the best and the median of many short runs: a machine that also does other work has quiet moments.
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
  std::vector<ashlar_key> keys;  // that arrived and wait for their get

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

int repeats = 100;

// Collects the runs of one figure.
class Figure {
 public:
  void add(double value) { values_.push_back(value); }
  void print(int rank, const char* what, std::size_t bytes, const char* unit, bool less_is_better) {
    std::sort(values_.begin(), values_.end());
    if (rank == 0) {
      std::printf("%-22s %8zu B   best %8.4f   median %8.4f %s\n", what, bytes,
                  less_is_better ? values_.front() : values_.back(), values_[values_.size() / 2], unit);
    }
  }

 private:
  std::vector<double> values_;
};

void machine(Shared& s, int rank) {
  const std::uint64_t rounds = 2000;
  Figure figure;
  for (int r = 0; r < repeats; ++r) {
    const double begin = now();
    for (std::uint64_t i = 1; i <= rounds; ++i) {
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
    figure.add((now() - begin) / 2e-6 / static_cast<double>(rounds));
    // Both words begin the next run at 0.
    if (rank == 0) {
      s.there.store(0);
      while (s.back.load() != 0) {
      }
    } else {
      while (s.there.load() != 0) {
      }
      s.back.store(0);
    }
  }
  figure.print(rank, "machine, cache line", 64, "us", true);
}

void latency(Side& side, std::uint32_t length) {
  const int rounds = 2000;
  std::vector<unsigned char> data(length + 1, 7);
  Figure figure;
  for (int r = 0; r < repeats; ++r) {
    const std::uint64_t base = side.seen;
    const double begin = now();
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      if (side.rank == 0) side.send(data.data(), length);
      side.wait_for(base + i);
      if (side.rank == 1) side.send(data.data(), length);
    }
    figure.add((now() - begin) / 2e-6 / rounds);
  }
  figure.print(side.rank, "latency", length, "us", true);
}

void rate(Side& side, std::uint32_t length) {
  const std::uint64_t messages = 20000;
  std::vector<unsigned char> data(length + 1, 7);
  Figure figure;
  for (int r = 0; r < repeats; ++r) {
    const std::uint64_t base = side.seen;
    const double begin = now();
    if (side.rank == 0) {
      for (std::uint64_t i = 0; i < messages; ++i) side.send(data.data(), length);
      side.wait_for(base + 1);
    } else {
      side.wait_for(base + messages);
      side.send(data.data(), 0);
    }
    figure.add(static_cast<double>(messages) / (now() - begin) * 1e-6);
  }
  figure.print(side.rank, "rate", length, "M/s", false);
}

int windows_for(std::size_t length, int window) {
  return std::max<int>(1, static_cast<int>((8u << 20) / (length * static_cast<std::size_t>(window))));
}

// Windows of messages of `length` bytes, in pieces of at most max_bcopy, answered at the end of a window.
void stream(Side& side, std::size_t length, std::vector<unsigned char>& buffer) {
  const int window = length >= (1 << 20) ? 2 : 16;
  const int windows = windows_for(length, window);
  Figure figure;
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
    figure.add(static_cast<double>(length) * window * windows / (now() - begin) * 1e-9);
  }
  side.into = nullptr;
  figure.print(side.rank, "through rings", length, "GB/s", false);
}

// The sender exposes and sends the key, the receiver gets and answers: a rendezvous without the rest of the protocol.
void gets(Side& side, std::size_t length, std::vector<unsigned char>& buffer, int window) {
  const int windows = windows_for(length, window);
  Figure figure;
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
        // Arrivals are kept: progress inside a pending get delivers later keys.
        for (int m = 0; m < window; ++m) {
          while (side.keys.empty()) side.lane.progress();
          const ashlar_key key = side.keys.front();
          side.keys.erase(side.keys.begin());
          Completion done;
          if (side.peer->ops->get(side.peer, buffer.data(), &key, 0, length, &done) == ASHLAR_PENDING) {
            while (!done.finished) side.lane.progress();
          }
          side.send(buffer.data(), 0);
        }
      }
    }
    figure.add(static_cast<double>(length) * window * windows / (now() - begin) * 1e-9);
  }
  char what[32];
  std::snprintf(what, sizeof what, "get, window %d", window);
  figure.print(side.rank, what, length, "GB/s", false);
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
  Side side{.rank = rank, .lane = lane, .peer = peer, .keys = {}};
  lane.on_message = nullptr;
  struct Hook {
    static void deliver(Side& me, const ashlar_am& am) {
      ++me.seen;
      me.seen_bytes += am.length;
      if (am.length == sizeof(ashlar_key)) {
        me.keys.emplace_back();
        std::memcpy(&me.keys.back(), am.data, sizeof(ashlar_key));
      }
      if (me.into) {
        if (me.into_at + am.length > me.into_size) me.into_at = 0;
        std::memcpy(me.into + me.into_at, am.data, am.length);
        me.into_at += am.length;
      }
    }
  };
  lane.on_message = [&side](const ashlar_am& am) { Hook::deliver(side, am); };

  machine(s, rank);
  for (const std::uint32_t n : {0u, 8u, 40u, 64u, 256u, 488u}) latency(side, n);
  for (const std::uint32_t n : {0u, 8u, 40u, 128u}) rate(side, n);
  std::vector<unsigned char> buffer(8 << 20, static_cast<unsigned char>(rank));
  for (const std::size_t n : {4096ul, 16384ul, 32768ul, 65536ul, 131072ul, 1048576ul, 4194304ul})
    stream(side, n, buffer);
  for (const std::size_t n : {16384ul, 32768ul, 65536ul, 131072ul, 262144ul, 1048576ul, 4194304ul}) {
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
    if (argument == "--quick") repeats = 20;
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
