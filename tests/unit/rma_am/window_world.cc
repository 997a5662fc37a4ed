#include "tests/unit/rma_am/window_world.h"

#include <gtest/gtest.h>

#include <limits>
#include <list>
#include <thread>

namespace ashlar::test {

using rma::am::AmWindow;
using rma::am::Flush;

OwnedType committed(Datatype* made) {
  EXPECT_TRUE(datatype::commit(&made).ok());
  return OwnedType(made);
}

OwnedType vector_of(MPI_Count count, MPI_Count length, MPI_Count stride, Datatype& of) {
  Datatype* made = nullptr;
  EXPECT_TRUE(datatype::vector(count, length, stride, of, &made).ok());
  return committed(made);
}

Member::Member(Process& of, std::size_t bytes, const rma::am::Config& config, bool dynamic)
    : process(of), memory(bytes) {
  Comm& comm = process.comm;
  comm.local_group = comm.remote_group;
  window.comm = &comm;
  window.group = comm.local_group;
  window.name.give("halo");
  window.me = comm.rank;
  window.ranks = comm.size;
  window.base = dynamic ? nullptr : memory.data();
  window.size = dynamic ? 0 : static_cast<MPI_Aint>(bytes);
  window.create_flavor = dynamic ? MPI_WIN_FLAVOR_DYNAMIC : MPI_WIN_FLAVOR_CREATE;
  if (dynamic) window.regions = std::make_unique<std::vector<rma::Region>>();
  areas.resize(static_cast<std::size_t>(window.ranks), {.size = bytes});
  window.areas = areas.data();
  {
    EXPECT_TRUE(rma::WindowWire::listen(window).ok());
    const LaneGuard guard(window.lane().lock);
    EXPECT_TRUE(rma::WindowWire::attach(window, std::make_unique<AmWindow>(window, config)).ok());
  }
  sync = std::make_unique<rma::am::MessageSync>(am());
  window.sync = sync.get();
}

Member::~Member() {
  rma::WindowWire::unlisten(window);
  window.wire.reset();
}

rma::Target& Member::target(Rank rank) {
  rma::Target* found = window.targets.find(rank);
  if (found == nullptr) {
    EXPECT_TRUE(window.targets.make(window, rank, &found).ok());
    window.targets.each([](rma::Target& made) { made.copies = made.updates = &rma::am::asked; });
  }
  return *found;
}

Status Member::put(const void* from, MPI_Count count, Datatype& type, int to, MPI_Aint offset, MPI_Count target_count,
                   Datatype& target_type, Gate* done) {
  return rma::am::asked.put({.window = window,
                             .target = target(to),
                             .origin = DataView::of(from, count, type),
                             .place = {.offset = offset, .count = target_count, .type = &target_type},
                             .done = done});
}

Status Member::get(void* into, MPI_Count count, Datatype& type, int from, MPI_Aint offset, MPI_Count target_count,
                   Datatype& target_type, Gate* done) {
  return rma::am::asked.get({.window = window,
                             .target = target(from),
                             .origin = {.data = into, .count = count, .type = &type},
                             .place = {.offset = offset, .count = target_count, .type = &target_type},
                             .done = done});
}

Status Member::update(MPI_Op op, Datatype& element, const void* origin, MPI_Count count, Datatype& type, void* result,
                      int to, MPI_Aint offset, MPI_Count target_count, Datatype& target_type, const void* compare,
                      Gate* done) {
  return rma::am::asked.update(
      {.window = window,
       .target = target(to),
       .op = datatype::predefined_op(op),
       .element = element,
       .origin = DataView::of(origin, count, type),
       .result = result != nullptr ? DataView{.data = result, .count = count, .type = &type} : DataView{},
       .place = {.offset = offset, .count = target_count, .type = &target_type},
       .compare = compare,
       .done = done});
}

WindowWorld::WindowWorld(int size, std::size_t bytes, const LoopOptions& options, const rma::am::Config& parameters,
                         bool dynamic)
    : world(size, options), config(parameters) {
  make(bytes, dynamic);
}

void WindowWorld::make(std::size_t bytes, bool dynamic) {
  for (int rank = 0; rank < size(); ++rank)
    members_.push_back(std::make_unique<Member>(world[rank], bytes, config, dynamic));
  start();
}

void WindowWorld::remake() {
  const std::size_t bytes = members_[0]->memory.size();
  members_.clear();
  make(bytes, false);
}

void WindowWorld::start() {
  for (auto& member : members_) member->start();
}

Status WindowWorld::drain(int rank, bool remote) {
  Member& member = (*this)[rank];
  std::list<Flush> flushes;
  for (auto& channel : member.am().channels) {
    if (channel == nullptr || channel->requests.idle()) continue;  // as AmWindow::flush()
    channel->requests.add(flushes.emplace_back(remote));
    static_cast<void>(member.am().wire().kick(channel->requests));
  }
  EXPECT_TRUE(world.poll_until([&] {
    for (const Flush& flush : flushes)
      if (!flush.over) return false;
    return true;
  }));
  Status first;
  for (auto& channel : member.am().channels) {
    if (channel == nullptr) continue;
    const Status outcome = channel->requests.take_failure();
    if (first.ok()) first = outcome;
  }
  return first;
}

void WindowWorld::run(const std::function<void(int rank)>& part) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size(); ++rank) threads.emplace_back([&part, rank] { part(rank); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ashlar::test
