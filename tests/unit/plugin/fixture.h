#pragma once
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "framework/plugin/manifest.h"

namespace ashlar::plugin::testing_fixture {

inline std::string fixture(const std::string& kind) {
  return std::string(FIXTURES) + "/" + kind + "/ashlar_report_" + kind + ".so";
}

/// A component folder of its own, inside a temporary one (the manifest lies beside the folder).
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/ashlar-plugin-XXXXXX";
    root_ = mkdtemp(name);
    mkdir(path().c_str(), 0700);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(root_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string root() const { return root_; }
  std::string path() const { return root_ + "/components"; }
  std::string drop(const std::string& kind) {
    const std::string to = path() + "/ashlar_report_" + kind + ".so";
    std::filesystem::copy_file(fixture(kind), to, std::filesystem::copy_options::overwrite_existing);
    return to;
  }

 private:
  std::string root_;
};

}  // namespace ashlar::plugin::testing_fixture
