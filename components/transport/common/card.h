#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ashlar::network {

/// A network card that the system lists: "mlx5_0", and the folder of its device below /sys.
struct Card {
  std::string name, folder;
};

/// Those for which `fits`, by name.
std::vector<Card> cards(bool (*fits)(const Card&) = nullptr);

/// The processors that the process may run on, as they were at the first call: programs bind their threads later, and
/// all lanes of a process take one card.
const std::vector<unsigned>& processors_of_process();

/// Which of a node's cards a process takes, and why, in words.
struct Turn {
  std::size_t card = 0;
  std::string why;
  std::vector<std::size_t> further;  // the others, in the order in which it takes those that are left for it
};

/// Of the cards near the processors that the process may run on, or else of all, processes of a node take one each in
/// turn. `folders` are those of one or more cards; a card is near what its file `local_cpulist` lists. Of the further
/// ones, those come first that none of the node's `local_size` processes takes as its own.
Turn turn_of(std::uint32_t local_rank, const std::vector<unsigned>& processors, const std::vector<std::string>& folders,
             std::uint32_t local_size = 1);

}  // namespace ashlar::network
