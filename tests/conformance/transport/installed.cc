#include <filesystem>

#include "tests/conformance/transport/component.h"

namespace ashlar::test {

// For programs that compare transports: all of the build.
std::vector<std::string> transport_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(ASHLAR_COMPONENT_DIR)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("ashlar_transport_") && name.ends_with(".so")) files.push_back(entry.path().string());
  }
  return files;
}

}  // namespace ashlar::test
