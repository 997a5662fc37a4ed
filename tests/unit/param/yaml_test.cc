// The files: their YAML form, the merge order over the layers, locks, conditions, host classes, provenance.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/unit/param/rows.h"
#include "tests/unit/scratch_folder.h"

namespace ashlar::param {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_rows;

constexpr ashlar_param kJson[] = {
    {"file", "", "", ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0, 0, nullptr}};

class Files : public testing::Test {
 protected:
  Files() {
    sources_.open_yaml = open_yaml;
    sources_.context.host = "gpu7";
    sources_.context.ranks = 64;
  }

  std::string file(const std::string& name, Layer layer, const std::string& text) {
    const std::string path = folder_.write(name, text);
    sources_.files.push_back({path, layer, layer == Layer::site ? folder_ / "classes" : ""});
    return path;
  }
  Store load(bool expected = true) {
    Store s = store();
    const Status status = s.load(sources_);
    EXPECT_EQ(status.ok(), expected) << status.text();
    return s;
  }
  std::string eager(const Store& s) { return s.value("transport.shm.eager_limit", kShm[0]).text; }

  const ScratchFolder folder_;
  Sources sources_;
};

TEST_F(Files, EverySpellingOfASetting) {
  const std::string path = file("a.yaml", Layer::user,
                                "transport: [shm, self]\n"
                                "transport.shm.eager_limit: 1KiB\n"
                                "p2p:\n"
                                "  copy_limit:\n"
                                "    value: 2M\n"
                                "  mode: [{value: safe}, {value: fast, when: {ranks: '>=64'}}]\n"
                                "rules:\n"
                                "  - when: {host: ['cpu*', 'gpu*']}\n"
                                "    set:\n"
                                "      transport: {shm: {patience: 7us}}\n");
  const Store s = load();
  EXPECT_THAT(s.problems(), IsEmpty());
  EXPECT_STREQ(s.find("transport")->text, "shm,self");
  EXPECT_EQ(s.find("transport.shm.eager_limit")->origin, path + ":2");
  EXPECT_EQ(s.find("p2p.copy_limit")->origin, path + ":4");
  EXPECT_STREQ(s.find("p2p.mode")->text, "fast");
  EXPECT_EQ(s.find("transport.shm.patience")->origin, path + ":10");
}

TEST_F(Files, AConditionWithoutAPatternIsAMistake) {
  const std::string path = file("user.yaml", Layer::user, "p2p.mode: {value: safe, when: {host: []}}\n");
  const Store s = load(false);
  EXPECT_EQ(s.problems().at(0).text, path + ":1: 'host' takes a pattern or a list of patterns");
}

TEST_F(Files, AToolSeesEveryMistakeAndNoOtherFile) {
  folder_.write("classes/gpu.yaml", "lgo: 1\n");
  std::string text = "classes: {gpu: 'gpu*'}\n";
  for (std::size_t i = 0; i < 2 * Store::kMostProblems; ++i) text += "p2p.mode" + std::to_string(i) + ": safe\n";
  file("site.yaml", Layer::site, text);
  sources_.classes = false;
  Store s = store();
  s.limit_problems(1000);
  EXPECT_TRUE(s.load(sources_).ok());
  EXPECT_EQ(s.problems().size(), 2 * Store::kMostProblems);
}

TEST_F(Files, LaterLayersWinAndLosersSayWhy) {
  const std::string site = file("site.yaml", Layer::site, "transport.shm.eager_limit: 1K\n");
  file("default.yaml", Layer::defaults, "transport.shm.eager_limit: 9K\n");  // order of layers, not of reading
  file("user.yaml", Layer::user, "transport.shm.eager_limit: 2K\n");
  const std::string project = file("project.yaml", Layer::project, "\ntransport.shm.eager_limit: 3K\n");
  const Store s = load();
  EXPECT_EQ(eager(s), "3K");
  const auto all = s.settings("transport.shm.eager_limit");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_STREQ(all[1]->text, "2K");
  EXPECT_EQ(all[1]->lost, "overridden by " + project + ":2");
  EXPECT_EQ(all[2]->origin, site + ":1");
  EXPECT_STREQ(all[3]->text, "9K");
}

TEST_F(Files, LaterInTheSameLayerWins) {
  file("10.yaml", Layer::site, "p2p.mode: safe\n");
  file("20.yaml", Layer::site, "p2p.mode: fast\n");
  EXPECT_STREQ(load().find("p2p.mode")->text, "fast");
}

TEST_F(Files, SiteLocksWinOverEverythingAndThatIsSaid) {
  const std::string site = file("site.yaml", Layer::site, "transport.shm.eager_limit: {value: 1K, lock: true}\n");
  sources_.command_line = {{"transport.shm.eager_limit", "4K", "--set x"}};
  const Store s = load();
  EXPECT_EQ(eager(s), "1K");
  ASSERT_EQ(s.problems().size(), 1u);
  EXPECT_EQ(s.problems()[0].text,
            "transport.shm.eager_limit = 4K (--set x) is not used: " + site + ":1 locks it at 1K");
  EXPECT_THAT(s.explain("transport.shm.eager_limit"), HasSubstr("(site, locked)"));
  EXPECT_THAT(s.settings("transport.shm.eager_limit")[1]->lost, HasSubstr("locked by " + site));
  Store mutable_store = load();
  EXPECT_THAT(mutable_store.set("transport.shm.eager_limit", "2K", "MPI_T").text(), HasSubstr("is locked by " + site));
}

TEST_F(Files, OnlySitesMayLock) {
  file("user.yaml", Layer::user, "transport.shm.eager_limit: {value: 1K, lock: true}\n");
  sources_.command_line = {{"transport.shm.eager_limit", "4K", "--set x"}};
  const Store s = load();
  EXPECT_EQ(eager(s), "4K");
  EXPECT_THAT(s.problems()[0].text, HasSubstr("only the site's files may lock"));
}

TEST_F(Files, ConditionsThatDoNotHoldAreKeptWithTheReason) {
  file("site.yaml", Layer::site,
       "transport.shm.eager_limit: {value: 1K, lock: true, when: {host: 'cpu*'}}\n"
       "p2p.mode: {value: fast, when: {ranks: 64, host: 'gpu?'}}\n");
  const Store s = load();
  EXPECT_EQ(s.find("transport.shm.eager_limit"), nullptr);
  EXPECT_EQ(eager(s), "8KiB");
  EXPECT_STREQ(s.settings("transport.shm.eager_limit")[0]->lost, "only when host cpu*; this host is gpu7");
  EXPECT_STREQ(s.find("p2p.mode")->text, "fast");
  EXPECT_THAT(s.explain("p2p.mode"), HasSubstr("when ranks 64, host gpu?"));
}

TEST_F(Files, HostClassesLieBetweenSiteAndUser) {
  folder_.write("classes/gpu.yaml", "transport.shm.eager_limit: 5K\np2p.mode: fast\n");
  folder_.write("classes/cpu.yaml", "transport.shm.eager_limit: 6K\n");
  file("site.yaml", Layer::site, "classes: {gpu: ['gpu*', 'dgx?'], cpu: 'cpu*'}\ntransport.shm.eager_limit: 1K\n");
  file("user.yaml", Layer::user, "p2p.mode: safe\n");
  const Store s = load();
  EXPECT_EQ(eager(s), "5K");
  EXPECT_EQ(s.find("transport.shm.eager_limit")->layer, Layer::host_class);
  EXPECT_STREQ(s.find("p2p.mode")->text, "safe");
}

TEST_F(Files, MistakesNameFileAndLine) {
  const std::string path = file("user.yaml", Layer::user,
                                "transport.shm.eager_limit: 1Q\n"
                                "transport.shm.eager: 1K\n"
                                "p2p.copy_limit: {value: 1, lcok: true}\n"
                                "p2p.mode: {value: safe, when: {hots: x}}\n");
  const Store s = load(false);
  ASSERT_EQ(s.problems().size(), 4u);
  EXPECT_THAT(s.problems()[0].text, HasSubstr(path + ":1: transport.shm.eager_limit: '1Q' ends in the unknown unit"));
  EXPECT_THAT(s.problems()[1].text, HasSubstr(path + ":2: there is no parameter 'transport.shm.eager'"));
  EXPECT_FALSE(s.problems()[1].error) << "an unknown key in a file may belong to a component of another node";
  EXPECT_THAT(s.problems()[2].text, HasSubstr("unknown attribute 'lcok'"));
  EXPECT_THAT(s.problems()[3].text, HasSubstr("did you mean 'host'?"));
}

TEST_F(Files, BrokenYamlIsAnErrorWithItsLine) {
  const std::string path = file("user.yaml", Layer::user, "p2p.mode: fast\np2p.copy_limit: [1, 2\n");
  const Store s = load(false);
  EXPECT_THAT(s.problems().at(0).text, HasSubstr(path + ":3: this is not YAML: "));
  EXPECT_TRUE(s.problems().at(0).error);
}

TEST_F(Files, AProjectsFileOfAnotherUserIsNotRead) {
  if (geteuid() != 0) GTEST_SKIP() << "giving files away takes root";
  const std::string path = file("ashlar.yaml", Layer::project, "p2p.mode: safe\n");
  ASSERT_EQ(chown(path.c_str(), 4711, 4711), 0);
  const Store s = load();
  EXPECT_EQ(s.find("p2p.mode"), nullptr);
  EXPECT_EQ(
      s.problems().at(0).text,
      path + " is not used: it belongs to user 4711, who is neither you nor root; a copy of your own would be used");
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  EXPECT_STREQ(load().find("p2p.mode")->text, "safe");
}

TEST_F(Files, WrongFormsAreNamed) {
  const std::string path = file("site.yaml", Layer::site,
                                "p2p.mode: {value: safe, lock: perhaps}\n"
                                "rules:\n"
                                "  - {when: {host: x}, set: 5}\n");
  const Store s = load(false);
  ASSERT_EQ(s.problems().size(), 2u);
  EXPECT_EQ(s.problems()[0].text, path + ":1: lock: is true or false");
  EXPECT_EQ(s.problems()[1].text, path + ":3: set: is a map of keys to values");
}

TEST_F(Files, AGroupIsNoParameterAndItsMembersAreNamed) {
  file("user.yaml", Layer::user, "p2p: 5\n");
  EXPECT_THAT(load().problems().at(0).text,
              HasSubstr("there is no parameter 'p2p', only a group of that name: p2p.copy_limit, p2p."));
}

TEST_F(Files, FilesOfCommentsNeedNoReader) {
  file("default.yaml", Layer::defaults, "# transport: shm\n\n   # nothing\n");
  sources_.files.push_back({folder_ / "absent.yaml", Layer::user, ""});
  sources_.open_yaml = nullptr;
  EXPECT_THAT(load().problems(), IsEmpty());
  file("user.yaml", Layer::user, "p2p.mode: fast\n");
  EXPECT_THAT(load(false).problems().at(0).text, HasSubstr("no reader of YAML files"));
}

// The shipped files are read by the kernel's own rows: an example with a mistake would be a poor one.
TEST_F(Files, ShippedFilesHaveNoMistakes) {
  for (const char* name : {"/default.yaml", "/site/ashlar.yaml", "/site/classes-gpu.yaml"}) {
    Sources sources;
    sources.open_yaml = open_yaml;
    sources.files = {{std::string(CONFIG_FOLDER) + name, Layer::site, folder_.path()}};
    Store s;
    s.declare(kernel_tables());
    s.declare({"report.json", kJson});
    EXPECT_TRUE(s.load(sources).ok());
    for (const Problem& p : s.problems()) ADD_FAILURE() << p.text;
  }
}

TEST_F(Files, AnAliasOfItselfIsReported) {
  for (const char* text :
       {"p2p: &a {eager: *a}\n", "p2p: &a [*a]\n", "p2p: &a {eager: {value: 1, when: *a}, x: *a}\n",
        "rules: &r [{set: {p2p: {mode: *r}}, when: *r}]\n", "rules: &r [*r]\n", "classes: &c {a: *c}\n"}) {
    sources_.files.clear();
    const std::string path = file("a.yaml", Layer::user, text);
    const Store s = load(false);
    ASSERT_FALSE(s.problems().empty()) << text;
    EXPECT_THAT(s.problems()[0].text, HasSubstr(path + ":1: ")) << text;
  }
}

TEST_F(Files, AliasesOfAliasesEndAtABudget) {
  std::string text = "p2p: &a0 {x: 1}\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "k" + std::to_string(i) + ": &a" + std::to_string(i) + " {a: " + last + ", b: " + last + "}\n";
  }
  file("a.yaml", Layer::user, text);
  const Store s = load(false);
  EXPECT_THAT(s.problems().back().text,
              testing::AnyOf(HasSubstr("values, those behind aliases counted"), HasSubstr(" more")));
  EXPECT_LE(s.problems().size(), Store::kMostProblems + 1);
}

