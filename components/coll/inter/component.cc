#include <cstdio>

#include "components/coll/inter/algorithms.h"
#include "framework/plugin/component.h"

namespace ashlar::coll::inter {
namespace {

constexpr std::int32_t kPriority = 5;  // of its own kind; the order does not matter

constexpr Algorithm kAlgorithms[] = {
    {Collective::kBarrier, "inter", "inter", "each group, the leaders, each group", nullptr, barrier, kInter},
    {Collective::kBcast, "inter", "inter", "through the remote leader", nullptr, bcast, kInter},
    {Collective::kReduce, "inter", "inter", "through the leader", nullptr, reduce, kInter | kFixedOrder},
    {Collective::kAllreduce, "inter", "inter", "through both leaders", nullptr, allreduce, kInter | kFixedOrder},
    {Collective::kReduceScatter, "inter", "inter", "through both leaders", nullptr, reduce_scatter,
     kInter | kFixedOrder},
    {Collective::kReduceScatterBlock, "inter", "inter", "through both leaders", nullptr, reduce_scatter,
     kInter | kFixedOrder},
    {Collective::kGather, "inter", "inter", "all at the root; argument window", nullptr, gather, kInter},
    {Collective::kGatherv, "inter", "inter", "all at the root; argument window", nullptr, gather, kInter},
    {Collective::kScatter, "inter", "inter", "all from the root; argument window", nullptr, scatter, kInter},
    {Collective::kScatterv, "inter", "inter", "all from the root; argument window", nullptr, scatter, kInter},
    {Collective::kAllgather, "inter", "inter", "everyone with everyone", nullptr, exchange, kInter},
    {Collective::kAllgatherv, "inter", "inter", "everyone with everyone", nullptr, exchange, kInter},
    {Collective::kAlltoall, "inter", "inter", "everyone with everyone", nullptr, exchange, kInter},
    {Collective::kAlltoallv, "inter", "inter", "everyone with everyone", nullptr, exchange, kInter},
    {Collective::kAlltoallw, "inter", "inter", "everyone with everyone", nullptr, exchange, kInter},
};
constexpr AlgorithmList kList{sizeof(AlgorithmList), sizeof kAlgorithms / sizeof kAlgorithms[0], kAlgorithms};

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "collectives of intercommunicators");
}

ashlar_result create(const void*, void** module) {
  *module = const_cast<AlgorithmList*>(&kList);
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
