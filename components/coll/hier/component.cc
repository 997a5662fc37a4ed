#include <cstdio>

#include "components/coll/hier/algorithms.h"
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
const ashlar_component ashlar_component_v1 = {sizeof(ashlar_component),
                                              ASHLAR_COMPONENT_MAJOR,
                                              ASHLAR_COMPONENT_MINOR,
                                              "coll",
                                              "hier",
                                              "1.0.0",
                                              "collectives of ranks on several nodes, by nodes",
                                              1,
                                              0,
                                              0,
                                              nullptr,
                                              ASHLAR_BUILD_ID,
                                              nullptr,
                                              ashlar::coll::hier::query,
                                              ashlar::coll::hier::create,
                                              ashlar::coll::hier::destroy,
                                              nullptr};
