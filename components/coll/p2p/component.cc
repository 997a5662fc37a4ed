#include <cstdio>

#include "components/coll/p2p/algorithms.h"
#include "framework/plugin/component.h"

namespace ashlar::coll::p2p {
namespace {

constexpr std::int32_t kPriority = 10;  // serves everything; whoever is better comes first

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
const ashlar_component ashlar_component_v1 = {sizeof(ashlar_component),
                                              ASHLAR_COMPONENT_MAJOR,
                                              ASHLAR_COMPONENT_MINOR,
                                              "coll",
                                              "p2p",
                                              "1.0.0",
                                              "collectives composed of point-to-point messages",
                                              1,
                                              0,
                                              0,
                                              nullptr,
                                              ASHLAR_BUILD_ID,
                                              nullptr,
                                              ashlar::coll::p2p::query,
                                              ashlar::coll::p2p::create,
                                              ashlar::coll::p2p::destroy,
                                              nullptr};
