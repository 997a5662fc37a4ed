#pragma once
#include <string>
#include <vector>

#include "tests/conformance/check/verdict.h"

namespace ashlar::test {

/// One test of a suite, as GoogleTest names it: "Installed/TransportTest.EverySizeArrivesWhole/shm".
struct CaseName {
  std::string full;
  /// "every size arrives whole"; of an algorithm "allreduce_ring: every number of ranks".
  std::string words() const;
  /// Whether the test is one of ranks of a job, and not of one process.
  bool of_job() const;
};

/// What a child of the runner ends with: not what a component that ends the process would.
enum { kAllRight = 80, kSomeWrong = 81 };

struct Outcome {
  enum class Kind { kRight, kWrong, kSkipped };
  Kind kind = Kind::kRight;
  std::string said;  // what failed, or why it was skipped; several lines
};

/// Runs parts of this program's suites over `file`, each in a process of its own: whatever the component does there,
/// the answer is an outcome.
class Runner {
 public:
  /// `launcher`: the command that starts the ranks of tests of jobs; empty: such a test has one rank, which nothing
  /// launches.
  /// `settings`: NAME=VALUE of parameters of the component, for all tests.
  Runner(const std::string& file, unsigned seconds, std::vector<std::string> launcher,
         std::vector<std::string> settings = {});
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  /// The tests that there are for the component; false with words in `said` when it ends the process before.
  bool list(std::vector<CaseName>* out, std::string* said) const;
  Outcome run(const CaseName& test) const;
  /// Whether the launcher starts processes at all.
  bool can_launch(std::string* said) const;

 private:
  struct Ended {
    int status = 0;
    bool in_time = true;
    std::string output;
  };
  /// A child that runs `words`, or this program over the file with `option`.
  Ended child(const std::string& option) const;
  Ended child(const std::vector<std::string>& words) const;
  /// The words that have this program take a part of the work over the file.
  std::vector<std::string> in_child(const std::string& option) const;
  Outcome run_alone(const CaseName& test) const;
  Outcome run_job(const CaseName& test) const;
  /// `of_others`: what ranks without a verdict have printed.
  Outcome judge(const std::vector<Verdict>& verdicts, const Ended& ended, const std::string& of_others) const;
  std::string how(const Ended& ended, const char* what = "it") const;

  const std::string file_;  // absolute
  const unsigned seconds_;
  const std::vector<std::string> launcher_, settings_;
  std::string folder_;  // in which the tests run: what the component writes goes with it. "": there is none
};

}  // namespace ashlar::test
