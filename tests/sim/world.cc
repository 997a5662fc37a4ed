#include "tests/sim/world.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "framework/datatype/data_view.h"

namespace ashlar::sim {

SimWire::SimWire(World& world, Rank self) : Wire(&world.lane_), world_(world), self_(self) {}

Status SimWire::send(Rank to, const DataView& data, Tag tag, Gate& gate) {
  World& w = world_;
  World::Virtual& me = w.at(self_);
  if (me.knows_of_death) return members_alive();
  World::Message message{self_, tag, me.clock + 1, std::vector<std::byte>(static_cast<std::size_t>(data.bytes())), {}};
  datatype::pack(data, 0, message.payload.data(), message.payload.size());
  ++w.messages_;
  w.bytes_ += message.payload.size();
  if (message.round > w.rounds_) w.rounds_ = message.round;
  if (w.options_.record_list) w.recorded_.push_back({self_, to, message.payload.size(), message.round});
  // Some sends are over at once, some only when they are received: algorithms may rely on neither.
  if (!w.options_.shuffle || w.random(2) == 0) {
    gate.add();
    message.sender_gate = &gate;
  }
  World::Pair& pair = w.at(to).pairs[self_];
  if (!w.options_.shuffle) {
    w.in_order_.emplace_back(to, &pair);
  } else if (pair.in_flight.empty()) {
    pair.active_index = w.active_.size();
    w.active_.emplace_back(to, &pair);
  }
  pair.in_flight.push_back(std::move(message));
  return {};
}

Status SimWire::recv(Rank from, const DataView& data, Tag tag, Gate& gate) {
  if (world_.at(self_).knows_of_death) return members_alive();
  World::Pair& pair = world_.at(self_).pairs[from];
  gate.add();
  pair.posted.push_back({tag, data, &gate});
  if (pair.unexpected.empty()) return {};
  // An early message is received at once, or later.
  if (!world_.options_.shuffle || world_.random(2) == 0) {
    world_.matchable_.emplace_back(self_, &pair);
  } else {
    while (world_.match(self_, pair)) {
    }
  }
  return {};
}

void SimWire::wait(Gate& gate) {
  if (!world_.run_until([&gate] { return gate.open(); })) {
    std::fprintf(stderr, "%s", world_.stuck().c_str());
    std::abort();  // a blocked caller has nowhere to return to
  }
}

Status SimWire::wait(coll::Condition& condition) {
  if (!world_.run_until([&condition] { return condition.holds(condition); })) std::abort();
  return {};
}

void SimWire::watch(coll::Condition&) { std::abort(); }

Status SimWire::members_alive() {
  if (!world_.at(self_).knows_of_death) return {};
  return Status::fail(MPI_ERR_PROC_ABORTED, "rank %d is gone", world_.options_.dies);
}

World::Virtual::Virtual(World& world, Rank rank, std::size_t block_bytes)
    : wire(world, rank), memory(new std::byte[block_bytes]), block(memory.get(), block_bytes, cache) {}

World::World(int size, std::uint64_t seed, Options options)
    : size_(size), options_(options), engine_(seed), peers_({}, 1, 1), lane_(0, peers_, progress::Config{}) {
  for (Rank r = 0; r < size; ++r) groups_[r < options.first_group ? 0 : 1].push_back(r);
  for (Rank r = 0; r < size; ++r) {
    ranks_.push_back(std::make_unique<Virtual>(*this, r, options.block_bytes));
    if (options.first_group == 0) continue;
    const int mine = r < options.first_group ? 0 : 1;
    ranks_.back()->own.emplace(ranks_.back()->wire, groups_[mine].data());
    ranks_.back()->other.emplace(ranks_.back()->wire, groups_[1 - mine].data());
  }
}
World::~World() {
  for (const auto& rank : ranks_) {
    if (rank->slot.drop != nullptr) rank->slot.drop(rank->slot.data);
  }
}

bool World::done(Rank rank) const {
  const Virtual& v = *ranks_[static_cast<std::size_t>(rank)];
  return v.started && v.finished.open();
}

void World::start(Rank rank, const coll::Algorithm& algorithm, const std::function<coll::Call(Rank)>& call_of,
                  const coll::Arguments& arguments) {
  Virtual& v = at(rank);
  v.call = call_of(rank);
  v.started = true;
  if (v.call.root == MPI_PROC_NULL) return;
  const std::vector<Rank>& group = groups_[rank < options_.first_group ? 0 : 1];
  coll::Wire& own = v.own ? static_cast<coll::Wire&>(*v.own) : v.wire;
  v.op.emplace(v.other ? static_cast<coll::Wire&>(*v.other) : v.wire, rank - group.front(),
               static_cast<int>(group.size()), 1, v.block, rank == options_.blocking_rank);
  v.op->set_arguments(arguments);
  if (options_.slot_of != nullptr) {
    v.slot = options_.slot_of(rank, own);
    v.op->set_own_slot(&v.slot);
  }
  v.op->set_place(nullptr, 0, algorithm);
  v.co = algorithm.run(*v.op, v.call);
  if (!v.co.started()) std::abort();
  if (!v.co.done()) {
    v.finished.add();
    v.co.promise().joined = &v.finished;
  }
}

bool World::run(const coll::Algorithm& algorithm, const std::function<coll::Call(Rank)>& call_of,
                const coll::Arguments& arguments) {
  std::vector<Rank> order;
  for (Rank r = 0; r < size_; ++r) {
    if (r != options_.blocking_rank) order.push_back(r);
  }
  for (std::size_t i = order.size(); options_.shuffle && i > 1; --i) std::swap(order[i - 1], order[random(i)]);
  for (const Rank rank : order) {
    if (!(dead_ && rank == options_.dies)) start(rank, algorithm, call_of, arguments);
    // Some ranks start late: others are far ahead when these enter the call.
    while (options_.shuffle && random(3) != 0 && step()) {
    }
  }
  if (options_.blocking_rank >= 0) start(options_.blocking_rank, algorithm, call_of, arguments);
  return run_until([this] {
    for (Rank r = 0; r < size_; ++r) {
      if (!done(r) && !(dead_ && r == options_.dies)) return false;
    }
    return true;
  });
}

bool World::run_until(const std::function<bool()>& over) {
  // `over` may cost as much as there are ranks: it is called only when nothing is left to do, or now and then.
  for (unsigned since = 0;; ++since) {
    if ((size_ < 64 || since % 1024 == 0) && over()) return true;
    if (step()) continue;
    if (over()) return true;
    describe_stuck();
    return false;
  }
}

bool World::step() {
  ++events_;
  if (options_.dies >= 0 && !dead_ && events_ > options_.dies_after) {
    dead_ = true;
    for (Rank r = 0; r < size_; ++r) {
      if (r != options_.dies) unaware_.push_back(r);
    }
  }
  const bool can_run = !lane_.ready.empty();
  const bool can_deliver = !active_.empty() || !in_order_.empty() || !matchable_.empty();
  if (!unaware_.empty() && (random(8) == 0 || (!can_run && !can_deliver))) {
    std::swap(unaware_[random(unaware_.size())], unaware_.back());
    const Rank rank = unaware_.back();
    unaware_.pop_back();
    learn_of_death(rank);
    return true;
  }
  if (can_run && (!can_deliver || !options_.shuffle || random(2) == 0)) {
    Waiter* const waiter = lane_.ready.pop_front();
    const bool of_dead = dead_ && &static_cast<coll::Promise*>(waiter)->op->wire() == &at(options_.dies).wire;
    if (!of_dead) waiter->run(*waiter);
    return true;
  }
  if (!can_deliver) return false;
  deliver();
  return true;
}

void World::deliver() {
  Rank to;
  Pair* pair;
  if (!matchable_.empty() && (active_.empty() || random(2) == 0)) {
    std::tie(to, pair) = matchable_.front();
    matchable_.pop_front();
  } else {
    if (options_.shuffle) {
      const std::size_t which = random(active_.size());
      std::tie(to, pair) = active_[which];
      if (pair->in_flight.size() == 1) {
        active_[which] = active_.back();
        active_[which].second->active_index = which;
        active_.pop_back();
      }
    } else {
      std::tie(to, pair) = in_order_.front();
      in_order_.pop_front();
    }
    Message message = std::move(pair->in_flight.front());
    pair->in_flight.pop_front();
    if (dead_ && to == options_.dies) {
      if (message.sender_gate != nullptr) lose(message.from, message.sender_gate);
      return;
    }
    pair->unexpected.push_back(std::move(message));
  }
  while (match(to, *pair)) {
  }
}

void World::lose(Rank sender, Gate* gate) {
  // No receive completes it; the notice of the death does.
  if (at(sender).knows_of_death) {
    gate->arrive(at(sender).wire.members_alive());
  } else {
    lost_.emplace_back(sender, gate);
  }
}

bool World::match(Rank to, Pair& pair) {
  for (auto posted = pair.posted.begin(); posted != pair.posted.end(); ++posted) {
    for (auto message = pair.unexpected.begin(); message != pair.unexpected.end(); ++message) {
      if (message->tag != posted->tag) continue;
      const Message taken = std::move(*message);
      const Posted receive = *posted;
      pair.unexpected.erase(message);
      pair.posted.erase(posted);
      Status outcome;
      if (taken.payload.size() > static_cast<std::size_t>(receive.data.bytes())) {
        outcome = Status::fail(MPI_ERR_TRUNCATE, "%zu bytes for a buffer of %lld", taken.payload.size(),
                               static_cast<long long>(receive.data.bytes()));
      } else if (taken.payload.size() < static_cast<std::size_t>(receive.data.bytes())) {
        outcome = Status::fail(MPI_ERR_OTHER, "only %zu bytes", taken.payload.size());  // sizes are exact here
      } else {
        datatype::unpack(receive.data, 0, taken.payload.data(), taken.payload.size());
      }
      if (taken.sender_gate != nullptr && !(dead_ && taken.from == options_.dies))
        complete(taken.from, taken.sender_gate, taken.round, {});
      complete(to, receive.gate, taken.round, outcome);
      return true;
    }
  }
  return false;
}

void World::complete(Rank rank, Gate* gate, int round, Status outcome) {
  Virtual& v = at(rank);
  int& seen = v.gate_rounds[gate];
  if (round > seen) seen = round;
  if (gate->outstanding() == 1) {  // opens: from here on the rank may act on what it has received
    if (seen > v.clock) v.clock = seen;
    v.gate_rounds.erase(gate);
  }
  gate->arrive(outcome);
}

void World::learn_of_death(Rank rank) {
  Virtual& v = at(rank);
  v.knows_of_death = true;
  // Everything that waits fails: receives, and sends that no receive has taken yet.
  const Status gone = v.wire.members_alive();
  for (auto& [from, pair] : v.pairs) {
    while (!pair.posted.empty()) {
      Gate* const gate = pair.posted.front().gate;
      pair.posted.pop_front();
      gate->arrive(gone);
    }
  }
  for (auto& [sender, gate] : lost_) {
    if (sender == rank && gate != nullptr) std::exchange(gate, nullptr)->arrive(gone);
  }
  for (Rank r = 0; r < size_; ++r) {
    const auto found = at(r).pairs.find(rank);
    if (found == at(r).pairs.end()) continue;
    for (auto* queue : {&found->second.in_flight, &found->second.unexpected}) {
      for (Message& message : *queue) {
        if (message.sender_gate != nullptr) std::exchange(message.sender_gate, nullptr)->arrive(gone);
      }
    }
  }
}

void World::describe_stuck() {
  stuck_ = "nothing can go on:\n";
  int lines = 0;
  for (Rank r = 0; r < size_ && lines < 20; ++r) {
    if (done(r)) continue;
    std::string line = "  rank " + std::to_string(r) + (at(r).started ? " waits for" : " has not started");
    for (const auto& [from, pair] : at(r).pairs) {
      if (!pair.posted.empty()) line += " " + std::to_string(from);
    }
    stuck_ += line + "\n";
    ++lines;
  }
}

}  // namespace ashlar::sim
