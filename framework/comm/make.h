#pragma once
#include <cstdint>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/object/object.h"

namespace ashlar {
class Comm;
class Group;
class Errhandler;
}  // namespace ashlar
namespace ashlar::comm {

/// A communicator of `group` in which this process has a rank, ready for use. `like`: communicator of the same group
/// whose table of peers it can share, or nullptr.
Status make(Ref<Group> group, std::uint32_t context, Errhandler& handler, Comm* like, Comm** result);
/// An intercommunicator. `like`: a communicator of the same local group, or nullptr.
Status make_inter(Ref<Group> local, Ref<Group> remote, std::uint32_t context, Errhandler& handler, Comm* like,
                  Comm** result);

/// Sets the ids of a communicator that was made before they were agreed on.
void give_context(Comm& comm, std::uint32_t context);

}  // namespace ashlar::comm
