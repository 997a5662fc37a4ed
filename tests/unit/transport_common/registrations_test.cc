#include "components/transport/common/registrations.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "components/transport/common/endpoint.h"
#include "tests/unit/transport_common/fixture.h"

namespace ashlar::network::test {
namespace {

/// A library that takes up to `most` regions, and remembers what it was told of.
class Library final : public Fabric {
 public:
  ashlar_result open(const ashlar_host&, const Place&, Events&) override { return ASHLAR_OK; }
  void close() override {}
  std::vector<std::uint8_t> address() override { return {}; }
  const sockaddr* source() const override { return nullptr; }
  Path insert(const std::vector<std::uint8_t>&, Endpoint*) override { return kNoPath; }
  bool remove(Path) override { return true; }
  Posted post(Buffer&, Path) override { return Posted::kFailed; }
  Posted post(Transfer&, Path) override { return Posted::kFailed; }
  unsigned look() override { return 0; }
  std::string reason() const override { return "full"; }
  int wake_fd() const override { return -1; }
  bool may_sleep() override { return true; }
  bool enlist(const void* memory, std::size_t bytes, unsigned uses, Registration* out) override {
    if (told.size() >= most || bytes > most_bytes) return false;
    ++count;
    out->region = reinterpret_cast<void*>(count);
    told[count] = {reinterpret_cast<std::uint64_t>(memory), bytes, uses};
    return true;
  }
  void delist(Registration& registration) override {
    EXPECT_EQ(told.erase(reinterpret_cast<std::uint64_t>(registration.region)), 1u);
  }
  RemoteKey key_of(const Registration&, const void*) const override { return {}; }
  bool keeps() const override { return worth; }

  struct Told {
    std::uint64_t begin, bytes;
    unsigned uses;
  };
  std::map<std::uint64_t, Told> told;
  std::uint64_t count = 0;
  std::size_t most = 1000, most_bytes = SIZE_MAX;
  bool worth = true;
};

class RegistrationsTest : public testing::Test {
 protected:
  RegistrationsTest() {
    context.size = sizeof context;
    context.lane_context = this;
    context.lasting = [](void* self, const void* address, std::uint64_t length, ashlar_lasting* out) {
      return static_cast<RegistrationsTest*>(self)->lasting.find(address, length, out) ? 1 : 0;
    };
    config.registered_bytes = 1000;
    config.registered_regions = 3;
  }
  /// An address that nothing looks at.
  const void* at(std::uint64_t offset) const { return memory.data() + offset; }
  Region* take(std::uint64_t offset, std::uint64_t bytes, Fabric::Use use = Fabric::kRead) {
    return registrations.take(at(offset), bytes, use);
  }

