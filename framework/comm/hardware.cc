#include "framework/comm/hardware.h"

#include <mutex>

#include "framework/comm/make.h"

namespace ashlar::comm {

std::int64_t resource_instance(const std::string& type) {
  if (type == "mpi_shared_memory" || type == kComparedTypes[0]) return 0;
  static constinit std::mutex mutex;
  ashlar_topology* const locator = surroundings.hardware().locator;
  const std::lock_guard one_at_a_time(mutex);
  return locator ? locator->ops->instance(locator, type.c_str()) : std::int64_t{ASHLAR_TOPOLOGY_NO_SUCH_TYPE};
}

}  // namespace ashlar::comm
