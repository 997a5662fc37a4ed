#pragma once
#include <string>

#include "tests/unit/transport_common/double.h"
#include "tests/unit/transport_ofi/double/double.h"
#include "tests/unit/transport_ofi/fixture.h"

// Processes over the double of libfabric.
namespace ashlar::ofi::test {

inline ofi_double::Settings& settings() {
  return network::test::of_double<ofi_double::Settings>(OFI_DOUBLE, "ofi_double_settings");
}
inline ofi_double::Seen& seen() { return network::test::of_double<ofi_double::Seen>(OFI_DOUBLE, "ofi_double_seen"); }

inline Config over_double() {
  Config config = usual();
  config.library = OFI_DOUBLE;
  config.provider = "double";
  return config;
}

class Double : public testing::Test {
 protected:
  void SetUp() override {
    settings() = {};
    seen() = {};
  }
  void TearDown() override {
    EXPECT_STREQ(seen().broken, "");
    EXPECT_EQ(seen().regions, 0u);
    EXPECT_EQ(seen().endpoints, 0u);
  }
};

/// Two processes, the first of which sends to the second.
struct Pair {
  explicit Pair(const Config& config = over_double(), std::uint32_t second = 1) : a(0, config), b(second, config) {
    if (a.opened == ASHLAR_OK && b.opened == ASHLAR_OK) to = a.connect(second, b.address());
  }
  bool ready() const { return to != nullptr; }

  Process a, b;
  Endpoint* to = nullptr;
};

inline std::string pattern(std::uint64_t number, std::size_t length) {
  std::string bytes(length, 0);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<char>(number * 31 + i + i / 251);
  return bytes;
}

/// a reads b's memory.
inline ashlar_result read(Pair& pair, const std::string& from, std::string* to) {
  ashlar_key key;
  EXPECT_EQ(pair.b.iface->expose(from.data(), from.size(), ASHLAR_MEMORY_HOST, &key), ASHLAR_OK);
  Got got;
  EXPECT_EQ(pair.to->ops->get(pair.to, to->data(), &key, from.size() - to->size(), to->size(), &got), ASHLAR_PENDING);
  EXPECT_TRUE(run({&pair.a, &pair.b}, [&] { return got.result != ASHLAR_PENDING; }));
  pair.b.iface->unexpose(key);
  return got.result;
}

}  // namespace ashlar::ofi::test
