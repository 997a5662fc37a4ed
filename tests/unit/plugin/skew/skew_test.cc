// Components that were built for another minor version of the contract, older and newer, or for another major one.
#include <gmock/gmock.h>

#include "framework/plugin/params.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/reporter.h"
#include "tests/unit/plugin/fixture.h"
#include "tests/unit/plugin/skew/major0/adapter.h"

namespace ashlar::plugin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace testing_fixture;

class SkewTest : public testing::Test {
 protected:
  // Selects the component alone and sends a record through it; returns what it wrote.
  std::string run(const std::string& kind, const std::string& key) {
    folder_.drop(kind);
    const std::string file = folder_.root() + "/out";
    setenv("OLD_COMPONENT_FILE", file.c_str(), 1);
    param::Sources sources;
    sources.command_line = {{"report", kind, "here"}};
    if (!key.empty()) sources.command_line.push_back({key, file, "here"});
    store_.declare({"", kSelection});
    registry_.add_folder(folder_.path());
    registry_.declare_params();
    const Status loaded = store_.load(sources);
    EXPECT_TRUE(loaded.ok()) << loaded.text();
    {
      Reporter reporter(&registry_);
      ashlar_error_record record{};
      record.size = sizeof record;
      record.call = "MPI_Send";
      record.text = "it is late";
      record.words = "MPI_Send failed: it is late";
      reporter.error(record);
      reporter.notice(1, nullptr, "careful");
      reporter.decisions({{.topic = "t", .subject = "s", .chosen = "c", .because = "b", .lost = "", .setting = ""}});
    }
    std::ifstream in(file);
    return {(std::istreambuf_iterator<char>(in)), {}};
  }
  const Entry& entry() { return *registry_.entries().at(0); }

  TemporaryFolder folder_;
  param::Store store_;
  Registry registry_{&store_, {.build_id = 0x1234, .adapters = {&kAdapter0, 1}}};
};

constexpr const char* kWritten = "MPI_Send: it is late\nnotice 1: careful\n";

TEST_F(SkewTest, HeadersOfTheFirstMinorVersion) {
  EXPECT_EQ(run("minor0", "report.minor0.file"), kWritten);
  EXPECT_EQ(entry().statement.abi_minor, 0);
}

TEST_F(SkewTest, AStructureAndATableThatEndEarlier) {
  EXPECT_EQ(run("shorter", "report.shorter.file"), kWritten);
  EXPECT_LT(entry().statement.size, sizeof(ashlar_component));
}

TEST_F(SkewTest, HeadersOfAMinorVersionToCome) {
  EXPECT_EQ(run("newer", "report.newer.file"), kWritten);
  EXPECT_EQ(entry().statement.abi_minor, 99);
  EXPECT_GT(entry().statement.size, sizeof(ashlar_component));
}

TEST_F(SkewTest, AnOlderMajorVersionThroughItsAdapter) {
  EXPECT_EQ(run("major0", ""), "major0: MPI_Send failed: it is late\nmajor0: careful\n");
  const std::vector<Decision> decisions = registry_.records().of("report");
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_THAT(decisions[0].because, HasSubstr("major0 (priority 40): major0 is from the old days"));
}

TEST_F(SkewTest, AFailureOfAnAdaptedComponentIsToldAsAnyOther) {
  EXPECT_EQ(run("major0_sad", ""), "");
  EXPECT_THAT(registry_.records().of("report").at(0).lost, HasSubstr("major0_sad: major0_sad does not start"));
}

TEST_F(SkewTest, TheManifestKeepsWhatTheAdapterRead) {
  folder_.drop("major0");
  const Accepts kernel = {.build_id = 0x1234, .adapters = {&kAdapter0, 1}};
  ASSERT_TRUE(Folder::register_folder(folder_.path(), kernel).ok());
  param::TextPool pool;
  const Folder folder = Folder::read(folder_.path(), kernel, &pool);
  ASSERT_EQ(folder.entries().size(), 1u);
  EXPECT_EQ(folder.looked_into(), 0u);
  EXPECT_EQ(folder.entries()[0].refused, "");
  EXPECT_EQ(folder.entries()[0].prefix, "report.major0");
}

TEST(Skew, WithoutAnAdapterTheRefusalNamesTheSymbol) {
  param::TextPool pool;
  EXPECT_THAT(examine(fixture("major0"), {.build_id = 0x1234}, &pool).refused,
              HasSubstr("does not define ashlar_component_v1 itself"));
}

