#include "mpiexec/remote_nodes.h"

#include <algorithm>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/rank_view.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBeat = 5 * kSecond;   // between two signs of life, at most
constexpr unsigned kBeats = 4;                 // of them in the time after which a host is lost
constexpr std::uint64_t kHurry = kSecond;      // this time, once its ranks were killed
constexpr std::uint64_t kOldRoom = 1u << 16;   // output is acknowledged in pieces of at least this
constexpr std::uint64_t kLeave = 2 * kSecond;  // until an agent is killed that does not end with its pipe

}  // namespace

RemoteNodes::~RemoteNodes() {
  for (const auto& node : nodes_) node->close();
  const std::uint64_t until = now_ns() + kLeave;
  for (const auto& node : nodes_) node->end_agent(until);
}

Status RemoteNodes::launch(const NodeMap& nodes, const AgentFacts& agent, const Inherited& inherited, const Tree& tree,
                           std::uint64_t silence_ns) {
  map_ = nodes;
  agent_ = agent;
  inherited_ = &inherited;
  tree_ = tree;
  silence_ns_ = silence_ns;
  beat_ns_ = silence_ns > 0 ? std::min(kBeat, silence_ns / kBeats) : kBeat;
  facts_.resize(nodes.hosts.size());
  ranks_.resize(nodes.hosts.size());
  for (unsigned r = 0; r < nodes.node_of_rank.size(); ++r) ranks_[nodes.node_of_rank[r]].push_back(r);
  ready_.resize(nodes.hosts.size());
  const std::uint64_t now = now_ns();
  for (unsigned node = 0; node < nodes.hosts.size(); ++node) {
    if (node == nodes.node) continue;
    nodes_.push_back(std::make_unique<RemoteNode>(node, nodes.hosts[node]));
    facts_[node].beat_ns = now;
  }
  const auto hosts = static_cast<unsigned>(nodes_.size());
  for (unsigned place = 0; place < hosts; ++place)
    if (tree_.above(place, hosts) == Tree::kNone) ASHLAR_TRY(start(place, nullptr, now));
  return {};
}

void RemoteNodes::set_board(Board* board) {
  board_ = board;
  asked_.resize(board->header()->ranks);
  variables_asked_.resize(board->header()->ranks);
}

bool RemoteNodes::all(RemoteNode::Phase phase) const {
  return std::all_of(nodes_.begin(), nodes_.end(), [phase](const auto& node) { return node->phase() >= phase; });
}

Status RemoteNodes::failure(std::uint64_t now) const {
  ASHLAR_TRY(not_started_);
  for (const auto& node : nodes_)
    if (node->failed(now)) return node->failure(now);
  return {};
}

unsigned RemoteNodes::cpus() const {
  unsigned sum = 0;
  for (const auto& node : nodes_) sum += node->line().cpus;
  return sum;
}

void RemoteNodes::order(const JobOrder& order) {
  to_all(FrameKind::kOrder, packed(order));
  for (const auto& node : nodes_) node->set_phase(RemoteNode::Phase::kOrdered);
}

void RemoteNodes::start() {
  for (const auto& node : nodes_) {
    // Banners and warnings of the agent are dropped once the host is ready.
    (void)node->take_said();
    node->set_phase(RemoteNode::Phase::kRunning);
  }
  to_all(FrameKind::kStart);
}

RemoteNode* RemoteNodes::node_of(unsigned rank) {
  if (map_.here(rank)) return nullptr;
  const unsigned wanted = map_.node_of(rank);
  for (const auto& node : nodes_)
    if (node->node() == wanted) return node->open() ? node.get() : nullptr;
  return nullptr;
}

bool RemoteNodes::is_of(const RemoteNode& node, std::uint32_t rank) const {
  return rank < map_.node_of_rank.size() && map_.node_of_rank[rank] == node.node();
}

/// Hosts behind others get it from these. What is on its way to one of them alone stays in front.
void RemoteNodes::to_all(FrameKind kind, std::string_view body) {
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node)
    if ((*node)->above() != nullptr) (*node)->link().flush();
  for (const auto& node : nodes_) {
    if (node->above() != nullptr || !node->open()) continue;
    if (node->leads_on())
      node->link().send(FrameKind::kToAll, packed(kind).append(body));
    else
      node->link().send(kind, body);
  }
}

void RemoteNodes::add(std::vector<pollfd>* fds) {
  first_ = fds->size();
  for (const auto& node : nodes_) node->add(fds);
}

void RemoteNodes::handle(const std::vector<pollfd>& fds, std::uint64_t now) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    RemoteNode& node = *nodes_[i];
    const RemoteNode::Phase before = node.phase();
    const bool good = node.read(&fds[first_ + i * RemoteNode::kDescriptors], now);
    if (good && before == RemoteNode::Phase::kStarting && node.open()) arrived(node, now);
    if (good) take_frames(node, now);
  }
}

/// What leads through another host is written with that one's.
void RemoteNodes::flush() {
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) (*node)->link().flush();
}

bool RemoteNodes::take_end(pid_t pid, int wait_status, std::uint64_t now) {
  for (const auto& node : nodes_) {
    if (!node->take_end(pid, wait_status, now)) continue;
    take_frames(*node, now);
    return true;
  }
  return false;
}

