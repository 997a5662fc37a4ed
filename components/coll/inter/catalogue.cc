#include "components/coll/inter/algorithms.h"

namespace ashlar::coll::inter {
namespace {

constexpr Algorithm of(Collective what, const char* summary, Co (*run)(Op&, const Call&)) {
  return {.collective = what, .name = "inter", .component = "inter", .summary = summary, .run = run, .traits = kInter};
}

constexpr Algorithm kAlgorithms[] = {
    of(Collective::kBarrier, "each group, the leaders, each group", barrier),
    of(Collective::kBcast, "through the remote leader", bcast),
    of(Collective::kReduce, "through the leader", reduce).with(kFixedOrder),
    of(Collective::kAllreduce, "through both leaders", allreduce).with(kFixedOrder),
    of(Collective::kReduceScatter, "through both leaders", reduce_scatter).with(kFixedOrder),
    of(Collective::kReduceScatterBlock, "through both leaders", reduce_scatter).with(kFixedOrder),
    of(Collective::kGather, "all at the root; argument window", gather),
    of(Collective::kGatherv, "all at the root; argument window", gather),
    of(Collective::kScatter, "all from the root; argument window", scatter),
    of(Collective::kScatterv, "all from the root; argument window", scatter),
    of(Collective::kAllgather, "all with all of the other group", exchange),
    of(Collective::kAllgatherv, "all with all of the other group", exchange),
    of(Collective::kAlltoall, "all with all of the other group", exchange),
    of(Collective::kAlltoallv, "all with all of the other group", exchange),
    of(Collective::kAlltoallw, "all with all of the other group", exchange),
};
constexpr AlgorithmList kList = list_of(kAlgorithms);

}  // namespace

const AlgorithmList& algorithm_list() { return kList; }

}  // namespace ashlar::coll::inter
