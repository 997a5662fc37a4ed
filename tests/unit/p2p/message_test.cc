#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "framework/object/status_fields.h"
#include "framework/plugin/account.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

struct Way {
  const char* name;
  LoopOptions options;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

LoopOptions with(void (*change)(LoopOptions&)) {
  LoopOptions options;
  change(options);
  return options;
}

const Way kWays[] = {
    {"plain", {}},
    {"fragments", with([](LoopOptions& o) { o.get = false; })},
    {"again", with([](LoopOptions& o) {
       o.again = 0.6;
       o.room = 3;
       o.delay = 0.3;
     })},
    {"again_fragments", with([](LoopOptions& o) {
       o.again = 0.6;
       o.room = 3;
       o.get = false;
       o.delay = 0.3;
     })},
    {"get_pending", with([](LoopOptions& o) { o.get_pending = 0.7; })},
    {"get_fails", with([](LoopOptions& o) {
       o.get_fails = 0.5;
       o.get_pending = 0.5;
       o.again = 0.2;
     })},
    {"get_never_works", with([](LoopOptions& o) { o.proves_get_late = true; })},
};

constexpr std::size_t kSizes[] = {0, 1, 7, 8, 39, 40, 41, 63, 64, 65, 1000, 1024, 1025, 5000, 100000};

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 7 + seed * 13 + i / 251) & 0xff);
  return data;
}

class Message : public testing::TestWithParam<Way> {};

TEST_P(Message, ArrivesWholeWhetherExpectedOrNot) {
  World world(2, GetParam().options);
  int tag = 0;
  for (const std::size_t size : kSizes) {
    for (const bool expected : {true, false}) {
      for (const bool synchronous : {true, false}) {
        SCOPED_TRACE(testing::Message() << size << " bytes, expected " << expected << ", synchronous " << synchronous);
        ++tag;
        const auto out = pattern(size, static_cast<unsigned>(tag));
        std::vector<std::byte> in(size + 1, std::byte{0xee});
        Request *send = nullptr, *receive = nullptr;
        const auto post = [&] {
          ASSERT_TRUE(
              p2p::irecv(in.data(), static_cast<MPI_Count>(size), bytes(), 0, tag, world.comm(1), &receive).ok());
        };
        if (expected) post();
        const auto start = synchronous ? p2p::issend : p2p::isend;
        ASSERT_TRUE(start(out.data(), static_cast<MPI_Count>(size), bytes(), 1, tag, world.comm(0), &send).ok());
        if (!expected) {
          for (int i = 0; i < 20; ++i) world.poll();
          EXPECT_TRUE(!synchronous || !send->complete());
          post();
        }
        MPI_Status status;
        EXPECT_TRUE(world.finish(receive, &status).ok());
        EXPECT_TRUE(world.finish(send).ok());
        EXPECT_EQ(status.MPI_SOURCE, 0);
        EXPECT_EQ(status.MPI_TAG, tag);
        EXPECT_EQ(bytes_of(status), static_cast<MPI_Count>(size));
        EXPECT_TRUE(std::equal(out.begin(), out.end(), in.begin()));
        EXPECT_EQ(in[size], std::byte{0xee});
      }
    }
  }
  EXPECT_EQ(world.network().in_flight(), 0u);
  EXPECT_EQ(world[0].others->exposed, world[0].others->unexposed);
}

