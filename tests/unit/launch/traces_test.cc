#include "components/launch/singleton/traces.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "framework/plugin/launch_board.h"

namespace ashlar::launch {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// Asks with exactly these variables set, of those that matter.
std::string trace(const std::map<std::string, std::string>& variables, bool elevated = false) {
  for (const char* name : {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_SIZE", "PMI_RANK", "PMI_FD", "PMI_PORT", "PMI_ID",
                           "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_NUM_TASKS",
                           "SLURM_PROCID", "SLURM_JOB_ID", "SLURM_NTASKS", kJobVariable})
    unsetenv(name);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  char words[320] = {};
  return parallel_launch(words, sizeof words, elevated) ? words : "";
}

TEST(Traces, NoneInAPlainEnvironment) { EXPECT_EQ(trace({}), ""); }

TEST(Traces, Launchers) {
  EXPECT_THAT(trace({{"PMIX_NAMESPACE", "job"}, {"PMIX_RANK", "0"}}), HasSubstr("PMIX_NAMESPACE=job"));
  EXPECT_THAT(trace({{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"PMI_FD", "7"}}), HasSubstr("PMI_RANK=2 PMI_SIZE=4"));
  EXPECT_THAT(trace({{"FLUX_JOB_SIZE", "4"}, {"FLUX_TASK_RANK", "2"}}), HasSubstr("Flux"));
  EXPECT_THAT(
      trace({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "1"}, {"SLURM_JOB_ID", "9"}}),
      HasSubstr("task 1 of 4 of step 9.0"));
}

TEST(Traces, APmiLauncherThatIsNotJoinedHasAReason) {
  const std::map<std::string, std::string> variables = {{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"PMI_FD", "777"}};
  EXPECT_THAT(trace(variables), HasSubstr("its descriptor (PMI_FD) is not open here"));
  EXPECT_THAT(trace({{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"PMI_FD", "0"}}), EndsWith("PMI_RANK=2 PMI_SIZE=4"));
  EXPECT_THAT(trace({{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}}), HasSubstr("without PMI_FD"));
  EXPECT_THAT(trace({{"PMI_PORT", "a:1"}, {"PMI_ID", "2"}}), HasSubstr("PMI_PORT=a:1 PMI_ID=2"));
  EXPECT_THAT(trace(variables, true), HasSubstr("more rights than the user"));
}

TEST(Traces, ASingleTaskOrABatchScriptIsNoParallelLaunch) {
  EXPECT_EQ(trace({{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}, {"PMI_FD", "7"}}), "");
  EXPECT_EQ(trace({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}), "");
  // The script of sbatch -n 16 itself.
  EXPECT_EQ(trace({{"SLURM_JOB_ID", "9"}, {"SLURM_NTASKS", "16"}, {"SLURM_PROCID", "0"}}), "");
  EXPECT_EQ(trace({{"SLURM_STEP_ID", "4294967291"}, {"SLURM_STEP_NUM_TASKS", "16"}, {"SLURM_PROCID", "0"}}), "");
}

TEST(Traces, AnMpiexecOfAnotherVersionIsALaunch) {
  BoardHeader header = {};
  header.magic = kBoardMagic;
  const int board = memfd_create("board", MFD_CLOEXEC);
  ASSERT_GE(board, 0);
  const std::map<std::string, std::string> variables = {
      {kJobVariable, "1:" + std::to_string(board) + ":8:9:0:1:2:job"}};
  for (const std::uint32_t version : {kBoardVersion + 1, kBoardVersion - 1, kBoardVersion}) {
    header.version = version;
    ASSERT_EQ(pwrite(board, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    if (version == kBoardVersion) {
      EXPECT_EQ(trace(variables), "") << "that is launch/native's business";
    } else {
      EXPECT_THAT(trace(variables), HasSubstr("version " + std::to_string(version)));
    }
  }
  close(board);
  EXPECT_EQ(trace(variables), "") << "a program that a rank started does not have the descriptor";
}

}  // namespace
}  // namespace ashlar::launch
