#include "components/launch/pmi/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "components/launch/pmi/environment.h"
#include "framework/plugin/launch.h"

namespace ashlar::launch {
namespace {

using testing::HasSubstr;

std::string failure;
ashlar_result fail_with(int mpi_class, const char* id, const ashlar_fact* facts, std::uint32_t count) {
  failure = id;
  for (std::uint32_t i = 0; i < count; ++i)
    failure +=
        std::string(" ") + facts[i].name + "=" + (facts[i].text ? facts[i].text : std::to_string(facts[i].number));
  return -mpi_class;
}
ashlar_host host() {
  ashlar_host h = {};
  h.size = sizeof h;
  h.fail_with = fail_with;
  return h;
}

struct ChannelTest : testing::Test {
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ASSERT_EQ(channel.adopt(ends[0]), ASHLAR_OK);
  }
  void TearDown() override { close(ends[1]); }
  void say(const std::string& text) {
    ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  ashlar_result ask() { return channel.ask(PmiMessage("get"), "get_result", &answer); }

  const ashlar_host h = host();
  PmiChannel channel{h, 50'000'000};
  int ends[2] = {-1, -1};
  PmiMessage answer;
};

TEST_F(ChannelTest, TheConnectionIsNotInherited) { EXPECT_NE(fcntl(ends[0], F_GETFD) & FD_CLOEXEC, 0); }

TEST_F(ChannelTest, AnAnswerBelongsToItsQuestion) {
  say("cmd=get_result rc=0\ncmd=put_result rc=0\n");
  EXPECT_EQ(ask(), ASHLAR_OK);
  EXPECT_LT(ask(), 0);
  EXPECT_THAT(failure, HasSubstr("pmi.answer question=get"));
}

TEST_F(ChannelTest, SilenceNamesItsDeadline) {
  EXPECT_LT(ask(), 0);
  EXPECT_THAT(failure, HasSubstr("pmi.silent question=get"));
  say("cmd=get_result rc=");  // half an answer is silence, too
  EXPECT_LT(ask(), 0);
  EXPECT_THAT(failure, HasSubstr("pmi.silent question=get"));
}

TEST_F(ChannelTest, NoiseIsNoAnswer) {
  say("\xff\x01\n");
  EXPECT_LT(ask(), 0);
  EXPECT_THAT(failure, HasSubstr("pmi.answer question=get"));
}

TEST_F(ChannelTest, AnEndlessAnswerIsCutShort) {
  const std::string much(4096, 'x');
  std::size_t sent = 0;
  const int flags = fcntl(ends[1], F_GETFL);
  ASSERT_EQ(fcntl(ends[1], F_SETFL, flags | O_NONBLOCK), 0);
  while (write(ends[1], much.data(), much.size()) > 0) ++sent;
  ASSERT_GT(sent * much.size(), kLongestMessage);
  EXPECT_LT(ask(), 0);
  EXPECT_THAT(failure, HasSubstr("no end"));
}

TEST_F(ChannelTest, ALauncherThatLeavesIsSaid) {
  close(ends[1]);
  EXPECT_LT(ask(), 0);
  EXPECT_THAT(failure, HasSubstr("pmi.closed question=get"));
  ends[1] = -1;
}

TEST_F(ChannelTest, AQuestionIsAnsweredWhileAFenceIsOpen) {
  bool done = true;
  channel.begin_fence("barrier_out");
  EXPECT_EQ(channel.look_for_fence(&done), ASHLAR_OK);
  EXPECT_FALSE(done);
  say("cmd=get_result value=1\n");
  EXPECT_EQ(ask(), ASHLAR_OK);
  EXPECT_EQ(channel.look_for_fence(&done), ASHLAR_OK);
  EXPECT_FALSE(done);
  say("cmd=barrier_out rc=0\ncmd=get_result value=2\n");  // the fence ends before the answer
  EXPECT_EQ(ask(), ASHLAR_OK);
  EXPECT_EQ(*answer.find("value"), "2");
  EXPECT_EQ(channel.look_for_fence(&done), ASHLAR_OK);
  EXPECT_TRUE(done);
}

TEST_F(ChannelTest, AFenceCanFail) {
  bool done = false;
  channel.begin_fence("barrier_out");
  say("cmd=barrier_out rc=-1 msg=a_process_died\n");
  EXPECT_LT(channel.look_for_fence(&done), 0);
  EXPECT_THAT(failure, HasSubstr("pmi.refused question=fence lower=a_process_died"));
}

TEST(PmiAddress, WhatIsNoAddressOrHasNoLauncherIsSaid) {
  const ashlar_host h = host();
  PmiChannel channel(h, 50'000'000);
  for (const char* address : {"", "host", "host:", "host:0", "host:65536", "host:1x", ":"}) {
    EXPECT_LT(channel.connect(address), 0) << address;
    EXPECT_THAT(failure, HasSubstr("HOST:PORT is expected")) << address;
  }
  EXPECT_LT(channel.connect("other.example:1"), 0);
  EXPECT_THAT(failure, HasSubstr("the name is not looked up"));
}

// With exactly these variables set, of those that matter.
std::string reason(const std::map<std::string, std::string>& variables, bool* there, PmiTrace* trace) {
  for (const char* name : {"PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "PMI_JOBID", "PMI_SPAWNED"})
    unsetenv(name);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  char words[200] = {};
  *there = read_trace(trace, words, sizeof words);
  return words;
}

TEST(PmiTraceTest, TheEnvironmentIsRead) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string fd = std::to_string(ends[0]);
  bool there = true;
  PmiTrace trace;
  EXPECT_THAT(reason({}, &there, &trace), HasSubstr("neither PMI_FD nor PMI_PORT is set"));
  EXPECT_FALSE(there);
  EXPECT_THAT(reason({{"PMI_PORT", "a:1"}}, &there, &trace), HasSubstr("PMI_ID is not set"));
  EXPECT_FALSE(there);
  EXPECT_THAT(reason({{"PMI_FD", fd}, {"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}, &there, &trace), HasSubstr("rank 2 of 4"));
  EXPECT_TRUE(there);
  EXPECT_EQ(trace.fd, ends[0]);
  for (const char* wrong : {"", "-1", "4", "x", "1x", "99999999999"}) {
    EXPECT_THAT(reason({{"PMI_FD", fd}, {"PMI_RANK", wrong}, {"PMI_SIZE", "4"}}, &there, &trace), HasSubstr("are no"));
    EXPECT_FALSE(there) << wrong;
  }
  EXPECT_THAT(reason({{"PMI_FD", fd}, {"PMI_RANK", "0"}, {"PMI_SIZE", "4000000000"}}, &there, &trace),
              HasSubstr("are no"));
  EXPECT_FALSE(there);
  close(ends[0]);
  EXPECT_THAT(reason({{"PMI_FD", fd}, {"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}, &there, &trace), HasSubstr("not open"));
  EXPECT_FALSE(there);
  const int file = open("/dev/null", O_RDONLY);
  EXPECT_THAT(reason({{"PMI_FD", std::to_string(file)}, {"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}, &there, &trace),
              HasSubstr("no stream socket"));
  EXPECT_FALSE(there);
  close(file);
  close(ends[1]);
}

}  // namespace
}  // namespace ashlar::launch
