#include "tests/unit/p2p/world.h"

#include <gtest/gtest.h>

#include "framework/object/errhandler.h"

namespace ashlar::test {
namespace {

Status connect(void* context, Lane&, PeerId peer, ashlar_endpoint** endpoint, ashlar_iface** iface) {
  auto& process = *static_cast<Process*>(context);
  LoopIface* const from = peer == process.peers.self() ? process.itself : process.others;
  *endpoint = process.network.connect(*from, peer);
  *iface = from;
  return {};
}

}  // namespace

Process::Process(LoopNetwork& net, std::uint32_t self, const p2p::Config& config)
    : network(net),
      peers({{0, 0}, self}, net.processes(), 1),
      lane(0, peers, progress::Config{}),
      others(net.iface(self, false)),
      itself(net.iface(self, true)),
      peer_entries(net.processes(), nullptr) {
  peers.set_connector(connect, this);
  for (LoopIface* iface : {others, itself}) {
    iface->lane = &lane;
    iface->deliver = progress::deliver;
    iface->failed = progress::failed;
  }
  {
    const LaneGuard guard(lane.lock);
    lane.add_iface(others, false, "loop");
    lane.add_iface(itself, true);
  }
  EXPECT_TRUE(p2p::attach(lane, config, shared).ok());
  if (net.options.tags) {
    const LaneGuard guard(lane.lock);
    p2p::use_tags(lane, *others);
  }
  comm.predefined = 1;
  comm.context = 2;
  comm.rank = static_cast<Rank>(self);
  comm.size = comm.remote_size = static_cast<int>(net.processes());
  comm.peers = peer_entries.data();
  comm.lane = &lane;
  comm.remote_group = Ref<Group>::adopt(Group::strided(0, 1, comm.size));
  comm.name = "MPI_COMM_WORLD";
}

Process::~Process() { p2p::detach(lane); }

World::World(int size, const LoopOptions& options, const p2p::Config& config)
    : network_(static_cast<std::uint32_t>(size), options) {
  datatype::register_predefined();
  // The world owns its communicators and may be gone when the thread's last failure is replaced by the next.
  error_hooks.release_comm = [](Comm*) {};
  for (int rank = 0; rank < size; ++rank)
    processes_.push_back(std::make_unique<Process>(network_, static_cast<std::uint32_t>(rank), config));
}

Status World::finish(Request* request, MPI_Status* status) {
  EXPECT_TRUE(complete(request));
  Request* handle = request;
  int flag = 0;
  const Status outcome = p2p::test(&handle, &flag, status);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(handle, nullptr);
  return outcome;
}

Datatype& bytes() { return datatype::predefined(MPI_BYTE); }

}  // namespace ashlar::test
