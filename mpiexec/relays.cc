#include "mpiexec/relays.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "framework/base/clock.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kDescriptors = 3;
constexpr std::size_t kPiece = 1u << 16;
constexpr std::size_t kMostQueued = 1u << 20;        // on the way to mpiexec: then nothing more is read
constexpr std::uint64_t kLastWords = 500'000'000;    // for what is still to be passed down
constexpr std::uint64_t kAgentsEnd = 1'500'000'000;  // until an agent is killed: less than this daemon itself has
constexpr int kLookMs = 20;

}  // namespace

Relays::~Relays() {
  const std::uint64_t begin = now_ns();
  const auto queued = [](const auto& child) { return child->link.wants_write() >= 0; };
  for (;;) {
    flush();
    if (!std::any_of(children_.begin(), children_.end(), queued) || now_ns() >= begin + kLastWords) break;
    std::vector<pollfd> fds;
    for (const auto& child : children_) fds.push_back({child->link.wants_write(), POLLOUT, 0});
    (void)poll(fds.data(), fds.size(), kLookMs);
  }
  for (const auto& child : children_) child->link.close();
  // One that has not led to a daemon may not hear of the end of its pipe.
  for (const auto& child : children_) child->agent.end(child->told ? begin + kAgentsEnd : 0);
}

Relays::Child* Relays::find(std::uint32_t node) {
  for (const auto& child : children_)
    if (child->node == node) return child.get();
  return nullptr;
}

bool Relays::take(const Frame& frame) {
  Unpacker from(frame.body);
  if (frame.kind == FrameKind::kLead) return lead(from);
  std::uint32_t node = 0;
  if (!from(node).good()) return false;
  Child* const child = find(node);
  // One may have ended while this was under way.
  if (child == nullptr) return true;
  if (frame.kind == FrameKind::kDown) {
    child->told = true;
    child->link.send_raw(from.rest());
    return true;
  }
  child->link.close();
  child->agent.end(0);
  std::erase_if(children_, [child](const auto& other) { return other.get() == child; });
  return from.done();
}

void Relays::pass_on(const Frame& frame) {
  for (const auto& child : children_)
    if (child->told) child->link.send(frame.kind, frame.body);
}

bool Relays::lead(Unpacker& from) {
  std::uint32_t node = 0;
  AgentOrder order;
  if (!from(node, order).done() || find(node) != nullptr) return false;
  auto child = std::make_unique<Child>();
  child->node = node;
  if (const Status status = child->agent.start(order, inherited_); !status.ok()) {
    up_.send(FrameKind::kAgentOver, packed(AgentOver{.node = node, .ended = true, .failure = in_words(status)}));
    return true;
  }
  child->link = Link(std::move(child->agent.in), std::move(child->agent.out));
  children_.push_back(std::move(child));
  return true;
}

void Relays::add(std::vector<pollfd>* fds) const {
  const bool full = up_.queued() > kMostQueued;
  for (const auto& child : children_) {
    fds->push_back({full || child->closed ? -1 : child->link.in(), POLLIN, 0});
    fds->push_back({child->link.wants_write(), POLLOUT, 0});
    fds->push_back({full ? -1 : child->agent.err.get(), POLLIN, 0});
  }
}

void Relays::handle(const pollfd* fds) {
  for (const auto& child : children_) {
    if (fds[0].revents) read(*child);
    if (fds[2].revents) read_errors(*child);
    fds += kDescriptors;
  }
}

void Relays::read(Child& child) {
  char bytes[kPiece];
  const ssize_t n = ::read(child.link.in(), bytes, sizeof bytes);
  if (n > 0) {
    up_.send(FrameKind::kUp, packed(child.node).append(bytes, static_cast<std::size_t>(n)));
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    child.closed = true;
    up_.send(FrameKind::kAgentOver, packed(AgentOver{.node = child.node}));
  }
}

void Relays::read_errors(Child& child) {
  char bytes[4096];
  const ssize_t n = ::read(child.agent.err.get(), bytes, sizeof bytes);
  if (n > 0)
    up_.send(FrameKind::kAgentSaid, packed(child.node).append(bytes, static_cast<std::size_t>(n)));
  else if (n == 0 || (errno != EAGAIN && errno != EINTR))
    child.agent.err.reset();
}

void Relays::flush() {
  for (const auto& child : children_) (void)child->link.flush();
}

bool Relays::has(pid_t pid) const {
  return std::any_of(children_.begin(), children_.end(), [pid](const auto& child) { return child->agent.is(pid); });
}

void Relays::ended(pid_t pid, int wait_status) {
  const auto found =
      std::find_if(children_.begin(), children_.end(), [pid](const auto& child) { return child->agent.take_end(pid); });
  if (found == children_.end()) return;
  // Its last words are in the pipes. What a daemon has sent is there at once, and another process may hold an end.
  Child& child = **found;
  pollfd left[2] = {{child.closed ? -1 : child.link.in(), POLLIN, 0}, {child.agent.err.get(), POLLIN, 0}};
  while (poll(left, 2, 0) > 0) {
    if (left[0].revents) read(child);
    if (left[1].revents) read_errors(child);
    left[0].fd = child.closed ? -1 : child.link.in();
    left[1].fd = child.agent.err.get();
  }
  up_.send(FrameKind::kAgentOver, packed(AgentOver{.node = child.node, .ended = true, .wait_status = wait_status}));
  children_.erase(found);
}

}  // namespace ashlar::mpiexec
