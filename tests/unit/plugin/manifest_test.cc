#include "framework/plugin/manifest.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/plugin/fixture.h"

namespace ashlar::plugin {
namespace {

using testing::HasSubstr;
using namespace testing_fixture;

class ManifestTest : public testing::Test {
 protected:
  Folder read() { return Folder::read(folder_.path(), {0x1234}, &pool_); }
  void register_it() {
    const Status status = Folder::register_folder(folder_.path(), {0x1234});
    ASSERT_TRUE(status.ok()) << status.text();
  }
  TemporaryFolder folder_;
  param::TextPool pool_;
};

TEST_F(ManifestTest, RowsSayWhatTheFilesSay) {
  folder_.drop("good");
  folder_.drop("nosymbol");
  folder_.drop("major");
  register_it();
  Folder folder = read();
  EXPECT_EQ(folder.looked_into(), 0u);
  ASSERT_EQ(folder.entries().size(), 3u);
  const Entry& good = folder.entries()[0];
  EXPECT_EQ(good.refused, "");
  EXPECT_EQ(good.prefix, "report.good");
  EXPECT_STREQ(good.statement.description, "A component of the tests.");
  ASSERT_EQ(good.statement.params.size(), 3u);
  EXPECT_STREQ(good.statement.params[2].choices[0], "red");
  EXPECT_STREQ(good.statement.params[1].help, "Where records go.");
  EXPECT_EQ(good.statement.params[2].offset, 16u);
  EXPECT_THAT(folder.entries()[1].refused,
              HasSubstr("built for component contract 7." + std::to_string(ASHLAR_COMPONENT_MINOR)));
  EXPECT_STREQ(folder.entries()[1].statement.framework, "report") << "told by the file's name";
  EXPECT_THAT(folder.entries()[2].refused, HasSubstr("does not define"));
}

TEST_F(ManifestTest, WithoutAManifestTheFilesAreLookedInto) {
  folder_.drop("good");
  EXPECT_EQ(read().looked_into(), 1u);
  EXPECT_EQ(read().entries().size(), 1u);
}

TEST_F(ManifestTest, ADroppedFileIsFoundAndOnlyItIsLookedInto) {
  folder_.drop("good");
  register_it();
  folder_.drop("other");
  Folder folder = read();
  EXPECT_EQ(folder.looked_into(), 1u);
  ASSERT_EQ(folder.entries().size(), 2u);
  EXPECT_EQ(folder.entries()[1].prefix, "report.other");
  EXPECT_EQ(folder.entries()[1].refused, "");
}

TEST_F(ManifestTest, ARemovedFileIsGone) {
  folder_.drop("good");
  const std::string other = folder_.drop("other");
  register_it();
  unlink(other.c_str());
  EXPECT_EQ(read().entries().size(), 1u);
}

TEST_F(ManifestTest, AnotherBuildsComponentIsJudgedByTheKernelThatReads) {
  folder_.drop("build");
  register_it();
  EXPECT_THAT(read().entries().at(0).refused, HasSubstr("this kernel is build 0x1234"));
  EXPECT_EQ(Folder::read(folder_.path(), {0xabcdef}, &pool_).entries().at(0).refused, "");
}

TEST_F(ManifestTest, ADamagedManifestIsAsGoodAsNone) {
  folder_.drop("good");
  register_it();
  std::ofstream(folder_.path() + ".manifest") << "ashlar-manifest 1\t12\nC\tashlar_report_good.so\t5\nP\n\nX";
  EXPECT_EQ(read().entries().at(0).prefix, "report.good");
  EXPECT_EQ(read().looked_into(), 1u);
}

TEST_F(ManifestTest, AManifestThatLostRowsHidesNoComponent) {
  folder_.drop("good");
  folder_.drop("other");
  register_it();
  std::ifstream in(folder_.path() + ".manifest");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(read().looked_into(), 0u);
  for (std::size_t at = text.find('\n'); at != std::string::npos && at + 1 < text.size();
       at = text.find('\n', at + 1)) {
    std::ofstream(folder_.path() + ".manifest") << text.substr(0, at + 1);
    EXPECT_EQ(read().entries().size(), 2u) << "cut behind byte " << at;
  }
  const std::size_t row = text.find("C\tashlar_report_other"), end = text.find('\n', row) + 1;
  std::ofstream(folder_.path() + ".manifest") << text.substr(0, row) + text.substr(end);
  Folder folder = read();
  ASSERT_EQ(folder.entries().size(), 2u) << "without a row in the middle";
  EXPECT_EQ(folder.entries()[0].statement.params.size(), 3u) << "parameters of a row that is gone";
  std::ofstream(folder_.path() + ".manifest") << text + text;
  EXPECT_EQ(read().entries().size(), 2u) << "twice";
}

TEST_F(ManifestTest, ARowThatNamesAFileElsewhereMakesTheManifestWorthless) {
  folder_.drop("good");
  for (const char* name :
       {"../elsewhere/ashlar_report_good.so", "/etc/ashlar_report_good.so", "ashlar_report_good", ".x.so"}) {
    register_it();
    std::ifstream in(folder_.path() + ".manifest");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    text.replace(text.find("ashlar_report_good.so"), 21, name);
    std::ofstream(folder_.path() + ".manifest") << text;
    Folder folder = read();
    EXPECT_EQ(folder.looked_into(), 1u) << name;
    ASSERT_EQ(folder.entries().size(), 1u) << name;
    EXPECT_EQ(folder.entries()[0].file, folder_.path() + "/ashlar_report_good.so");
  }
}

TEST_F(ManifestTest, ANamedFolderIsJudged) {
  const std::string good = folder_.drop("good"), other = folder_.drop("other");
  register_it();
  chmod(other.c_str(), 0666);
  const auto named = [&] {
    return Folder::read(folder_.path(), {0x1234}, &pool_, param::Trust::in_named_folder(geteuid()));
  };
  EXPECT_EQ(named().entries().at(0).refused, "");
  EXPECT_THAT(named().entries().at(1).refused, HasSubstr("every user may write to it"));
  EXPECT_EQ(named().looked_into(), 0u);
  chmod((folder_.path() + ".manifest").c_str(), 0666);
  EXPECT_EQ(named().looked_into(), 2u) << "a manifest that all may write is as good as none";
  EXPECT_EQ(read().looked_into(), 0u) << "the installation's is not judged";
}

class ManifestCheck : public ManifestTest {
 protected:
  std::string manifest() { return folder_.path() + ".manifest"; }
  std::vector<std::string> mistakes() {
    std::vector<std::string> found;
    const Status status = check_manifest(manifest(), {0x1234}, &found);
    EXPECT_TRUE(status.ok()) << status.text();
    return found;
  }
  void replace(const std::string& old, const std::string& by) {
    std::ifstream in(manifest());
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const std::size_t at = text.find(old);
    ASSERT_NE(at, text.npos);
    std::ofstream(manifest()) << text.replace(at, old.size(), by);
  }
};

TEST_F(ManifestCheck, WhatIsWrittenHasNoMistake) {
  folder_.drop("good");
  folder_.drop("nosymbol");
  register_it();
  EXPECT_THAT(mistakes(), testing::IsEmpty());
}

TEST_F(ManifestCheck, AFieldThatDiffersIsNamedWithBothValues) {
  folder_.drop("good");
  register_it();
  replace("\treport\t", "\ttransport\t");
  EXPECT_THAT(mistakes(), testing::ElementsAre(manifest() + ":2: framework is 'transport'; now it would be 'report'"));
  replace("Where records go.", "Elsewhere.");
  EXPECT_THAT(mistakes(), testing::Contains(HasSubstr("help is 'Elsewhere.'; now it would be 'Where records go.'")));
}

TEST_F(ManifestCheck, RowsAndFilesThatDoNotFitAreNamed) {
  folder_.drop("good");
  register_it();
  folder_.drop("other");
  EXPECT_THAT(mistakes(), testing::IsSupersetOf({HasSubstr(":1: the folder has changed"),
                                                 HasSubstr("'ashlar_report_other.so' of the folder has no row")}));
  register_it();
  unlink((folder_.path() + "/ashlar_report_other.so").c_str());
  EXPECT_THAT(mistakes(), testing::Contains(HasSubstr("there is no 'ashlar_report_other.so' in the folder")));
}

TEST_F(ManifestCheck, WhatIsNoRowIsNamed) {
  folder_.drop("good");
  register_it();
  replace("\nP\t", "\nQ\t");
  EXPECT_THAT(mistakes(), testing::Contains(HasSubstr(":3: 'Q' is no row; there are C, P, X, and E at the end")));
  std::ofstream(manifest()) << "something else\nP\tx\nC\tashlar_report_good.so";
  EXPECT_THAT(mistakes(), testing::IsSupersetOf({HasSubstr(":1: 'something else' is not the first line of a manifest"),
                                                 HasSubstr(":2: a parameter (P) without a component (C) before it"),
                                                 HasSubstr(":3: the line has no end")}));
  std::vector<std::string> found;
  EXPECT_THAT(check_manifest("/nowhere/at/all.manifest", {0}, &found).text(), HasSubstr("/nowhere/at/all.manifest"));
}

TEST_F(ManifestTest, AnAbsentFolderIsEmptyAndCannotBeRegistered) {
  EXPECT_TRUE(Folder::read("/nowhere/at/all", {0}, &pool_).entries().empty());
  EXPECT_THAT(Folder::register_folder("/nowhere/at/all", {0}).text(), HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace ashlar::plugin
