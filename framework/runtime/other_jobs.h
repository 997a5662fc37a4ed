#pragma once
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/comm/outside.h"

namespace ashlar {
class Process;
struct Lane;
}  // namespace ashlar
namespace ashlar::runtime {

/// The processes of other jobs that this one knows: how it gets to know them, and takes leave of them.
///
///   accept, connect, spawn: introduce() -> hold() by each communicator -> let_go() by the last -> part(): endpoints,
///   rings, card and number are given back. MPI_Finalize: take_leave() of those that are left.
class OtherJobs final : public comm::Outside {
 public:
  explicit OtherJobs(Process& process) : process_(process) {}
  ~OtherJobs() = default;

  bool is_of_other_job(PeerId peer) const override;
  bool knows_others() const override;
  Identity identity_of(PeerId peer) override;
  PeerId number_of(const Identity& who) override;
  std::string own_card() override;
  Status introduce(const Identity& who, std::string_view card, PeerId* number) override;
  void hold(PeerId peer) override;
  void let_go(PeerId peer) override;
  void part() override;
  Status start_job(Descriptor* socket) override;
  Status name_service(Descriptor* socket) override;
  void network(std::string* interfaces, std::string* ports) const override;
  bool starts_elsewhere() const override;
  void reach_other_nodes() override;
  std::uint64_t connect_timeout_ns() const override;

  /// The end of the world model is collective over connected processes (MPI-5.0, 11.10.4): waits until all of them have
  /// come there too, or have failed. Of those that no message was exchanged with, nothing depends.
  void take_leave();

  /// A wait has become a long one: from now on the ends of processes are noticed that nothing was sent to. Under the
  /// lane's lock.
  void watch(Lane& lane);
  /// Ends the members of `comm` that are of other jobs, and these jobs with them, as far as they can be reached.
  void end(const Comm& comm, int code);

 private:
  bool part_from(PeerId peer);
  void tell_launcher();

  Process& process_;
  std::mutex mutex_;             // guards the next two
  std::vector<PeerId> parting_;  // no communicator has them any more
  std::set<PeerId> watched_;
};

/// A connection to a launcher of this installation, started for one further job, that no other launcher waits for.
Status start_launcher(Descriptor* socket);

}  // namespace ashlar::runtime
