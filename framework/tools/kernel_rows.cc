// The parameters of the kernel's rooms, in one list: no room registers itself, so nothing depends on the order in which
// static constructors would run. A room with a params.h has a line here.
#include "framework/param/table.h"
#include "framework/plugin/mpiexec_params.h"
#include "framework/plugin/params.h"

namespace ashlar::param {

std::span<const Table> kernel_tables() {
  static constexpr Table kTables[] = {
      {"", plugin::kSelection},
      {"", plugin::kKernelParams},
      {"plugin", plugin::kParams},
      {"mpiexec", plugin::kMpiexecParams},
  };
  return kTables;
}

}  // namespace ashlar::param
