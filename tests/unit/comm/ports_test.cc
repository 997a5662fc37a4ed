#include "framework/comm/ports.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "framework/plugin/further_job.h"

namespace ashlar::comm {
namespace {

TEST(PortName, IsReadAsItIsWritten) {
  PortName name, again;
  name.place = 0x123;
  for (std::size_t i = 0; i < name.key.size(); ++i) name.key[i] = static_cast<unsigned char>(37 * i);
  const std::string text = name.text();
  ASSERT_TRUE(PortName::parse(text.c_str(), &again));
  EXPECT_EQ(again.place, name.place);
  EXPECT_EQ(again.key, name.key);
}

TEST(PortName, NothingElseIsRead) {
  PortName name;
  const std::string text = PortName().text();
  EXPECT_FALSE(PortName::parse("", &name));
  EXPECT_FALSE(PortName::parse("ashlar-port:1:", &name));
  EXPECT_FALSE(PortName::parse(text.substr(1).c_str(), &name));
  EXPECT_FALSE(PortName::parse((text + "0").c_str(), &name));
  EXPECT_FALSE(PortName::parse(text.substr(0, text.size() - 1).c_str(), &name));
  std::string other = text;
  other[20] = 'g';
  EXPECT_FALSE(PortName::parse(other.c_str(), &name));
  other = text;
  other.back() = ' ';
  EXPECT_FALSE(PortName::parse(other.c_str(), &name));
}

Descriptor knock(const PortName& port) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const int n = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "ashlar-port-%016llx",
                              static_cast<unsigned long long>(port.place));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  return socket;
}

struct Hello {
  std::uint64_t magic = 0x31545250'4c485341, reserved = 0;
  std::array<unsigned char, 32> key{};
};

/// Whether the port has hung up on the visitor.
bool turned_away(const Descriptor& visitor) {
  char byte;
  return recv(visitor.get(), &byte, 1, 0) == 0;
}

TEST(Port, HearsOnlyThoseThatHaveTheKey) {
  Port port;
  ASSERT_TRUE(port.open().ok());
  Descriptor taken;
  EXPECT_FALSE(port.take(&taken));
  Hello hello;
  const Descriptor silent = knock(port.name()), noise = knock(port.name()), guess = knock(port.name());
  EXPECT_EQ(send(noise.get(), "GET / HTTP/1.1\r\nHost: this one\r\nAccept: */*\r\n\r\n", 48, MSG_NOSIGNAL), 48);
  EXPECT_EQ(send(guess.get(), &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  EXPECT_FALSE(port.take(&taken));
  EXPECT_TRUE(turned_away(noise) && turned_away(guess));
  EXPECT_FALSE(turned_away(silent));  // not yet
  // The one with the key, in two pieces.
  const Descriptor friendly = knock(port.name());
  hello.key = port.name().key;
  EXPECT_EQ(send(friendly.get(), &hello, 20, MSG_NOSIGNAL), 20);
  EXPECT_FALSE(port.take(&taken));
  EXPECT_EQ(send(friendly.get(), reinterpret_cast<char*>(&hello) + 20, 28, MSG_NOSIGNAL), 28);
  EXPECT_TRUE(port.take(&taken));
  char welcome = 0;
  EXPECT_EQ(recv(friendly.get(), &welcome, 1, 0), 1);
  EXPECT_FALSE(port.take(&taken));
}

TEST(Port, PassesOverThoseThatHaveGoneAgain) {
  Port port;
  ASSERT_TRUE(port.open().ok());
  Hello hello;
  hello.key = port.name().key;
  {
    const Descriptor gone = knock(port.name());
    EXPECT_EQ(send(gone.get(), &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  }
  Descriptor taken;
  EXPECT_FALSE(port.take(&taken));
}

TEST(FurtherJob, IsReadAsItIsWritten) {
  launch::FurtherJob job, again;
  job.port = "port";
  job.folder = "/a folder";
  job.programs.push_back({.processes = "3", .argv = {"prog", "", ":", "a b"}, .info = {{"soft", "1:3"}}});
  job.programs.push_back({.processes = "1", .argv = {"other"}, .info = {}});
  std::string bytes = launch::message_of(job.texts()) + launch::message_of({"next"});
  std::string first = bytes.substr(0, 10);
  std::vector<std::string> texts;
  EXPECT_FALSE(launch::take_message(&first, &texts));
  ASSERT_TRUE(launch::take_message(&bytes, &texts));
  ASSERT_TRUE(again.read(texts));
  EXPECT_EQ(again.port, job.port);
  EXPECT_EQ(again.folder, job.folder);
  ASSERT_EQ(again.programs.size(), 2u);
  EXPECT_EQ(again.programs[0].argv, job.programs[0].argv);
  EXPECT_EQ(again.programs[0].info, job.programs[0].info);
  EXPECT_EQ(again.programs[1].processes, "1");
  ASSERT_TRUE(launch::take_message(&bytes, &texts));
  EXPECT_EQ(texts, std::vector<std::string>{"next"});
  texts.pop_back();
  EXPECT_FALSE(launch::FurtherJob().read(texts));
}

}  // namespace
}  // namespace ashlar::comm