TEST_F(Files, TooDeepNestingIsReported) {
  std::string text = "p2p: ";
  for (int i = 0; i < 2000; ++i) text += "{a: ";
  file("a.yaml", Layer::user, text + "1" + std::string(2000, '}') + "\n");
  EXPECT_FALSE(load(false).problems().empty());
  sources_.files.clear();
  file("b.yaml", Layer::user, "p2p: " + std::string(100000, '['));
  EXPECT_FALSE(load(false).problems().empty());
}

TEST_F(Files, ManyMistakesAreCounted) {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += "nothing.key" + std::to_string(i) + ": 1\n";
  file("a.yaml", Layer::user, text);
  const Store s = load();
  ASSERT_EQ(s.problems().size(), Store::kMostProblems + 1);
  EXPECT_FALSE(s.problems().back().error);
  EXPECT_EQ(s.problems().back().text, "and " + std::to_string(30000 - Store::kMostProblems) + " more");
}

TEST_F(Files, MistakesBeyondTheLimitAreStillErrors) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "nothing.key" + std::to_string(i) + ": 1\n";
  file("a.yaml", Layer::user, text + "p2p.mode: fsat\n");
  const Store s = load(false);
  EXPECT_TRUE(s.problems().back().error);
}

TEST_F(Files, ALongKeyIsCut) {
  file("a.yaml", Layer::user, "? " + std::string(100000, 'k') + "\n: 1\n");
  EXPECT_LT(load().problems()[0].text.size(), 700u);
}

