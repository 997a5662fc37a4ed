#include "mpiexec/node_plan.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace ashlar::mpiexec {
namespace {

/// The host of each rank as one letter, for `mpiexec WORDS... program`, on a machine called "self".
std::string plan(std::vector<const char*> words, std::vector<HostSlots> allocation = {}) {
  words.insert(words.begin(), "mpiexec");
  words.push_back("program");
  Options options;
  options.allocation = std::move(allocation);
  const Status parsed = parse_options(static_cast<int>(words.size()), words.data(), &options);
  if (!parsed.ok()) return parsed.text();
  const NodeMap map = plan_nodes(options, "self");
  std::string out;
  for (unsigned r = 0; r < options.ranks(); ++r) out += map.several() ? map.hosts[map.node_of(r)] : "-";
  return out;
}

TEST(NodePlan, WithoutOtherHostsThereIsNoTable) {
  EXPECT_EQ(plan({"-n", "3"}), "---");
  EXPECT_EQ(plan({"--host", "localhost:2", "-n", "3"}), "---");
  EXPECT_EQ(plan({"--host", "localhost,b", "-n", "1"}), "-") << "a host without a rank has no part in the job";
}

TEST(NodePlan, ArchSelectsAmongTheLinesOfTheHostFile) {
  utsname machine;
  ASSERT_EQ(uname(&machine), 0);
  const std::string own = machine.machine;
  const std::string name = testing::TempDir() + "hosts-" + std::to_string(getpid());
  std::ofstream(name) << "b:2 arch=" << own << "\nc arch=other slots=4\nd slots=1\n";
  const char* const file = name.c_str();
  EXPECT_EQ(plan({"-arch", own.c_str(), "-f", file, "-n", "4"}), "bbdb");
  EXPECT_EQ(plan({"-arch", own.c_str(), "-f", file, "-ppn", "1"}), "bd");
  EXPECT_EQ(plan({"-f", file, "-n", "3"}), "bbc");
  EXPECT_EQ(plan({"-f", file, "-arch", own.c_str(), "--host", "c,d", "-n", "1"}), "d");
  EXPECT_EQ(plan({"-arch", own.c_str(), "-n", "3", "x", ":", "-f", file, "-n", "1"}), "bbdb")
      << "the file is of all programs";
  EXPECT_NE(plan({"-f", file, "-arch", own.c_str(), "--host", "c"}).find("of every host that it is of another kind"),
            std::string::npos);
  EXPECT_EQ(plan({"-arch", own.c_str(), "-n", "2"}), "--");
  EXPECT_NE(plan({"-arch", "other", "-f", file}).find("-arch other: this machine is of kind"), std::string::npos);
  unlink(file);
}

TEST(NodePlan, TheNodesOfAJobOfSlurmsAreTheHosts) {
  const std::vector<HostSlots> nodes = {
      {.name = "b", .slots = 2}, {.name = "c", .slots = 1}, {.name = "d", .slots = 2}};
  EXPECT_EQ(plan({"-n", "4"}, nodes), "bbcd");
  EXPECT_EQ(plan({}, nodes), "bbcdd") << "all tasks that the job was asked for";
  EXPECT_EQ(plan({"-n", "1", "x", ":"}, nodes), "bb") << "several programs say how many each";
  EXPECT_EQ(plan({"-n", "7"}, nodes), "bbcddbb");
  EXPECT_EQ(plan({"-ppn", "1"}, nodes), "bcd");
  EXPECT_EQ(plan({"--map-by", "node", "-n", "5"}, nodes), "bcdbd");
  EXPECT_EQ(plan({"--host", "d,c", "-n", "3"}, nodes), "ddc") << "--host chooses among them";
  EXPECT_EQ(plan({"--host", "d", "-n", "1", "x", ":", "-n", "2"}, nodes), "ddd");
  EXPECT_EQ(plan({"--host", "localhost"}, nodes), "-");
  EXPECT_EQ(plan({}, {{.name = "localhost", .slots = 3}}), "---");
  EXPECT_EQ(plan({}, {{.name = "b"}, {.name = "c"}}), "bc") << "one on each where Slurm says no number";
}

/// Each host of `mpiexec --check WORDS...` with the numbers of its programs; * is this one.
std::string checked(std::vector<const char*> words) {
  words.insert(words.begin(), {"mpiexec", "--check"});
  Options options;
  const Status parsed = parse_options(static_cast<int>(words.size()), words.data(), &options);
  if (!parsed.ok()) return parsed.text();
  std::string out;
  for (const PlannedHost& host : plan_check(options, "self")) {
    out += (out.empty() ? "" : " ") + host.name + (host.here ? "*" : "");
    for (const unsigned segment : host.segments) out += std::to_string(segment);
  }
  return out;
}

TEST(NodePlan, ACheckHasAllHostsThatAreNamed) {
  EXPECT_EQ(checked({}), "self*0");
  EXPECT_EQ(checked({"program"}), "self*0");
  EXPECT_EQ(checked({"--host", "b,localhost,c:4"}), "b0 self*0 c0");
  EXPECT_EQ(checked({"--host", "b,c", "-n", "1", "one"}), "b0 c0") << "a job would have no rank on c";
  EXPECT_EQ(checked({"--host", "b", "one", ":", "two", ":", "--host", "c,b", "three"}), "b012 c2");
}

TEST(NodePlan, HostsWithoutSlotsDivideTheRanksInBlocks) {
  EXPECT_EQ(plan({"--host", "a,b", "-n", "4"}), "aabb");
  EXPECT_EQ(plan({"--host", "a,b,c", "-n", "7"}), "aaabbcc");
  EXPECT_EQ(plan({"--host", "a,b,c", "-n", "2"}), "ab");
  EXPECT_EQ(plan({"--host", "a,b", "-n", "1", "x", ":", "-n", "3"}), "aabb") << "the programs share the hosts";
}

TEST(NodePlan, AFurtherJobBeginsWithTheSlotsThatAreFree) {
  const auto plan_beside = [](std::vector<HostSlots> taken, unsigned ranks) {
    Options options;
    options.segments.resize(1);
    options.segments[0].ranks = ranks;
    options.segments[0].argv = {"program"};
    options.hosts = {{.name = "localhost", .slots = 2}, {.name = "b", .slots = 3}};
    options.taken = std::move(taken);
    const NodeMap map = plan_nodes(options, "self");
    std::string out;
    for (unsigned r = 0; r < ranks; ++r) out += map.several() ? map.hosts[map.node_of(r)] + " " : "- ";
    return out;
  };
  EXPECT_EQ(plan_beside({}, 3), "self self b ");
  EXPECT_EQ(plan_beside({{.name = "self", .slots = 2}}, 2), "b b ");
  EXPECT_EQ(plan_beside({{.name = "localhost", .slots = 2}}, 2), "b b ");
  EXPECT_EQ(plan_beside({{.name = "localhost", .slots = 1}, {.name = "b", .slots = 2}}, 4), "self b self self ");
  EXPECT_EQ(plan_beside({{.name = "localhost", .slots = 9}, {.name = "b", .slots = 9}}, 1), "- ");
}

TEST(NodePlan, SlotsAreFilledAndThenOnceMore) {
  EXPECT_EQ(plan({"--host", "a:2,b:4", "-n", "5"}), "aabbb");
  EXPECT_EQ(plan({"--host", "a:1,b:2", "-n", "8"}), "abbabbab");
  EXPECT_EQ(plan({"--host", "a:2,b", "-n", "3"}), "aab") << "beside a number, a host without one has one slot";
  EXPECT_EQ(plan({"--host", "a,b,a", "-n", "3"}), "aab") << "a host that is named twice has two";
  EXPECT_EQ(plan({"--host", "a:2,b:2", "-n", "1", "x", ":", "-n", "3"}), "aabb");
}

TEST(NodePlan, AroundTheHosts) {
  EXPECT_EQ(plan({"--host", "a,b", "--map-by", "node", "-n", "5"}), "ababa");
  EXPECT_EQ(plan({"--host", "a:1,b:3", "--map-by", "node", "-n", "4"}), "abbb") << "a full host is passed over";
  EXPECT_EQ(plan({"--host", "a,b", "--bynode", "--rank-by", "slot", "-n", "4"}), "aabb");
  EXPECT_EQ(plan({"--host", "a,b", "--rank-by", "node", "-n", "4"}), "abab");
}

TEST(NodePlan, SoManyOnEach) {
  EXPECT_EQ(plan({"--host", "a,b,c", "-ppn", "2"}), "aabbcc");
  EXPECT_EQ(plan({"--host", "a,b,c", "-ppn", "2", "-n", "3"}), "aab");
  EXPECT_EQ(plan({"--host", "a:8,b:8", "--map-by", "ppr:1:node"}), "ab");
  EXPECT_EQ(plan({"--map-by", "ppr:two:node"}).find("aa"), std::string::npos);
  EXPECT_EQ(plan({"-ppn", "2"}), "--");
}

TEST(NodePlan, ProgramsOnHostsOfTheirOwn) {
  EXPECT_EQ(plan({"--host", "a", "-n", "2", "x", ":", "--host", "b,c", "-n", "2"}), "aabc");
  EXPECT_EQ(plan({"--host", "a", "-n", "1", "x", ":", "--host", "a", "-n", "1"}), "aa");
}

}  // namespace
}  // namespace ashlar::mpiexec
