// The texts that are made of records: page, JSON, Prometheus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/tool/trace/document.h"
#include "components/tool/trace/json_writer.h"
#include "components/tool/trace/timeline.h"
#include "framework/base/clock.h"
#include "tests/unit/tool/job.h"

namespace ashlar::tool_trace {
namespace {

using recording::FakeJob;
using recording::Figures;
using recording::Records;
using testing::HasSubstr;
using testing::Not;

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
  JsonWriter json;
  json.object().member("a", 1).key("b").array().value("x\n\"").value(2.5).null().array().end_array().end_array();
  json.key("c").object().end_object().member("d", true).end_object();
  EXPECT_EQ(json.take(), R"({"a":1,"b":["x\\n\"",2.5,null,[]],"c":{},"d":true})");
}

TEST(Page, HoldsNothingThatEndsTheScript) {
  FakeJob job(2);
  recording::comm_name_of_test = "</script><!-- \xe2\x80\xa8 & ]]>";
  job.make(0, job.call(FakeJob::kBarrier, ticks()));
  recording::comm_name_of_test = "MPI_COMM_WORLD";
  job.close();
  const Records records = job.read();
  const std::string text = page(document(records, Figures(records), {.ranks = 8, .bars = 1000}), "<b>&\"'");
  const std::size_t data = text.find("id=\"data\">") + 10;
  const std::string island = text.substr(data, text.find("</script>", data) - data);
  EXPECT_THAT(island, HasSubstr("\\u003c/script\\u003e\\u003c!--"));
  EXPECT_EQ(island.find_first_of("<>&"), std::string::npos);
  EXPECT_THAT(island, Not(HasSubstr("\xe2\x80\xa8")));
  EXPECT_THAT(text, HasSubstr("<title>&lt;b&gt;&amp;&quot;&#39;</title>"));
  EXPECT_EQ(text.find('@'), text.find("@media"));  // no hole is left
}

TEST(Prometheus, EscapesLabels) {
  FakeJob job(1);
  job.make(0, job.call(FakeJob::kBarrier, ticks()));
  job.close();
  const Records records = job.read();
  EXPECT_THAT(prometheus(records, Figures(records)),
              HasSubstr("ashlar_calls_total{job_id=\"test\",rank=\"0\",host=\"host\",call=\"MPI_Barrier\"} 1\n"));
}

TEST(Timeline, ShortCallsAreJoinedAndLongOnesStay) {
  FakeJob job(1, 16 << 20);
  const std::uint64_t begin = ticks();
  for (std::uint64_t i = 0; i < 10'000; ++i) job.make(0, job.call(FakeJob::kBarrier, begin + i * 10'000, 100));
  job.make(0, job.call(FakeJob::kSend, begin + 200'000'000, 500'000'000));
  const Records records = job.read();
  const Timeline timeline = timeline_of(records, Figures(records), 8, 100);
  ASSERT_EQ(timeline.ranks.size(), 1u);
  EXPECT_LE(timeline.ranks[0].bars.size(), 102u);
  EXPECT_EQ(timeline.calls, 10'001u);
  std::uint64_t calls = 0;
  for (const Bar& bar : timeline.ranks[0].bars) calls += bar.calls;
  EXPECT_EQ(calls, 10'001u);
  EXPECT_EQ(timeline.ranks[0].bars.back().calls, 1u);
  EXPECT_EQ(records.procedures[timeline.ranks[0].bars.back().procedure].name, "MPI_Send");
}

TEST(Timeline, ShowsStragglersAmongManyRanks) {
  FakeJob job(40, 2 << 20);
  const std::uint64_t begin = ticks();
  for (std::uint32_t r = 0; r < 40; ++r)
    if (r != 33) job.make(r, job.call(FakeJob::kBarrier, begin, 80'000'000'000));
  job.close();
  const Records records = job.read();
  const std::vector<std::uint32_t> chosen = chosen_ranks(records, Figures(records), 8);
  EXPECT_EQ(chosen.size(), 8u);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_THAT(chosen, testing::Contains(33u));
}

}  // namespace
}  // namespace ashlar::tool_trace
