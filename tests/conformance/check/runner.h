#pragma once
#include <string>
#include <vector>

namespace ashlar::test {

/// One test of a suite, as GoogleTest names it: "Installed/TransportTest.EverySizeArrivesWhole/shm".
struct CaseName {
  std::string full;
  /// "every size arrives whole"; of an algorithm "allreduce_ring: every number of ranks".
  std::string words() const;
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
  Runner(const std::string& file, unsigned seconds);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  /// The tests that there are for the component; false with words in `said` when it ends the process before.
  bool list(std::vector<CaseName>* out, std::string* said) const;
  Outcome run(const CaseName& test) const;

 private:
  struct Ended {
    int status = 0;
    bool in_time = true;
    std::string output;
  };
  Ended child(const std::string& option) const;
  std::string how(const Ended& ended) const;

  const std::string file_;  // absolute
  const unsigned seconds_;
  std::string folder_;  // in which the tests run: what the component writes goes with it. "": there is none
};

}  // namespace ashlar::test
