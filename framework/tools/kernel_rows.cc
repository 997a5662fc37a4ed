// The parameters of the kernel's rooms, in one list: no room registers itself, so nothing depends on the order in which
// static constructors would run. A room with a params.h has a line here.
#include "framework/coll/params.h"
#include "framework/param/table.h"
#include "framework/plugin/params.h"

namespace ashlar::param {

std::span<const Table> kernel_tables() {
  static constexpr Table kTables[] = {
      {"", plugin::kSelection},
      {"", plugin::kKernelParams},
      {"plugin", plugin::kParams},
      {"coll", coll::kParams},
  };
  return kTables;
}

}  // namespace ashlar::param
