#pragma once
#include <functional>

#include "mpiexec/check_order.h"
#include "mpiexec/environment.h"
#include "mpiexec/way_prober.h"

namespace ashlar::mpiexec {

/// What a job would find on this host: the installation, the folder, the programs and their libraries, the interfaces.
/// Opens the port of `prober`. Looks only; runs nothing. A file on a disk that does not answer blocks it: `tell` has
/// had the name of the step then.
HostReport look_at_host(const CheckOrder& order, const Environment& environment, WayProber* prober,
                        std::function<void(const CheckStep&)> tell);

}  // namespace ashlar::mpiexec
