#include "mpiexec/environment.h"

#include <gmock/gmock.h>

namespace ashlar::mpiexec {
namespace {

using testing::ElementsAre;
using testing::StrEq;

std::vector<std::string> all(Environment& environment) {
  std::vector<std::string> out;
  for (const char* const* at = environment.pointers(); *at; ++at) out.push_back(*at);
  return out;
}

TEST(Environment, PassesEverythingButOtherLaunchersClaims) {
  const char* const base[] = {"HOME=/root",
                              "PMIX_RANK=3",
                              "PMIX_SERVER_URI41=x",
                              "PMI_FD=7",
                              "PMIX_MCA_a=b",
                              "ASHLAR__JOB=1:2",
                              "ASHLAR__INFO=maxprocs=3",
                              "SLURM_JOB_ID=9",
                              "ASHLAR_log=info",
                              nullptr};
  Environment e(base);
  EXPECT_THAT(all(e), ElementsAre("HOME=/root", "PMIX_MCA_a=b", "SLURM_JOB_ID=9", "ASHLAR_log=info"));
}

TEST(Environment, SetReplacesTheWholeName) {
  const char* const base[] = {"A=1", "AB=2", nullptr};
  Environment e(base);
  e.set("A", "3");
  e.set("C", "");
  EXPECT_THAT(all(e), ElementsAre("A=3", "AB=2", "C="));
  EXPECT_EQ(e.get("AB"), "2");
  EXPECT_EQ(e.get("B"), "");
}

TEST(Environment, MayBeEmpty) {
  Environment e(nullptr);
  EXPECT_EQ(e.pointers()[0], nullptr);
}

}  // namespace
}  // namespace ashlar::mpiexec
