#include "mpiexec/control.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>

#include "framework/plugin/further_job.h"
#include "framework/plugin/launch_board.h"
#include "framework/plugin/name_service.h"
#include "mpiexec/further_request.h"
#include "mpiexec/name_service.h"

namespace ashlar::mpiexec {
namespace {

struct Pair {
  Descriptor ours, theirs;
  Pair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours = Descriptor(ends[0]);
    theirs = Descriptor(ends[1]);
  }
  void say(std::string_view words) const {
    EXPECT_EQ(send(ours.get(), words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
  }
  /// What has come; "(end)" where the other side is gone.
  std::string heard() const {
    char bytes[256];
    const ssize_t n = recv(ours.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    return n > 0 ? std::string(bytes, static_cast<std::size_t>(n)) : n == 0 ? "(end)" : "";
  }
};

Descriptor call(std::uint64_t place) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const int n = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, launch::kControlSocket,
                              static_cast<unsigned long long>(place));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  return socket;
}

TEST(ControlSocket, TakesThoseThatConnectToItsPlace) {
  ControlSocket control;
  EXPECT_EQ(control.place(), 0u);
  EXPECT_FALSE(control.accept());
  control.open();
  ASSERT_NE(control.place(), 0u);
  EXPECT_FALSE(control.accept());
  const Descriptor first = call(control.place()), second = call(control.place());
  EXPECT_TRUE(control.accept());
  EXPECT_TRUE(control.accept());
  EXPECT_FALSE(control.accept());
}

/// A round of poll.
template <class Something>
std::vector<pollfd> polled(Something& something) {
  std::vector<pollfd> fds = {{-1, POLLIN, 0}};
  something.add(&fds);
  EXPECT_GE(poll(fds.data(), fds.size(), 0), 0);
  return fds;
}

TEST(Callers, AreKnownByTheirFirstByteAndNoMoreIsRead) {
  Callers callers;
  Pair silent, gone, speaks;
  callers.admit(std::move(silent.theirs));
  callers.admit(std::move(gone.theirs));
  callers.admit(std::move(speaks.theirs));
  EXPECT_TRUE(callers.handle(polled(callers), 1).empty());
  gone.ours.reset();
  speaks.say("jthe rest");
  std::vector<Callers::Caller> ready = callers.handle(polled(callers), 2);
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].wish, 'j');
  char rest[16] = {};
  EXPECT_EQ(recv(ready[0].socket.get(), rest, sizeof rest, MSG_DONTWAIT), 8);
  EXPECT_STREQ(rest, "the rest");
  EXPECT_EQ(silent.heard(), "");
  EXPECT_TRUE(callers.handle(polled(callers), 60'000'000'000).empty());
  EXPECT_EQ(silent.heard(), "(end)");
}

TEST(Callers, ArePassedOnWithTheirConnection) {
  ControlSocket control;
  Callers callers;
  Pair rank;
  control.open();
  ASSERT_NE(control.place(), 0u);
  ASSERT_TRUE(pass_on(control.place(), 'n', rank.theirs));
  rank.theirs.reset();
  callers.admit(control.accept());
  std::vector<Callers::Caller> ready = callers.handle(polled(callers), 1);
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].wish, 'n');
  rank.say("hello");
  char heard[16] = {};
  EXPECT_EQ(recv(ready[0].socket.get(), heard, sizeof heard, MSG_DONTWAIT), 5);
  EXPECT_FALSE(pass_on(control.place() + 1, 'n', rank.ours));
}

/// A process that asks for names, and what it is answered.
struct Asker {
  Pair pair;
  explicit Asker(NameService& service) { service.admit(std::move(pair.theirs)); }
  std::string ask(NameService& service, const std::vector<std::string>& request) const {
    pair.say(launch::message_of(request));
    service.handle(polled(service));
    std::string heard = pair.heard(), out;
    std::vector<std::string> answer;
    if (!launch::take_message(&heard, &answer)) return heard;
    for (const std::string& word : answer) out += (out.empty() ? "" : " ") + word;
    return out;
  }
};

TEST(NameService, KeepsANameAsLongAsItsProcess) {
  namespace names = launch::names;
  NameService service(false);
  const Asker one(service);
  auto two = std::make_unique<Asker>(service);
  EXPECT_EQ(one.ask(service, {names::kLookUp, "x"}), "none");
  EXPECT_EQ(two->ask(service, {names::kPublish, "x", "port 2"}), "done");
  EXPECT_EQ(one.ask(service, {names::kPublish, "x", "port 1"}), "taken");
  EXPECT_EQ(one.ask(service, {names::kLookUp, "x"}), "found port 2");
  EXPECT_EQ(one.ask(service, {names::kUnpublish, "x", "port 2"}), "none") << "another process has published it";
  EXPECT_EQ(two->ask(service, {names::kUnpublish, "x", "port 1"}), "none");
  EXPECT_EQ(two->ask(service, {names::kUnpublish, "x", "port 2"}), "done");
  EXPECT_EQ(one.ask(service, {names::kLookUp, "x"}), "none");
  EXPECT_EQ(two->ask(service, {names::kPublish, "y", "port 2"}), "done");
  EXPECT_EQ(service.names(), 1u);
  two.reset();
  service.handle(polled(service));
  EXPECT_EQ(service.names(), 0u);
  EXPECT_EQ(one.ask(service, {names::kLookUp, "y"}), "none");
}

