#include "framework/plugin/records.h"

#include <gtest/gtest.h>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/host.h"
#include "framework/plugin/pvars.h"

namespace ashlar::plugin {
namespace {

TEST(Records, TextShowsWhatWasChosenAndWhyTheOthersLost) {
  Records records;
  records.add(
      {"transport", "peer 3", "shm", "same node", "self: another process\ntcp: not asked for", "transport = (all)"});
  records.add({"coll", "", "shm", "", "", ""});
  EXPECT_EQ(
      to_text(records.of("")),
      "transport, peer 3: shm\n  because  same node\n  not      self: another process\n  not      tcp: not asked for\n"
      "  change   transport = (all)\ncoll: shm\n");
  EXPECT_EQ(records.of("coll").size(), 1u);
  EXPECT_EQ(to_json(records.of("coll")[0]), "{\"topic\":\"coll\",\"chosen\":\"shm\"}");
}

TEST(Records, JsonEscapes) { EXPECT_EQ(json_string("a\"b\\c\nd\x01"), "\"a\\\"b\\\\c\\nd\\u0001\""); }

TEST(Records, Topics) {
  EXPECT_TRUE(wants("all", "coll"));
  EXPECT_TRUE(wants("transport,coll", "coll"));
  EXPECT_FALSE(wants("transport", "coll"));
  EXPECT_FALSE(wants("", "coll"));
}

TEST(Records, JsonHoldsNothingThatIsNotUtf8) {
  EXPECT_EQ(json_string("\xc3\xa9 \xe2\x82\xac"), "\"\xc3\xa9 \xe2\x82\xac\"");
  EXPECT_EQ(json_string("a\xff"
                        "b\xc3"),
            "\"a\\ufffdb\\ufffd\"");
  EXPECT_EQ(json_string("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"") << "half of a surrogate pair";
}

TEST(Records, TopicsThatDoNotExistAreNamed) {
  EXPECT_TRUE(check_topics("", "x").ok());
  EXPECT_TRUE(check_topics("all", "x").ok());
  EXPECT_TRUE(check_topics("transport,coll,launch,topology,p2p", "x").ok());
  const Status status = check_topics("coll,transprot", "--explain");
  EXPECT_EQ(status.mpi_class(), kErrArg);
  EXPECT_STREQ(status.text(),
               "explain (--explain) knows no topic 'transprot' (did you mean 'transport'?); there are all, launch, "
               "transport, coll, rma, io, topology, report, tool, memory, p2p");
}

TEST(Records, OfATopicTheFirstAreKeptAndTheRestIsSaid) {
  Records records;
  for (std::size_t i = 0; i < Records::kMostOfTopic + 10; ++i)
    records.add({"topology", "grid " + std::to_string(i), "as it is", "", "", ""});
  records.add({"coll", "", "shm", "", "", ""});
  const std::vector<Decision> kept = records.of("topology");
  ASSERT_EQ(kept.size(), Records::kMostOfTopic + 1);
  EXPECT_EQ(kept[Records::kMostOfTopic - 1].subject, "grid " + std::to_string(Records::kMostOfTopic - 1));
  EXPECT_EQ(kept.back().chosen, "later decisions are not kept");
  EXPECT_EQ(records.of("coll").size(), 1u) << "other topics have room of their own";
}

TEST(Host, ServicesOfTheKernel) {
  Host host;
  const ashlar_host* table = host.table();
  EXPECT_EQ(table->size, sizeof(ashlar_host));
  table->record("coll", nullptr, "shm", "small", nullptr, nullptr);
  EXPECT_EQ(host.records().of("coll").at(0).because, "small");
  const Status status = from(table->fail(kErrNoMem, "no room for %d rings", 3), "transport.shm");
  EXPECT_EQ(status.mpi_class(), kErrNoMem);
  EXPECT_STREQ(status.text(), "component transport.shm failed: no room for 3 rings");
  EXPECT_STREQ(Failure(status).find("lower")->text, "no room for 3 rings");
  EXPECT_STREQ(from(-16, "transport.shm").text(), "component transport.shm failed (-16) without a reason in words");
  const ashlar_fact facts[] = {{"value", nullptr, -3}, {"lower", "the cable is out", 0}};
  const Status known = from(table->fail_with(kErrOther, "component.silent", facts, 2), "transport.shm");
  EXPECT_STREQ(known.text(), "component transport.shm failed (-3) without a reason in words (the cable is out)");
  EXPECT_EQ(Failure(known).find("value")->number, -3);
  // In a list of reasons each component is named once, before its reason.
  const ashlar_fact layouts[] = {{"pid", nullptr, 7}, {"theirs", nullptr, 1}, {"own", nullptr, 2}};
  const Status other = from(table->fail_with(kErrOther, "shm.layout", layouts, 3), "transport.shm");
  EXPECT_STREQ(Failure(other).find("component")->text, "transport.shm");
  EXPECT_EQ(own_words(other), Failure(other).says);
  EXPECT_EQ(own_words(from(table->fail(kErrOther, "no room for %d rings", 3), "transport.shm")), "no room for 3 rings");
  EXPECT_TRUE(from(ASHLAR_AGAIN, "transport.shm").ok());
  static const std::uint64_t rings = 4;
  static const ashlar_pvar rows[] = {{"rings", "Rings in use.", ASHLAR_PVAR_LEVEL, &rings}};
  table->add_pvars("transport", "shm", rows, 1);
  std::uint64_t value = 0;
  pvar_sets().each_from(0, [&](const PvarSet& set) {
    if (set.prefix() == "transport.shm") set.read(0, nullptr, &value, 1);
  });
  EXPECT_EQ(value, 4u);
}

}  // namespace
}  // namespace ashlar::plugin
