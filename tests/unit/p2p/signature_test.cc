// check.datatypes: type signatures are compared at the receiver.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "framework/datatype/api.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

using datatype::predefined;

struct Way {
  const char* name;
  LoopOptions options;
};

LoopOptions with(void (*change)(LoopOptions&)) {
  LoopOptions options;
  change(options);
  return options;
}

const Way kWays[] = {
    {"plain", {}}, {"fragments", with([](LoopOptions& o) { o.get = false; })}, {"again", with([](LoopOptions& o) {
                                                                                  o.again = 0.6;
                                                                                  o.room = 3;
                                                                                  o.delay = 0.3;
                                                                                })}};

class Signatures : public testing::TestWithParam<Way> {
 protected:
  Signatures() : world_(2, GetParam().options, config()) {}
  static p2p::Config config() {
    p2p::Config c;
    c.check_datatypes = true;
    return c;
  }

  // One message; `early`: it arrives before its receive. Returns the receive's outcome.
  Status exchange(Datatype& sent, MPI_Count count, Datatype& wanted, MPI_Count room, bool early, bool synchronous) {
    std::vector<std::byte> out(static_cast<std::size_t>(count * sent.extent()) + 1, std::byte{5});
    std::vector<std::byte> in(static_cast<std::size_t>(room * wanted.extent()) + 1, std::byte{9});
    Request *send = nullptr, *receive = nullptr;
    const auto start_receive = [&] {
      EXPECT_TRUE(p2p::irecv(in.data(), room, wanted, 0, 7, world_.comm(1), &receive).ok());
    };
    if (!early) start_receive();
    const auto post = synchronous ? p2p::issend : p2p::isend;
    EXPECT_TRUE(post(out.data(), count, sent, 1, 7, world_.comm(0), &send).ok());
    if (early) {
      for (int i = 0; i < 50; ++i) world_.poll();
      start_receive();
    }
    const Status outcome = world_.finish(receive);
    EXPECT_TRUE(world_.finish(send).ok());
    if (outcome.mpi_class() == MPI_ERR_TYPE) {
      EXPECT_EQ(in[0], std::byte{9}) << "nothing is received";
    }
    return outcome;
  }

  World world_;
};

TEST_P(Signatures, EqualOnesPassAndOthersAreNamed) {
  Datatype *mixed = nullptr, *vector = nullptr;
  const int lengths[] = {1, 3};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  ASSERT_TRUE(datatype::create_struct(2, IntArray(lengths), IntArray(places), types, &mixed).ok());
  ASSERT_TRUE(datatype::commit(&mixed).ok());
  ASSERT_TRUE(datatype::vector(10, 1, 3, predefined(MPI_INT), &vector).ok());
  ASSERT_TRUE(datatype::commit(&vector).ok());

  for (const bool early : {false, true}) {
    for (const bool synchronous : {false, true}) {
      for (const MPI_Count n : {1, 20, 3000}) {
        SCOPED_TRACE(std::to_string(n) + (early ? " early" : "") + (synchronous ? " synchronous" : ""));
        EXPECT_TRUE(exchange(predefined(MPI_INT), 10 * n, *vector, n, early, synchronous).ok());
        EXPECT_TRUE(exchange(*vector, n, predefined(MPI_INT), 10 * n + 5, early, synchronous).ok());
        EXPECT_TRUE(exchange(*mixed, n, *mixed, n, early, synchronous).ok());
        EXPECT_TRUE(exchange(*mixed, n, predefined(MPI_PACKED), 20 * n, early, synchronous).ok());
        EXPECT_TRUE(exchange(predefined(MPI_PACKED), 20 * n, *mixed, n, early, synchronous).ok());

        const Status wrong = exchange(predefined(MPI_FLOAT), 10 * n, predefined(MPI_INT), 10 * n, early, synchronous);
        EXPECT_EQ(wrong.mpi_class(), MPI_ERR_TYPE);
        const std::string count = std::to_string(10 * n);
        EXPECT_NE(std::string(wrong.text()).find("sent " + count + " x MPI_FLOAT"), std::string::npos) << wrong.text();
        EXPECT_NE(std::string(wrong.text()).find("receives " + count + " x MPI_INT"), std::string::npos)
            << wrong.text();
        EXPECT_EQ(exchange(*mixed, n, predefined(MPI_INT), 20 * n, early, synchronous).mpi_class(), MPI_ERR_TYPE);
        // A message that is too long fails as such.
        EXPECT_EQ(exchange(predefined(MPI_INT), 10 * n, *vector, n - 1, early, synchronous).mpi_class(),
                  MPI_ERR_TRUNCATE);
      }
    }
  }
  ASSERT_TRUE(datatype::free(&mixed).ok());
  ASSERT_TRUE(datatype::free(&vector).ok());
}

TEST_P(Signatures, ToItself) {
  int out = 3;
  float in = 0;
  Request *send = nullptr, *receive = nullptr;
  ASSERT_TRUE(p2p::isend(&out, 1, predefined(MPI_INT), 0, 1, world_.comm(0), &send).ok());
  ASSERT_TRUE(p2p::irecv(&in, 1, predefined(MPI_FLOAT), 0, 1, world_.comm(0), &receive).ok());
  EXPECT_EQ(world_.finish(receive).mpi_class(), MPI_ERR_TYPE);
  EXPECT_TRUE(world_.finish(send).ok());
}

INSTANTIATE_TEST_SUITE_P(Ways, Signatures, testing::ValuesIn(kWays),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace ashlar::test
