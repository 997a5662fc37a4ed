#include "framework/param/store.h"

#include <gmock/gmock.h>

#include "tests/unit/param/rows.h"

namespace ashlar::param {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_rows;

std::vector<std::string> texts(const Store& s) {
  std::vector<std::string> out;
  for (const Problem& p : s.problems()) out.push_back((p.error ? "error: " : "notice: ") + p.text);
  return out;
}

TEST(Store, FillsEveryTypeFromTheFallbacks) {
  Store s = store();
  Shm shm{};
  ASSERT_TRUE(s.fill("transport.shm", kShm, &shm).ok());
  EXPECT_EQ(shm.eager_limit, 8192u);
  EXPECT_EQ(shm.patience, 10000u);
  EXPECT_DOUBLE_EQ(shm.factor, 0.5);
  EXPECT_STREQ(shm.folder, "");
  Room room{};
  ASSERT_TRUE(s.fill(kTables[1], &room).ok());
  EXPECT_TRUE(room.busy);
  EXPECT_EQ(room.mode, 0);
}

TEST(Store, EnvironmentInBothCasesAndCommandLineWins) {
  const char* environment[] = {"PATH=/bin", "ASHLAR_transport_shm_eager_limit=4K", "ASHLAR_P2P_COPY_LIMIT=1M",
                               "ASHLAR_transport_shm_folder=/x y", nullptr};
  Sources sources;
  sources.environment = environment;
  sources.command_line = {{"p2p.copy_limit", "2M", "--set p2p.copy_limit=2M"}};
  Store s = store();
  ASSERT_TRUE(s.load(sources).ok());
  EXPECT_THAT(texts(s), IsEmpty());
  Shm shm{};
  Room room{};
  ASSERT_TRUE(s.fill("transport.shm", kShm, &shm).ok());
  ASSERT_TRUE(s.fill("p2p", kRoom, &room).ok());
  EXPECT_EQ(shm.eager_limit, 4096u);
  EXPECT_STREQ(shm.folder, "/x y");
  EXPECT_EQ(room.copy_limit, 2u << 20);
  EXPECT_STREQ(s.find("p2p.copy_limit")->origin, "--set p2p.copy_limit=2M");
  const auto all = s.settings("p2p.copy_limit");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_STREQ(all[1]->lost, "overridden by --set p2p.copy_limit=2M");
}

TEST(Store, UnknownKeysAreReportedWithWhatWasMeant) {
  const char* environment[] = {"ASHLAR_TRANSPORT_SHM_EAGRE_LIMIT=4K", "ASHLAR__handover=x", "ASHLAR_FC=flang-22",
                               nullptr};
  Sources sources;
  sources.environment = environment;
  Store s = store();
  EXPECT_TRUE(s.load(sources).ok());
  EXPECT_THAT(texts(s), ElementsAre("notice: environment ASHLAR_TRANSPORT_SHM_EAGRE_LIMIT: there is no such parameter; "
                                    "did you mean 'ASHLAR_transport_shm_eager_limit'?"));

  Store t = store();
  Sources typed;
  typed.command_line = {{"transport.ucx.tls", "rc", "--set transport.ucx.tls=rc"},
                        {"p2p.copylimit", "1", "--set p2p.copylimit=1"}};
  const Status status = t.load(typed);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.text(), HasSubstr("(and 1 more)"));
  EXPECT_THAT(texts(t)[0], HasSubstr("is the component that declares transport.ucx.* installed?"));
  EXPECT_THAT(texts(t)[1], HasSubstr("did you mean 'p2p.copy_limit'?"));
}

TEST(Store, WrongValuesNameKeyOriginAndWhatIsExpected) {
  Sources sources;
  sources.command_line = {{"transport.shm.patience", "10", "--set transport.shm.patience=10"}};
  Store s = store();
  const Status status = s.load(sources);
  EXPECT_EQ(status.mpi_class(), kErrArg);
  EXPECT_STREQ(status.text(),
               "--set transport.shm.patience=10: transport.shm.patience: '10' has no unit; expected a time "
               "with its unit, such as 10us, 5ms, 2s or 1min");
  Shm shm{};
  EXPECT_TRUE(s.fill("transport.shm", kShm, &shm).ok()) << "the value without fault stays in force";
  EXPECT_EQ(shm.patience, 10000u);
}

