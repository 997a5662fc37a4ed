#pragma once
#include "framework/base/status.h"
#include "framework/comm/channel.h"
#include "framework/comm/ports.h"
#include "framework/object/comm.h"

namespace ashlar::comm {

Status check_intracomm(const Comm& comm);

/// How processes of other hosts reach the ports of this process.
PortNetwork network_of_ports();

/// The intercommunicator of `comm` and the group at the other end of `channel`, which counts at the root alone;
/// `ready`: whether the root has one. Collective over both groups.
Status meet(Comm& comm, int root, Channel& channel, Status ready, Comm** result);

}  // namespace ashlar::comm
