// What comes to the port of transport/tcp, from strangers and from peers, and the record that says where a peer is. The
// input is a mask over the right Hello, the right Proof and the right Chosen, zeros being none, and then frames as they
// are. So inputs that leave the mask alone reach what only peers do. The caller breaks its connection, and says the
// same over a second one, with the same mask over its Chosen alone: it resumes. All but the first byte is also read as
// a record.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "components/transport/tcp/interface.h"
#include "framework/base/hash.h"

namespace {

using namespace ashlar::tcp;

constexpr int kRounds = 200;
constexpr int kInputsPerInterface = 64;  // each leaves a peer, as every process that has ever connected does
constexpr std::uint32_t kSelf = 0, kCaller = 1;

ashlar_result fail_with(int mpi_class, const char*, const ashlar_fact*, std::uint32_t) { return -mpi_class; }

const ashlar_host& host() {
  static ashlar_host host = [] {
    ashlar_host made = {};
    made.size = sizeof made;
    made.fail_with = fail_with;
    return made;
  }();
  return host;
}

const Config& config() {
  static const Config config = {.interfaces = "auto",
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
                                .full_exchange = 0,
                                .user_timeout = 0,
                                .keepalive = 0};
  return config;
}

/// A process that listens, with memory that peers may read.
struct Listener {
  Listener() {
    ashlar_transport_context context = {};
    context.size = sizeof context;
    context.self = kSelf;
    context.job_size = context.local_size = 4;
    context.job_id = "job";
    context.job[0] = 5;
    context.lane_context = this;
    context.peer_of = [](void*, const std::uint64_t job[2], std::uint32_t sender) -> std::uint32_t {
      return job[0] == 5 && job[1] == 0 ? sender % 4 : ASHLAR_NOBODY;
    };
    context.deliver = [](void* self, const ashlar_am* am) {
      unsigned total = 0;
      for (std::uint32_t i = 0; i < am->length; ++i) total += static_cast<const std::uint8_t*>(am->data)[i];
      static_cast<Listener*>(self)->sum = total;
    };
    context.failed = [](void*, std::uint32_t, const char*) {};
    iface = std::make_unique<Interface>(host(), config(), context);
    ashlar_key key = {};
    char record[4096];
    std::uint32_t length = sizeof record;
    if (iface->open() != ASHLAR_OK || iface->expose(memory.data(), memory.size(), 0, &key) != ASHLAR_OK ||
        iface->write_address(record, &length) != ASHLAR_OK ||
        parse(host(), kSelf, record, length, &address) != ASHLAR_OK)
      std::abort();
  }
  std::unique_ptr<Interface> iface;
  Address address;
  std::array<std::byte, 4096> memory = {};
  volatile unsigned sum = 0;  // every byte of a message is read
};

template <class T>
T masked(T right, const std::uint8_t*& data, std::size_t& size) {
  auto* const bytes = reinterpret_cast<std::uint8_t*>(&right);
  const std::size_t count = std::min(size, sizeof right);
  for (std::size_t i = 0; i < count; ++i) bytes[i] ^= data[i];
  data += count;
  size -= count;
  return right;
}

bool say(int socket, const void* bytes, std::size_t count) {
  return send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(count);
}

/// Progress until `count` bytes have come back; false when the connection is over, or nothing comes.
bool hear(Listener& listener, int socket, void* bytes, std::size_t count) {
  for (int i = 0; i < kRounds; ++i) {
    listener.iface->progress();
    const ssize_t got = recv(socket, bytes, count, MSG_DONTWAIT | MSG_PEEK);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
    if (got == static_cast<ssize_t>(count)) return recv(socket, bytes, count, 0) == got;
  }
  return false;
}

/// One connection; false: it was not let in. `masks`: over what proves the caller, too.
bool call(Listener& listener, std::uint64_t caller, std::uint64_t epoch, bool masks, const std::uint8_t* data,
          std::size_t size) {
  constexpr std::size_t kMasks = sizeof(Hello) + sizeof(ashlar::Digest);
  static constexpr std::array<std::uint8_t, kMasks> kNone = {};
  const std::uint8_t* mask = masks ? data : kNone.data();
  std::size_t masked_bytes = masks ? std::min(size, kMasks) : kMasks;
  data += std::min(size, kMasks);
  size -= std::min(size, kMasks);
  const std::uint8_t lo[4] = {127, 0, 0, 1};
  const SocketAddress at(4, lo, listener.address.port);
  const ashlar::Descriptor s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const linger at_once = {.l_onoff = 1, .l_linger = 0};  // no port stays taken
  setsockopt(s.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  if (connect(s.get(), &at.any, at.length) != 0) std::abort();
  Hello hello = {};
  hello.magic = kMagic;
  hello.version = kWireVersion;
  hello.target = listener.address.nonce;
  hello.port = listener.address.port;
  hello.sender = caller;
  hello.job[0] = 5;
  hello.rank = kCaller;
  hello = masked(hello, mask, masked_bytes);
  hello.exchange %= 256 << 10;
  Challenge challenge = {};
  if (!say(s.get(), &hello, sizeof hello) || !hear(listener, s.get(), &challenge, sizeof challenge)) return false;
  const ashlar::Digest proof =
      masked(proof_of(Side::kDialling, listener.address.secret, hello, challenge.nonce), mask, masked_bytes);
  const ashlar::Digest right = proof_of(Side::kDialling, listener.address.secret, hello, challenge.nonce);
  Welcome welcome = {};
  if (!say(s.get(), &proof, sizeof proof)) return false;
  for (std::uint32_t left = hello.exchange; left > 0;) {
    static constexpr std::array<char, 4096> kZeros = {};
    const auto now = std::min<std::uint32_t>(left, kZeros.size());
    if (!say(s.get(), kZeros.data(), now)) return false;
    listener.iface->progress();
    left -= now;
  }
  const bool let_in = hear(listener, s.get(), &welcome, sizeof welcome);
  if (let_in && proof != right) std::abort();
  Chosen chosen = {.frame = {.length = sizeof chosen.epoch, .kind = Kind::kChosen, .id = 0, .ack = 0, .h0 = 0, .h1 = 0},
                   .epoch = epoch};
  chosen = masked(chosen, data, size);
  if (!let_in || !say(s.get(), &chosen, sizeof chosen) || !say(s.get(), data, size)) return false;
  char answer[4096];
  for (int i = 0; i < 20; ++i) {
    listener.iface->progress();
    (void)!recv(s.get(), answer, sizeof answer, MSG_DONTWAIT);
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::unique_ptr<Listener> listener;
  static int inputs = 0;
  if (inputs++ % kInputsPerInterface == 0) listener = std::make_unique<Listener>();
  Address address;
  if (size > 0) (void)parse(host(), kCaller, data + 1, static_cast<std::uint32_t>(size - 1), &address);
  static std::uint64_t caller = 0;
  if (call(*listener, ++caller, 1, true, data, size)) (void)call(*listener, caller, 2, false, data, size);
  // What is open is closed by the caller's end, or by its deadline.
  for (int i = 0; i < kRounds && listener->iface->counters.connections.now.get() != 0; ++i) listener->iface->progress();
  return 0;
}
