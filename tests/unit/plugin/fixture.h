#pragma once
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "framework/plugin/manifest.h"
#include "tests/unit/scratch_folder.h"

namespace ashlar::plugin::testing_fixture {

inline std::string fixture(const std::string& kind) {
  return std::string(FIXTURES) + "/" + kind + "/ashlar_report_" + kind + ".so";
}

/// A component folder of its own, inside a temporary one (the manifest lies beside the folder).
class TemporaryFolder {
 public:
  TemporaryFolder() { mkdir(path().c_str(), 0700); }

  std::string root() const { return root_.path(); }
  std::string path() const { return root_ / "components"; }
  std::string drop(const std::string& kind) {
    const std::string to = path() + "/ashlar_report_" + kind + ".so";
    std::filesystem::copy_file(fixture(kind), to, std::filesystem::copy_options::overwrite_existing);
    return to;
  }

 private:
  const ScratchFolder root_;
};

}  // namespace ashlar::plugin::testing_fixture
