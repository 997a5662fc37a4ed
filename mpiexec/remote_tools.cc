// What tools need of other hosts: how their clocks go, and what was recorded there.
#include <cstring>

#include "framework/base/clock.h"
#include "framework/plugin/tool_memory.h"
#include "mpiexec/remote_nodes.h"

namespace ashlar::mpiexec {
namespace {

constexpr unsigned kExchanges = 16;  // of a meeting of two clocks

}  // namespace

/// The time that is sent comes back, so that an answer is never taken for that to another question.
void RemoteNodes::ask_time(RemoteNode& node) {
  node.link().send(FrameKind::kClock, packed(now_ns()));
  node.flush();
}

void RemoteNodes::meet(RemoteNode& node) {
  Facts& facts = facts_[node.node()];
  facts.host_clock.meet();
  facts.exchanges = kExchanges;
  ask_time(node);
}

bool RemoteNodes::take_time(RemoteNode& node, Unpacker& from) {
  const std::uint64_t heard = now_ns();
  Facts& facts = facts_[node.node()];
  std::uint64_t asked = 0;
  Moment there{};
  if (!from(asked, there.ticks, there.ns).done() || facts.exchanges == 0 || asked > heard) return false;
  facts.host_clock.add(asked, there, heard);
  if (--facts.exchanges > 0) {
    ask_time(node);
  } else if (facts.bringing) {
    node.link().send(FrameKind::kTools, packed(whole_));
  } else {
    node.set_phase(RemoteNode::Phase::kReady);
  }
  return true;
}

void RemoteNodes::bring_tools(bool whole) {
  whole_ = whole;
  for (const auto& node : nodes_) {
    if (node->phase() != RemoteNode::Phase::kRunning) continue;
    facts_[node->node()].bringing = true;
    meet(*node);
  }
}

bool RemoteNodes::bringing_tools() const {
  for (const auto& node : nodes_)
    if (node->open() && facts_[node->node()].bringing) return true;
  return false;
}

void RemoteNodes::drop_parts() {
  const launch::BoardHeader& board = *board_->header();
  for (const auto& node : nodes_)
    for (const unsigned rank : ranks_[node->node()])
      if (facts_[node->node()].bringing)
        launch::board_at<plugin::ToolMemory>(board_->header(), board.tools + rank * board.tool_bytes)->count.store(0);
}

bool RemoteNodes::take_pages(const RemoteNode& node, Unpacker& from) {
  std::uint32_t rank = 0;
  std::uint64_t offset = 0;
  const launch::BoardHeader& board = *board_->header();
  if (!from(rank, offset).good() || !facts_[node.node()].bringing || !is_of(node, rank)) return false;
  const std::string_view bytes = from.rest();
  if (offset > board.tool_bytes || bytes.size() > board.tool_bytes - offset) return false;
  std::memcpy(launch::board_at<char>(board_->header(), board.tools + rank * board.tool_bytes + offset), bytes.data(),
              bytes.size());
  return true;
}

std::vector<ashlar_tool_host_clock> RemoteNodes::clocks() const {
  std::vector<ashlar_tool_host_clock> clocks;
  for (unsigned r = 0; r < map_.node_of_rank.size(); ++r)
    clocks.push_back(map_.here(r) ? ashlar_tool_host_clock{} : facts_[map_.node_of(r)].host_clock.facts());
  return clocks;
}

}  // namespace ashlar::mpiexec