TEST_P(Message, TooLongIsCutAndSaidSo) {
  World world(2, GetParam().options);
  for (const std::size_t size : kSizes) {
    for (const std::size_t room : {std::size_t{0}, size / 3, size - 1}) {
      if (size == 0) continue;
      SCOPED_TRACE(testing::Message() << size << " bytes into " << room);
      const auto out = pattern(size, 3);
      std::vector<std::byte> in(size, std::byte{0xee});
      Request *send = nullptr, *receive = nullptr;
      ASSERT_TRUE(p2p::isend(out.data(), static_cast<MPI_Count>(size), bytes(), 0, 7, world.comm(1), &send).ok());
      ASSERT_TRUE(p2p::irecv(in.data(), static_cast<MPI_Count>(room), bytes(), 1, 7, world.comm(0), &receive).ok());
      MPI_Status status;
      const Status outcome = world.finish(receive, &status);
      EXPECT_TRUE(world.finish(send).ok());
      EXPECT_EQ(outcome.mpi_class(), MPI_ERR_TRUNCATE);
      char sentence[200];
      std::snprintf(sentence, sizeof sentence,
                    "message of %zu bytes from rank 1 (tag 7) on 'MPI_COMM_WORLD' is longer than the %zu bytes of the "
                    "receive, and was truncated",
                    size, room);
      EXPECT_STREQ(outcome.text(), sentence);
      EXPECT_EQ(bytes_of(status), static_cast<MPI_Count>(room));
      EXPECT_TRUE(std::equal(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(room), out.begin()));
      for (std::size_t i = room; i < size; ++i) ASSERT_EQ(in[i], std::byte{0xee});
    }
  }
}

TEST_P(Message, WithGapsOnEitherSide) {
  World world(2, GetParam().options);
  Datatype* strided = nullptr;
  ASSERT_TRUE(datatype::vector(64, 5, 9, datatype::predefined(MPI_INT), &strided).ok());
  ASSERT_TRUE(datatype::commit(&strided).ok());
  Datatype* wide = nullptr;  // pieces long enough to be read one by one
  ASSERT_TRUE(datatype::vector(3, 4096, 5000, datatype::predefined(MPI_INT), &wide).ok());
  ASSERT_TRUE(datatype::commit(&wide).ok());
  for (Datatype* type : {strided, wide}) {
    for (const bool gaps_at_sender : {true, false}) {
      for (const int count : {1, 3}) {
        SCOPED_TRACE(testing::Message() << "gaps at sender " << gaps_at_sender << ", count " << count);
        const auto items = static_cast<std::size_t>(type->extent() * count) / sizeof(int);
        const MPI_Count packed = type->size() * count;
        std::vector<int> spread(items), dense(static_cast<std::size_t>(packed) / sizeof(int));
        const DataView view{spread.data(), count, type};
        if (gaps_at_sender) {
          std::iota(spread.begin(), spread.end(), 1);
        } else {
          std::iota(dense.begin(), dense.end(), 1);
        }
        Request *send = nullptr, *receive = nullptr;
        if (gaps_at_sender) {
          ASSERT_TRUE(p2p::isend(spread.data(), count, *type, 1, 1, world.comm(0), &send).ok());
          ASSERT_TRUE(p2p::irecv(dense.data(), packed, bytes(), 0, 1, world.comm(1), &receive).ok());
        } else {
          ASSERT_TRUE(p2p::isend(dense.data(), packed, bytes(), 1, 1, world.comm(0), &send).ok());
          ASSERT_TRUE(p2p::irecv(spread.data(), count, *type, 0, 1, world.comm(1), &receive).ok());
        }
        MPI_Status status;
        EXPECT_TRUE(world.finish(receive, &status).ok());
        EXPECT_TRUE(world.finish(send).ok());
        EXPECT_EQ(bytes_of(status), packed);
        std::vector<int> repacked(dense.size());
        datatype::pack(view, 0, repacked.data(), static_cast<std::size_t>(packed));
        EXPECT_EQ(repacked, dense);
      }
    }
  }
  EXPECT_TRUE(datatype::free(&strided).ok());
  EXPECT_TRUE(datatype::free(&wide).ok());
}

TEST_P(Message, ToItself) {
  World world(1, GetParam().options);
  for (const std::size_t size : kSizes) {
    const auto out = pattern(size, 5);
    std::vector<std::byte> in(size);
    Request* send = nullptr;
    ASSERT_TRUE(p2p::isend(out.data(), static_cast<MPI_Count>(size), bytes(), 0, 1, world.comm(0), &send).ok());
    MPI_Status status;
    ASSERT_TRUE(
        p2p::recv(in.data(), static_cast<MPI_Count>(size), bytes(), MPI_ANY_SOURCE, 1, world.comm(0), &status).ok());
    EXPECT_EQ(status.MPI_SOURCE, 0);
    EXPECT_EQ(in, out);
    EXPECT_TRUE(world.finish(send).ok());
  }
}

