// Ways to hosts: those that lead through other hosts, and second tries. Each host has a link and a phase of its own, as
// those have that mpiexec reaches itself.
#include <algorithm>

#include "mpiexec/remote_nodes.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kBetweenTries = 500'000'000;

}  // namespace

/// Through `above`, or by an agent of this process.
Status RemoteNodes::start(std::size_t place, RemoteNode* above, std::uint64_t now) {
  if (above == nullptr) return nodes_[place]->start(agent_, *inherited_, now);
  nodes_[place]->start_through(*above, agent_, now);
  return {};
}

/// A daemon is there: it starts those behind it.
void RemoteNodes::arrived(RemoteNode& node, std::uint64_t now) {
  node.link().send(FrameKind::kNode, packed(node.node()));
  const auto hosts = static_cast<unsigned>(nodes_.size());
  for (unsigned place = 0; place < hosts; ++place) {
    const unsigned above = tree_.above(place, hosts);
    if (above != Tree::kNone && nodes_[above].get() == &node && !nodes_[place]->begun())
      (void)start(place, nodes_[above].get(), now);
  }
}

/// Many hosts let users in from outside and not from each other, so what fails from one is tried from the one through
/// which that one is reached, and at last from here. Nothing has been ordered yet: the job is the same.
void RemoteNodes::try_nearer(std::size_t place, std::uint64_t now) {
  RemoteNode& node = *nodes_[place];
  if (node.above() == nullptr || node.phase() != RemoteNode::Phase::kStarting || !node.failed(now)) return;
  RemoteNode* const above = node.above()->above();
  ++detours_;
  node.give_way_up();
  if (const Status status = start(place, above, now); !status.ok() && not_started_.ok()) not_started_ = status;
}

void RemoteNodes::try_again(std::size_t place, std::uint64_t now) {
  RemoteNode& node = *nodes_[place];
  Facts& facts = facts_[node.node()];
  if (facts.retry_ns == 0) {
    if (agent_.retry_ns == 0 || !node.may_be_over_soon()) return;
    if (facts.retry_until_ns == 0) facts.retry_until_ns = now + agent_.retry_ns;
    if (now >= facts.retry_until_ns) return;
    facts.retry_ns = now + kBetweenTries;
    // Once: where one name is known late, hundreds may be.
    if (!told_) events_.host_tried_again(node.retry(agent_.retry_ns));
    told_ = true;
    node.give_way_up();
  } else if (now >= facts.retry_ns) {
    facts.retry_ns = 0;
    if (const Status status = start(place, nullptr, now); !status.ok() && not_started_.ok()) not_started_ = status;
  }
}

std::string RemoteNodes::ways() const {
  const auto behind =
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->above() != nullptr; });
  if (behind == 0 && detours_ == 0) return {};
  std::string out =
      text("%zu of %zu hosts from here, %zu through others", nodes_.size() - static_cast<std::size_t>(behind),
           nodes_.size(), static_cast<std::size_t>(behind));
  if (detours_ > 0) out += text("; ways from other hosts that failed: %u", detours_);
  return out;
}

void RemoteNodes::lose_ways(const RemoteNode& through) {
  for (const auto& node : nodes_)
    if (node->above() == &through) node->lose_way();
}

/// What a daemon passes on of a host behind it.
bool RemoteNodes::handle_way(RemoteNode& node, const Frame& frame, std::uint64_t now) {
  Unpacker from(frame.body);
  AgentOver over;
  if (!(frame.kind == FrameKind::kAgentOver ? from(over).done() : from(over.node).good())) return false;
  // One that mpiexec has given up may still say something.
  const auto is_meant = [&](const auto& other) { return other->node() == over.node && other->above() == &node; };
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), is_meant);
  if (found == nodes_.end()) return over.node < map_.hosts.size();
  RemoteNode& behind = **found;
  if (behind.phase() == RemoteNode::Phase::kGone) return true;
  if (frame.kind == FrameKind::kAgentOver) {
    behind.take_over(over, now);
  } else if (frame.kind == FrameKind::kAgentSaid) {
    behind.take_said(from.rest());
  } else {
    const RemoteNode::Phase before = behind.phase();
    behind.take_bytes(from.rest(), now);
    if (before == RemoteNode::Phase::kStarting && behind.open() && behind.trouble().empty()) arrived(behind, now);
    if (behind.trouble().empty()) take_frames(behind, now);
  }
  return true;
}

}  // namespace ashlar::mpiexec
