// Components of io: pieces of every size and in every order, the end of a file, pipes, signals, threads, processes.
#include <gtest/gtest.h>
#include <mpi.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include "tests/conformance/io/component.h"

namespace ashlar::test {
namespace {

class Pieces : public IoTest {
 protected:
  std::mt19937 random_{7};
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  /// Pieces that ascend, some adjacent and some empty.
  std::vector<ashlar_io_piece> pieces(std::size_t count, std::uint64_t gaps, std::string* memory) {
    std::vector<ashlar_io_piece> out(count);
    std::uint64_t at = below(100), bytes = 0;
    for (ashlar_io_piece& piece : out) {
      at += below(3) == 0 ? 0 : below(gaps);
      piece = {.offset = at, .length = below(10) == 0 ? 0 : below(60), .memory = nullptr};
      at += piece.length;
      bytes += piece.length;
    }
    memory->resize(bytes);
    std::size_t used = 0;
    for (ashlar_io_piece& piece : out) {
      piece.memory = memory->data() + used;
      used += piece.length;
    }
    return out;
  }
};

TEST_P(Pieces, OfEverySizeAreWrittenAndRead) {
  ashlar_io_file* const file = make();
  std::string model;
  for (const std::size_t count : {1u, 2u, 17u, 1024u, 3000u}) {
    std::string memory;
    const std::vector<ashlar_io_piece> all = pieces(count, 200, &memory);
    for (char& c : memory) c = static_cast<char>(below(256));
    std::uint64_t done = 0;
    ASSERT_EQ(file->ops->write(file, all.data(), static_cast<std::uint32_t>(count), &done), ASHLAR_OK);
    EXPECT_EQ(done, memory.size());
    for (const ashlar_io_piece& piece : all) {
      if (piece.length == 0) continue;
      model.resize(std::max<std::size_t>(model.size(), piece.offset + piece.length), '\0');
      model.replace(piece.offset, piece.length, static_cast<const char*>(piece.memory), piece.length);
    }
    ASSERT_EQ(read(file, 0, model.size() + 10), model) << count << " pieces";
    const std::string wanted = memory;
    std::fill(memory.begin(), memory.end(), '?');
    ASSERT_EQ(file->ops->read(file, all.data(), static_cast<std::uint32_t>(count), &done), ASHLAR_OK);
    EXPECT_EQ(done, memory.size());
    EXPECT_EQ(memory, wanted);
  }
}

TEST_P(Pieces, EndWhereTheFileEnds) {
  ashlar_io_file* const file = make();
  ASSERT_EQ(write(file, 0, "0123456789"), ASHLAR_OK);
  EXPECT_EQ(read(file, 10, 5), "");
  EXPECT_EQ(read(file, 8, 5), "89");
  EXPECT_EQ(read(file, std::uint64_t{1} << 40, 5), "");
  char memory[12] = "???????????";
  const ashlar_io_piece all[] = {{.offset = 2, .length = 3, .memory = memory},
                                 {.offset = 7, .length = 6, .memory = memory + 3},
                                 {.offset = 20, .length = 2, .memory = memory + 9}};
  std::uint64_t done = 99;
  ASSERT_EQ(file->ops->read(file, all, 3, &done), ASHLAR_OK);
  EXPECT_EQ(done, 6u);
  EXPECT_EQ(std::string(memory, 6), "234789");
  ASSERT_EQ(file->ops->read(file, all, 0, &done), ASHLAR_OK);
  EXPECT_EQ(done, 0u);
}

TEST_P(Pieces, EndInTheMiddleOfMany) {
  constexpr std::uint64_t kCount = 300, kBytes = 10, kApart = 50, kWhole = 170, kPart = 4;
  ashlar_io_file* const file = make();
  std::string memory(kCount * kBytes, ' ');
  std::vector<ashlar_io_piece> all(kCount);
  for (std::uint64_t i = 0; i < kCount; ++i)
    all[i] = {.offset = i * kApart, .length = kBytes, .memory = memory.data() + i * kBytes};
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>('a' + i % 23);
  const std::string written = memory;
  std::uint64_t done = 0;
  ASSERT_EQ(file->ops->write(file, all.data(), kCount, &done), ASHLAR_OK);
  EXPECT_EQ(done, memory.size());
  ASSERT_EQ(file->ops->truncate(file, kWhole * kApart + kPart), ASHLAR_OK);
  std::fill(memory.begin(), memory.end(), '?');
  ASSERT_EQ(file->ops->read(file, all.data(), kCount, &done), ASHLAR_OK);
  EXPECT_EQ(done, kWhole * kBytes + kPart);
  EXPECT_EQ(memory.substr(0, done), written.substr(0, done));
  EXPECT_EQ(memory.substr(done), std::string(memory.size() - done, '?'));
}

TEST_P(Pieces, LieFarApart) {
  constexpr std::uint64_t kFar = std::uint64_t{5} << 30;
  ashlar_io_file* const file = make();
  const ashlar_result written = write(file, kFar, "far");
  if (written != ASHLAR_OK) GTEST_SKIP() << "the file system has no files of 5 GiB";
  ASSERT_EQ(write(file, 3, "near"), ASHLAR_OK);
  EXPECT_EQ(size_of(file), kFar + 3);
  EXPECT_EQ(read(file, kFar - 2, 10), std::string("\0\0far", 5));
  EXPECT_EQ(read(file, 2, 6), std::string("\0near\0", 6));
  ASSERT_EQ(file->ops->truncate(file, 0), ASHLAR_OK);
}

TEST_P(Pieces, BehindTheLargestOffsetAreRefused) {
  ashlar_io_file* const file = make();
  EXPECT_NE(write(file, std::uint64_t{INT64_MAX} - 1, "12345"), ASHLAR_OK);
  EXPECT_EQ(size_of(file), 0u);
}

TEST_P(Pieces, OfThreadsGoSideBySide) {
  constexpr unsigned kThreads = 4, kTimes = 200, kBytes = 40;
  ashlar_io_file* const file = make();
  std::vector<std::thread> threads;
  for (unsigned me = 0; me < kThreads; ++me) {
    threads.emplace_back([&, me] {
      for (unsigned time = 0; time < kTimes; ++time) {
        const std::uint64_t at = std::uint64_t{time * kThreads + me} * kBytes;
        const std::string mine(kBytes, static_cast<char>('a' + (time + me) % 26));
        EXPECT_EQ(write(file, at, mine), ASHLAR_OK);
        EXPECT_EQ(read(file, at, kBytes), mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string all = read(file, 0, std::uint64_t{kThreads} * kTimes * kBytes);
  ASSERT_EQ(all.size(), std::size_t{kThreads} * kTimes * kBytes);
  for (unsigned block = 0; block < kThreads * kTimes; ++block) {
    const char wanted = static_cast<char>('a' + (block / kThreads + block % kThreads) % 26);
    EXPECT_EQ(all.substr(block * kBytes, kBytes), std::string(kBytes, wanted)) << block;
  }
}

// Each process reads what the other one has written before its sync, and loses nothing of its own beside it.
TEST_P(Pieces, OfProcessesMeetAfterSync) {
  ashlar_io_file* const file = make();
  ASSERT_EQ(write(file, 0, "................"), ASHLAR_OK);
  settle(file);
  const pid_t child = fork();
  if (child == 0) {
    ashlar_io_file* theirs = nullptr;
    bool right = open(path_, kReadWrite, &theirs) == ASHLAR_OK;
    for (std::uint64_t at = 1; right && at < 16; at += 2) right = write(theirs, at, "b") == ASHLAR_OK;
    right = right && theirs->ops->sync(theirs) == ASHLAR_OK;
    _exit(right ? 0 : 1);
  }
  EXPECT_EQ(read(file, 0, 1), ".");  // what a process has read it may keep
  for (std::uint64_t at = 0; at < 16; at += 2) ASSERT_EQ(write(file, at, "a"), ASHLAR_OK);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  if ((file->capabilities & ASHLAR_IO_NODE_COHERENT) == 0) settle(file);
  EXPECT_EQ(read(file, 0, 20), "abababababababab");
}

TEST_P(Pieces, OfAPipeHaveNoOffsets) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  ashlar_io_file* from = nullptr;
  std::string got;
  std::thread reader([&] {
    const ashlar_io_open wanted = {
        .size = sizeof wanted, .path = path_.c_str(), .mode = ASHLAR_IO_READ, .permissions = 0};
    ASSERT_EQ(driver_->ops->open(driver_, &wanted, &from), ASHLAR_OK);
    got = read(from, 0, 300'000);       // as much as there is room for
    got += read(from, 12345, 300'000);  // until all writers have closed it
  });
  ashlar_io_file* to = nullptr;
  const ashlar_io_open wanted = {
      .size = sizeof wanted, .path = path_.c_str(), .mode = ASHLAR_IO_WRITE, .permissions = 0};
  ASSERT_EQ(driver_->ops->open(driver_, &wanted, &to), ASHLAR_OK);
  EXPECT_EQ(to->capabilities & ASHLAR_IO_SEEKABLE, 0u);
  std::string sent;
  for (int i = 0; i < 500'000; ++i) sent += static_cast<char>('a' + i % 26);
  EXPECT_EQ(write(to, 0, sent.substr(0, 200'000)), ASHLAR_OK);
  EXPECT_EQ(write(to, 0, sent.substr(200'000)), ASHLAR_OK);
  EXPECT_EQ(to->ops->close(to), ASHLAR_OK);
  reader.join();
  EXPECT_TRUE(got == sent) << got.size() << " bytes of " << sent.size();
  EXPECT_EQ(from->ops->close(from), ASHLAR_OK);
}

// A pipe moves less than it is asked for, and every move may be interrupted.
TEST_P(Pieces, AreWholeWhateverInterruptsThem) {
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often = {.it_interval = {.tv_sec = 0, .tv_usec = 200}, .it_value = {.tv_sec = 0, .tv_usec = 200}};
  const itimerval never = {};
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const std::string sent(3'000'000, 's');
  const pid_t child = fork();
  if (child == 0) {
    ashlar_io_file* to = nullptr;
    const bool right = open(path_, ASHLAR_IO_WRITE, &to) == ASHLAR_OK && write(to, 0, sent) == ASHLAR_OK;
    _exit(right ? 0 : 1);
  }
  ashlar_io_file* from = nullptr;
  ASSERT_EQ(open(path_, ASHLAR_IO_READ, &from), ASHLAR_OK);
  setitimer(ITIMER_REAL, &often, nullptr);
  const std::string got = read(from, 0, sent.size());
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(got == sent) << got.size() << " bytes of " << sent.size();
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// `holder` has [100, 150): a lock of `waiting` that meets it comes when that is given up, and not by `before`.
void waits_for(ashlar_io_file* holder, ashlar_io_file* waiting, const std::function<void()>& before = {}) {
  std::atomic<bool> given_up{false};
  std::thread waiter([&] {
    EXPECT_EQ(waiting->ops->lock(waiting, 140, 20), ASHLAR_OK);
    EXPECT_TRUE(given_up.load());
    waiting->ops->unlock(waiting, 140, 20);
  });
  if (before) before();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  given_up = true;
  holder->ops->unlock(holder, 100, 50);
  waiter.join();
}

// The range that one holds another one gets when it is given up.
TEST_P(Pieces, AreHeldAgainstOthers) {
  ashlar_io_file* const file = make();
  ashlar_io_file* other = nullptr;
  if (!ASHLAR_HAS(file->ops, unlock) || file->ops->lock == nullptr) GTEST_SKIP() << "it has no locks";
  ASSERT_EQ(open(path_, kReadWrite, &other), ASHLAR_OK);
  if (file->ops->lock(file, 100, 50) == ASHLAR_AGAIN) GTEST_SKIP() << "the file system has no locks";
  ASSERT_EQ(other->ops->lock(other, 150, 10), ASHLAR_OK);
  other->ops->unlock(other, 150, 10);
  waits_for(file, other);
}

// Who only reads is kept from a range that is written.
TEST_P(Pieces, AreHeldByReaders) {
  ashlar_io_file* const file = make();
  ashlar_io_file* reader = nullptr;
  if (!ASHLAR_HAS(file->ops, unlock) || file->ops->lock == nullptr) GTEST_SKIP() << "it has no locks";
  ASSERT_EQ(open(path_, ASHLAR_IO_READ, &reader), ASHLAR_OK);
  if (file->ops->lock(file, 100, 50) == ASHLAR_AGAIN) GTEST_SKIP() << "the file system has no locks";
  waits_for(file, reader);
}

// Who shares a range keeps out those that exclude others, and no one who shares it, too.
TEST_P(Pieces, AreShared) {
  ashlar_io_file* const file = make();
  ashlar_io_file *other = nullptr, *writer = nullptr;
  if (!ASHLAR_HAS(file->ops, share) || file->ops->share == nullptr) GTEST_SKIP() << "it has no shared locks";
  if (file->ops->share(file, 100, 50) == ASHLAR_AGAIN) GTEST_SKIP() << "the file system has no locks";
  ASSERT_EQ(open(path_, ASHLAR_IO_READ | ASHLAR_IO_WRITE, &other), ASHLAR_OK);
  ASSERT_EQ(open(path_, ASHLAR_IO_READ | ASHLAR_IO_WRITE, &writer), ASHLAR_OK);
  EXPECT_EQ(other->ops->share(other, 120, 50), ASHLAR_OK);
  waits_for(file, writer, [&] { other->ops->unlock(other, 120, 50); });
}

// A mapping and transfers show the same bytes, and neither changes any beside its own.
TEST_P(Pieces, AreThoseOfAMapping) {
  constexpr std::uint64_t kUnit = std::uint64_t{1} << 20;
  ashlar_io_file* const file = make();
  void* memory = nullptr;
  if (!ASHLAR_HAS(file->ops, unmap) || file->ops->map == nullptr) GTEST_SKIP() << "it maps no files";
  ASSERT_EQ(write(file, kUnit, "0123456789"), ASHLAR_OK);
  const ashlar_result mapped = file->ops->map(file, kUnit, 2 * kUnit, &memory);
  if (mapped == ASHLAR_AGAIN) GTEST_SKIP() << "the file system is not one whose files are mapped";
  ASSERT_EQ(mapped, ASHLAR_OK);
  auto* const bytes = static_cast<char*>(memory);
  EXPECT_EQ(std::string(bytes, 10), "0123456789");
  bytes[4] = 'x';
  EXPECT_EQ(read(file, kUnit, 10), "0123x56789");
  ASSERT_EQ(write(file, kUnit + 5, "yz"), ASHLAR_OK);
  ASSERT_EQ(write(file, 2 * kUnit, "longer"), ASHLAR_OK);
  EXPECT_EQ(std::string(bytes, 10), "0123xyz789");
  EXPECT_EQ(std::string(bytes + kUnit, 6), "longer");
  file->ops->unmap(file, memory, 2 * kUnit);
  EXPECT_EQ(read(file, kUnit, 10), "0123xyz789");
}

INSTANTIATE_TEST_SUITE_P(Installed, Pieces, testing::ValuesIn(io_components()));

}  // namespace
}  // namespace ashlar::test
