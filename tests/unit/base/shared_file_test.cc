#include "framework/base/shared_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdint>
#include <set>

#include "tests/unit/forbid.h"

namespace ashlar {
namespace {

class SharedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    char why[400] = "";
    fd_ = make_shared_file("ashlar-test", true, why, sizeof why);
    ASSERT_GE(fd_, 0) << why;
    ASSERT_EQ(size_shared_file(fd_, 1 << 20), 0);
  }
  void TearDown() override { close(fd_); }
  std::uint64_t memory() const {
    struct stat info = {};
    fstat(fd_, &info);
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  int fd_ = -1;
};

TEST_F(SharedFileTest, ClaimsGiveMemoryAndKeepWhatIsThere) {
  ASSERT_EQ(pwrite(fd_, "text", 4, 70'000), 4);
  EXPECT_EQ(memory(), 4096u);
  EXPECT_EQ(claim_shared_file(fd_, 65536, 65536), 0);
  EXPECT_EQ(memory(), 65536u);
  char text[4];
  ASSERT_EQ(pread(fd_, text, 4, 70'000), 4);
  EXPECT_EQ(std::memcmp(text, "text", 4), 0);
}

TEST_F(SharedFileTest, AFilterIsNoLackOfMemory) {
  EXPECT_EQ(claim_shared_file(-1, 0, 4096), EBADF);
  EXPECT_FALSE(cannot_claim(EBADF));
  EXPECT_FALSE(cannot_claim(ENOSPC));
  const pid_t child = fork();
  if (child == 0) _exit(test::forbid(SYS_fallocate) && !cannot_claim(claim_shared_file(fd_, 0, 4096)) ? 1 : 0);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(SharedFileTest, OpensTheFileOfAnotherProcess) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    const int number = fd_;
    struct stat own = {}, opened = {};
    fstat(number, &own);
    close(number);
    const int again = open_shared_file_of(parent, number);
    const bool closed_on_exec = (fcntl(again, F_GETFD) & FD_CLOEXEC) != 0;
    _exit(fstat(again, &opened) == 0 && own.st_ino == opened.st_ino && closed_on_exec ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(open_shared_file_of(parent, 1'000'000), -1);
  EXPECT_EQ(errno, ENOENT);
}

// Also where a filter takes the system's random numbers away.
TEST(NonceTest, NoncesDiffer) {
  const auto differ = [] {
    std::set<std::uint64_t> seen{0};
    for (int i = 0; i < 1000; ++i)
      if (!seen.insert(random_nonce()).second) return false;
    return true;
  };
  EXPECT_TRUE(differ());
  const pid_t child = fork();
  if (child == 0) _exit(test::forbid(SYS_getrandom, ENOSYS) && !differ() ? 1 : 0);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ashlar
