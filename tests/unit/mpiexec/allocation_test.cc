#include "mpiexec/allocation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ashlar::mpiexec {
namespace {

std::string nodes(const char* list) {
  std::vector<std::string> names;
  if (!expand_nodes(list, &names)) return "no";
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
  return out;
}

std::string counts(const char* list) {
  std::vector<unsigned> numbers;
  if (!expand_counts(list, &numbers)) return "no";
  std::string out;
  for (const unsigned number : numbers) out += (out.empty() ? "" : " ") + std::to_string(number);
  return out;
}

TEST(Allocation, ListsOfNodes) {
  EXPECT_EQ(nodes("node1"), "node1");
  EXPECT_EQ(nodes("a,b-2,c.d"), "a b-2 c.d");
  EXPECT_EQ(nodes("n[01-03,7],m5"), "n01 n02 n03 n7 m5");
  EXPECT_EQ(nodes("n[8-11]"), "n8 n9 n10 n11");
  EXPECT_EQ(nodes("n[008-011]"), "n008 n009 n010 n011");
  EXPECT_EQ(nodes("r[1-2]n[1,3]x,end"), "r1n1x r1n3x r2n1x r2n3x end");
  EXPECT_EQ(nodes("[1-2]"), "1 2");
}

TEST(Allocation, WhatIsNoListOfNodes) {
  for (const char* list : {"", ",", "a,", ",a", "n[", "n]", "n[]", "n[a]", "n[1", "n[1-]", "n[2-1]", "n[1,]", "n[1;2]",
                           "n[1-2000000]", "n[1-999999]m[1-999999]", "n[1-99999999999]"})
    EXPECT_EQ(nodes(list), "no") << list;
}

TEST(Allocation, ListsOfCounts) {
  EXPECT_EQ(counts("4"), "4");
  EXPECT_EQ(counts("2(x3),1"), "2 2 2 1");
  EXPECT_EQ(counts("1,72(x2),3(x1)"), "1 72 72 3");
  for (const char* list :
       {"", "x", "2(", "2(x", "2(x3", "2(3)", "2(x0)", "0", "2,", ",2", "2(x3)4", "2(x2000000)", "-1"})
    EXPECT_EQ(counts(list), "no") << list;
}

std::string allocation(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  std::vector<HostSlots> hosts;
  if (const Status status = read_allocation(environment.data(), &hosts); !status.ok()) return status.text();
  std::string out;
  for (const HostSlots& host : hosts) out += (out.empty() ? "" : " ") + host.name + ":" + std::to_string(host.slots);
  return out;
}

TEST(Allocation, OutsideOfAJobThereIsNone) {
  EXPECT_EQ(allocation({}), "");
  EXPECT_EQ(allocation({"SLURM_JOB_NODELIST=n[1-2]"}), "") << "left over by hand";
  EXPECT_EQ(allocation({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST="}), "");
  EXPECT_EQ(allocation({"SLURM_JOB_ID=7", "SLURM_JOB_NODELISTS=n1"}), "");
}

TEST(Allocation, TasksAreSlots) {
  EXPECT_EQ(allocation({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-3],m", "SLURM_TASKS_PER_NODE=2(x3),1"}),
            "n1:2 n2:2 n3:2 m:1");
  EXPECT_EQ(allocation({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1",
                        "SLURM_JOB_CPUS_PER_NODE=8(x2)"}),
            "n1:8 n2:8")
      << "the tasks are those of a step on one node";
  EXPECT_EQ(allocation({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]"}), "n1:0 n2:0");
}

TEST(Allocation, WhatCannotBeReadIsNamed) {
  EXPECT_NE(allocation({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-"}).find("SLURM_JOB_NODELIST=n[1-"),
            std::string::npos);
  EXPECT_NE(allocation({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=-x"}).find("\"-x\" is no name of a host"),
            std::string::npos);
  EXPECT_NE(allocation({"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n1", "SLURM_TASKS_PER_NODE=many"})
                .find("SLURM_TASKS_PER_NODE=many"),
            std::string::npos);
}

}  // namespace
}  // namespace ashlar::mpiexec