TEST(NameService, AnswersWhatIsNoRequestAndHangsUpOnTooMuch) {
  NameService service(false), of_user(true);
  const Asker odd(service), other(of_user);
  EXPECT_EQ(odd.ask(service, {}), "none");
  EXPECT_EQ(odd.ask(service, {"publish", "a name alone"}), "none");
  EXPECT_EQ(odd.ask(service, {"sing"}), "none");
  EXPECT_EQ(other.ask(of_user, {launch::names::kLookUp, "x"}), "of the user");
  const std::string much(100 << 10, '\x7f');
  odd.pair.say(much);
  for (int i = 0; i < 4; ++i) service.handle(polled(service));
  (void)odd.pair.heard();  // the news that bytes were left unread
  EXPECT_EQ(odd.pair.heard(), "(end)");
}

struct Sent final : RelayedCalls::Events {
  std::map<std::uint64_t, std::string> words;
  void relayed(std::uint64_t call, std::string_view bytes) override { words[call] += bytes.empty() ? "(end)" : bytes; }
};

TEST(RelayedCalls, PassBytesBothWaysAndTheEnd) {
  RelayedCalls relays;
  Sent sent;
  Pair one, two;
  relays.open(1, std::move(one.theirs));
  relays.open(2, std::move(two.theirs));
  two.say("from two");
  relays.handle(polled(relays), sent);
  one.say("from one");
  relays.take(1, "to one");
  relays.take(3, "to nobody");
  relays.handle(polled(relays), sent);
  EXPECT_EQ(sent.words[1], "from one");
  EXPECT_EQ(sent.words[2], "from two");
  EXPECT_EQ(one.heard(), "to one");
  EXPECT_EQ(two.heard(), "");
  // This end goes: the other is told once.
  one.ours.reset();
  relays.handle(polled(relays), sent);
  relays.handle(polled(relays), sent);
  EXPECT_EQ(sent.words[1], "from one(end)");
  EXPECT_FALSE(relays.has(1));
  // The other end goes: what it said before is written.
  relays.take(2, "last words");
  relays.take(2, {});
  relays.handle(polled(relays), sent);
  EXPECT_FALSE(relays.has(2));
  EXPECT_EQ(two.heard(), "last words");
  EXPECT_EQ(two.heard(), "(end)");
  EXPECT_EQ(sent.words[2], "from two");
}

TEST(RelayedCalls, KeepWhatThereIsNoRoomFor) {
  RelayedCalls relays;
  Sent sent;
  Pair slow;
  relays.open(7, std::move(slow.theirs));
  const std::string much(4 << 20, 'x');
  relays.take(7, much);
  relays.take(7, {});
  std::size_t read = 0;
  char bytes[1 << 16];
  for (int i = 0; i < 100'000 && relays.has(7); ++i) {
    if (const ssize_t n = recv(slow.ours.get(), bytes, sizeof bytes, MSG_DONTWAIT); n > 0)
      read += static_cast<std::size_t>(n);
    relays.handle(polled(relays), sent);
  }
  for (ssize_t n; (n = recv(slow.ours.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
    read += static_cast<std::size_t>(n);
  EXPECT_EQ(read, much.size());
  EXPECT_TRUE(sent.words.empty());
}

TEST(RelayedCalls, CloseThoseOfAHostThatIsLost) {
  RelayedCalls relays;
  Pair one, two;
  relays.open(1, std::move(one.theirs));
  relays.open(2, std::move(two.theirs));
  relays.close_if([](std::uint64_t call) { return call == 2; });
  EXPECT_TRUE(relays.has(1));
  EXPECT_EQ(two.heard(), "(end)");
  EXPECT_EQ(one.heard(), "");
}

/// The hosts that a further job of `mpiexec WORDS... program` has.
std::string hosts_of(std::vector<const char*> words) {
  words.insert(words.begin(), "mpiexec");
  words.push_back("program");
  Options options;
  const Status parsed = parse_options(static_cast<int>(words.size()), words.data(), &options);
  return parsed.ok() ? FurtherRequest::text_of(FurtherRequest::hosts_of(options)) : parsed.text();
}

TEST(FurtherRequest, HasTheHostsOfAllPrograms) {
  EXPECT_EQ(hosts_of({"-n", "2"}), "localhost=0");
  EXPECT_EQ(hosts_of({"--host", "a,b:4"}), "a=0,b=4");
  EXPECT_EQ(hosts_of({"--host", "a", "x", ":", "y", ":", "--host", "b:2,a:3"}), "a=3,b=2");
  EXPECT_EQ(hosts_of({"x", ":", "--host", "b"}), "localhost=0,b=0");
}

}  // namespace
}  // namespace ashlar::mpiexec
