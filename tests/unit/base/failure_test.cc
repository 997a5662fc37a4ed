#include "framework/base/failure.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "framework/base/catalogue.h"
#include "framework/base/failure_ring.h"
#include "framework/base/text_writer.h"

namespace ashlar {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Fact, NumbersTextsAndAddresses) {
  char room[Fact::kNumberBytes];
  EXPECT_EQ(Fact("tag", -7).text(room), "-7");
  EXPECT_EQ(Fact("bytes", ~0ull).text(room), "18446744073709551615");
  EXPECT_EQ(Fact("name", std::string("solver")).text(room), "solver");
  EXPECT_EQ(Fact("name", static_cast<const char*>(nullptr)).text(room), "");
  EXPECT_EQ(Fact("handle", reinterpret_cast<const void*>(0x21)).text(room), "0x21");
  EXPECT_TRUE(Fact("tag", 3).is_number());
  EXPECT_FALSE(Fact("handle", reinterpret_cast<const void*>(0x21)).is_number());
}

TEST(Failure, NamesElementsFromOneForFortran) {
  const auto text_of = [](Status st) {
    name_elements_from_one(st);
    EXPECT_STREQ(st.text(), Failure(st).says);
    return std::string(st.text());
  };
  const auto element = [](const char* argument, int index) {
    return fail(13, "argument.element",
                {{"argument", argument}, {"index", index}, {"value", -5}, {"wanted", "1 or more"}});
  };
  EXPECT_EQ(text_of(element("dims", 1)), "argument dims(2) is -5; it must be 1 or more");
  EXPECT_EQ(text_of(element("dims", 99)), "argument dims(100) is -5; it must be 1 or more");
  EXPECT_EQ(text_of(fail(13, "handle.foreign", {{"argument", "types[0]"}, {"value", 7}, {"kind", "datatype"}})),
            "argument types(1) is 7, which is not the handle of a datatype");
  // What is no element, or no number, stays.
  EXPECT_EQ(text_of(fail(13, "argument.text", {{"argument", "key"}, {"value", "a[1]"}, {"wanted", "short"}})),
            "argument key is 'a[1]'; it must be short");
  EXPECT_EQ(text_of(fail(13, "argument.value", {{"argument", "x[y]"}, {"value", 1}, {"wanted", "[2]"}, {"note", ""}})),
            "argument x[y] is 1; it must be [2]");
}

TEST(Failure, HasTheMessagesSentencesWithTheFactsFilledIn) {
  const Status st = fail(13, "plugin.none_can_serve",
                         {{"framework", "coll"}, {"reasons", "shm: no memory"}, {"setting", "coll = shm"}});
  EXPECT_EQ(st.mpi_class(), 13);
  EXPECT_STREQ(st.text(), "no coll component can serve: shm: no memory. The setting is coll = shm.");
  const Failure f(st);
  EXPECT_STREQ(f.id, "plugin.none_can_serve");
  EXPECT_STREQ(f.says, "no coll component can serve: shm: no memory");
  EXPECT_STREQ(f.because, "The setting is coll = shm.");
  EXPECT_STREQ(f.tries,
               "ashlar_info --components coll shows what is installed and what was refused.\n"
               "Give coll = \"\" to let every component take part.");
  EXPECT_STREQ(f.around, "");
  ASSERT_NE(f.find("reasons"), nullptr);
  EXPECT_STREQ(f.find("reasons")->text, "shm: no memory");
  EXPECT_EQ(f.find("no such"), nullptr);
}

TEST(Failure, LeavesOutASentenceWhoseFactIsNotKnown) {
  const Failure f(fail(13, "plugin.none_can_serve", {{"framework", "coll"}, {"reasons", "none"}, {"setting", ""}}));
  EXPECT_STREQ(f.because, "");
  EXPECT_THAT(f.tries, HasSubstr("--components coll"));
}

TEST(Failure, AHoleInWhatItSaysStaysVisible) {
  EXPECT_STREQ(fail(13, "component.failed", {{"component", "transport.tcp"}}).text(),
               "component transport.tcp failed: {lower}");
  EXPECT_THAT(fail(13, "no.such").text(), HasSubstr("no.such"));
}

TEST(Failure, LevelsAboveAddWhatTheyKnow) {
  Status st = fail(16, "component.failed", {{"component", "transport.tcp"}, {"lower", "connection reset"}});
  st = add_facts(st, {{"peer", 2}, {"peer_host", "node6"}, {"tag", 4}, {"component", "another"}});
  EXPECT_STREQ(st.text(), "component transport.tcp failed: connection reset (peer rank 2 (node6), tag 4)");
  st = add_facts(st, {{"bytes_wanted", 4096}});
  const Failure f(st);
  EXPECT_STREQ(f.around, "peer rank 2 (node6), tag 4, 4096 bytes wanted");
  ASSERT_NE(f.find("peer"), nullptr);
  EXPECT_EQ(f.find("peer")->number, 2);
  EXPECT_TRUE(f.find("peer")->is_number);
  EXPECT_STREQ(f.find("component")->text, "transport.tcp") << "the first level knows best";
  EXPECT_TRUE(add_facts(Status{}, {{"peer", 2}}).ok());
}

