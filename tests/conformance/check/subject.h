#pragma once
#include <string>
#include <vector>

#include "framework/plugin/registry.h"

namespace ashlar::test {

/// The component that the suites of this program are run over.
struct Subject {
  std::string file, framework, name;
};
/// How the tests of a component that cannot serve begin to say why they are not tried: it holds for all of them.
constexpr char kServesNone[] = "it serves no process here: ";

/// Prints what the component is asked for next: the runner says it when the process ends there.
constexpr char kStep[] = "> ";
void begin_step(const char* what);

/// Set by main() before GoogleTest makes its list of tests.
Subject& subject();

/// The subject as the kernel takes it: read, judged, loaded, opened with its defaults, and asked. One in a process.
class SubjectRegistry {
 public:
  /// `context` is the framework's, for query(). The components of the installation are there as well when `installed`
  /// says so, behind the subject.
  explicit SubjectRegistry(const void* context, bool installed = false);
  /// nullptr: it cannot serve; why() says why.
  plugin::Component* component() const { return component_; }
  const std::vector<plugin::Chosen>& chosen() const { return chosen_; }
  std::uint64_t capabilities() const { return capabilities_; }
  const char* why() const { return status_.text(); }

 private:
  param::Store store_;
  plugin::Registry registry_{&store_};
  std::vector<plugin::Chosen> chosen_;
  plugin::Component* component_ = nullptr;
  std::uint64_t capabilities_ = 0;
  Status status_;
};

}  // namespace ashlar::test
