// What communicators make of info keys (MPI-5.0, 7.4.4).
#include "framework/comm/hints.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <string>

#include "framework/comm/api.h"
#include "framework/comm/engine.h"
#include "framework/object/comm.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"

namespace ashlar::comm {
namespace {

/// Nothing of the process is asked for by hints.
struct NoServices final : Services {
  Lane* lane_of(std::uint32_t) override { return nullptr; }
  std::uint32_t node_of(PeerId) const override { return 0; }
  std::uint64_t node_identity(PeerId) override { return 0; }
  const Hardware& hardware() override { std::abort(); }
  Status everyone(Comm**) override { return {}; }
  bool in_process_set(const char*) override { return false; }
};

class Hints : public testing::TestWithParam<bool> {
 protected:
  Hints() { comm.local_group = Ref<Group>::adopt(Group::strided(0, 1, 1)); }
  void hint(const char* key, const char* value) {
    Info* info = nullptr;
    ASSERT_TRUE(info::create(&info).ok());
    ASSERT_TRUE(info::set(info, key, value).ok());
    set_hints(comm, info);
    release(info);
  }
  std::string told(const char* key) {
    Info* info = nullptr;
    EXPECT_TRUE(get_info(comm, &info).ok());
    const std::string* const value = info->find(key);
    const std::string out = value ? *value : "(none)";
    release(info);
    return out;
  }
  NoServices services;
  Engine engine{services, GetParam()};
  Comm comm;
};

TEST_P(Hints, PromisesAreKeptAndEnforcedOnlyWithTheCheck) {
  EXPECT_EQ(told("mpi_assert_no_any_tag"), "false");
  hint("mpi_assert_no_any_tag", "true");
  EXPECT_EQ(told("mpi_assert_no_any_tag"), "true");
  EXPECT_EQ(told("mpi_assert_no_any_source"), "false");
  EXPECT_EQ(comm.assertions, Comm::kNoAnyTag);
  EXPECT_EQ(comm.enforced, GetParam() ? Comm::kNoAnyTag : 0);
}

TEST_P(Hints, APromiseCanBeTakenBackAndOtherWordsChangeNothing) {
  hint("mpi_assert_exact_length", "true");
  hint("mpi_assert_exact_length", "perhaps");
  EXPECT_EQ(told("mpi_assert_exact_length"), "true");
  hint("mpi_assert_exact_length", "false");
  EXPECT_EQ(told("mpi_assert_exact_length"), "false");
  EXPECT_EQ(comm.assertions, 0);
}

TEST_P(Hints, UnknownKeysAreLeftAlone) {
  hint("of_another_library", "true");
  EXPECT_EQ(told("of_another_library"), "(none)");
  set_hints(comm, nullptr);
  EXPECT_EQ(comm.assertions, 0);
}

TEST_P(Hints, TheLastValueOfAKeyCounts) {
  hint("mpi_pset_name", "mpi://WORLD");
  hint("mpi_pset_name", "ocean");
  EXPECT_EQ(told("mpi_pset_name"), "ocean");
}

INSTANTIATE_TEST_SUITE_P(CheckHints, Hints, testing::Bool());

}  // namespace
}  // namespace ashlar::comm
