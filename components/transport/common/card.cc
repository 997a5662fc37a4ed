#include "components/transport/common/card.h"

#include <dirent.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "framework/base/processors.h"
#include "framework/base/small_file.h"

namespace ashlar::network {

std::vector<Card> cards(bool (*fits)(const Card&)) {
  std::vector<Card> found;
  for (const char* folder : {"/sys/class/infiniband", "/sys/class/cxi", "/sys/class/infiniband_verbs"}) {
    DIR* const devices = opendir(folder);
    if (devices == nullptr) continue;
    while (const dirent* const entry = readdir(devices)) {
      if (entry->d_name[0] == '.' || std::strcmp(entry->d_name, "abi_version") == 0) continue;
      Card card = {.name = entry->d_name, .folder = std::string(folder) + "/" + entry->d_name + "/device"};
      if (fits == nullptr || fits(card)) found.push_back(std::move(card));
    }
    closedir(devices);
    if (!found.empty()) break;
  }
  std::sort(found.begin(), found.end(), [](const Card& a, const Card& b) { return a.name < b.name; });
  return found;
}

const std::vector<unsigned>& processors_of_process() {
  static const std::vector<unsigned> processors = own_processors();
  return processors;
}

Turn turn_of(std::uint32_t local_rank, const std::vector<unsigned>& processors, const std::vector<std::string>& folders,
             std::uint32_t local_size) {
  std::vector<std::size_t> nearby;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::vector<unsigned> around = processors_in(small_file(folders[i] + "/local_cpulist"));
    if (std::find_first_of(around.begin(), around.end(), processors.begin(), processors.end()) != around.end())
      nearby.push_back(i);
  }
  const bool all = nearby.empty() || nearby.size() == folders.size();
  if (all) {
    nearby.resize(folders.size());
    std::iota(nearby.begin(), nearby.end(), std::size_t{0});
  }
  // Local ranks may be dealt to the groups of processors in turn, or in blocks: either way the ranks of one group take
  // its cards in turn when a rank counts as many times less as there are groups.
  const std::size_t groups = folders.size() / nearby.size();
  std::string why;
  if (folders.size() > 1)
    why = "processes of this node take " +
          (all ? std::to_string(folders.size()) + " cards"
               : "the " + std::to_string(nearby.size()) + " of " + std::to_string(folders.size()) +
                     " cards that are near their processors") +
          " in turn";
  Turn turn = {.card = nearby[local_rank / groups % nearby.size()], .why = std::move(why), .further = {}};
  const auto take = [&](std::size_t card) {
    const bool taken = std::find(turn.further.begin(), turn.further.end(), card) != turn.further.end();
    if (card != turn.card && !taken) turn.further.push_back(card);
  };
  const std::size_t own = local_rank / groups, processes = std::max<std::size_t>(local_size / groups, 1);
  for (std::size_t i = 0; i < nearby.size(); ++i) take(nearby[(own + i * processes) % nearby.size()]);
  for (const std::size_t card : nearby) take(card);
  for (std::size_t card = 0; card < folders.size(); ++card) take(card);
  return turn;
}

}  // namespace ashlar::network
