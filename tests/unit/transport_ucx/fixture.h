#pragma once
#include "components/transport/ucx/interface.h"
#include "tests/unit/transport_common/fixture.h"

namespace ashlar::ucx::test {

using network::Endpoint;
using network::Record;
using network::test::Got;
using network::test::host;
using network::test::last_failure;
using network::test::last_record;
using network::test::run;

inline Config usual() {
  return {.library = "libucp.so.0",
          .transports = "auto",
          .devices = "auto",
          .puts = kWhereProved,
          .tag_receives = 256,
          .sessions = network::test::usual_sessions()};
}

class Process : public network::test::Process {
 public:
  explicit Process(std::uint32_t rank, const Config& config = usual(), std::uint32_t tags_wanted = 0)
      : network::test::Process(std::in_place_type<Interface>, rank, config, tags_wanted) {}
};

/// UCX without our reads: over its tcp it plays reads and puts by messages that the owner's calls serve.
inline Config with_puts(Puts puts) {
  Config config = usual();
  config.transports = "tcp,self";
  config.devices = "lo";
  config.puts = puts;
  return config;
}

inline std::uint32_t put_completion(const Process& process) {
  return plugin::attributes_of(*process.iface).put_completion;
}

struct Writer {
  explicit Writer(std::size_t bytes, const Config& config = with_puts(kAlways))
      : a(0, config), b(1, config), memory(bytes, 'x') {
    EXPECT_EQ(a.opened, ASHLAR_OK) << last_failure;
    to = a.connect(1, b.address());
    EXPECT_NE(to, nullptr) << last_failure;
    EXPECT_EQ(b.iface->expose(memory.data(), bytes, ASHLAR_MEMORY_HOST, &key), ASHLAR_OK) << last_failure;
    // The capabilities are known with the session.
    EXPECT_EQ(Process::send(to, 1), ASHLAR_OK);
    EXPECT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
  }
  void put(const std::string& from, std::uint64_t at, Got* got) {
    ASSERT_EQ(to->ops->put(to, from.data(), &key, at, from.size(), got), ASHLAR_PENDING) << last_failure;
  }

  Process a, b;
  Endpoint* to = nullptr;
  std::string memory;
  ashlar_key key = {};
};

}  // namespace ashlar::ucx::test