TEST_F(Files, AKeyTwiceInAMapIsSaid) {
  const std::string path = file("a.yaml", Layer::user, "p2p.mode: safe\nbusy: 1\np2p.mode: fast\n");
  const Store s = load();
  EXPECT_STREQ(s.find("p2p.mode")->text, "fast");
  EXPECT_EQ(
      s.problems()[0].text,
      path + ":3: 'p2p.mode' is in this map already, in line 1; of two settings of one parameter the later one wins");
}

TEST_F(Files, ASecondDocumentIsAMistake) {
  const std::string path = file("a.yaml", Layer::user, "p2p.mode: fast\n---\np2p.busy: false\n");
  const Store s = load(false);
  EXPECT_STREQ(s.find("p2p.mode")->text, "fast");
  EXPECT_THAT(s.problems()[0].text, HasSubstr("a second document (---) begins here"));
}

TEST_F(Files, WhatStandsBehindADocumentIsAMistake) {
  // The YAML library ends the document at the comma, and its reader of all documents never ends here.
  const std::string path = file("a.yaml", Layer::user, ",p2p.mode: fast\np2p.busy: false\n");
  EXPECT_THAT(load(false).problems()[0].text, HasSubstr(path + ":1: "));
  sources_.files.clear();
  file("b.yaml", Layer::user, "---\np2p.mode: fast\n...\n# the end\n");
  EXPECT_STREQ(load().find("p2p.mode")->text, "fast");
}

