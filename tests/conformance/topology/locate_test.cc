// Components that tell where a process runs: the types they know, and what they say as the process's binding changes.
#include <gtest/gtest.h>
#include <sched.h>

#include "tests/conformance/topology/component.h"

namespace ashlar::test {
namespace {

class Locate : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    module_ = TopologyComponents::all().module(GetParam());
    ASSERT_NE(module_, nullptr);
  }
  void TearDown() override { sched_setaffinity(0, sizeof before_, &before_); }
  std::vector<std::string> types() const {
    std::vector<std::string> names;
    while (const char* name = module_->ops->type(module_.get(), static_cast<std::uint32_t>(names.size())))
      names.emplace_back(name);
    return names;
  }
  std::int64_t instance(const std::string& type) const { return module_->ops->instance(module_.get(), type.c_str()); }
  static void bind(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }

  cpu_set_t before_;
  Module module_;
};

TEST_P(Locate, KnowsTheMachineAndItsProcessors) {
  const std::vector<std::string> names = types();
  ASSERT_GE(names.size(), 2u);
  EXPECT_EQ(names.front(), "hwloc://Machine");
  EXPECT_NE(std::find(names.begin(), names.end(), "hwloc://PU"), names.end());
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end()) << "each once";
  EXPECT_EQ(instance("hwloc://Machine"), 0);
  EXPECT_EQ(instance("hwloc://Moon"), ASHLAR_TOPOLOGY_NO_SUCH_TYPE);
  EXPECT_EQ(instance("mpi://WORLD"), ASHLAR_TOPOLOGY_NO_SUCH_TYPE);
}

TEST_P(Locate, AProcessOnOneProcessorIsRestrictedToAllAroundIt) {
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before_)) continue;
    bind(cpu);
    EXPECT_EQ(instance("hwloc://PU"), cpu);
    for (const std::string& type : types()) {
      const std::int64_t number = instance(type);
      EXPECT_NE(number, ASHLAR_TOPOLOGY_NO_SUCH_TYPE) << type;
      EXPECT_LE(number, cpu) << type << ": the first processor of what is around processor " << cpu;
    }
  }
}

TEST_P(Locate, AProcessOnSeveralProcessorsIsOnNoSingleOne) {
  if (CPU_COUNT(&before_) < 2) GTEST_SKIP() << "this machine has one processor";
  EXPECT_EQ(instance("hwloc://PU"), ASHLAR_TOPOLOGY_NOT_RESTRICTED);
}

// Ranks of one job may use different components.
TEST_P(Locate, AllComponentsSayTheSame) {
  for (const std::string& name : TopologyComponents::all().others(ASHLAR_TOPOLOGY_LOCATES)) {
    const Module other = TopologyComponents::all().module(name);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_)) continue;
      bind(cpu);
      for (const std::string& type : types()) {
        const std::int64_t theirs = other->ops->instance(other.get(), type.c_str()), ours = instance(type);
        if (theirs >= 0 && ours >= 0) {
          EXPECT_EQ(theirs, ours) << type << " of " << name << " and " << GetParam();
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Installed, Locate, testing::ValuesIn(TopologyComponents::with(ASHLAR_TOPOLOGY_LOCATES)),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace ashlar::test