  std::vector<char> memory = std::vector<char>(100000);
  LastingMemory lasting;
  Library library;
  Config config = usual_sessions();
  ashlar_transport_context context = {};
  Counters counters;
  Registrations registrations{library, config, context, counters};
};

TEST_F(RegistrationsTest, MemoryOfTheProgramIsRegisteredForEachUse) {
  for (int i = 0; i < 3; ++i) {
    Region* const region = take(100, 50);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(library.told.size(), 1u);
    registrations.give_back(*region, 50);
    EXPECT_TRUE(library.told.empty());
  }
  EXPECT_EQ(counters.registrations, 3u);
  EXPECT_EQ(counters.registered_again, 0u);
  EXPECT_EQ(counters.registered.now, 0u);
  EXPECT_EQ(counters.registered.most, 50u);
}

TEST_F(RegistrationsTest, UsesAtOneTimeShareIt) {
  Region* const first = take(100, 50);
  Region* const second = take(100, 50);
  Region* const part = take(100, 20);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, part);
  EXPECT_EQ(library.count, 1u);
  registrations.give_back(*first, 50);
  EXPECT_EQ(take(100, 50), second) << "the second use of all of it keeps the rest valid";
  registrations.give_back(*second, 50);
  registrations.give_back(*second, 50);
  // From now on the program may have freed what is behind the part.
  Region* const again = take(100, 50);
  EXPECT_NE(again, part);
  Region* const part_again = take(100, 20);
  EXPECT_EQ(part_again, again);
  EXPECT_EQ(library.count, 2u);
  registrations.give_back(*part, 20);
  EXPECT_EQ(library.told.size(), 1u);
  registrations.give_back(*again, 50);
  registrations.give_back(*again, 20);
  EXPECT_TRUE(library.told.empty());
  EXPECT_EQ(counters.regions.now, 0u);
}

TEST_F(RegistrationsTest, AnotherUseNeedsAnotherRegion) {
  Region* const read = take(100, 50, Fabric::kRead);
  Region* const written = take(100, 50, Fabric::kWritten);
  EXPECT_NE(read, written);
  EXPECT_EQ(library.told[1].uses, Fabric::kRead);
  EXPECT_EQ(library.told[2].uses, Fabric::kWritten);
  registrations.give_back(*read, 50);
  registrations.give_back(*written, 50);
}

TEST_F(RegistrationsTest, LastingMemoryIsRegisteredOnceAsAWhole) {
  lasting.add(at(1000), 500);
  for (std::uint64_t i = 0; i < 10; ++i) {
    Region* const region = take(1000 + 10 * i, 20 + i, i % 2 == 0 ? Fabric::kRead : Fabric::kWritten);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(region->begin, reinterpret_cast<std::uint64_t>(at(1000)));
    EXPECT_EQ(region->bytes, 500u);
    registrations.give_back(*region, 20 + i);
  }
  EXPECT_EQ(library.count, 1u);
  EXPECT_EQ(counters.registered_again, 9u);
  EXPECT_EQ(counters.registered.now, 500u);
  registrations.clear();
  EXPECT_TRUE(library.told.empty());
}

TEST_F(RegistrationsTest, FreedMemoryIsNotMistakenForWhatTookItsPlace) {
  lasting.add(at(1000), 500);
  Region* const before = take(1000, 500);
  registrations.give_back(*before, 500);
  lasting.remove(at(1000));
  lasting.add(at(1000), 500);
  Region* const after = take(1000, 500);
  EXPECT_EQ(library.count, 2u);
  registrations.give_back(*after, 500);
  registrations.give_up_freed();
  EXPECT_EQ(library.told.size(), 1u) << "that of the memory that was freed";
  lasting.remove(at(1000));
  registrations.give_up_freed();
  EXPECT_TRUE(library.told.empty());
}

TEST_F(RegistrationsTest, FreedMemoryIsFoundAmongMuchThatIsThere) {
  config.registered_regions = 1000;
  config.registered_bytes = 100000;
  for (std::uint64_t i = 0; i < 100; ++i) {
    lasting.add(at(i * 100), 100);
    registrations.give_back(*take(i * 100, 10), 10);
  }
  Region* const used = take(30 * 100, 10);
  for (std::uint64_t i = 0; i < 100; i += 10) lasting.remove(at(i * 100));
  for (int looks = 0; looks < 20; ++looks) registrations.give_up_freed();
  EXPECT_EQ(library.told.size(), 91u) << "what is in use stays";
  registrations.give_back(*used, 10);
  for (int looks = 0; looks < 20; ++looks) registrations.give_up_freed();
  EXPECT_EQ(library.told.size(), 90u);
}

TEST_F(RegistrationsTest, WhatIsKeptIsBounded) {
  for (std::uint64_t i = 0; i < 6; ++i) lasting.add(at(i * 1000), 100);
  for (std::uint64_t i = 0; i < 6; ++i) {
    registrations.give_back(*take(i * 1000, 10), 10);
    EXPECT_LE(library.told.size(), 3u);
  }
  // The last three; of these the oldest use goes first.
  registrations.give_back(*take(3000, 10), 10);
  EXPECT_EQ(library.count, 6u);
  registrations.give_back(*take(0, 10), 10);
  registrations.give_back(*take(3000, 10), 10);
  EXPECT_EQ(library.count, 7u);
  registrations.give_back(*take(4000, 10), 10);
  EXPECT_EQ(library.count, 8u);
  // By bytes.
  lasting.add(at(20000), 900);
  registrations.give_back(*take(20000, 10), 10);
  EXPECT_EQ(counters.registered.now, 1000u);
  // What is larger than all that may be kept is the program's own to this end.
  lasting.add(at(30000), 1001);
  registrations.give_back(*take(30000, 10), 10);
  EXPECT_EQ(counters.registered.now, 1000u);
  EXPECT_EQ(library.told.rbegin()->second.bytes, 900u);
}

TEST_F(RegistrationsTest, WhatIsInUseIsNotBounded) {
  std::vector<Region*> all;
  for (std::uint64_t i = 0; i < 20; ++i) {
    lasting.add(at(i * 1000), 100);
    all.push_back(take(i * 1000, 10));
    ASSERT_NE(all.back(), nullptr);
  }
  EXPECT_EQ(library.told.size(), 20u);
  for (Region* region : all) registrations.give_back(*region, 10);
  EXPECT_EQ(library.told.size(), 3u);
}

TEST_F(RegistrationsTest, WhatIsIdleGivesWayWhereTheLibraryTakesNoMore) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    lasting.add(at(i * 1000), 100);
    registrations.give_back(*take(i * 1000, 10), 10);
  }
  library.most = 3;
  Region* const own = take(50000, 10);
  ASSERT_NE(own, nullptr);
  EXPECT_LT(library.told.size(), 3u);
  Region* const second = take(51000, 10);
  Region* const third = take(52000, 10);
  ASSERT_TRUE(second != nullptr && third != nullptr);
  EXPECT_EQ(take(53000, 10), nullptr);
  for (Region* region : {own, second, third}) registrations.give_back(*region, 10);
  EXPECT_EQ(counters.regions.now, 0u);
}

TEST_F(RegistrationsTest, APartIsRegisteredWhereAllIsTooMuch) {
  lasting.add(at(1000), 500);
  library.most_bytes = 100;
  Region* const part = take(1100, 50);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->bytes, 50u);
  registrations.give_back(*part, 50);
  EXPECT_TRUE(library.told.empty());
}

TEST_F(RegistrationsTest, NothingIsKeptWhereThatSavesNothing) {
  lasting.add(at(1000), 500);
  library.worth = false;
  Region* const first = take(1000, 500);
  Region* const second = take(1000, 500);
  EXPECT_NE(first, second);
  registrations.give_back(*first, 500);
  registrations.give_back(*second, 500);
  EXPECT_TRUE(library.told.empty());
  library.worth = true;
  config.registered_bytes = 0;
  registrations.give_back(*take(1000, 500), 500);
  EXPECT_TRUE(library.told.empty());
}

}  // namespace
}  // namespace ashlar::network::test
