#include "tests/sim/rma/messages.h"

#include <utility>

#include "framework/base/failure.h"

namespace ashlar::sim {

constinit MessageRanks* MessageRanks::current_ = nullptr;

namespace {
constexpr rma::am::Config kConfig{.credits = 4, .queue_limit = 64};
}

MessageRanks::MessageRanks(int ranks, Fibers& of)
    : fibers(of), peers_({}, static_cast<std::uint32_t>(ranks), 1), lane_(0, peers_, progress::Config{}) {
  datatype::register_predefined();
  current_ = this;
  comm_.predefined = 1;
  comm_.lane = &lane_;
  comm_.size = ranks;
  for (Rank rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<Member>());
    Member& member = *ranks_.back();
    RmaWindow& window = member.window;
    window.name.give("sim");
    window.comm = &comm_;
    window.me = rank;
    window.ranks = ranks;
    window.base = member.memory.data();
    window.size = static_cast<MPI_Aint>(member.memory.size());
    auto made = std::make_unique<rma::am::AmWindow>(window, kConfig);
    static_cast<void>(rma::WindowWire::attach(window, std::move(made)));
    member.sync = std::make_unique<rma::am::MessageSync>(rma::am::AmWindow::of(window));
  }
  fibers.event = [this] { return deliver(); };
  fibers.hears = [this](Rank rank) { return hears(rank); };
}

MessageRanks::~MessageRanks() {
  for (auto& member : ranks_) member->window.wire.reset();
  current_ = nullptr;
}

void MessageRanks::send(Rank from, Rank to, std::uint64_t word, std::vector<std::byte> data) {
  ++messages_;
  if (fibers.dead(to)) return;
  auto& pair = pairs_[static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to)];
  if (pair == nullptr) pair.reset(new Pair{.from = from, .to = to, .under_way = {}});
  if (pair->under_way.empty()) busy_.push_back(pair.get());
  pair->under_way.push_back({.word = word, .data = std::move(data)});
}

bool MessageRanks::deliver() {
  if (busy_.empty()) return false;
  const std::size_t at = fibers.random(busy_.size());
  Pair& pair = *busy_[at];
  const Message message = std::move(pair.under_way.front());
  pair.under_way.pop_front();
  if (pair.under_way.empty()) {
    busy_[at] = busy_.back();
    busy_.pop_back();
  }
  if (fibers.dead(pair.to)) return true;
  window(pair.to).wire->receiver().deliver({.from = pair.from, .word = message.word, .data = message.data});
  fibers.ready(pair.to);
  return true;
}

/// A transport reports a death after the messages of the dead process.
bool MessageRanks::hears(Rank rank) {
  const Rank dead = fibers.who_dies();
  const auto pair = pairs_.find(static_cast<std::uint64_t>(dead) << 32 | static_cast<std::uint32_t>(rank));
  if (pair != pairs_.end() && !pair->second->under_way.empty()) return false;
  window(rank).wire->receiver().peer_failed(dead);
  return true;
}

Status MessageRanks::barrier(Rank rank) {
  const std::uint64_t before = barriers_;
  at_barrier_.push_back(rank);
  if (at_barrier_.size() == ranks_.size()) {
    ++barriers_;
    for (const Rank one : std::exchange(at_barrier_, {})) fibers.ready(one);
    return {};
  }
  while (barriers_ == before) {
    if (fibers.knows(rank)) return window(rank).wire->fail_gone(fibers.who_dies());
    fibers.block();
  }
  return {};
}

}  // namespace ashlar::sim

// The wire of windows, for components/rma/am.
namespace ashlar::rma {

using sim::Fibers;
using sim::MessageRanks;

Stream::~Stream() = default;

WindowWire::WindowWire(RmaWindow& window, std::unique_ptr<WindowReceiver> receiver)
    : window_(window), lane_(*window.comm->lane), receiver_(std::move(receiver)) {}
WindowWire::~WindowWire() { receiver_.reset(); }

Status WindowWire::attach(RmaWindow& window, std::unique_ptr<WindowReceiver> receiver) {
  window.wire.reset(new WindowWire(window, std::move(receiver)));
  return {};
}

Status WindowWire::kick(Stream& stream) {
  if (stream.pushing_) return {};
  if (gone(stream.to())) return fail_gone(stream.to());
  stream.pushing_ = true;
  StreamMessage message;
  while (stream.next(kLeastRoom, &message)) {
    std::vector<std::byte> data(message.length);
    stream.fill(data.data());
    MessageRanks::current().send(window_.me, stream.to(), message.word, std::move(data));
    stream.sent();
  }
  stream.pushing_ = false;
  return {};
}

Status WindowWire::wait(WindowWait& wait, const char*) {
  while (!wait.over()) {
    ASHLAR_TRY(can_go_on(wait));
    Fibers::current().block();
  }
  return {};
}

Status WindowWire::can_go_on(const WindowWait& wait) {
  const Rank dead = Fibers::current().who_dies();
  return dead >= 0 && gone(dead) && wait.needs(dead) ? fail_gone(dead) : Status();
}

bool WindowWire::gone(Rank rank) const {
  return rank == Fibers::current().who_dies() && Fibers::current().knows(window_.me);
}

std::uint32_t WindowWire::process_of(Rank rank) const { return static_cast<std::uint32_t>(rank); }

Status WindowWire::fail_gone(Rank rank) const {
  return fail(MPI_ERR_PROC_ABORTED, "rma.peer_gone",
              {{"peer", rank}, {"window", window_.label()}, {"lower", "killed"}});
}

Status WindowWire::barrier(const char*) { return MessageRanks::current().barrier(window_.me); }

}  // namespace ashlar::rma
