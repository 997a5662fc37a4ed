#include <cstdio>

#include "components/coll/shm/module.h"
#include "framework/plugin/coll_interface.h"

namespace ashlar::coll::shm {
namespace {

constexpr std::int32_t kPriority = 50;  // before p2p, for what it serves

ashlar_result open(const ashlar_host* host, const void* config) {
  module().open(*host, *static_cast<const Config*>(config));
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "collectives of ranks that share a node");
}

ashlar_result create(const void*, void** made) {
  *made = &module();
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace
}  // namespace ashlar::coll::shm

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "coll",
                                              .name = "shm",
                                              .version = "1.0.0",
                                              .description = "collectives of ranks that share a node",
                                              .interface_version = ASHLAR_COLL_CXX_INTERFACE,
                                              .config_size = sizeof(ashlar::coll::shm::Config),
                                              .param_count = ashlar::coll::shm::kParamCount,
                                              .params = ashlar::coll::shm::kParams,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .open = ashlar::coll::shm::open,
                                              .query = ashlar::coll::shm::query,
                                              .create = ashlar::coll::shm::create,
                                              .destroy = ashlar::coll::shm::destroy,
                                              .close = nullptr};
