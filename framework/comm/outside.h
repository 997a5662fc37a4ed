#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "framework/base/types.h"

namespace ashlar {
class Comm;
class Group;
}  // namespace ashlar
namespace ashlar::comm {

/// What this room needs for processes that other jobs consist of. The runtime implements it; without one, as in most
/// tests, there is this job alone.
///
/// A process is known from the first communicator that has it to the end of the last. What travels between processes is
/// an Identity; a number (PeerId) means something in one process alone.
class Outside {
 public:
  virtual bool is_of_other_job(PeerId peer) const = 0;
  virtual Identity identity_of(PeerId peer) = 0;
  /// kNobody: this process does not know it.
  virtual PeerId number_of(const Identity& who) = 0;
  /// What others need to reach this process: its addresses, for introduce() there.
  virtual std::string own_card() = 0;
  /// Makes a process known, by the card that it gave of itself, and holds it. Of this job: nothing to do. Fails when
  /// the two cannot talk to each other: other versions, settings that must be equal and are not.
  virtual Status introduce(const Identity& who, std::string_view card, PeerId* number) = 0;
  /// One communicator (or introduction) more, or less, has the process.
  virtual void hold(PeerId peer) = 0;
  virtual void let_go(PeerId peer) = 0;
  /// Whether any process of another job is known.
  virtual bool knows_others() const = 0;
  /// Takes leave of processes that no communicator has any more, as far as nothing is under way to them.
  virtual void part() = 0;
  /// A connection to a launcher that starts a further job (plugin/further_job.h). Fails with MPI_ERR_SPAWN.
  virtual Status start_job(Descriptor* socket) = 0;
  /// A connection to the launcher's name service (plugin/name_service.h); none where the launcher has no names. Fails
  /// with MPI_ERR_OTHER.
  virtual Status name_service(Descriptor* socket) = 0;
  /// The interfaces and TCP ports with which processes of other hosts reach this one.
  virtual void network(std::string* interfaces, std::string* ports) const = 0;
  /// Whether the launcher may start further processes on other hosts without being told so.
  virtual bool starts_elsewhere() const = 0;
  /// Makes this process one that processes of other nodes reach, if it is none: while all processes that it knew were
  /// on its node, it needed no network. Its card changes. What cannot be used says so when it is.
  virtual void reach_other_nodes() = 0;
  /// How long MPI_Comm_connect waits for MPI_Comm_accept.
  virtual std::uint64_t connect_timeout_ns() const = 0;

 protected:
  ~Outside() = default;
};

/// The processes of a communicator are known as long as one has them.
void hold(const Comm& comm);
void let_go(const Comm& comm);

/// The nodes of the members of the local group, by rank, as numbers that all processes of the communicator agree on.
std::vector<std::uint32_t> nodes_of(const Comm& comm);
/// The node of this process, as nodes_of() numbers it.
std::uint32_t own_node_in(const Comm& comm);

/// Whether a member of the group belongs to another job. All members of a communicator find the same.
bool spans_jobs(const Group& group);
bool spans_jobs(const Comm& comm);

}  // namespace ashlar::comm
