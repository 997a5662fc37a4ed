#include "mpiexec/check_report.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

namespace ashlar::mpiexec {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kMs = 1'000'000;

/// Hosts n0, n1, ... that have looked, and reach each other in as many milliseconds as the other one's number says.
std::vector<CheckedHost> hosts(unsigned count) {
  std::vector<CheckedHost> all(count);
  for (unsigned i = 0; i < count; ++i) {
    CheckedHost& host = all[i];
    host.plan.name = "n" + std::to_string(i);
    host.plan.here = i == 0;
    host.node = std::make_unique<RemoteNode>(i, host.plan.name);
    host.looked = host.tried = true;
    host.report.port = 1;
    host.steps.push_back({.what = "folder", .words = "/home", .over = true, .failed = false, .ns = 3 * kMs});
    for (unsigned other = 0; other < count; ++other)
      if (other != i)
        host.ways.push_back({.host = other,
                             .to = "10.0.0." + std::to_string(other),
                             .from = "10.0.0.99 (eth0)",
                             .good = true,
                             .ns = (other + 1) * kMs,
                             .why_not = {}});
  }
  return all;
}

std::string words(const std::vector<CheckedHost>& all, unsigned expected_failures) {
  Settings settings;
  settings.tcp = true;
  settings.tcp_exchange = 65536;
  unsigned failed = 99;
  std::string out = check_words(all, settings, &failed);
  EXPECT_EQ(failed, expected_failures) << out;
  return out;
}

TEST(CheckReport, AFewHostsHaveALineForEachWay) {
  const std::string out = words(hosts(2), 0);
  EXPECT_THAT(out, HasSubstr("host n0 (this one)\n  folder      /home, 3.0 ms\n"
                             "  to n1       10.0.0.1 from 10.0.0.99 (eth0): 65536 bytes both ways in 2.0 ms\n"));
  EXPECT_THAT(out, HasSubstr("\nA job can run on these hosts.\n"));
}

TEST(CheckReport, WaysOfManyHostsAreCountedAndBadOnesAreNot) {
  std::vector<CheckedHost> all = hosts(9);
  all[3].ways[4].good = false;  // to n5
  all[3].ways[4].why_not = "no answer within 5 s";
  const std::string out = words(all, 1);
  EXPECT_THAT(out, HasSubstr("to 8 hosts  all are reached, the slowest in 9.0 ms"));
  EXPECT_THAT(out, HasSubstr("to 7 hosts  all are reached"));
  EXPECT_THAT(out, HasSubstr("  to n5       FAILED: host n5 cannot be reached from this host (ways tried: 1)\n"));
  EXPECT_THAT(out, HasSubstr("\n              10.0.0.5 from 10.0.0.99 (eth0): no answer within 5 s\n"));
  EXPECT_THAT(out, HasSubstr("\nFAILED on 1 of 9 hosts: n3\n"));
}

TEST(CheckReport, LongNamesMoveTheColumnOfAllRows) {
  std::vector<CheckedHost> all = hosts(2);
  all[1].plan.name = "node0123.cluster";
  const std::string out = words(all, 0);
  EXPECT_THAT(out, HasSubstr("  folder              /home, 3.0 ms\n  to node0123.cluster 10.0.0.1 from"));
}

TEST(CheckReport, AStepThatHasNotEndedHasTheFailure) {
  std::vector<CheckedHost> all = hosts(2);
  all[1].looked = all[1].tried = false;
  all[1].report = {};
  all[1].ways.clear();
  all[1].steps.push_back({.what = "program", .words = {}, .over = false, .failed = false, .ns = 0});
  all[1].failure = "it is not ready after 2 s";
  const std::string out = words(all, 1);
  EXPECT_THAT(out, HasSubstr("  folder      /home, 3.0 ms\n  program     FAILED: it is not ready after 2 s\n"));
  EXPECT_THAT(out, HasSubstr("  to n1       not tried: that host is not ready\n"));
  EXPECT_THAT(out, Not(HasSubstr("agent       FAILED")));
}

TEST(CheckReport, LinksThatLeadElsewhereAreNotListedBesideAGoodWay) {
  std::vector<CheckedHost> all = hosts(2);
  WayResult link = all[0].ways[0];
  link.to = "fe80::1%eth1";
  link.good = false;
  link.why_not = "No route to host";
  all[0].ways.push_back(link);
  EXPECT_THAT(words(all, 0), Not(HasSubstr("fe80::1")));
  all[0].ways[0].good = false;
  EXPECT_THAT(words(all, 1), HasSubstr("fe80::1%eth1 from 10.0.0.99 (eth0): No route to host"));
}

TEST(CheckReport, NamesFromOutsideAreEscaped) {
  std::vector<CheckedHost> all = hosts(2);
  all[1].ways[0].from = "10.0.0.1 (e\x1b[31m)";
  all[1].steps[0].words = "/ho\x1b[0mme";
  EXPECT_THAT(words(all, 0), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ashlar::mpiexec
