#include "framework/plugin/loader.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/unit/plugin/fixture.h"

namespace ashlar::plugin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace testing_fixture;

struct Opened {
  Status status;
  ashlar_component component{};
};

class LoaderTest : public testing::Test {
 protected:
  Opened open(Entry entry) {
    Opened result;
    Library library;
    result.status = open_component(&entry, {0x1234}, &pool_, &library, &result.component);
    if (library.is_open()) opened_.push_back(library);
    return result;
  }
  ~LoaderTest() override {
    for (Library& library : opened_) library.close();
  }
  param::TextPool pool_;
  std::vector<Library> opened_;
};

TEST_F(LoaderTest, OpensWhatItAccepts) {
  const Opened good = open(examine(fixture("good"), {0x1234}, &pool_));
  ASSERT_TRUE(good.status.ok()) << good.status.text();
  EXPECT_STREQ(good.component.name, "good");
}

/// Whether a fixture is mapped into this process.
bool is_loaded(const std::string& kind) {
  std::ifstream maps("/proc/self/maps");
  const std::string all((std::istreambuf_iterator<char>(maps)), {});
  return all.find("ashlar_report_" + kind) != all.npos;
}

TEST_F(LoaderTest, RefusalsNameTheFileAndNothingIsLoaded) {
  for (const char* kind : {"small", "major", "interface", "build", "alien", "nosymbol", "indirect", "empty"}) {
    const bool before = is_loaded(kind);  // another test may have had it adapted
    const Opened bad = open(examine(fixture(kind), {0x1234}, &pool_));
    EXPECT_THAT(bad.status.text(), AllOf(HasSubstr(fixture(kind)), HasSubstr("is not used"))) << kind;
    EXPECT_EQ(is_loaded(kind), before) << kind;
  }
}

TEST_F(LoaderTest, AMissingSymbolIsNamedByTheSystemsLoader) {
  const Opened unbound = open(examine(fixture("unbound"), {0x1234}, &pool_));
  EXPECT_THAT(unbound.status.text(), AllOf(HasSubstr("ashlar_report_unbound.so"), HasSubstr("nowhere_to_be_found")));
}

TEST_F(LoaderTest, ASymbolOfADependencyIsNotTaken) {
  Library library;
  ASSERT_TRUE(library.open(fixture("indirect")).ok());
  void* symbol = nullptr;
  EXPECT_THAT(library.find(ASHLAR_COMPONENT_SYMBOL, &symbol).text(),
              AllOf(HasSubstr("does not define ashlar_component_v1 itself"), HasSubstr("libfixture_dependency.so")));
  EXPECT_EQ(symbol, nullptr);
  library.close();
}

TEST_F(LoaderTest, AFileReplacedSinceItsRowWasMadeIsLookedAtAgain) {
  TemporaryFolder folder;
  const std::string file = folder.drop("good");
  Entry row = examine(file, {0x1234}, &pool_);
  std::filesystem::copy_file(fixture("major"), file, std::filesystem::copy_options::overwrite_existing);
  row.bytes += 1;  // the fixtures may be of one size and one second
  EXPECT_THAT(open(row).status.text(), HasSubstr("contract 7." + std::to_string(ASHLAR_COMPONENT_MINOR)));
  std::filesystem::copy_file(fixture("other"), file, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(open(row).status.text(),
              HasSubstr("it was report.good when this process started and is report.other now"));
}

TEST_F(LoaderTest, AbsentFilesAreSaidToBeAbsent) {
  Library library;
  EXPECT_THAT(library.open("/nowhere/x.so").text(), AllOf(HasSubstr("/nowhere/x.so"), HasSubstr("No such file")));
}

TEST_F(LoaderTest, TheYamlReaderIsFoundBesideTheKernel) {
  ashlar_yaml_read* read = nullptr;
  const Status status = open_yaml(&read);
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_NE(read, nullptr);
}

}  // namespace
}  // namespace ashlar::plugin
