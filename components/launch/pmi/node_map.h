#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace ashlar::launch {

/// Reads PMI_process_mapping, "(vector,(first node,nodes,ranks on each),...)": consecutive ranks fill the nodes in this
/// order, and the list begins again when it ends before the ranks do. Nodes are numbered in the order of their first
/// rank. False: the text says no such thing, and `node_of_rank` is empty.
bool parse_node_map(std::string_view text, std::uint32_t ranks, std::vector<std::uint32_t>* node_of_rank);

/// The same from a number per rank that is equal where ranks share a node.
std::vector<std::uint32_t> number_nodes(const std::vector<std::uint64_t>& identity_of_rank);

}  // namespace ashlar::launch
