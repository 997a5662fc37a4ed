// What mpiexec and a daemon on another host read from the agent's pipes. The first byte of an input says how the others
// come: 0: as they are, so start files that print and damaged heads of frames; else as frames with right heads, each a
// byte for its kind, two for the length of its body, and the body.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "mpiexec/agent.h"
#include "mpiexec/board.h"
#include "mpiexec/job_order.h"
#include "mpiexec/link.h"
#include "mpiexec/rank_view.h"
#include "mpiexec/way_prober.h"

namespace {

using namespace ashlar;
using namespace ashlar::mpiexec;

constexpr std::uint64_t kNow = 5'000'000'000;

/// The board of mpiexec with two ranks of its own and two of the daemon.
Board& board() {
  static Board& board = []() -> Board& {
    auto* const made = new Board;
    BoardFacts facts;
    facts.job_id = "1";
    facts.host = "here";
    facts.launcher = "mpiexec";
    facts.nodes = {.hosts = {"here", "there"}, .node_of_rank = {0, 0, 1, 1}, .node = 0};
    facts.cookie = 1;
    facts.ranks = facts.universe = 4;
    if (!made->make(facts).ok()) std::abort();
    return *made;
  }();
  return board;
}

/// What can be read is the same once it was written again.
template <class T>
bool take(Unpacker& from, T* value) {
  if (!from(*value).good()) return false;
  const std::string once = packed(*value);
  T again;
  if (!Unpacker(once)(again).good() || packed(again) != once) std::abort();
  return true;
}

void read_views(Unpacker& from, bool answers) {
  std::uint64_t then = 0;
  std::vector<RankView> views;
  if (!from(then).good() || !take(from, &views)) return;
  for (const RankView& view : views) show(board(), view, kNow, answers ? kNow - 1 : 0, -5);
  for (unsigned rank = 0; rank < 4; ++rank) (void)view_of(board(), rank, kNow);
}

/// Of a host without addresses: what the targets say is read, and nothing is called.
void try_ways(const std::vector<WayTarget>& targets) {
  for (const WayTarget& target : targets) (void)ip::ways_to(WayProber::candidates_of(target), target.port, false, {});
}

void read(const Frame& frame) {
  Unpacker from(frame.body);
  JobOrder order;
  NodeReady ready;
  RankEnding ending;
  RecordWanted wanted;
  RecordAnswer answer;
  CheckOrder check;
  CheckStep step;
  HostReport report;
  std::vector<WayTarget> targets;
  std::vector<WayResult> ways;
  AgentOrder agent;
  AgentOver over;
  std::uint32_t rank = 0;
  std::uint64_t ticket = 0;
  switch (frame.kind) {
    case FrameKind::kOrder:
      (void)take(from, &order);
      break;
    case FrameKind::kReady:
      (void)take(from, &ready);
      break;
    case FrameKind::kRankEnded:
      if (from(rank).good()) (void)take(from, &ending);
      break;
    case FrameKind::kWanted:
      (void)take(from, &wanted);
      break;
    case FrameKind::kLookUp:
      if (from(ticket).good()) (void)take(from, &wanted);
      break;
    case FrameKind::kRecord:
      (void)take(from, &answer);
      break;
    case FrameKind::kFound:
      if (from(ticket).good()) (void)take(from, &answer);
      break;
    case FrameKind::kStates:
      read_views(from, false);
      break;
    case FrameKind::kAccounts:
      read_views(from, true);
      break;
    case FrameKind::kCheck:
      (void)take(from, &check);
      break;
    case FrameKind::kTryWays:
      if (take(from, &targets)) try_ways(targets);
      break;
    case FrameKind::kStep:
      (void)take(from, &step);
      break;
    case FrameKind::kChecked:
      (void)take(from, &report);
      break;
    case FrameKind::kWays:
      (void)take(from, &ways);
      break;
    case FrameKind::kLead:
      if (from(rank).good() && take(from, &agent)) (void)agent.words();
      break;
    case FrameKind::kAgentOver:
      (void)take(from, &over);
      break;
    default:
      break;
  }
}

struct Pipes {
  Pipes() {
    if (pipe2(there.data(), O_CLOEXEC | O_NONBLOCK) != 0 || pipe2(back.data(), O_CLOEXEC) != 0) std::abort();
  }
  std::array<int, 2> there, back;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 16384) return 0;
  const bool raw = *data++ == 0;
  --size;
  const Pipes pipes;
  Link sender(Descriptor(pipes.back[0]), Descriptor(pipes.there[1]));
  Link receiver(Descriptor(pipes.there[0]), Descriptor(pipes.back[1]));
  if (raw) {
    sender.send_raw({reinterpret_cast<const char*>(data), size});
  } else {
    while (size >= 3) {
      const std::size_t length = std::min(data[1] + std::size_t{data[2]} * 256, size - 3);
      sender.send(static_cast<FrameKind>(data[0]), {reinterpret_cast<const char*>(data + 3), length});
      data += 3 + length;
      size -= 3 + length;
    }
  }
  if (!sender.flush()) std::abort();
  sender.close();
  std::size_t lines = 0;
  bool open = true;
  while (open) {
    open = receiver.read_some();
    std::string line;
    while (raw && lines < 4 && receiver.take_line(&line)) ++lines;
    Frame frame;
    while (receiver.take(&frame)) read(frame);
  }
  return 0;
}
