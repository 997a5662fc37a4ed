#include "framework/memory/headroom.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/memory/heap_facts.h"
#include "tests/unit/scratch_folder.h"

namespace ashlar::memory {
namespace {

/// A folder that stands for "/".
class HeadroomTest : public testing::Test {
 protected:
  void SetUp() override {
    write("/proc/meminfo", "MemTotal:       8388608 kB\nMemFree:  1 kB\nMemAvailable:   1048576 kB\n");
  }
  void write(const std::string& path, const std::string& text) const { scratch_.write(path.substr(1), text); }
  const ScratchFolder scratch_;
  const std::string& root_ = scratch_.path();
};

TEST_F(HeadroomTest, TheMachineSetsTheLimitWhereNoGroupDoes) {
  write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(available_memory(root_).bytes, 1024 * kMiB);
  EXPECT_NE(available_memory(root_).limit.find("MemAvailable"), std::string::npos);
  EXPECT_EQ(physical_memory(root_), 8192 * kMiB);
}

TEST_F(HeadroomTest, GroupsOfVersion2CountWithTheirParents) {
  write("/proc/self/cgroup", "0::/job/step\n");
  write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  write("/sys/fs/cgroup/job/step/memory.current", "1000\n");
  write("/sys/fs/cgroup/job/memory.max", std::to_string(200 * kMiB) + "\n");
  write("/sys/fs/cgroup/job/memory.current", std::to_string(150 * kMiB) + "\n");
  write("/sys/fs/cgroup/job/memory.stat", "anon 5\nfile 7\ninactive_file " + std::to_string(20 * kMiB) + "\n");
  const Available found = available_memory(root_);
  EXPECT_EQ(found.bytes, 70 * kMiB);
  EXPECT_EQ(found.limit, "memory.max of control group /job");
  EXPECT_EQ(physical_memory(root_), 200 * kMiB);
}

TEST_F(HeadroomTest, GroupsOfVersion1Count) {
  write("/proc/self/cgroup", "4:cpu,memory:/slurm/job\n2:cpuset:/other\n0::/\n");
  write("/sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", std::to_string(64 * kMiB));
  write("/sys/fs/cgroup/memory/slurm/job/memory.usage_in_bytes", std::to_string(80 * kMiB));
  write("/sys/fs/cgroup/memory/slurm/job/memory.stat", "inactive_file 1\ntotal_inactive_file 0\n");
  EXPECT_EQ(available_memory(root_).bytes, 0u);
  EXPECT_EQ(available_memory(root_).limit, "memory.limit_in_bytes of control group /slurm/job");
}

TEST_F(HeadroomTest, AGroupOutsideTheContainerIsTheRootInside) {
  write("/proc/self/cgroup", "4:memory:/docker/0123\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(32 * kMiB));
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(2 * kMiB));
  EXPECT_EQ(available_memory(root_).bytes, 30 * kMiB);
  EXPECT_EQ(available_memory(root_).limit, "memory.limit_in_bytes of control group /");
}

TEST_F(HeadroomTest, WhatCannotBeReadSetsNoLimit) {
  std::filesystem::remove(root_ + "/proc/meminfo");
  EXPECT_EQ(available_memory(root_).bytes, UINT64_MAX);
  EXPECT_EQ(physical_memory(root_), 0u);
  EXPECT_FALSE(strict_overcommit(root_));
  write("/proc/sys/vm/overcommit_memory", "2\n");
  EXPECT_TRUE(strict_overcommit(root_));
  write("/proc/self/cgroup", "no colon\n::\n0::\n:\n");
  EXPECT_EQ(available_memory(root_).bytes, UINT64_MAX);
}

TEST(HeadroomAdmitTest, RefusesMoreThanTheMachineHas) {
  Headroom headroom;
  EXPECT_TRUE(headroom.admit(1 << 20).ok());
  const Status refused = headroom.admit(std::uint64_t{1} << 60);
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(std::strstr(refused.text(), " leaves "), nullptr) << refused.text();
  EXPECT_TRUE(headroom.admit(1 << 20).ok());
}

}  // namespace
}  // namespace ashlar::memory
