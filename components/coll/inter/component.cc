#include <cstdio>

#include "components/coll/inter/algorithms.h"
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
const ashlar_component ashlar_component_v1 = {sizeof(ashlar_component),
                                              ASHLAR_COMPONENT_MAJOR,
                                              ASHLAR_COMPONENT_MINOR,
                                              "coll",
                                              "inter",
                                              "1.0.0",
                                              "collectives of intercommunicators",
                                              1,
                                              0,
                                              0,
                                              nullptr,
                                              ASHLAR_BUILD_ID,
                                              nullptr,
                                              ashlar::coll::inter::query,
                                              ashlar::coll::inter::create,
                                              ashlar::coll::inter::destroy,
                                              nullptr};
