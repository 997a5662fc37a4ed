// Collective file accesses between hosts among virtual ranks, in the library's own code: what lies in the file in any
// order of messages, and how many messages, bytes and rounds that takes, in closed form.
#include <gtest/gtest.h>
#include <mpi.h>

#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "framework/datatype/api.h"
#include "framework/io/engine.h"
#include "framework/io/far.h"
#include "framework/io/together.h"
#include "framework/param/store.h"
#include "framework/plugin/registry.h"
#include "tests/sim/extent.h"
#include "tests/sim/world.h"

namespace ashlar::io {

// The library's own hands transfers to a thread: here each is over at once. (far.cc is linked into this program.)
void submit(coll::Op&, Together& access, MoveJob::Work work, std::uint64_t round, Gate&) {
  access.job.work = work;
  access.job.round = round;
  access.job.run();
}

}  // namespace ashlar::io
namespace ashlar::sim {
namespace {

using coll::Co;
using coll::Op;

/// A file in memory, which all ranks reach.
std::vector<std::byte> disk;
std::uint64_t room = 0;  // bytes that it has place for; 0: any

ashlar_result read_disk(ashlar_io_file*, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  *done = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t at = pieces[i].offset;
    const std::uint64_t there = at >= disk.size() ? 0 : std::min<std::uint64_t>(pieces[i].length, disk.size() - at);
    if (there > 0) std::memcpy(pieces[i].memory, disk.data() + at, there);
    *done += there;
    if (there < pieces[i].length) break;
  }
  return ASHLAR_OK;
}

ashlar_result write_disk(ashlar_io_file*, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  *done = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t end = pieces[i].offset + pieces[i].length;
    if (room > 0 && end > room) return -MPI_ERR_NO_SPACE;
    if (end > disk.size()) disk.resize(end);
    std::memcpy(disk.data() + pieces[i].offset, pieces[i].memory, pieces[i].length);
    *done += pieces[i].length;
  }
  return ASHLAR_OK;
}

constexpr ashlar_io_file_ops kOps = {.size = sizeof(ashlar_io_file_ops),
                                     .close = nullptr,
                                     .read = read_disk,
                                     .write = write_disk,
                                     .stat = nullptr,
                                     .truncate = nullptr,
                                     .allocate = nullptr,
                                     .sync = nullptr,
                                     .refresh = nullptr,
                                     .lock = nullptr,
                                     .unlock = nullptr,
                                     .descriptor = nullptr,
                                     .share = nullptr,
                                     .map = nullptr,
                                     .unmap = nullptr};

constexpr std::uint64_t kPiece = 64, kWindow = 64 * 1024;

std::byte value_of(Rank rank, std::uint64_t byte) {
  return static_cast<std::byte>(static_cast<std::uint64_t>(rank) * 31 + byte * 7 + byte / 251 + 1);
}

std::vector<io::Together*> accesses;
Co run(Op& op, const coll::Call&) { return io::run_far(op, *accesses[static_cast<std::size_t>(op.rank())]); }
constexpr coll::Algorithm kAlgorithm = {coll::Collective::kBarrier, "file", "io", "a collective file access", run};

/// What one rank has: pieces of kPiece bytes in turn of the ranks, on `nodes` hosts.
struct Process {
  Process(Rank rank, int ranks, int nodes, Lane& lane, io::Meter& meter, std::uint64_t bytes) : data(bytes) {
    comm.rank = rank;
    comm.size = comm.remote_size = ranks;
    comm.lane = &lane;
    file.comm = &comm;
    file.path = "simulated";
    file.amode = MPI_MODE_RDWR;
    file.bytes = &head;
    file.meter = &meter;
    file.node = static_cast<std::uint32_t>(static_cast<std::int64_t>(rank) * nodes / ranks);
    file.hints = {.sieve_read_bytes = kWindow,
                  .sieve_write_bytes = kWindow,
                  .window_bytes = kWindow,
                  .reads_together = io::Switch::kOn,
                  .writes_together = io::Switch::kOn};
    Datatype &byte = datatype::predefined(MPI_BYTE), *piece = nullptr, *tile = nullptr;
    EXPECT_TRUE(datatype::contiguous_c(static_cast<MPI_Count>(kPiece), byte, &piece).ok());
    EXPECT_TRUE(datatype::create_resized_c(*piece, 0, static_cast<MPI_Count>(kPiece) * ranks, &tile).ok());
    EXPECT_TRUE(datatype::commit(&tile).ok());
    EXPECT_TRUE(io::make_view(static_cast<MPI_Offset>(kPiece) * rank, byte, *tile, "native", true, &file.view).ok());
    EXPECT_TRUE(datatype::free(&piece).ok());
    EXPECT_TRUE(datatype::free(&tile).ok());
  }
  void begin(bool writes) {
    for (std::uint64_t i = 0; i < data.size(); ++i) data[i] = writes ? value_of(comm.rank, i) : std::byte{};
    access.emplace("a test", io::Transfer{.file = file,
                                          .writes = writes,
                                          .at = 0,
                                          .buffer = DataView::of(data.data(), static_cast<MPI_Count>(data.size()),
                                                                 datatype::predefined(MPI_BYTE))});
    access->number = ++file.together_begun;
  }

  Comm comm;
  ashlar_io_file head = {&kOps, ASHLAR_IO_SEEKABLE | ASHLAR_IO_COHERENT | ASHLAR_IO_NODE_COHERENT};
  io::OpenFile file;
  std::vector<std::byte> data;
  std::optional<io::Together> access;
};

class FarFiles : public testing::Test {
 protected:
  FarFiles() : registry_(&store_), engine_(registry_, {}) { datatype::register_predefined(); }

