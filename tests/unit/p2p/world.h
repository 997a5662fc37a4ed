#pragma once
#include <mpi.h>

#include <memory>
#include <vector>

#include "framework/datatype/data_view.h"
#include "framework/datatype/datatype.h"
#include "framework/object/comm.h"
#include "framework/p2p/api.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/completion.h"
#include "framework/p2p/config.h"
#include "framework/p2p/process_state.h"
#include "framework/p2p/setup.h"
#include "framework/progress/peer.h"
#include "framework/progress/request.h"
#include "tests/unit/p2p/loop_transport.h"

namespace ashlar::test {

/// One "process": its own peers, lane and communicator.
struct Process {
  Process(LoopNetwork& network, std::uint32_t self, const p2p::Config& config);
  ~Process();

  LoopNetwork& network;
  PeerTable peers;
  p2p::ProcessState shared;
  Lane lane;
  LoopIface* others;
  LoopIface* itself;
  Comm comm;
  std::vector<Peer*> peer_entries;

  void poll() {
    const LaneGuard guard(lane.lock);
    progress::poll(lane);
  }
};

/// Several processes in one test, all members of one communicator with context 2 in rank order.
class World {
 public:
  explicit World(int size, const LoopOptions& options = {}, const p2p::Config& config = {});
  Process& operator[](int rank) { return *processes_[static_cast<std::size_t>(rank)]; }
  Comm& comm(int rank) { return (*this)[rank].comm; }
  int size() const { return static_cast<int>(processes_.size()); }
  LoopNetwork& network() { return network_; }

  /// One round of progress in every process.
  void poll() {
    for (auto& process : processes_) process->poll();
  }
  /// Progress until `done` holds; false when it does not after many rounds.
  template <class Done>
  bool poll_until(Done done) {
    for (int round = 0; round < 200000; ++round) {
      if (done()) return true;
      poll();
    }
    return done();
  }
  bool complete(Request* request) {
    return poll_until([request] { return request->complete(); });
  }
  /// Completes `request` and checks that it is gone.
  Status finish(Request* request, MPI_Status* status = MPI_STATUS_IGNORE);

 private:
  LoopNetwork network_;
  std::vector<std::unique_ptr<Process>> processes_;
};

Datatype& bytes();

}  // namespace ashlar::test