TEST(Store, SynonymsAndDeprecatedNamesAreNoticed) {
  Sources sources;
  sources.command_line = {
      {"p2p.cpy_limit", "3M", "-x"}, {"transport.shm.factor", "2", "-y"}, {"transport.shm.wire_version", "4", "-z"}};
  Store s = store();
  EXPECT_FALSE(s.load(sources).ok());
  EXPECT_THAT(texts(s), ElementsAre("notice: -x: 'p2p.cpy_limit' is now called 'p2p.copy_limit'",
                                    "notice: -y: 'transport.shm.factor' is deprecated: Growth.",
                                    "error: -z: transport.shm.wire_version is constant and cannot be set"));
  std::uint64_t limit = 0;
  ASSERT_TRUE(s.get("p2p.cpy_limit", &limit).ok());
  EXPECT_EQ(limit, 3u << 20);
}

TEST(Store, TypedGettersCheckTheType) {
  Store s = store();
  std::uint64_t bytes = 0;
  bool flag = false;
  const char* list = nullptr;
  EXPECT_TRUE(s.get("p2p.copy_limit", &bytes).ok());
  EXPECT_EQ(bytes, 65536u);
  EXPECT_TRUE(s.get("transport", &list).ok());
  EXPECT_STREQ(list, "");
  EXPECT_EQ(s.get("p2p.copy_limit", &flag).mpi_class(), kErrIntern);
  EXPECT_THAT(s.get("p2p.copy_limt", &bytes).text(), HasSubstr("did you mean 'p2p.copy_limit'?"));
}

TEST(Store, SetAtRunTimeObeysScopeAndFreeze) {
  Store s = store();
  ASSERT_TRUE(s.set("p2p.busy", "off", "MPI_T").ok());
  bool busy = true;
  ASSERT_TRUE(s.get("p2p.busy", &busy).ok());
  EXPECT_FALSE(busy);
  s.freeze();
  EXPECT_THAT(s.set("p2p.busy", "on", "MPI_T").text(), HasSubstr("read when MPI was initialised"));
  EXPECT_TRUE(s.set("p2p.mode", "fast", "MPI_T").ok());
  EXPECT_THAT(s.set("p2p.mode", "wild", "MPI_T").text(), HasSubstr("safe or fast"));
  EXPECT_THAT(s.set("transport.shm.wire_version", "9", "MPI_T").text(), HasSubstr("constant"));
}

TEST(Store, TheValueSetLastStaysWhenAnotherKeyIsSet) {
  Store s = store();
  bool busy = true;
  for (const char* value : {"off", "on", "off", "on", "off"}) {
    ASSERT_TRUE(s.set("p2p.busy", value, "MPI_T").ok());
    ASSERT_TRUE(s.set("p2p.mode", "fast", "MPI_T").ok());
    ASSERT_TRUE(s.get("p2p.busy", &busy).ok());
    EXPECT_EQ(busy, value == std::string_view("on"));
  }
}

TEST(Store, ExplainSaysEverything) {
  const char* environment[] = {"ASHLAR_transport_shm_eager_limit=4096", nullptr};
  Sources sources;
  sources.environment = environment;
  sources.command_line = {{"transport.shm.eager_limit", "16384", "--set transport.shm.eager_limit=16384"}};
  Store s = store();
  ASSERT_TRUE(s.load(sources).ok());
  EXPECT_EQ(s.explain("transport.shm.eager_limit"),
            "transport.shm.eager_limit = 16384 (16KiB)\n"
            "  from  --set transport.shm.eager_limit=16384 (command line)\n"
            "  not   4096  from environment ASHLAR_transport_shm_eager_limit (environment): overridden by --set "
            "transport.shm.eager_limit=16384\n"
            "  not   8KiB  the built-in value\n"
            "  Largest message sent without a handshake.\n"
            "  type bytes, scope all, level user-basic\n"
            "  YAML key transport.shm.eager_limit, environment ASHLAR_transport_shm_eager_limit\n");
  EXPECT_THAT(s.explain("transport.shm.eager"), HasSubstr("there is no parameter"));
}

TEST(Store, ExplainsWhatAnOwnerUsesInstead) {
  Sources sources;
  sources.command_line = {{"transport.shm.eager_limit", "5000", "--set x"}};
  Store s = store();
  ASSERT_TRUE(s.load(sources).ok());
  EXPECT_FALSE(s.adjustment("transport.shm.eager_limit").has_value());
  s.adjusted("transport.shm.eager_limit", "4KiB", "sizes are powers of two");
  s.adjusted("transport.shm.eager_limit", "8KiB", "smallest ring");
  EXPECT_THAT(s.explain("transport.shm.eager_limit"), HasSubstr("= 5000, used 8KiB: smallest ring\n"));
}

}  // namespace
}  // namespace ashlar::param
