// The parameters of the kernel's rooms, in one list: no room registers itself, so nothing depends on the order in which
// static constructors would run. A room with a params.h has a line here.
#include "framework/coll/params.h"
#include "framework/p2p/internal.h"
#include "framework/param/table.h"
#include "framework/plugin/mpiexec_params.h"
#include "framework/plugin/params.h"
#include "framework/progress/config.h"
#include "framework/runtime/config.h"

namespace ashlar::param {

std::span<const Table> kernel_tables() {
  static const Table kTables[] = {
      {"", plugin::kSelection},           {"", plugin::kKernelParams},
      {"plugin", plugin::kParams},        {"mpiexec", plugin::kMpiexecParams},
      {"runtime", runtime::parameters()}, {"progress", progress::parameters()},
      {"p2p", p2p::parameters()},         {"coll", coll::kParams},
  };
  return kTables;
}

}  // namespace ashlar::param