  /// One access of all ranks; its costs are the world's.
  std::unique_ptr<World> access(int ranks, int nodes, std::uint64_t bytes, bool writes, std::uint64_t seed) {
    auto world = std::make_unique<World>(ranks, seed, World::Options{.shuffle = seed != 0, .block_bytes = 16384});
    std::vector<std::unique_ptr<Process>> processes;
    accesses.clear();
    for (Rank rank = 0; rank < ranks; ++rank) {
      processes.push_back(std::make_unique<Process>(rank, ranks, nodes, lane_, meter_, bytes));
      processes.back()->begin(writes);
      accesses.push_back(&*processes.back()->access);
    }
    EXPECT_TRUE(world->run(kAlgorithm, [](Rank) { return coll::Call{}; })) << world->stuck();
    outcomes_.clear();
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Process& one = *processes[static_cast<std::size_t>(rank)];
      EXPECT_EQ(one.access->plan.way, io::Way::kTwoPhase);
      windows_ =
          (one.access->plan.end - one.access->plan.first + one.access->plan.window - 1) / one.access->plan.window;
      window_ = one.access->plan.window;
      rounds_ = one.access->plan.rounds;
      aggregators_ = one.access->plan.aggregators;
      outcomes_.push_back(world->outcome(rank).mpi_class());
      if (outcomes_.back() != MPI_SUCCESS) continue;
      EXPECT_EQ(one.access->bytes_moved(), static_cast<MPI_Count>(bytes));
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < bytes && !writes; ++i) wrong += one.data[i] != value_of(rank, i) ? 1 : 0;
      EXPECT_EQ(wrong, 0u) << "rank " << rank;
    }
    return world;
  }

  static std::uint64_t wrong_on_disk(int ranks, std::uint64_t bytes) {
    std::uint64_t wrong = disk.size() == bytes * static_cast<std::uint64_t>(ranks) ? 0 : 1;
    for (std::uint64_t at = 0; at < disk.size(); ++at) {
      const auto rank = static_cast<Rank>(at / kPiece % static_cast<std::uint64_t>(ranks));
      const std::uint64_t byte = at / kPiece / static_cast<std::uint64_t>(ranks) * kPiece + at % kPiece;
      wrong += disk[at] != value_of(rank, byte) ? 1 : 0;
    }
    return wrong;
  }

  param::Store store_;
  plugin::Registry registry_;
  io::Engine engine_;
  PeerTable peers_{{}, 1, 1};
  Lane lane_{0, peers_, progress::Config{}};
  io::Meter meter_;
  std::vector<int> outcomes_;
  std::uint64_t windows_ = 0, window_ = 0, rounds_ = 0, aggregators_ = 0;
};

// Facts, room for windows, and outcomes: each is known to all after log2(ranks) messages of each rank.
// A window costs the processes that lie in it a head and the rest of a message, and those of a read one answer.
TEST_F(FarFiles, MessagesAndRoundsInClosedForm) {
  for (const int ranks : {2, 3, 4, 8, 16, at_scale(64)}) {
    for (const int nodes : {1, 2, 4}) {
      if (nodes > ranks) continue;
      const auto p = static_cast<std::uint64_t>(ranks);
      const auto steps = static_cast<std::uint64_t>(std::bit_width(p - 1));
      const std::uint64_t bytes = 4 * kWindow;  // of each rank
      for (const bool writes : {true, false}) {
        if (writes) disk.clear();
        const auto world = access(ranks, nodes, bytes, writes, 0);
        SCOPED_TRACE(testing::Message() << ranks << " ranks on " << nodes << " hosts, " << (writes ? "write" : "read"));
        EXPECT_EQ(aggregators_, static_cast<std::uint64_t>(nodes));
        EXPECT_EQ(windows_ * window_, bytes * p);
        EXPECT_EQ(world->messages(), 3 * p * steps + (writes ? 2 : 3) * (p - 1) * windows_);
        EXPECT_EQ(static_cast<std::uint64_t>(world->rounds()), 3 * steps + (writes ? 1 : 2) * rounds_);
        EXPECT_EQ(wrong_on_disk(ranks, bytes), 0u);
      }
    }
  }
}

// Regular pieces of a process in a window are sent as 16 bytes and their data, whatever their number, never as a list.
TEST_F(FarFiles, BytesInClosedForm) {
  for (const int ranks : {2, 4, 16}) {
    const auto p = static_cast<std::uint64_t>(ranks);
    const std::uint64_t bytes = 4 * kWindow;
    disk.clear();
    const auto world = access(ranks, 2, bytes, true, 0);
    const std::uint64_t told = p * (p - 1) * (sizeof(io::Far::Told) + 2 * sizeof(std::int32_t));
    const std::uint64_t heads = windows_ * (p - 1) * (sizeof(io::Parcel::Head) + sizeof(io::Row));
    EXPECT_EQ(world->bytes(), told + heads + bytes * (p - 1)) << ranks << " ranks";
  }
}

TEST_F(FarFiles, AnyOrderOfMessages) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 11), nodes = 1 + static_cast<int>(seed % 3);
    const std::uint64_t bytes = kWindow * (1 + seed % 3) + kPiece * (seed % 5);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    disk.clear();
    access(ranks, std::min(nodes, ranks), bytes, true, seed);
    EXPECT_EQ(wrong_on_disk(ranks, bytes), 0u);
    access(ranks, std::min(nodes, ranks), bytes, false, seed + 1000);
  }
}

// Nobody leaves the rounds, and all get the class of the failure.
TEST_F(FarFiles, AFullDiskIsAFailureOfAll) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    disk.clear();
    room = 3 * kWindow;
    access(5, 2, 4 * kWindow, true, seed);
    room = 0;
    for (const int outcome : outcomes_) EXPECT_EQ(outcome, MPI_ERR_NO_SPACE) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ashlar::sim
