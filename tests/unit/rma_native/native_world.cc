#include "tests/unit/rma_native/native_world.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

extern "C" const ashlar_component ashlar_component_v1;

namespace ashlar::test {
namespace {

Status reach_asked(RmaWindow&, rma::Target& target) {
  if (target.copies == nullptr) target.copies = &rma::am::asked;
  if (target.updates == nullptr) target.updates = &rma::am::asked;
  return {};
}
constinit const rma::Component messages = {.name = "messages",
                                           .prepare = nullptr,
                                           .joins = nullptr,
                                           .make_sync = nullptr,
                                           .share = nullptr,
                                           .reach = reach_asked,
                                           .attached = nullptr,
                                           .listen = nullptr,
                                           .close = nullptr};
constexpr std::array<const rma::Component*, 2> kComponents = {&rma::native::component, &messages};

void add_block(const char*, const char*, const ashlar_pvar_row*, std::uint32_t, const void*) {}
void remove_block(const ashlar_pvar_row*, const void*) {}

ashlar_host host() {
  ashlar_host made{};
  made.size = sizeof made;
  made.add_pvar_block = add_block;
  made.remove_pvar_block = remove_block;
  return made;
}
const ashlar_host the_host = host();

}  // namespace

NativeWorld::NativeWorld(int size, std::size_t bytes, const LoopOptions& options, const rma::native::Config& config)
    : world(size, bytes, options), config_(config) {
  EXPECT_EQ(ashlar_component_v1.open(&the_host, &config_), ASHLAR_OK);
  for (int rank = 0; rank < size; ++rank) {
    Member& member = world[rank];
    for (int other = 0; other < size; ++other)
      member.areas[static_cast<std::size_t>(other)].address =
          reinterpret_cast<std::uintptr_t>(world[other].memory.data());
    member.window.components = kComponents;
    rma::native::window_state(member.window) = new rma::native::NativeWindow(member.window, config_);
  }
  // What exchange_keys() does.
  std::vector<rma::native::Exposures> exposures(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) rma::native::expose(native(rank), &exposures[static_cast<std::size_t>(rank)]);
  for (int rank = 0; rank < size; ++rank) {
    native(rank).exposures = exposures;
    native(rank).targets.resize(static_cast<std::size_t>(size));
    rma::native::guard_own(native(rank));
  }
  for (int rank = 0; rank < size; ++rank)
    for (int other = 0; other < size; ++other) make_target(rank, other);
}

void NativeWorld::make_target(int rank, int other) {
  RmaWindow& window = world[rank].window;
  rma::Target* made = nullptr;
  EXPECT_TRUE(window.targets.make(window, other, &made).ok());
  const LaneGuard guard(window.lane().lock);
  made->copies = made->updates = nullptr;
  static_cast<void>(rma::native::component.reach(window, *made));
  static_cast<void>(reach_asked(window, *made));
}

NativeWorld::~NativeWorld() {
  for (int rank = 0; rank < world.size(); ++rank) close(rank);
}

void NativeWorld::close(int rank) { rma::native::component.close(world[rank].window); }

Status NativeWorld::put(int rank, const void* from, const DataView& layout, int to, const rma::Place& place,
                        Gate* gate) {
  rma::Target& there = target(rank, to);
  return there.copies->put({.window = world[rank].window,
                            .target = there,
                            .origin = DataView::of(from, layout.count, *layout.type),
                            .place = place,
                            .done = gate});
}

Status NativeWorld::get(int rank, const DataView& into, int from, const rma::Place& place, Gate* gate) {
  rma::Target& there = target(rank, from);
  return there.copies->get(
      {.window = world[rank].window, .target = there, .origin = into, .place = place, .done = gate});
}

Status NativeWorld::update(int rank, MPI_Op op, MPI_Datatype element, const void* origin, void* result, int to,
                           MPI_Aint offset, MPI_Count count, const void* compare) {
  Datatype& type = datatype::predefined(element);
  rma::Target& there = target(rank, to);
  return there.updates->update(
      {.window = world[rank].window,
       .target = there,
       .op = datatype::predefined_op(op),
       .element = type,
       .origin = DataView::of(origin, count, type),
       .result = result != nullptr ? DataView{.data = result, .count = count, .type = &type} : DataView{},
       .place = {.offset = offset, .count = count, .type = &type},
       .compare = compare,
       .done = nullptr});
}

Status NativeWorld::flush(int rank, int to, bool remote) {
  RmaWindow& window = world[rank].window;
  rma::Target& there = target(rank, to);
  Status outcome;
  if (there.copies->flush != nullptr) outcome = there.copies->flush(window, there, remote);
  if (there.updates->flush != nullptr && there.updates->flush != there.copies->flush) {
    const Status updates = there.updates->flush(window, there, remote);
    if (outcome.ok()) outcome = updates;
  }
  return outcome;
}

void NativeWorld::run(const std::function<void(int rank)>& part) {
  std::atomic<int> left{world.size()};
  world.run([&](int rank) {
    part(rank);
    --left;
    while (left.load() != 0) {
      world.world[rank].poll();
      std::this_thread::yield();
    }
  });
}

}  // namespace ashlar::test
