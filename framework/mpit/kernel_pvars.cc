#include "framework/mpit/kernel_pvars.h"

#include "framework/coll/pvars.h"
#include "framework/comm/pvars.h"
#include "framework/datatype/pvars.h"
#include "framework/io/pvars.h"
#include "framework/memory/pvars.h"
#include "framework/mpit/pool_pvars.h"
#include "framework/object/events.h"
#include "framework/object/pvars.h"
#include "framework/p2p/pvars.h"
#include "framework/plugin/base_pvars.h"
#include "framework/plugin/pvars.h"
#include "framework/plugin/records.h"
#include "framework/progress/pvars.h"
#include "framework/rma/pvars.h"
#include "framework/runtime/life.h"
#include "framework/runtime/pvars.h"
#include "framework/runtime/tool_modules.h"

namespace ashlar::mpit {

void add_kernel_pvars() {
  plugin::PvarSets& sets = plugin::pvar_sets();
  sets.add("datatype", datatype::kPvars, &datatype::layout_counters);
  sets.add("progress", progress::kPvars, nullptr);
  sets.add("p2p", p2p::kCounterRows, nullptr);
  sets.add("p2p", p2p::pool_rows, nullptr);
  sets.add("comm", p2p::comm_rows, nullptr);
  sets.add("comm", coll::comm_rows, nullptr);
  sets.add("comm", comm::process_rows, &comm::counters);
  sets.add("datatype", datatype::type_rows, &datatype::type_counters);
  sets.add("object", error_rows, &error_counters);
  sets.add("object", object::alive_rows, &error_counters);
  sets.add("coll", coll::kCounterRows, nullptr);
  sets.add("coll", coll::pool_rows, nullptr);
  sets.add("memory", memory::kPvars, &memory::heap_counters);
  sets.add("rma", rma::pool_rows, nullptr);
  sets.add("io", io::pool_rows, nullptr);
  sets.add("rma", rma::counter_rows, &rma::counters);
  sets.add("runtime", runtime::kPvars, nullptr);
  sets.add("runtime", runtime::life_rows, &runtime::life);
  sets.add("tools", runtime::ToolModules::pvar_rows, nullptr);
  sets.add("plugin", plugin::Records::pvar_rows, nullptr);
  sets.add("base", plugin::failure_rows, &sets);
  sets.add("tools", plugin::event_rows, &sets);
  sets.add("tools", pool_rows, &sets);
}

}  // namespace ashlar::mpit