TEST_F(Files, MergeKeysAndKeysThatAreNoWordsAreReported) {
  const std::string path = file(
      "a.yaml", Layer::user, "p2p: &base {mode: fast}\ntransport:\n  <<: *base\n? [a, b]\n: 1\nrules: [{set: [1]}]\n");
  const Store s = load(false);
  ASSERT_EQ(s.problems().size(), 3u);
  std::vector<std::string> said;
  for (const Problem& p : s.problems()) said.push_back(p.text.substr(path.size()));
  EXPECT_THAT(said, testing::UnorderedElementsAre(
                        ":3: '<<' merges no maps here; write the keys out, or put an alias (*name) in their place",
                        ":4: a key is a word, not a list or a map", ":6: set: is a map of keys to values"));
}

TEST_F(Files, ControlCharactersAreShown) {
  const std::string path = file("a.yaml", Layer::user, "\"\\e[2Jevil\\n\": 1\np2p.mode: \"\\e]0;x\\a\"\n");
  const Store s = load(false);
  EXPECT_THAT(s.problems()[0].text, HasSubstr("there is no parameter '\\x1b[2Jevil\\n'"));
  EXPECT_THAT(s.problems()[1].text, HasSubstr("'\\x1b]0;x\\x07' is none of its choices"));
}

}  // namespace
}  // namespace ashlar::param
