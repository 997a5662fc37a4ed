#include "tests/unit/transport_common/double.h"
#include "tests/unit/transport_ucx/double/double.h"
#include "tests/unit/transport_ucx/fixture.h"

// What UCX does with cards, or where memory is short, by a double of some of its functions.
namespace ashlar::ucx::test {
namespace {

using network::test::of_double;

ucx_double::Settings& settings() { return of_double<ucx_double::Settings>(UCX_DOUBLE, "ucx_double_settings"); }
ucx_double::Seen& seen() { return of_double<ucx_double::Seen>(UCX_DOUBLE, "ucx_double_seen"); }

Config over_double() {
  Config config = with_puts(kWhereProved);
  config.library = UCX_DOUBLE;
  return config;
}

class Double : public testing::Test {
 protected:
  void SetUp() override {
    settings() = {};
    seen() = {};
  }
};

TEST_F(Double, ParametersOfTcpHaveANamePerVersion) {
  for (const auto names : {ucx_double::Settings::Names::kAll, ucx_double::Settings::Names::kWithPrefix}) {
    settings().names = names;
    const Process process(0, over_double());
    EXPECT_EQ(process.opened, ASHLAR_OK) << last_failure;
  }
  settings().names = ucx_double::Settings::Names::kNone;
  const Process process(0, over_double());
  EXPECT_NE(process.opened, ASHLAR_OK) << "connections would be made by calls that block";
  EXPECT_NE(last_failure.find("Invalid parameter"), std::string::npos) << last_failure;
}

bool has_set(const std::string& setting) {
  return (";" + std::string(seen().settings)).find(";" + setting + ";") != std::string::npos;
}

// Nothing tells UCX of memory that is freed: a cache would give memory of the past to the card. Up to UCX 1.15 the
// transports have caches of their own, which RCACHE_ENABLE leaves alone.
TEST_F(Double, NoCacheOfRegistrationsIsLeft) {
  {
    const Process process(0, over_double());
    ASSERT_EQ(process.opened, ASHLAR_OK) << last_failure;
    for (const char* const off : {"RCACHE_ENABLE=n", "MEMTYPE_CACHE=n", "REG_METHODS=direct", "RCACHE=n"})
      EXPECT_TRUE(has_set(off)) << off << " is not in " << seen().settings;
  }
  const std::pair<const char*, bool> of_the_user[] = {{"odp,direct", false}, {"direct,Rcache", true}};
  for (const auto& [methods, replaced] : of_the_user) {
    seen() = {};
    ASSERT_EQ(setenv("UCX_IB_REG_METHODS", methods, 1), 0);
    const Process process(0, over_double());
    ASSERT_EQ(unsetenv("UCX_IB_REG_METHODS"), 0);
    ASSERT_EQ(process.opened, ASHLAR_OK) << last_failure;
    EXPECT_EQ(has_set("REG_METHODS=direct"), replaced) << methods;
  }
}

// The first one that loads UCX decides: what it does with and without its hooks is tried in processes of their own.
TEST_F(Double, HooksOnRequestLeaveItsCachesToUcx) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto with_hooks = [] {
    Config config = over_double();
    config.sessions.memory_hooks = true;
    config.sessions.registered_bytes = 12345;
    config.sessions.registered_regions = 67;
    const Process process(0, config);
    std::fprintf(stderr, "%s %s", seen().settings, last_record.c_str());
    std::_Exit(has_set("RCACHE_MAX_SIZE=12345") && has_set("RCACHE_MAX_REGIONS=67") && !has_set("RCACHE_ENABLE=n") &&
                       !has_set("MEMTYPE_CACHE=n") && !has_set("REG_METHODS=direct")
                   ? 0
                   : 1);
  };
  EXPECT_EXIT(with_hooks(), testing::ExitedWithCode(0),
              "UCX may patch mmap.. and its kin to learn of freed memory, as transport.ucx.memory_hooks says");
}

TEST_F(Double, HooksThatAreAskedForLaterAreNotThere) {
  const Process first(0, over_double());
  ASSERT_EQ(first.opened, ASHLAR_OK) << last_failure;
  seen() = {};
  Config config = over_double();
  config.sessions.memory_hooks = true;
  const Process process(0, config);
  ASSERT_EQ(process.opened, ASHLAR_OK) << last_failure;
  EXPECT_TRUE(has_set("RCACHE_ENABLE=n")) << seen().settings;
  EXPECT_NE(last_record.find("UCX was loaded before transport.ucx.memory_hooks was set, and has no hooks"),
            std::string::npos)
      << last_record;
}

TEST_F(Double, PutsThatNeedNothingOfTheTargetAreUsed) {
  settings().puts = 1;
  {
    const Process process(0, over_double());
    EXPECT_NE(last_record.find("puts need nothing of the peer's program"), std::string::npos) << last_record;
  }
  seen() = {};
  Writer writer(100000, over_double());
  EXPECT_EQ(put_completion(writer.a), static_cast<std::uint32_t>(ASHLAR_PUT_AT_DONE));
  ASSERT_NE(writer.to->capabilities & ASHLAR_CAP_PUT, 0u);
  const unsigned tried = seen().puts;
  EXPECT_EQ(tried, 4u) << "two of each process at the start";
  const std::string from(70000, 'y');
  Got got;
  ASSERT_NO_FATAL_FAILURE(writer.put(from, 20000, &got));
  ASSERT_TRUE(run({&writer.a}, [&] { return got.result != ASHLAR_PENDING; })) << "the target does nothing";
  EXPECT_EQ(got.result, ASHLAR_OK) << last_failure;
  EXPECT_EQ(writer.memory, std::string(20000, 'x') + from + std::string(10000, 'x'));
  EXPECT_EQ(seen().puts, tried + 1);
}

TEST_F(Double, PutsThatDoNotArriveAreNotOffered) {
  settings().puts = 2;
  const Process process(0, over_double());
  ASSERT_EQ(process.opened, ASHLAR_OK) << last_failure;
  EXPECT_EQ(put_completion(process), static_cast<std::uint32_t>(ASHLAR_PUT_UNKNOWN));
  EXPECT_EQ(seen().puts, 1u) << "the first one shows it";
}

// One flush ends all puts that had left when it was asked for, and they are told of its failure.
TEST_F(Double, AFlushThatFailsFailsThePutsBeforeIt) {
  settings().puts = 1;
  Writer writer(1000, over_double());
  const std::string from(100, 'y');
  Got first, second;
  settings().fail_flush = 1;
  ASSERT_NO_FATAL_FAILURE(writer.put(from, 0, &first));
  ASSERT_TRUE(run({&writer.a}, [&] { return first.result != ASHLAR_PENDING; }));
  EXPECT_LT(first.result, 0);
  EXPECT_NE(last_failure.find("network.put peer=1"), std::string::npos) << last_failure;
  ASSERT_NO_FATAL_FAILURE(writer.put(from, 0, &second));
  ASSERT_TRUE(run({&writer.a}, [&] { return second.result != ASHLAR_PENDING; }));
  EXPECT_EQ(second.result, ASHLAR_OK) << last_failure;
}

// A put may have left, and its flush have ended, while post() is in a handler of what has arrived.
TEST_F(Double, APutThatEndsAtOnceInAHandlerIsToldLater) {
  settings().puts = 1;
  Writer writer(1000, over_double());
  Endpoint* const back = writer.b.connect(0, writer.a.address());
  ASSERT_NE(back, nullptr) << last_failure;
  const std::string from(100, 'y'), more(1000, 'z');
  Got got;
  writer.a.on_arrival = [&] {
    ASSERT_NO_FATAL_FAILURE(writer.put(from, 0, &got));
    for (std::uint64_t i = 0; i < 300 && seen().flushes == 0; ++i) (void)Process::send(writer.to, i, more);
    EXPECT_EQ(got.result, ASHLAR_PENDING);
  };
  seen() = {};
  ASSERT_EQ(Process::send(back, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&writer.a, &writer.b}, [&] { return got.result != ASHLAR_PENDING; }));
  EXPECT_EQ(got.result, ASHLAR_OK) << last_failure;
  EXPECT_TRUE(writer.to->transfers.empty());
  EXPECT_EQ(writer.memory.substr(0, 100), from);
}