TEST(Skew, AnInterfaceIsARangeOfVersions) {
  constexpr Framework framework{.name = "teleport", .oldest = 2, .newest = 4};
  EXPECT_FALSE(framework.speaks(1));
  EXPECT_TRUE(framework.speaks(2));
  EXPECT_TRUE(framework.speaks(4));
  EXPECT_FALSE(framework.speaks(5));
  std::size_t count = 0;
  const Framework* const all = frameworks(&count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_LE(all[i].oldest, all[i].newest) << all[i].name;
}

ashlar_result in_words(int mpi_class, const char*, ...) { return -mpi_class; }

// The other way round: what a component may ask of a kernel that is older than its headers.
TEST(Skew, AComponentSeesWhatAnOlderKernelHasNot) {
  ashlar_host host{};
  host.fail = in_words;
  host.fail_with = [](int, const char*, const ashlar_fact*, std::uint32_t) { return -99; };
  host.size = offsetof(ashlar_host, fail_with);
  EXPECT_TRUE(ASHLAR_HAS(&host, fail));
  EXPECT_TRUE(ASHLAR_HAS(&host, elevated));
  EXPECT_FALSE(ASHLAR_HAS(&host, fail_with));
  EXPECT_EQ(ashlar_fail_with(&host, 16, "any.message", nullptr, 0), -16);
  host.size += sizeof host.fail_with - 1;
  EXPECT_FALSE(ASHLAR_HAS(&host, fail_with)) << "half a member is none";
  host.size = sizeof host;
  EXPECT_EQ(ashlar_fail_with(&host, 16, "any.message", nullptr, 0), -99);
}

// Tables: what is needed, what is absent, what is whole already.
TEST(Skew, TablesAreTakenWholeOrRefusedWithTheNameOfAFunction) {
  ashlar_report_ops ops{.size = offsetof(ashlar_report_ops, decision),
                        .error = [](ashlar_report*, const ashlar_error_record*) {},
                        .notice = [](ashlar_report*, const ashlar_notice*) {},
                        .decision = [](ashlar_report*, const ashlar_decision*) { std::abort(); }};
  ashlar_report module{.ops = &ops};
  ASSERT_TRUE(take_table(&module, "report.x").ok());
  EXPECT_NE(module.ops, &ops);
  EXPECT_EQ(module.ops->error, ops.error);
  EXPECT_EQ(module.ops->decision, nullptr) << "beyond the end of the component's own table";
  const ashlar_report_ops* const taken = module.ops;
  module.ops = &ops;
  ASSERT_TRUE(take_table(&module, "report.x").ok());
  EXPECT_EQ(module.ops, taken) << "one table, one copy";

  ops.size = sizeof ops;
  module.ops = &ops;
  ASSERT_TRUE(take_table(&module, "report.x").ok());
  EXPECT_EQ(module.ops, &ops);

  ops.notice = nullptr;
  EXPECT_THAT(take_table(&module, "report.x").text(), AllOf(HasSubstr("report.x"), HasSubstr("has no notice")));
  ops.size = offsetof(ashlar_report_ops, notice);
  EXPECT_THAT(take_table(&module, "report.x").text(), HasSubstr("has no notice"));
  module.ops = nullptr;
  EXPECT_THAT(take_table(&module, "report.x").text(), HasSubstr("without a table"));
}

// A transport of a version that knew no atomic operations, pieces and flushes, and none that says what its puts mean.
TEST(Skew, ATransportWithoutTheYoungerFunctionsIsTaken) {
  ashlar_endpoint_ops ops{};
  ops.size = offsetof(ashlar_endpoint_ops, getv);
  ops.am_short = [](ashlar_endpoint*, std::uint8_t, std::uint64_t, std::uint64_t, const void*, std::uint32_t) {
    return 7;
  };
  ops.am_bcopy = [](ashlar_endpoint*, std::uint8_t, std::uint64_t, std::uint64_t, ashlar_fill, void*, std::uint32_t) {
    return 8;
  };
  ops.flush = [](ashlar_endpoint*, ashlar_completion*) -> ashlar_result { std::abort(); };
  ashlar_endpoint endpoint{};
  endpoint.ops = &ops;
  ASSERT_TRUE(take_table(&endpoint, "transport.x").ok());
  EXPECT_EQ(endpoint.ops->am_short(&endpoint, 0, 0, 0, nullptr, 0), 7);
  EXPECT_EQ(endpoint.ops->getv, nullptr);
  EXPECT_EQ(endpoint.ops->amo, nullptr);
  EXPECT_EQ(endpoint.ops->flush, nullptr);

  ashlar_iface_ops all{};
  all.attributes = [](ashlar_iface*, ashlar_iface_attributes*) { std::abort(); };
  ashlar_iface_ops shorter = all;
  shorter.size = offsetof(ashlar_iface_ops, attributes);
  shorter = whole(shorter);
  ashlar_iface iface{.ops = &shorter};
  EXPECT_EQ(attributes_of(iface).put_completion, static_cast<std::uint32_t>(ASHLAR_PUT_UNKNOWN));
  EXPECT_EQ(attributes_of(iface).pieces_most, 0u);
}

// A tool of a version that knew no events and no samples.
TEST(Skew, AToolWithoutTheYoungerFunctionsIsTaken) {
  ashlar_tool_ops ops{};
  ops.size = offsetof(ashlar_tool_ops, wants_event);
  ops.wants = [](ashlar_tool*, std::uint32_t) { return 7; };
  ops.event = [](ashlar_tool*, const ashlar_tool_event*) { std::abort(); };
  ops.job_sample = [](ashlar_tool*, const ashlar_tool_job*) -> int { std::abort(); };
  ashlar_tool tool{.ops = &ops};
  ASSERT_TRUE(take_table(&tool, "tool.x").ok());
  EXPECT_EQ(tool.ops->wants(&tool, 0), 7);
  EXPECT_EQ(tool.ops->wants_event, nullptr);
  EXPECT_EQ(tool.ops->event, nullptr);
  EXPECT_EQ(tool.ops->job_sample, nullptr);
}

}  // namespace
}  // namespace ashlar::plugin