TEST_P(Message, SendrecvAndReplaceWithItself) {
  World world(1, GetParam().options);
  for (const std::size_t size : kSizes) {
    const auto count = static_cast<MPI_Count>(size);
    const auto out = pattern(size, 9);
    std::vector<std::byte> in(size);
    MPI_Status status;
    ASSERT_TRUE(
        p2p::sendrecv(out.data(), count, bytes(), 0, 4, in.data(), count, bytes(), 0, 4, world.comm(0), &status).ok());
    EXPECT_EQ(in, out);
    EXPECT_EQ(bytes_of(status), count);
    ASSERT_TRUE(p2p::sendrecv_replace(in.data(), count, bytes(), 0, 4, 0, MPI_ANY_TAG, world.comm(0), &status).ok());
    EXPECT_EQ(in, out);
    EXPECT_EQ(status.MPI_TAG, 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Message, testing::ValuesIn(kWays), [](const auto& way) { return way.param.name; });

TEST(Announcing, ComesBeforeTakingWhatOthersSent) {
  // Two processes that exchange large messages would otherwise copy one after the other instead of both at once.
  World world(2);
  const std::vector<std::byte> out(100000);
  std::vector<std::byte> in[2] = {std::vector<std::byte>(100000), std::vector<std::byte>(100000)};
  Request* sends[2] = {};
  Request* receives[2] = {};
  for (int rank : {0, 1}) {
    ASSERT_TRUE(p2p::irecv(in[rank].data(), 100000, bytes(), 1 - rank, 1, world.comm(rank), &receives[rank]).ok());
    ASSERT_TRUE(p2p::isend(out.data(), 100000, bytes(), 1 - rank, 1, world.comm(rank), &sends[rank]).ok());
  }
  EXPECT_EQ(world[1].others->gets, 0u);
  EXPECT_EQ(world.network().in_flight(), 2u);
  for (int rank : {0, 1}) {
    EXPECT_TRUE(world.finish(receives[rank]).ok());
    EXPECT_TRUE(world.finish(sends[rank]).ok());
  }
}

TEST(ProcNull, NothingIsSentAndReceivesAreEmpty) {
  World world(1);
  Comm& comm = world.comm(0);
  int value = 5;
  EXPECT_TRUE(p2p::send(&value, 4, bytes(), MPI_PROC_NULL, 1, comm).ok());
  EXPECT_TRUE(p2p::ssend(&value, 4, bytes(), MPI_PROC_NULL, 1, comm).ok());
  MPI_Status status;
  status.MPI_ERROR = 77;
  const auto is_null = [&] {
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
    EXPECT_EQ(status.MPI_ERROR, 77);
    EXPECT_EQ(bytes_of(status), 0);
  };
  EXPECT_TRUE(p2p::recv(&value, 4, bytes(), MPI_PROC_NULL, 1, comm, &status).ok());
  is_null();
  Request* request = nullptr;
  for (int i = 0; i < 3; ++i) {
    status.MPI_SOURCE = 9;
    ASSERT_TRUE(p2p::irecv(&value, 4, bytes(), MPI_PROC_NULL, 1, comm, &request).ok());
    EXPECT_TRUE(p2p::wait(&request, &status).ok());
    EXPECT_EQ(request, nullptr);
    is_null();
  }
  EXPECT_TRUE(p2p::probe(MPI_PROC_NULL, 3, comm, &status).ok());
  is_null();
  int flag = 0;
  EXPECT_TRUE(p2p::iprobe(MPI_PROC_NULL, 3, comm, &flag, &status).ok());
  EXPECT_EQ(flag, 1);
  ASSERT_TRUE(p2p::isend(&value, 4, bytes(), MPI_PROC_NULL, 1, comm, &request).ok());
  EXPECT_TRUE(p2p::wait(&request, &status).ok());
  ASSERT_TRUE(p2p::recv_init(&value, 4, bytes(), MPI_PROC_NULL, 1, comm, &request).ok());
  ASSERT_TRUE(p2p::start(&request).ok());
  EXPECT_TRUE(p2p::wait(&request, &status).ok());
  is_null();
  ASSERT_TRUE(p2p::request_free(&request).ok());
  EXPECT_EQ(value, 5);
}

TEST(Probe, TellsSizeAndSourceAndLeavesTheMessage) {
  World world(2);
  for (const std::size_t size : {std::size_t{8}, std::size_t{500}, std::size_t{50000}}) {
    const auto out = pattern(size, 1);
    Request* send = nullptr;
    int flag = 1;
    MPI_Status status;
    ASSERT_TRUE(p2p::iprobe(MPI_ANY_SOURCE, 3, world.comm(1), &flag, &status).ok());
    EXPECT_EQ(flag, 0);
    ASSERT_TRUE(p2p::isend(out.data(), static_cast<MPI_Count>(size), bytes(), 1, 3, world.comm(0), &send).ok());
    ASSERT_TRUE(p2p::iprobe(0, 4, world.comm(1), &flag, &status).ok());
    EXPECT_EQ(flag, 0);
    ASSERT_TRUE(p2p::probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world.comm(1), &status).ok());
    EXPECT_EQ(status.MPI_SOURCE, 0);
    EXPECT_EQ(status.MPI_TAG, 3);
    EXPECT_EQ(bytes_of(status), static_cast<MPI_Count>(size));
    ASSERT_TRUE(p2p::iprobe(0, 3, world.comm(1), &flag, &status).ok());
    EXPECT_EQ(flag, 1);
    std::vector<std::byte> in(size);
    Request* receive = nullptr;
    ASSERT_TRUE(p2p::irecv(in.data(), static_cast<MPI_Count>(size), bytes(), 0, 3, world.comm(1), &receive).ok());
    EXPECT_TRUE(world.finish(receive).ok());
    EXPECT_TRUE(world.finish(send).ok());
    EXPECT_EQ(in, out);
  }
}

TEST(Describe, SaysWhatEachOperationWaitsFor) {
  World world(2);
  int in = 0;
  std::vector<std::byte> large(100000);
  Request *receive = nullptr, *any = nullptr, *send = nullptr;
  ASSERT_TRUE(p2p::irecv(&in, 4, bytes(), 1, 7, world.comm(0), &receive).ok());
  ASSERT_TRUE(p2p::irecv(&in, 4, bytes(), MPI_ANY_SOURCE, MPI_ANY_TAG, world.comm(0), &any).ok());
  ASSERT_TRUE(p2p::isend(large.data(), 100000, bytes(), 1, 9, world.comm(0), &send).ok());
  char page[4096];
  plugin::AccountWriter writer(page, sizeof page);
  {
    const LaneGuard guard(world[0].lane.lock);
    p2p::account_for(world[0].lane, writer);
  }
  const plugin::Account account = plugin::Account::parse({page, writer.finish()});
  EXPECT_FALSE(account.waits);
  std::set<std::string> said;
  for (const auto& entry : account.under_way) {
    said.insert(entry.text);
    const bool from_any = entry.text.find("any rank") != std::string::npos;
    EXPECT_EQ(entry.peer, from_any ? plugin::kAnyPeer : 1u) << entry.text;
  }
  EXPECT_EQ(said, (std::set<std::string>{"MPI_Irecv from rank 1 tag 7 on 'MPI_COMM_WORLD'",
                                         "MPI_Irecv from any rank any tag on 'MPI_COMM_WORLD'",
                                         "MPI_Isend of 100000 bytes to rank 1 tag 9 on 'MPI_COMM_WORLD'"}));
}

}  // namespace
}  // namespace ashlar::test
