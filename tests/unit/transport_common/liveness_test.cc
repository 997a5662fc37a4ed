#include "components/transport/common/liveness.h"

#include "tests/unit/transport_common/fixture.h"

namespace ashlar::network {
namespace {

using Answer = Liveness::Answer;

Answer answer_of(Liveness& asker, const HostAddress& whom) {
  Answer answer = asker.ask(whom);
  for (int i = 0; answer == Answer::kPending && i < 100000; ++i) answer = asker.look(false);
  return answer;
}

TEST(Liveness, TheHostAnswersForAProcessThatDoesNothing) {
  sockaddr_in loopback = {};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Liveness asker;
  HostAddress whom = {};
  {
    Liveness passive;
    passive.open(reinterpret_cast<const sockaddr*>(&loopback));
    whom = passive.own();
    ASSERT_EQ(whom.family, 4);
    // More than the system queues for a process.
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(answer_of(asker, whom), Answer::kThere) << i;
    passive.let_go();
    EXPECT_EQ(answer_of(asker, whom), Answer::kThere);
  }
  EXPECT_EQ(answer_of(asker, whom), Answer::kRefused);
  EXPECT_NE(asker.reason(), "");
}

TEST(Liveness, WithoutAnAddressOfIpThereIsNoQuestion) {
  Liveness none, asker;
  none.open(nullptr);
  sockaddr other = {};
  other.sa_family = AF_UNIX;
  none.open(&other);
  EXPECT_EQ(none.own().family, 0);
  EXPECT_EQ(asker.ask(none.own()), Answer::kNone);
  EXPECT_FALSE(asker.asking());
}

}  // namespace
}  // namespace ashlar::network