void RemoteNodes::check(std::uint64_t now) {
  for (std::size_t place = 0; place < nodes_.size(); ++place) {
    const auto& node = nodes_[place];
    try_nearer(place, now);
    try_again(place, now);
    if (!node->open()) continue;
    Facts& facts = facts_[node->node()];
    // This process itself was stopped: nothing is known of the time between.
    if (now > facts.beat_ns + 2 * beat_ns_) node->heard(now);
    if (node->phase() >= RemoteNode::Phase::kRunning) check_running(*node, now);
    if (!node->open() || now < facts.beat_ns + beat_ns_) continue;
    facts.beat_ns = now;
    node->link().send(FrameKind::kBeat);
  }
}

void RemoteNodes::check_running(RemoteNode& node, std::uint64_t now) {
  const bool leaving = node.phase() == RemoteNode::Phase::kLeaving;
  if (const std::string said = node.take_said(); !said.empty() && !leaving)
    say("host " + shown(node.host()) + ": " + said.substr(0, said.size() - 1));
  const bool silent = silence_ns_ > 0 && now > node.heard_ns() + silence_ns_ && !leaving && way_speaks(node, now);
  if (!node.over(now) && node.trouble().empty() && !silent) return;
  const std::string how = !node.trouble().empty() ? node.trouble() : silent ? silence_words() : node.end_words();
  node.close();
  lose_ways(node);
  if (silent) node.end_agent(now);
  if (!leaving) events_.node_lost(node.node(), how);
}

/// Whether the hosts that lead to this one give signs of life. If one does not, it will be lost itself soon, and is the
/// one to be named, or be heard again.
bool RemoteNodes::way_speaks(const RemoteNode& node, std::uint64_t now) const {
  for (const RemoteNode* above = node.above(); above != nullptr; above = above->above())
    if (above->open() && now > above->heard_ns() + 2 * beat_ns_) return false;
  return true;
}

std::string RemoteNodes::silence_words() const {
  if (hurried_) return "the host gave no answer when the job was ended";
  return text("the host has been silent for %g s (mpiexec.host_silence)", static_cast<double>(silence_ns_) / 1e9);
}

void RemoteNodes::hurry(std::uint64_t now) {
  if (hurried_) return;
  hurried_ = true;
  silence_ns_ = kHurry;
  beat_ns_ = kHurry / kBeats;
  for (const auto& node : nodes_) {
    node->heard(now);
    facts_[node->node()].beat_ns = now;
  }
  to_all(FrameKind::kBeat);
}

std::uint64_t RemoteNodes::next_ns() const {
  std::uint64_t next = ~std::uint64_t{0};
  for (const auto& node : nodes_) {
    if (node->phase() == RemoteNode::Phase::kGone) continue;
    if (node->deadline_ns() != 0) next = std::min(next, node->deadline_ns());
    if (node->over_at_ns() != 0) next = std::min(next, node->over_at_ns());
    if (node->open()) next = std::min(next, facts_[node->node()].beat_ns + beat_ns_);
  }
  return next;
}

void RemoteNodes::signal_all(int number) {
  to_all(FrameKind::kSignal, packed(kEveryRank, static_cast<std::int32_t>(number)));
}

void RemoteNodes::signal(unsigned rank, int number) {
  if (RemoteNode* const node = node_of(rank))
    node->link().send(FrameKind::kSignal, packed(static_cast<std::uint32_t>(rank), static_cast<std::int32_t>(number)));
}

void RemoteNodes::stop() { to_all(FrameKind::kStop); }

void RemoteNodes::publish_end(unsigned rank, int wait_status, bool failed, std::uint32_t fences) {
  to_all(FrameKind::kEnded,
         packed(static_cast<std::uint32_t>(rank), static_cast<std::int32_t>(wait_status), failed, fences));
}

void RemoteNodes::fence_done(std::uint32_t generation) { to_all(FrameKind::kFenceDone, packed(generation)); }

void RemoteNodes::reply(unsigned node, std::uint32_t call, std::string_view bytes) {
  std::string body = packed(std::uint64_t{call});
  body.append(bytes);
  for (const auto& other : nodes_)
    if (other->node() == node && other->open()) other->link().send(FrameKind::kReply, body);
}

void RemoteNodes::close_stream(unsigned rank, bool error_stream) {
  if (RemoteNode* const node = node_of(rank))
    node->link().send(FrameKind::kCloseStream, packed(static_cast<std::uint32_t>(rank), error_stream));
}

void RemoteNodes::give_room(bool full) {
  if (full) return;
  for (const auto& node : nodes_) {
    std::uint64_t& output = facts_[node->node()].output;
    if (output < kOldRoom || !node->open()) continue;
    node->link().send(FrameKind::kRoom, packed(output));
    output = 0;
  }
}

void RemoteNodes::input(unsigned rank, std::string_view bytes) {
  RemoteNode* const node = node_of(rank);
  if (node == nullptr) return;
  node->link().send(FrameKind::kInput, bytes);
  input_sent_ += bytes.size();
}

void RemoteNodes::leave() {
  to_all(FrameKind::kLeave);
  for (const auto& node : nodes_) {
    if (!node->open()) continue;
    node->flush();
    node->set_phase(RemoteNode::Phase::kLeaving);
  }
}

}  // namespace ashlar::mpiexec
