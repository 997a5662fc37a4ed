#include "components/transport/common/card.h"

#include <dirent.h>

#include <cstring>

namespace ashlar::network {

std::string card(bool (*fits)(const std::string& folder)) {
  for (const char* folder : {"/sys/class/infiniband", "/sys/class/cxi", "/sys/class/infiniband_verbs"}) {
    DIR* const devices = opendir(folder);
    if (devices == nullptr) continue;
    std::string first;
    while (const dirent* const entry = readdir(devices))
      if (entry->d_name[0] != '.' && std::strcmp(entry->d_name, "abi_version") != 0 &&
          (first.empty() || first > entry->d_name) &&
          (fits == nullptr || fits(std::string(folder) + "/" + entry->d_name)))
        first = entry->d_name;
    closedir(devices);
    if (!first.empty()) return first;
  }
  return {};
}

}  // namespace ashlar::network
