#include "framework/comm/hardware.h"

#include <mutex>

#include "framework/comm/engine.h"

namespace ashlar::comm {

std::int64_t resource_instance(const std::string& type) {
  if (type == "mpi_shared_memory" || type == kComparedTypes[0]) return 0;
  Engine& engine = Engine::current();
  ashlar_topology* const locator = engine.services.hardware().locator;
  const std::lock_guard guard(engine.locating);
  return locator ? locator->ops->instance(locator, type.c_str()) : std::int64_t{ASHLAR_TOPOLOGY_NO_SUCH_TYPE};
}

}  // namespace ashlar::comm
