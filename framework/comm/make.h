#pragma once
#include <cstdint>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/object/object.h"

namespace ashlar {
class Comm;
class Group;
class Errhandler;
struct Lane;
}  // namespace ashlar
namespace ashlar::comm {

struct Hardware;

/// What the runtime tells this room.
struct Surroundings {
  Lane* (*lane_of)(std::uint32_t context) = nullptr;
  std::uint32_t (*node_of)(PeerId peer) = nullptr;     // index of the node a process runs on
  const Hardware& (*hardware)() = nullptr;             // the topology components, opened on first use
  Status (*everyone)(Comm** result) = nullptr;         // a communicator of all processes of the job, for internal use
  bool check_hints = false;                            // check.hints
  bool (*in_process_set)(const char* name) = nullptr;  // whether this process is in a process set of that name
};
extern Surroundings surroundings;

/// A communicator of `group` in which this process has a rank, ready for use. `like`: communicator of the same group
/// whose table of peers it can share, or nullptr.
Status make(Ref<Group> group, std::uint32_t context, Errhandler& handler, Comm* like, Comm** result);
/// An intercommunicator. `like`: a communicator of the same local group, or nullptr.
Status make_inter(Ref<Group> local, Ref<Group> remote, std::uint32_t context, Errhandler& handler, Comm* like,
                  Comm** result);

/// Sets the ids of a communicator that was made before they were agreed on.
void give_context(Comm& comm, std::uint32_t context);

/// Destroys the communicators whose last reference went while their lane was locked, by a request that completed. The
/// constructors do it too; before the lanes go.
void collect();

}  // namespace ashlar::comm
