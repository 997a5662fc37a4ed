#include <cstdio>

#include "components/coll/p2p/algorithms.h"
#include "framework/plugin/coll_interface.h"
#include "framework/plugin/component.h"

namespace ashlar::coll::p2p {
namespace {

constexpr std::int32_t kPriority = 10;  // serves everything; more special components come first

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "%u algorithms over point-to-point messages",
                algorithm_list().count);
}

ashlar_result create(const void*, void** module) {
  *module = const_cast<AlgorithmList*>(&algorithm_list());
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace
}  // namespace ashlar::coll::p2p

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "coll",
                                              .name = "p2p",
                                              .version = "1.0.0",
                                              .description = "collectives composed of point-to-point messages",
                                              .interface_version = ASHLAR_COLL_CXX_INTERFACE,
                                              .config_size = 0,
                                              .param_count = 0,
                                              .params = nullptr,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .open = nullptr,
                                              .query = ashlar::coll::p2p::query,
                                              .create = ashlar::coll::p2p::create,
                                              .destroy = ashlar::coll::p2p::destroy,
                                              .close = nullptr};
