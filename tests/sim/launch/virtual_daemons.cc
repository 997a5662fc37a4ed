// A process that is a daemon of mpiexec's and all those behind it: they talk to mpiexec as daemons on hosts of their
// own would, and each has one rank, which has the host's number and no process.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "mpiexec/agent.h"
#include "mpiexec/job_order.h"
#include "mpiexec/link.h"
#include "mpiexec/remote_node.h"
#include "tests/sim/launch/daemons.h"

namespace ashlar::sim {
namespace {

using namespace ashlar::mpiexec;

class VirtualDaemon {
 public:
  explicit VirtualDaemon(Link up, VirtualDaemon* above = nullptr) : above_(above), up_(std::move(up)) {
    up_.send_raw("\n" + DaemonLine::of_this_process().text());
  }

  Link& up() { return up_; }
  bool over() const { return over_; }
  /// Takes what has come to it, and to those behind it.
  void take_all() {
    for (Frame frame; !over_ && down_.take(&frame);) take(frame);
  }
  void feed(std::string_view bytes) {
    down_.feed(bytes);
    take_all();
  }

 private:
  static bool counts(FrameKind kind) { return kind != FrameKind::kRefresh && kind != FrameKind::kBeat; }

  void tell(FrameKind kind, std::string_view body = {}) {
    if (kind != FrameKind::kOutput && kind != FrameKind::kBeatBack)
      for (VirtualDaemon* on_the_way = this; on_the_way != nullptr; on_the_way = on_the_way->above_)
        ++on_the_way->passed_.up;
    up_.send(kind, body);
    pass_up();
  }
  /// What those behind others say is in the queue of the first one then.
  void pass_up() {
    for (VirtualDaemon* on_the_way = this; on_the_way->above_ != nullptr; on_the_way = on_the_way->above_)
      (void)on_the_way->up_.flush();
  }

  void take(const Frame& frame) {
    Unpacker from(frame.body);
    if (frame.kind == FrameKind::kToAll) {
      FrameKind kind{};
      from(kind);
      if (counts(kind)) ++passed_.down;
      for (const auto& [node, daemon] : behind_) daemon->take(frame);
      return act(kind, from);
    }
    // What goes to those behind it counts when it is there, on each way that it came.
    if (counts(frame.kind) && frame.kind != FrameKind::kDown)
      for (VirtualDaemon* on_the_way = this; on_the_way != nullptr; on_the_way = on_the_way->above_)
        ++on_the_way->passed_.down;
    act(frame.kind, from);
  }

  void act(FrameKind kind, Unpacker from) {
    switch (kind) {
      case FrameKind::kNode:
        from(node_);
        break;
      case FrameKind::kLead:
        return lead(from);
      case FrameKind::kDown: {
        std::uint32_t node = 0;
        from(node);
        if (const auto found = behind_.find(node); found != behind_.end()) {
          found->second->feed(from.rest());
          if (found->second->over_) lose(node);
        }
        break;
      }
      case FrameKind::kForget: {
        std::uint32_t node = 0;
        from(node);
        behind_.erase(node);
        break;
      }
      case FrameKind::kOrder:
        ready_.words = {"nowhere"};
        return tell(FrameKind::kReady, packed(ready_));
      case FrameKind::kStart:
        return tell(FrameKind::kStarted, packed(node_, std::int32_t{1}));
      case FrameKind::kBeat:
        return tell(FrameKind::kBeatBack);
      case FrameKind::kSignal:
        return signalled(from);
      case FrameKind::kLookUp:
        return look_up(from);
      case FrameKind::kRefresh:
        tell(FrameKind::kOutput, packed(node_, false) + packed(std::exchange(passed_, {})));
        break;
      case FrameKind::kLeave:
        over_ = true;
        break;
      default:
        break;
    }
  }

  void lead(Unpacker& from) {
    std::uint32_t node = 0;
    AgentOrder order;
    from(node, order);
    if (std::getenv(kNoWayVariable) != nullptr)
      return tell(FrameKind::kAgentOver, packed(AgentOver{.node = node, .ended = true, .wait_status = 255 << 8}));
    auto& daemon = behind_[node] = std::make_unique<VirtualDaemon>(Link(up_, node, FrameKind::kUp), this);
    daemon->pass_up();
  }

  void lose(std::uint32_t node) {
    behind_.erase(node);
    tell(FrameKind::kAgentOver, packed(AgentOver{.node = node, .ended = true, .wait_status = SIGKILL}));
  }

  void signalled(Unpacker& from) {
    std::uint32_t rank = 0;
    std::int32_t number = 0;
    from(rank, number);
    if (rank != kEveryRank && rank != node_) return;
    if (number == kDie) over_ = true;
    if (number == kEnterFence) tell(FrameKind::kFence, packed(std::uint32_t{1}));
    if (number != kAskForRecord) return;
    const auto last = static_cast<std::uint32_t>(std::atoi(std::getenv(kHostsVariable)) - 1);
    tell(FrameKind::kWanted, packed(RecordWanted{.by = node_, .question = 1, .rank = last - node_, .key = "address"}));
  }

  void look_up(Unpacker& from) {
    std::uint64_t ticket = 0;
    RecordAnswer answer;
    from(ticket, answer.wanted);
    answer.found = answer.wanted.rank == node_;
    answer.blob = "record of " + std::to_string(node_);
    tell(FrameKind::kFound, packed(ticket, answer));
  }

  VirtualDaemon* above_;
  Link up_, down_;
  std::uint32_t node_ = 0;
  std::map<std::uint32_t, std::unique_ptr<VirtualDaemon>> behind_;
  NodeReady ready_;
  Passed passed_;
  bool over_ = false;
};

int run() {
  signal(SIGPIPE, SIG_IGN);
  Link pipes(Descriptor(dup(STDIN_FILENO)), Descriptor(dup(STDOUT_FILENO)));
  const int in = pipes.in();
  VirtualDaemon daemon(std::move(pipes));
  char bytes[1 << 16];
  while (!daemon.over()) {
    if (!daemon.up().flush()) break;
    pollfd fds[2] = {{in, POLLIN, 0}, {daemon.up().wants_write(), POLLOUT, 0}};
    (void)poll(fds, 2, -1);
    if (fds[0].revents == 0) continue;
    const ssize_t n = read(in, bytes, sizeof bytes);
    if (n == 0) break;
    if (n > 0) daemon.feed({bytes, static_cast<std::size_t>(n)});
  }
  return 0;
}

}  // namespace
}  // namespace ashlar::sim

int main() { return ashlar::sim::run(); }
