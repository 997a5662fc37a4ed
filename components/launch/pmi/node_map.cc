#include "components/launch/pmi/node_map.h"

#include <charconv>
#include <cstddef>
#include <unordered_map>

namespace ashlar::launch {
namespace {

struct Block {
  std::uint64_t first, nodes, ranks_on_each;
};

bool take(std::string_view* text, std::string_view expected) {
  if (text->substr(0, expected.size()) != expected) return false;
  text->remove_prefix(expected.size());
  return true;
}

bool take_number(std::string_view* text, std::uint64_t least, std::uint64_t* value) {
  std::uint32_t parsed = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), parsed);
  if (error != std::errc() || parsed < least) return false;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  *value = parsed;
  return true;
}

bool parse_blocks(std::string_view text, std::vector<Block>* blocks) {
  if (!take(&text, "(vector,")) return false;
  do {
    Block block = {};
    if (!take(&text, "(") || !take_number(&text, 0, &block.first) || !take(&text, ",") ||
        !take_number(&text, 1, &block.nodes) || !take(&text, ",") || !take_number(&text, 1, &block.ranks_on_each) ||
        !take(&text, ")"))
      return false;
    blocks->push_back(block);
  } while (take(&text, ","));
  return text == ")";
}

}  // namespace

std::vector<std::uint32_t> number_nodes(const std::vector<std::uint64_t>& identity_of_rank) {
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  std::vector<std::uint32_t> node_of_rank;
  node_of_rank.reserve(identity_of_rank.size());
  for (const std::uint64_t identity : identity_of_rank)
    node_of_rank.push_back(numbers.emplace(identity, static_cast<std::uint32_t>(numbers.size())).first->second);
  return node_of_rank;
}

bool parse_node_map(std::string_view text, std::uint32_t ranks, std::vector<std::uint32_t>* node_of_rank) {
  node_of_rank->clear();
  std::vector<Block> blocks;
  if (!parse_blocks(text, &blocks)) return false;
  std::vector<std::uint64_t> nodes;
  nodes.reserve(ranks);
  // Every pass adds at least one rank, so numbers that are far too large cost nothing.
  while (nodes.size() < ranks)
    for (const Block& block : blocks)
      for (std::uint64_t node = 0; node < block.nodes && nodes.size() < ranks; ++node)
        for (std::uint64_t rank = 0; rank < block.ranks_on_each && nodes.size() < ranks; ++rank)
          nodes.push_back(block.first + node);
  *node_of_rank = number_nodes(nodes);
  return true;
}

}  // namespace ashlar::launch
