#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "framework/plugin/launch.h"
#include "tests/conformance/check/subject.h"

namespace ashlar::test {

/// What a process must find again when a component has come and gone.
struct Surroundings {
  std::set<std::string> variables;
  std::string folder, signals;
  std::set<std::string> descriptors;  // number, and what it is open on
  static Surroundings now();
};

/// One rank of a job, as the launcher started it: the component under test, joined. Every rank runs the same test, in a
/// process of its own. A component that serves no process here is not tried.
class Job : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  void TearDown() override;
  void leave();

  bool joined() const { return job_ != nullptr; }
  const ashlar_job& job() const { return *job_; }
  const ashlar_launch_ops& ops() const { return *launch_->ops; }
  ashlar_launch* launch() const { return launch_; }
  bool can(std::uint64_t capability) const { return (registry_->capabilities() & capability) != 0; }
  const Surroundings& before() const { return before_; }
  const std::string& parameters() const { return parameters_; }

  /// ASHLAR_OK is right; of a failure its words are shown.
  testing::AssertionResult right(ashlar_result result) const;
  /// That a failure has this class, and words.
  testing::AssertionResult fails(ashlar_result result, int mpi_class) const;
  testing::AssertionResult put(const std::string& key, const std::string& value) const;
  /// That `rank` has published this value.
  testing::AssertionResult has(std::uint32_t rank, const std::string& key, const std::string& value) const;
  testing::AssertionResult fence() const { return right(ops().fence(launch_, -1)); }

 private:
  Surroundings before_;
  std::unique_ptr<SubjectRegistry> registry_;
  ashlar_launch* launch_ = nullptr;
  const ashlar_job* job_ = nullptr;
  std::string parameters_;
};

}  // namespace ashlar::test
