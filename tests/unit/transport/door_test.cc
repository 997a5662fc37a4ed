#include "components/transport/shm/door.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>

#include "components/transport/shm/address.h"
#include "framework/base/shared_file.h"

namespace ashlar::shm {
namespace {

constexpr std::uint64_t kCookie = 0x1234;

int open_descriptors() {
  int count = 0;
  DIR* const list = opendir("/proc/self/fd");
  while (readdir(list) != nullptr) ++count;
  closedir(list);
  return count;
}

/// Connects, and says nothing.
Descriptor stranger(std::uint64_t nonce) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  const int n = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "ashlar-%016" PRIx64, nonce);
  Descriptor s(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  if (connect(s.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0) s.reset();
  return s;
}

bool passes_a_descriptor(Door& door, std::uint64_t nonce, std::uint64_t cookie) {
  DescriptorRequest request;
  if (request.begin(nonce, cookie) != 0) return false;
  Descriptor got;
  for (int i = 0; i < 300; ++i) {
    door.serve(STDIN_FILENO);
    const int error = request.take(&got);
    if (error == 0) break;
    if (error != EAGAIN) return false;
    usleep(10'000);
  }
  struct stat there, here;
  return got && fstat(got.get(), &there) == 0 && fstat(STDIN_FILENO, &here) == 0 && there.st_ino == here.st_ino;
}

TEST(DoorTest, PassesTheDescriptorToThoseWhoKnowTheCookie) {
  const std::uint64_t nonce = random_nonce();
  Counters counted;
  Door door;
  door.open(nonce, kCookie, 4, counted);
  EXPECT_TRUE(passes_a_descriptor(door, nonce, kCookie));
  EXPECT_FALSE(passes_a_descriptor(door, nonce, kCookie + 1));
  EXPECT_FALSE(passes_a_descriptor(door, nonce + 1, kCookie));
  EXPECT_TRUE(passes_a_descriptor(door, nonce, kCookie));
  EXPECT_EQ(counted.passed, 2u);
  EXPECT_EQ(counted.turned_away, 1u);
  EXPECT_EQ(counted.clients, 0u);
  EXPECT_EQ(counted.clients_most, 1u);
}

TEST(DoorTest, ConnectionsThatAreOpenAtItsEndCountNoMore) {
  const std::uint64_t nonce = random_nonce();
  Counters counted;
  const Descriptor silent = [&] {
    Door door;
    door.open(nonce, kCookie, 4, counted);
    Descriptor s = stranger(nonce);
    door.serve(STDIN_FILENO);
    EXPECT_EQ(counted.clients, 1u);
    return s;
  }();
  EXPECT_EQ(counted.clients, 0u);
}

TEST(DoorTest, SilentConnectionsAreBoundedAndClosed) {
  const std::uint64_t nonce = random_nonce();
  Counters counted;
  Door door;
  door.open(nonce, kCookie, 4, counted);
  std::vector<Descriptor> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(stranger(nonce));
  const int before = open_descriptors();
  for (int i = 0; i < 10; ++i) door.serve(STDIN_FILENO);
  EXPECT_LE(open_descriptors(), before + 4);
  EXPECT_EQ(counted.clients, 4u);
  EXPECT_EQ(counted.clients_most, 4u);
  silent.resize(8);  // the others have hung up
  EXPECT_TRUE(passes_a_descriptor(door, nonce, kCookie)) << "it comes to its turn when the silent ones have had theirs";
}

TEST(DoorTest, RequestsOfAnotherSizeAreNoRequests) {
  const std::uint64_t nonce = random_nonce();
  Counters counted;
  Door door;
  door.open(nonce, kCookie, 4, counted);
  const Descriptor s = stranger(nonce);
  const std::uint64_t request[3] = {kCookie, nonce, 0};
  ASSERT_EQ(send(s.get(), request, sizeof request, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof request));
  door.serve(STDIN_FILENO);
  char byte;
  EXPECT_EQ(recv(s.get(), &byte, 1, 0), 0) << "the connection is closed";
}

TEST(DoorTest, AnotherUsersConnectionIsClosedAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::uint64_t nonce = random_nonce();
  Counters counted;
  Door door;
  door.open(nonce, kCookie, 4, counted);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) != 0) _exit(1);
    std::vector<Descriptor> sockets;
    for (int i = 0; i < 50; ++i) sockets.push_back(stranger(nonce));
    // Even with the cookie.
    const std::uint64_t request[2] = {kCookie, nonce};
    (void)!send(sockets[0].get(), request, sizeof request, MSG_NOSIGNAL);
    (void)!write(ready[1], "x", 1);
    char byte;
    for (const Descriptor& s : sockets)
      while (recv(s.get(), &byte, 1, 0) < 0 && errno == EAGAIN) usleep(1000);  // until it is closed, with nothing sent
    _exit(recv(sockets[0].get(), &byte, 1, 0) == 0 ? 0 : 1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const int before = open_descriptors();
  door.serve(STDIN_FILENO);
  EXPECT_EQ(open_descriptors(), before);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(passes_a_descriptor(door, nonce, kCookie));
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace ashlar::shm