struct Claim : ashlar_tag_receive {
  Claim() {
    done = [](ashlar_tag_receive* self, const ashlar_tag_event* event) {
      auto& claim = *static_cast<Claim*>(self);
      claim.result = event->result;
      claim.tag = event->tag;
      claim.data.assign(static_cast<const char*>(event->data), event->length);
    };
  }
  ashlar_result result = ASHLAR_PENDING;
  std::uint64_t tag = 0;
  std::string data;
};

ashlar_result send_tagged(Endpoint* to, std::uint64_t tag, std::string* data) {
  const auto fill = [](void* argument, void* out, std::size_t room) {
    const auto& from = *static_cast<const std::string*>(argument);
    EXPECT_EQ(room, from.size());
    std::memcpy(out, from.data(), from.size());
    return from.size();
  };
  return to->iface->ops->tags->send(to, tag, 0, fill, data, static_cast<std::uint32_t>(data->size()));
}

// UCX has no memory for the receive of a message that a claim has found: it is that claim's, whatever is claimed next.
TEST_F(Double, AClaimThatIsRefusedKeepsItsMessage) {
  Config config = over_double();
  config.devices = "lo";
  Process a(0, config, 2), b(1, config, 2);
  Endpoint* const to = a.connect(1, b.address());
  Endpoint* const from = b.connect(0, a.address());
  ASSERT_TRUE(to != nullptr && from != nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
  ASSERT_EQ(Process::send(from, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return a.got.size() == 1 && b.got.size() == 1; }));
  std::string first = "the first", second = "another one";
  ASSERT_EQ(send_tagged(to, 7, &first), ASHLAR_OK) << last_failure;
  ASSERT_EQ(send_tagged(to, 8, &second), ASHLAR_OK) << last_failure;
  ASSERT_EQ(Process::send(to, 2), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 2; })) << "both are there";
  settings().refuse = 1;
  Claim of_seven, of_eight;
  ASSERT_EQ(b.iface->ops->tags->claim(b.iface.get(), from, 7, 0, &of_seven), ASHLAR_PENDING);
  EXPECT_EQ(of_seven.result, ASHLAR_PENDING);
  EXPECT_EQ(seen().refused, 1u);
  settings().refuse = 0;
  ASSERT_EQ(b.iface->ops->tags->claim(b.iface.get(), from, 8, 0, &of_eight), ASHLAR_PENDING);
  ASSERT_TRUE(run({&b}, [&] { return of_seven.result != ASHLAR_PENDING && of_eight.result != ASHLAR_PENDING; }));
  EXPECT_EQ(of_seven.result, ASHLAR_OK);
  EXPECT_EQ(of_seven.tag, 7u);
  EXPECT_EQ(of_seven.data, first);
  EXPECT_EQ(of_eight.result, ASHLAR_OK);
  EXPECT_EQ(of_eight.tag, 8u);
  EXPECT_EQ(of_eight.data, second);
}

}  // namespace
}  // namespace ashlar::ucx::test
