#include <gmock/gmock.h>

#include <string>

#include "framework/base/error_class.h"
#include "framework/plugin/params.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/report.h"
#include "framework/plugin/setup.h"
#include "tests/unit/plugin/fixture.h"

namespace ashlar::plugin {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_fixture;

class SelectTest : public testing::Test {
 protected:
  // Everything except the JSON component is the default list of `report`; here all may serve.
  void set(const char* list) { list_ = list; }
  std::vector<std::string> select(std::vector<std::string> kinds) {
    for (const std::string& kind : kinds) folder_.drop(kind);
    const std::string variable = std::string("ASHLAR_report=") + list_;
    const char* environment[] = {variable.c_str(), "ASHLAR_report_good_limit=4K", nullptr};
    param::Sources sources;
    sources.environment = environment;
    registry_.add_folder(folder_.path());
    store_.declare({"", kSelection});
    registry_.declare_params();
    EXPECT_TRUE(store_.load(sources).ok());
    status_ = registry_.select("report", nullptr, &chosen_);
    std::vector<std::string> names;
    for (const Chosen& c : chosen_) names.push_back(c.component->name());
    return names;
  }
  const Decision record() {
    const auto all = registry_.records().of("report");
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Decision{} : all[0];
  }

  TemporaryFolder folder_;
  const char* list_ = "";
  param::Store store_;
  Registry registry_{&store_, {0x1234}};
  std::vector<Chosen> chosen_;
  Status status_;
};

TEST_F(SelectTest, RanksByPriorityAndSaysWhyTheOthersLost) {
  EXPECT_THAT(select({"good", "other", "unable", "sad", "major"}), ElementsAre("other", "good"));
  EXPECT_TRUE(status_.ok()) << status_.text();
  EXPECT_EQ(chosen_[1].reason, "limit 4096, colour green") << "its configuration block was filled";
  const Decision d = record();
  EXPECT_EQ(d.chosen, "other, good");
  EXPECT_THAT(d.because, HasSubstr("other (priority 30): limit 8192"));
  EXPECT_THAT(d.lost, AllOf(HasSubstr("unable: limit 8192"), HasSubstr("sad: the paint is dry"),
                            HasSubstr("major: it was built for component contract 7." +
                                      std::to_string(ASHLAR_COMPONENT_MINOR))));
  EXPECT_THAT(d.setting, HasSubstr("report = (all) (environment ASHLAR_report)"));
}

TEST_F(SelectTest, ListsIncludeAndOpenNothingElse) {
  set(" good ");
  EXPECT_THAT(select({"good", "other"}), ElementsAre("good"));
  EXPECT_THAT(record().lost, HasSubstr("other: not in report =  good "));
  std::ifstream maps("/proc/self/maps");
  const std::string all((std::istreambuf_iterator<char>(maps)), {});
  EXPECT_EQ(all.find(folder_.path() + "/ashlar_report_other"), std::string::npos);
}

TEST_F(SelectTest, ListsExclude) {
  set("^other,absent");
  EXPECT_THAT(select({"good", "other"}), ElementsAre("good"));
  EXPECT_THAT(record().lost, HasSubstr("other: left out by report = ^other,absent (environment ASHLAR_report)"));
}

TEST_F(SelectTest, LeavingOneMoreOutKeepsOutWhatTheDefaultLeavesOut) {
  // report's default is ^json.
  set("^other");
  EXPECT_THAT(select({"good", "other", "json"}), ElementsAre("good"));
  EXPECT_THAT(record().lost,
              HasSubstr("json: left out by report = ^other (environment ASHLAR_report), beside the default "
                        "^json"));
}

TEST_F(SelectTest, NamesThatDoNotExistAreAnErrorWithASuggestion) {
  set("godo");
  EXPECT_THAT(select({"good", "other"}), ElementsAre());
  EXPECT_EQ(status_.mpi_class(), kErrArg);
  EXPECT_THAT(status_.text(), AllOf(HasSubstr("there is no report component called 'godo'"),
                                    HasSubstr("did you mean 'good'?"), HasSubstr("installed: good, other")));
}

TEST_F(SelectTest, ChoicesCanBeCheckedBeforeAnythingIsOpened) {
  set("godo");
  select({"good", "other"});
  const Status status = registry_.check_choices();
  EXPECT_EQ(status.mpi_class(), kErrArg);
  EXPECT_THAT(status.text(), HasSubstr("there is no report component called 'godo' (did you mean 'good'?)"));
}

TEST_F(SelectTest, ChoicesOfWhatThereIsAreGood) {
  set("^absent,other");
  select({"good", "other"});
  const Status status = registry_.check_choices();
  EXPECT_TRUE(status.ok()) << status.text();
}

TEST_F(SelectTest, WhenNoneIsLeftEveryReasonIsSaid) {
  set("sad,unable");
  EXPECT_THAT(select({"good", "sad", "unable"}), ElementsAre());
  EXPECT_EQ(status_.mpi_class(), kErrOther);
  EXPECT_THAT(status_.text(),
              AllOf(HasSubstr("; sad: the paint is dry"), HasSubstr(". The setting is report = sad,unable")));
  EXPECT_EQ(record().chosen, "none");
}

TEST_F(SelectTest, TheFirstThatCanServeIsEnoughAndTheRestStayClosed) {
  select({"good", "other", "sad"});  // only to set everything up; a second registry then asks for one
  Registry again(&store_, {0x1234});
  again.add_folder(folder_.path());
  constexpr const char* kOrder[] = {"sad", "good"};
  Chosen one{};
  ASSERT_TRUE(again.select_first("report", nullptr, kOrder, &one).ok());
  EXPECT_STREQ(one.component->name(), "good");
  const Decision d = again.records().of("report").at(0);
  EXPECT_EQ(d.chosen, "good");
  EXPECT_THAT(d.lost, AllOf(HasSubstr("sad: the paint is dry"), HasSubstr("other: not asked: good can serve")));
  ASSERT_TRUE(store_
                  .load([] {
                    param::Sources s;
                    s.command_line = {{"report", "sad", "x"}};
                    return s;
                  }())
                  .ok());
  Chosen none{};
  EXPECT_THAT(again.select_first("report", nullptr, kOrder, &none).text(), HasSubstr("no report component can serve"));
}

TEST_F(SelectTest, ModulesAndSilentFailures) {
  EXPECT_THAT(select({"good", "barren"}), ElementsAre("barren", "good"));
  void* module = nullptr;
  EXPECT_THAT(chosen_[0].component->create(nullptr, &module).text(),
              HasSubstr("report.barren failed (-16) without a reason in words"));
  ASSERT_TRUE(chosen_[1].component->create(nullptr, &module).ok());
  EXPECT_NE(static_cast<ashlar_report*>(module)->ops->error, nullptr);
}

TEST_F(SelectTest, TheFolderAddedFirstWins) {
  TemporaryFolder users;
  users.drop("good");
  registry_.add_folder(users.path());
  EXPECT_THAT(select({"good"}), ElementsAre("good"));
  EXPECT_EQ(chosen_[0].component->entry().file, users.path() + "/ashlar_report_good.so");
  EXPECT_THAT(record().lost, HasSubstr("good: it is replaced by " + users.path()));
}

void answer_linked(const void*, ashlar_answer* answer) { answer->priority = 99; }
ashlar_result create_linked(const void*, void** module) {
  static int it = 0;
  *module = &it;
  return ASHLAR_OK;
}
constexpr ashlar_component kLinked = {sizeof(ashlar_component),
                                      ASHLAR_COMPONENT_MAJOR,
                                      ASHLAR_COMPONENT_MINOR,
                                      "report",
                                      "linked",
                                      "0",
                                      "",
                                      ASHLAR_REPORT_INTERFACE,
                                      0,
                                      0,
                                      nullptr,
                                      0,
                                      nullptr,
                                      answer_linked,
                                      create_linked,
                                      nullptr,
                                      nullptr};

TEST_F(SelectTest, LinkedComponentsTakePart) {
  registry_.add_linked(kLinked);
  EXPECT_THAT(select({"good"}), ElementsAre("linked", "good"));
}

void answer_last_resort(const void*, ashlar_answer* answer) {
  answer->priority = 0;
  std::snprintf(answer->reason, sizeof answer->reason, "needed by none");
}
ashlar_component last_resort() {
  ashlar_component component = kLinked;
  component.name = "last";
  component.query = answer_last_resort;
  return component;
}

TEST_F(SelectTest, PriorityZeroServesWhenNoOtherCan) {
  const ashlar_component last = last_resort();
  registry_.add_linked(last);
  EXPECT_THAT(select({"unable"}), ElementsAre("last"));
}

TEST_F(SelectTest, PriorityZeroGivesWayToOthers) {
  const ashlar_component last = last_resort();
  registry_.add_linked(last);
  set("^other");
  EXPECT_THAT(select({"good", "other"}), ElementsAre("good"));
  EXPECT_THAT(record().lost, HasSubstr("last: needed by none"));
}

TEST_F(SelectTest, PriorityZeroServesBesideOthersWhenItIsNamed) {
  const ashlar_component last = last_resort();
  registry_.add_linked(last);
  set("last,good");
  EXPECT_THAT(select({"good"}), ElementsAre("good", "last"));
}

TEST(Setup, ParametersOfUsersFoldersAreKnownAndReachRanks) {
  TemporaryFolder users, prefix;
  users.drop("good");
  const std::string path = "ASHLAR_plugin_path=" + users.path();
  const char* environment[] = {path.c_str(), "ASHLAR_report_good_colour=red", nullptr};
  param::Sources sources;
  sources.environment = environment;
  param::Store launcher_store, rank_store;
  Registry launcher(&launcher_store, {0x1234});
  const Status status = configure(prefix.root(), sources, &launcher_store, &launcher);
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_TRUE(launcher_store.problems().empty());

  Registry rank(&rank_store, {0x1234});
  ASSERT_TRUE(begin(prefix.root(), environment, &rank_store, &rank).ok());
  ASSERT_TRUE(adopt(prefix.root(), launcher_store.serialize(), environment, &rank_store, &rank).ok());
  std::vector<Chosen> chosen;
  ASSERT_TRUE(rank.select("report", nullptr, &chosen).ok());
  EXPECT_EQ(chosen[0].reason, "limit 8192, colour red");
}

}  // namespace
}  // namespace ashlar::plugin
