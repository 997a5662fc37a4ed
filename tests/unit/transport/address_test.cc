#include "components/transport/shm/address.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

namespace ashlar::shm {
namespace {

std::string sentence;

int keep_sentence(int mpi_class, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sentence = text;
  return -mpi_class;
}

ashlar_host host() {
  ashlar_host h{};
  h.size = sizeof h;
  h.fail = keep_sentence;
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

TEST(AddressTest, EveryDamageHasASentenceWithThePeer) {
  Address a{};
  a.nonce = 1;
  seal(a);
  const ashlar_host h = host();
  for (std::size_t i = 0; i < sizeof a; ++i) {
    unsigned char bytes[sizeof a];
    std::memcpy(bytes, &a, sizeof a);
    bytes[i] ^= 0x10;
    Address out;
    sentence.clear();
    EXPECT_EQ(parse(h, 7, bytes, sizeof a, &out), -MPI_ERR_OTHER) << i;
    EXPECT_NE(sentence.find("peer 7"), std::string::npos) << sentence;
  }
  Address out;
  EXPECT_LT(parse(h, 7, &a, sizeof a - 1, &out), 0);
  EXPECT_NE(sentence.find("79 bytes"), std::string::npos) << sentence;
}

TEST(AddressTest, ThisProcessIsItself) {
  const Identity id = Identity::of_this_process();
  EXPECT_EQ(id.pid, getpid());
  EXPECT_NE(id.node, 0u);
  EXPECT_NE(id.pid_namespace, 0u);
  EXPECT_GT(id.start_time, 0u);
  char state = 0;
  EXPECT_EQ(start_time_of(getpid(), &state), id.start_time);
  EXPECT_EQ(state, 'R');
  EXPECT_EQ(start_time_of(0x3ffffff), 0u);
}

TEST(AddressTest, NoncesDiffer) { EXPECT_NE(random_nonce(), random_nonce()); }

}  // namespace
}  // namespace ashlar::shm
