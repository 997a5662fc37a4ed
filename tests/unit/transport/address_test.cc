#include "components/transport/shm/address.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace ashlar::shm {
namespace {

/// The failure that was recorded last.
std::string failure_id;
std::map<std::string, std::int64_t> facts;

ashlar_result keep_failure(int mpi_class, const char* message, const ashlar_fact* known, std::uint32_t count) {
  failure_id = message;
  facts.clear();
  for (std::uint32_t i = 0; i < count; ++i) facts[known[i].name] = known[i].number;
  return -mpi_class;
}

ashlar_host host() {
  ashlar_host h{};
  h.size = sizeof h;
  h.fail_with = keep_failure;
  return h;
}

TEST(AddressTest, SealedAddressesAreReadBack) {
  Address a{};
  a.nonce = 12345;
  a.pid = 99;
  a.ring_bytes = 1 << 17;
  seal(a);
  Address b{};
  const ashlar_host h = host();
  ASSERT_EQ(parse(h, 7, &a, sizeof a, &b), ASHLAR_OK);
  EXPECT_EQ(b.nonce, 12345u);
  EXPECT_EQ(b.pid, 99);
}

TEST(AddressTest, EveryDamageIsAFailureWithThePeer) {
  Address a{};
  a.nonce = 1;
  seal(a);
  const ashlar_host h = host();
  for (std::size_t i = 0; i < sizeof a; ++i) {
    unsigned char bytes[sizeof a];
    std::memcpy(bytes, &a, sizeof a);
    bytes[i] ^= 0x10;
    Address out;
    facts.clear();
    EXPECT_EQ(parse(h, 7, bytes, sizeof a, &out), -MPI_ERR_OTHER) << i;
    EXPECT_EQ(facts["peer"], 7) << failure_id;
  }
  Address out;
  EXPECT_LT(parse(h, 7, &a, sizeof a - 1, &out), 0);
  EXPECT_EQ(failure_id, "transport.address_size");
  EXPECT_EQ(facts["bytes_got"], std::int64_t{sizeof a - 1});
  EXPECT_EQ(facts["bytes_wanted"], std::int64_t{sizeof a});
}

TEST(AddressTest, ThisProcessIsItself) {
  const Identity self = Identity::of_this_process();
  EXPECT_EQ(self.pid, getpid());
  EXPECT_NE(self.node, 0u);
  EXPECT_NE(self.pid_namespace, 0u);
  EXPECT_GT(self.start_time, 0u);
  char state = 0;
  EXPECT_EQ(start_time_of(getpid(), &state), self.start_time);
  EXPECT_EQ(state, 'R');
  EXPECT_EQ(start_time_of(0x3ffffff), 0u);
}

}  // namespace
}  // namespace ashlar::shm
