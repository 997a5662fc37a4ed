#pragma once
#include <stdlib.h>
#include <unistd.h>

#include <set>
#include <string>

namespace ashlar::launch {

/// Takes back what was added to the environment in its lifetime. PMIx_Init leaves settings of its own there
/// (PMIX_MCA_psec), which every program that this process starts would inherit.
class EnvironmentKept {
 public:
  EnvironmentKept() : before_(names()) {}
  ~EnvironmentKept() {
    for (const std::string& name : names())
      if (!before_.contains(name)) unsetenv(name.c_str());
  }
  EnvironmentKept(const EnvironmentKept&) = delete;
  EnvironmentKept& operator=(const EnvironmentKept&) = delete;

 private:
  static std::set<std::string> names() {
    std::set<std::string> found;
    for (char** at = environ; at && *at; ++at) {
      const std::string variable = *at;
      found.insert(variable.substr(0, variable.find('=')));
    }
    return found;
  }
  const std::set<std::string> before_;
};

}  // namespace ashlar::launch
