#include "tests/conformance/rma/world.h"

#include <gtest/gtest.h>

#include <thread>

#include "components/coll/p2p/algorithms.h"
#include "framework/coll/api.h"
#include "framework/memory/heap.h"
#include "framework/plugin/registry.h"
#include "framework/rma/cards.h"
#include "framework/rma/engine.h"
#include "framework/rma/ways.h"

namespace ashlar::test {
namespace {

constexpr std::size_t kAlignment = 64;

/// Components read its parameters, and leave records in it.
rma::Engine& engine() {
  static auto* const registry = new plugin::Registry(nullptr);
  static auto* const made = new rma::Engine(*registry, rma::Config{});
  return *made;
}

bool of_one_node() { return std::string_view(rma_subject().component->name) == "shm"; }

}  // namespace

RmaSubject& rma_subject() {
  static RmaSubject the_subject;
  return the_subject;
}

RmaWorld::RmaWorld(int ranks, std::size_t bytes, const LoopOptions& options, Memory memory)
    : world_(ranks, options), bytes_(bytes), kind_(memory) {
  engine();
  const coll::AlgorithmList* const lists[] = {&coll::p2p::algorithm_list()};
  for (int rank = 0; rank < ranks; ++rank) {
    members_.push_back(std::make_unique<Member>());
    std::unique_ptr<coll::Engine>& coll = members_.back()->coll;
    EXPECT_TRUE(coll::Engine::open(lists, &coll).ok());
    const LaneGuard guard(world_[rank].lane.lock);
    coll->attach(world_[rank].lane);
  }
  run([this](int rank) { make(rank); });
}

RmaWorld::~RmaWorld() {
  for (int rank = 0; rank < size(); ++rank) drop(rank);
  for (int rank = 0; rank < size(); ++rank) coll::detach(world_.comm(rank));
}

void RmaWorld::run(const std::function<void(int rank)>& part) {
  running_ = size();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size(); ++rank) {
    threads.emplace_back([this, &part, rank] {
      part(rank);
      --running_;
      while (running_.load() != 0) {
        poll(rank);
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

bool RmaWorld::all_agree(int me, bool yes) {
  bool all = false;
  EXPECT_TRUE(rma::all_agree(world_.comm(me), yes, &all).ok());
  return all;
}

void RmaWorld::choose_sync(int me, std::span<const rma::Card> cards) {
  Member& member = *members_[static_cast<std::size_t>(me)];
  RmaWindow& window = member.window;
  for (const rma::Component* component : window.components) {
    if (component->joins == nullptr) continue;
    bool joined = component->joins(window, cards).ok();
    if (joined) joined = component->make_sync(window, cards, &window.sync).ok();
    if (joined && window.areas == nullptr) {
      for (const rma::Card& card : cards) member.areas.push_back(area_of(card));
      window.areas = member.areas.data();
    }
    if (all_agree(me, joined)) return;
    window.sync = nullptr;
    window.areas = nullptr;
    member.areas.clear();
  }
  ADD_FAILURE() << "no component synchronizes the window";
}

void RmaWorld::make(int me) {
  Member& member = *members_[static_cast<std::size_t>(me)];
  RmaWindow& window = member.window;
  Comm& comm = world_.comm(me);
  comm.local_group = comm.remote_group;
  const bool dynamic = kind_ == Memory::kDynamic;
  if (kind_ == Memory::kHeap) {
    ASSERT_TRUE(memory::Heap::own().allocate(bytes_, kAlignment, true, &window.memory).ok());
    member.memory = static_cast<std::byte*>(window.memory);
  } else {
    member.own.resize(bytes_);
    member.memory = member.own.data();
  }
  window.comm = &comm;
  window.group = comm.local_group;
  window.name.give("halo");
  window.me = comm.rank;
  window.ranks = comm.size;
  window.base = dynamic ? nullptr : member.memory;
  window.size = dynamic ? 0 : static_cast<MPI_Aint>(bytes_);
  window.create_flavor = dynamic ? MPI_WIN_FLAVOR_DYNAMIC : MPI_WIN_FLAVOR_CREATE;
  if (dynamic) window.regions = std::make_unique<std::vector<rma::Region>>();
  window.components = rma_subject().all;
  ASSERT_TRUE(window.targets.prepare(window.ranks).ok());
  ASSERT_TRUE(rma::WindowWire::listen(window).ok());
  rma::Card card;
  card.node = of_one_node() ? 0 : static_cast<std::uint32_t>(me);
  card.address = reinterpret_cast<std::uintptr_t>(window.base);
  card.size = static_cast<std::uint64_t>(window.size);
  for (const rma::Component* component : window.components)
    if (component->prepare != nullptr) {
      ASSERT_TRUE(component->prepare(window, card).ok());
    }
  card.heap = memory::Heap::own().handle();
  if (kind_ == Memory::kHeap) card.flags |= rma::Card::kInHeap;
  std::vector<rma::Card> cards;
  ASSERT_TRUE(rma::exchange(comm, card, &cards).ok());
  for (Rank rank = 0; rank < window.ranks; ++rank) {
    const rma::Card& other = cards[static_cast<std::size_t>(rank)];
    engine().neighbours.learn((*window.group)[rank], other.node, other);
  }
  choose_sync(me, cards);
  for (const rma::Component* component : window.components)
    if (component->share != nullptr) {
      ASSERT_TRUE(component->share(window, comm, cards).ok());
    }
  const LaneGuard guard(window.lane().lock);
  window.made = true;
  if (window.wire != nullptr) window.wire->start();
  if (!dynamic) return;
  window.regions->push_back({.address = reinterpret_cast<std::uintptr_t>(member.memory), .size = bytes_});
  for (const rma::Component* component : window.components)
    if (component->attached != nullptr) {
      ASSERT_TRUE(component->attached(window).ok());
    }
}

// As unmake() does. No process uses the window any more.
void RmaWorld::drop(int me) {
  RmaWindow& window = members_[static_cast<std::size_t>(me)]->window;
  rma::WindowWire::unlisten(window);
  for (const rma::Component* component : window.components) component->close(window);
  window.sync = nullptr;
  if (window.memory != nullptr) memory::Heap::own().free(window.memory);
}

rma::Target& RmaWorld::target(int me, int of) {
  RmaWindow& window = this->window(me);
  rma::Target* found = nullptr;
  EXPECT_TRUE(window.targets.find_or_make(window, of, &found).ok());
  EXPECT_TRUE(rma::resolve_now(window, *found).ok());
  return *found;
}

rma::Place RmaWorld::place(int of, MPI_Aint offset, MPI_Count count, Datatype& type) const {
  const std::byte* const memory = members_[static_cast<std::size_t>(of)]->memory;
  const auto base = kind_ == Memory::kDynamic ? reinterpret_cast<MPI_Aint>(memory) : 0;
  return {.offset = base + offset, .count = count, .type = &type};
}

Status RmaWorld::put(int me, const DataView& from, int to, const rma::Place& at, Gate* done) {
  rma::Target& there = target(me, to);
  return there.copies->put({.window = window(me), .target = there, .origin = from, .place = at, .done = done});
}

Status RmaWorld::get(int me, const DataView& into, int from, const rma::Place& at, Gate* done) {
  rma::Target& there = target(me, from);
  return there.copies->get({.window = window(me), .target = there, .origin = into, .place = at, .done = done});
}

Status RmaWorld::update(int me, MPI_Op op, MPI_Datatype element, const void* origin, void* result, int to,
                        MPI_Aint offset, MPI_Count count, const void* compare, Gate* done) {
  Datatype& type = datatype::predefined(element);
  rma::Target& there = target(me, to);
  return there.updates->update(
      {.window = window(me),
       .target = there,
       .op = datatype::predefined_op(op),
       .element = type,
       .origin = origin != nullptr ? DataView::of(origin, count, type) : DataView{},
       .result = result != nullptr ? DataView{.data = result, .count = count, .type = &type} : DataView{},
       .place = place(to, offset, count, type),
       .compare = compare,
       .done = done});
}

Status RmaWorld::flush(int me, int to, bool remote) {
  return rma::flush("MPI_Win_flush", window(me), target(me, to), remote);
}

Status RmaWorld::lock(int me, int of, bool exclusive) {
  ASHLAR_TRY(sync(me).lock(target(me, of), exclusive));
  ++window(me).epochs.locks;
  return {};
}

Status RmaWorld::unlock(int me, int of, bool exclusive) {
  --window(me).epochs.locks;
  return sync(me).unlock(target(me, of), exclusive);
}

}  // namespace ashlar::test
