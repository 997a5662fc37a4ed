#include <gmock/gmock.h>

#include "framework/plugin/params.h"
#include "framework/plugin/report_text.h"
#include "framework/plugin/reporter.h"
#include "tests/unit/plugin/fixture.h"

namespace ashlar::plugin {
namespace {

using testing::HasSubstr;
using namespace testing_fixture;

ashlar_error_record record() {
  ashlar_error_record r{};
  r.size = sizeof r;
  r.has = ASHLAR_HAS_RANK | ASHLAR_HAS_PEER | ASHLAR_HAS_TAG | ASHLAR_HAS_BYTES_WANTED | ASHLAR_HAS_BYTES_GOT;
  r.call = "MPI_Recv";
  r.class_name = "MPI_ERR_TRUNCATE";
  r.mpi_class = r.mpi_code = 15;
  r.text = "The message is longer than the buffer.";
  r.object_kind = "communicator";
  r.object_name = "solver";
  r.rank = 1;
  r.object_size = 4;
  r.peer = 2;
  r.peer_host = "node6";
  r.tag = -7;
  r.bytes_wanted = 4096;
  r.bytes_got = 1024;
  r.try_next = "Look.\nThink.";
  r.words =
      "MPI_Recv on communicator 'solver' (rank 1 of 4) failed: MPI_ERR_TRUNCATE: the message is longer.\n  - Look.";
  static constexpr ashlar_fact kFacts[] = {{"communicator", "solver \"x\"", 0}, {"peer", nullptr, 2}};
  r.facts = kFacts;
  r.fact_count = 2;
  r.fatal = 1;
  return r;
}
const ashlar_report_context kWho{sizeof kWho, 3, 8, "node7", 42, 0};

TEST(ReportText, AnErrorForPeople) {
  EXPECT_EQ(
      error_text(kWho, record()),
      "ashlar: rank 3 of 8 on node7: MPI_Recv on communicator 'solver' (rank 1 of 4) failed: MPI_ERR_TRUNCATE: the "
      "message is longer.\n  - Look.\n  The job ends.\n");
}

TEST(ReportText, AnErrorForTools) {
  EXPECT_EQ(error_json(kWho, record()),
            "{\"kind\":\"error\",\"rank\":3,\"size\":8,\"host\":\"node7\",\"pid\":42,\"call\":\"MPI_Recv\","
            "\"class\":\"MPI_ERR_TRUNCATE\",\"code\":15,\"text\":\"The message is longer than the buffer.\","
            "\"try\":\"Look.\\nThink.\",\"object_kind\":\"communicator\",\"object\":\"solver\",\"object_rank\":1,"
            "\"object_size\":4,\"peer\":2,\"peer_host\":\"node6\",\"tag\":-7,\"bytes_wanted\":4096,\"bytes_got\":1024,"
            "\"facts\":{\"communicator\":\"solver \\\"x\\\"\",\"peer\":2},\"fatal\":true}\n");
}

TEST(ReportText, FactsWithoutTextLeaveAnObject) {
  const ashlar_fact facts[] = {{.name = "reason", .text = "", .number = 0}};
  ashlar_error_record r{};
  r.facts = facts;
  r.fact_count = 1;
  EXPECT_THAT(error_json(kWho, r), HasSubstr(",\"facts\":{},"));
}

TEST(ReportText, BeforeTheJobIsKnown) {
  const ashlar_report_context nobody{sizeof nobody, -1, 0, nullptr, 42, 0};
  ashlar_error_record r{};
  r.words = "MPI_Init failed: MPI_ERR_OTHER.";
  EXPECT_EQ(error_text(nobody, r), "ashlar: MPI_Init failed: MPI_ERR_OTHER.\n");
  const ashlar_notice n{sizeof n, 1, nullptr, "careful"};
  EXPECT_EQ(notice_text(nobody, n), "ashlar: warning: careful\n");
}

class ReporterTest : public testing::Test {
 protected:
  void start(std::initializer_list<std::pair<const char*, std::string>> settings) {
    param::Sources sources;
    for (const auto& [key, value] : settings) sources.command_line.push_back({key, value, key});
    store_.declare({"", kSelection});
    registry_.add_folder(folder_.path());
    registry_.add_folder(param::support_folder(param::installation_prefix()) + "/components");
    registry_.declare_params();
    const Status status = store_.load(sources);
    ASSERT_TRUE(status.ok()) << status.text();
    reporter_.speak_as(3, 8, "node7");
  }
  std::string file() const { return folder_.root() + "/out"; }
  std::string written() const {
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TemporaryFolder folder_;
  param::Store store_;
  Registry registry_{&store_};
  Reporter reporter_{&registry_};
};

TEST_F(ReporterTest, ADroppedComponentGetsErrorsAndNotices) {
  folder_.drop("good");
  start({{"report", "good"}, {"report.good.file", file()}});
  reporter_.error(record());
  reporter_.notice(2, nullptr, "hello");
  EXPECT_EQ(written(), "MPI_Recv: The message is longer than the buffer.\nnotice 2: hello\n");
}

TEST_F(ReporterTest, TheInstalledComponentsWrite) {
  start({{"report", "stderr,json"}, {"report.json.file", file() + ".%r"}});
  testing::internal::CaptureStderr();
  reporter_.error(record());
  reporter_.decisions({{"transport", "peer 3", "shm", "same node", "", ""}});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            error_text(kWho, record()) + "transport, peer 3: shm\n  because  same node\n");
  std::ifstream in(file() + ".3");
  std::string first, second;
  std::getline(in, first);
  std::getline(in, second);
  EXPECT_THAT(first, HasSubstr("\"bytes_wanted\":4096"));
  EXPECT_THAT(second, HasSubstr("\"decision\":{\"topic\":\"transport\",\"subject\":\"peer 3\""));
}

TEST_F(ReporterTest, WithoutAnyComponentTheKernelPrintsItself) {
  folder_.drop("sad");
  start({{"report", "sad"}});
  testing::internal::CaptureStderr();
  reporter_.error(record());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), error_text(kWho, record()));
}

TEST_F(ReporterTest, WhatTheLauncherTellsIsNotToldTwice) {
  start({{"report", "stderr,json"}, {"report.json.file", file()}});
  reporter_.speak_as(3, 8, "node7", /*launcher_tells=*/true);
  testing::internal::CaptureStderr();
  reporter_.error(record());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(written(), HasSubstr("\"fatal\":true")) << "tools hear of it all the same";
}

TEST_F(ReporterTest, ProblemsOfTheConfigurationAreTold) {
  start({{"report", "stderr"}});
  param::Sources sources;
  sources.command_line = {{"report.jsn.file", "x", "--set report.jsn.file=x"}};
  param::Store other;
  other.declare({"", kSelection});
  EXPECT_FALSE(other.load(sources).ok());
  testing::internal::CaptureStderr();
  reporter_.problems(other);
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_THAT(out, HasSubstr("The configuration has mistakes (1)"));
  EXPECT_THAT(out, HasSubstr("--set report.jsn.file=x: there is no parameter 'report.jsn.file'"));
  EXPECT_THAT(out, HasSubstr("  - ashlar_info explain KEY"));
}

}  // namespace
}  // namespace ashlar::plugin
