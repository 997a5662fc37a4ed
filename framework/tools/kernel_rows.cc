// The parameters of the kernel's rooms, in one list: no room registers itself, so nothing depends on the order in which
// static constructors would run, and launcher and tools know every parameter without linking the rooms. A room with a
// params.h has a line here.
#include "framework/coll/params.h"
#include "framework/io/params.h"
#include "framework/memory/params.h"
#include "framework/mpit/params.h"
#include "framework/object/params.h"
#include "framework/p2p/params.h"
#include "framework/param/table.h"
#include "framework/plugin/mpiexec_params.h"
#include "framework/plugin/params.h"
#include "framework/progress/params.h"
#include "framework/rma/params.h"
#include "framework/runtime/params.h"
#include "framework/topo/params.h"

namespace ashlar::param {

std::span<const Table> kernel_tables() {
  static constexpr Table kTables[] = {
      {"", plugin::kSelection},        {"", plugin::kKernelParams},     {"plugin", plugin::kParams},
      {"tools", plugin::kToolParams},  {"runtime", runtime::kParams},   {"threads", runtime::kThreadParams},
      {"progress", progress::kParams}, {"p2p", p2p::kParams},           {"check", p2p::kCheckParams},
      {"coll", coll::kParams},         {"check", coll::kCheckParams},   {"check", runtime::kCheckParams},
      {"memory", memory::kParams},     {"rma", rma::kParams},           {"io", io::kParams},
      {"check", rma::kCheckParams},    {"topo", topo::kParams},         {"mpiexec", plugin::kMpiexecParams},
      {"tools", mpit::kParams},        {"watch", plugin::kWatchParams}, {"object", object::kParams},
      {"check", io::kCheckParams},
  };
  return kTables;
}

}  // namespace ashlar::param
