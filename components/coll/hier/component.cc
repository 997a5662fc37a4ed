#include <cstdio>

#include "components/coll/hier/algorithms.h"
#include "framework/plugin/coll_interface.h"
#include "framework/plugin/component.h"

namespace ashlar::coll::hier {
namespace {

constexpr std::int32_t kPriority = 5;  // rules choose it; the order does not matter

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "collectives of ranks on several nodes, by nodes");
}

ashlar_result create(const void*, void** module) {
  *module = const_cast<AlgorithmList*>(&algorithm_list());
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace
}  // namespace ashlar::coll::hier

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "coll",
                                              .name = "hier",
                                              .version = "1.0.0",
                                              .description = "collectives of ranks on several nodes, by nodes",
                                              .interface_version = ASHLAR_COLL_CXX_INTERFACE,
                                              .config_size = 0,
                                              .param_count = 0,
                                              .params = nullptr,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .open = nullptr,
                                              .query = ashlar::coll::hier::query,
                                              .create = ashlar::coll::hier::create,
                                              .destroy = ashlar::coll::hier::destroy,
                                              .close = nullptr};