TEST(Failure, AForeignSentenceTakesFactsToo) {
  const Status st = add_facts(Status::fail(16, "a vendor's sentence"), {{"component", "coll.acme"}, {"peer", 1}});
  EXPECT_STREQ(add_facts(st, {{"tag", 9}}).text(), "a vendor's sentence (peer rank 1, tag 9, component coll.acme)");
  const Failure f(st);
  EXPECT_EQ(f.id, nullptr);
  EXPECT_STREQ(f.says, "a vendor's sentence");
}

TEST(Failure, AFactMayBeTheTextOfAnOlderFailure) {
  Status st = Status::fail(1, "cause");
  for (int i = 0; i < 3 * Status::kRingSlots; ++i)
    st = fail(2, "component.failed", {{"component", "c"}, {"lower", std::string_view(st.text()).substr(0, 60)}});
  EXPECT_THAT(st.text(), testing::StartsWith("component c failed: component c failed: "));
}

TEST(Failure, TooMuchIsCutNotOverrun) {
  const std::string longer(2 * Failure::kFactBytes, 'x');
  Status st = fail(1, "component.failed", {{"component", "c"}, {"lower", longer}});
  EXPECT_EQ(std::string(st.text()).size(), static_cast<std::size_t>(Status::kTextBytes - 1));
  st = add_facts(st, {{"peer", 77}});
  EXPECT_EQ(Failure(st).find("peer"), nullptr) << "half a number would be another one";
  st = fail(1, "process.forked");
  for (int i = 0; i < 2 * Failure::kFacts; ++i) st = add_facts(st, {{std::to_string(i).c_str(), i}});
  EXPECT_EQ(Failure(st).count, Failure::kFacts);
}

TEST(Failure, AnOverwrittenOneHasNothing) {
  const Status old = fail(16, "process.forked");
  for (int i = 0; i < Status::kRingSlots; ++i) (void)fail(16, "process.forked").ok();
  const Failure f(add_facts(old, {{"peer", 1}}));
  EXPECT_EQ(f.id, nullptr);
  EXPECT_STREQ(f.says, "");
}

TEST(Failure, ThoseThatManyOperationsHaveAreOne) {
  const auto gone = [](const char* call, int peer) {
    return fail_alike(16, "peer.failed",
                      {{"call", call}, {"peer", peer}, {"communicator", "x"}, {"lower", "unplugged"}});
  };
  const Status first = gone("MPI_Irecv", 1), second = gone("MPI_Isend", 1);
  for (int i = 0; i < Status::kRingSlots; ++i) {
    EXPECT_STREQ(gone("MPI_Irecv", 1).text(), first.text());
    EXPECT_STREQ(gone("MPI_Isend", 1).text(), second.text());
  }
  EXPECT_STREQ(first.text(), "MPI_Irecv: rank 1 of 'x' is gone. Its transport says: unplugged");
  EXPECT_STREQ(second.text(), "MPI_Isend: rank 1 of 'x' is gone. Its transport says: unplugged");
  // Those with another fact or class are others.
  EXPECT_STREQ(gone("MPI_Irecv", 2).text(), "MPI_Irecv: rank 2 of 'x' is gone. Its transport says: unplugged");
  const Status known = gone("MPI_Irecv", 3), more = add_facts(gone("MPI_Irecv", 3), {{"tag", 7}});
  EXPECT_STREQ(Failure(known).around, Failure(more).around);
  EXPECT_STREQ(Failure(gone("MPI_Irecv", 3)).around, "");
  const Status of_class = fail_alike(17, "process.forked", {});
  EXPECT_EQ(of_class.mpi_class(), 17);
  EXPECT_EQ(fail_alike(16, "process.forked", {}).mpi_class(), 16);
}

TEST(Failure, EachThreadHasItsOwn) {
  const Status mine = fail(16, "process.forked");
  std::thread([] {
    EXPECT_EQ(Failure(fail(1, "component.silent", {{"component", "c"}, {"value", -3}})).find("value")->number, -3);
  }).join();
  EXPECT_STREQ(Failure(mine).id, "process.forked");
}

TEST(Catalogue, RowsAreFoundById) {
  for (const catalogue::Row* row = catalogue::begin(); row != catalogue::end(); ++row) {
    EXPECT_EQ(catalogue::find(row->id), row);
    EXPECT_THAT(row->says, Not(EndsWith(" ")));
  }
  EXPECT_EQ(catalogue::find("no.such"), nullptr);
  EXPECT_EQ(catalogue::find(""), nullptr);
  EXPECT_EQ(catalogue::find("zzz"), nullptr);
}

TEST(Catalogue, AMessageForWhatIsNoFailure) {
  const auto m = catalogue::message("param.mistakes", {{"count", 2}, {"mistakes", "a\n  b"}});
  EXPECT_THAT(m.paragraph(),
              testing::StartsWith("The configuration has mistakes (2).\n  a\n  b\n  - ashlar_info explain"));
  EXPECT_THAT(catalogue::message("no.such", {}).says, HasSubstr("no.such"));
}

TEST(TextWriter, CutsAndEndsSentences) {
  char out[8];
  TextWriter writer(out);
  EXPECT_EQ(writer.add("ab").stop().stop().view(), "ab.");
  EXPECT_EQ(writer.add("0123456").view(), "ab.0123");
  writer.cut(2);
  EXPECT_STREQ(out, "ab");
}

}  // namespace
}  // namespace ashlar
