#include <cstdio>

#include "components/coll/inter/algorithms.h"
#include "framework/plugin/coll_interface.h"
#include "framework/plugin/component.h"

namespace ashlar::coll::inter {
namespace {

constexpr std::int32_t kPriority = 5;  // of its own kind; the order does not matter

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "collectives of intercommunicators");
}

ashlar_result create(const void*, void** module) {
  *module = const_cast<AlgorithmList*>(&algorithm_list());
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace
}  // namespace ashlar::coll::inter

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "coll",
                                              .name = "inter",
                                              .version = "1.0.0",
                                              .description = "collectives of intercommunicators",
                                              .interface_version = ASHLAR_COLL_CXX_INTERFACE,
                                              .config_size = 0,
                                              .param_count = 0,
                                              .params = nullptr,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .open = nullptr,
                                              .query = ashlar::coll::inter::query,
                                              .create = ashlar::coll::inter::create,
                                              .destroy = ashlar::coll::inter::destroy,
                                              .close = nullptr};
