#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/plugin/component.h"

namespace ashlar::test {

/// Values for parameters, as text, by row name.
using Settings = std::map<std::string, std::string>;

/// Values for all tests, where a test has none of its own. Set by main() before the first one.
Settings& settings_of_all_tests();

/// A transport component loaded for a test, with a host of the test's own and parameters from the rows' fallbacks.
class Component {
 public:
  Component(std::string name, const ashlar_component* table) : name_(std::move(name)), table_(table) {}
  const std::string& name() const { return name_; }
  const ashlar_component* operator->() const { return table_; }
  /// Opens the component with `settings`; the config block lives as long as the process, as the contract asks. Throws
  /// std::runtime_error with the component's own words when it does not open.
  void open(const Settings& settings) const;

 private:
  std::string name_;
  const ashlar_component* table_;
};

/// Whether it has a parameter of that name. Tests of what only some transports do go by their settings, not by their
/// names.
bool has_parameter(const Component& component, const char* name);
/// Whether its peers have to answer before a message travels between them, and send what is read from their memory:
/// both processes have to make progress.
bool needs_answers(const Component& component);

/// The files of the components to be tested: given by the program that these sources are part of.
std::vector<std::string> transport_files();
/// The components of these files.
const std::vector<Component>& transports();
const Component* transport_named(const std::string& name);

/// The sentence of the last failure on this thread.
const char* last_failure();
/// "topic|subject|chosen|because" of every decision since the process started.
const std::vector<std::string>& decisions();

}  // namespace ashlar::test
