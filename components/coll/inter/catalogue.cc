#include "components/coll/inter/algorithms.h"

namespace ashlar::coll::inter {
namespace {

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
    {Collective::kAllgather, "inter", "inter", "all with all of the other group", nullptr, exchange, kInter},
    {Collective::kAllgatherv, "inter", "inter", "all with all of the other group", nullptr, exchange, kInter},
    {Collective::kAlltoall, "inter", "inter", "all with all of the other group", nullptr, exchange, kInter},
    {Collective::kAlltoallv, "inter", "inter", "all with all of the other group", nullptr, exchange, kInter},
    {Collective::kAlltoallw, "inter", "inter", "all with all of the other group", nullptr, exchange, kInter},
};
constexpr AlgorithmList kList{sizeof(AlgorithmList), sizeof kAlgorithms / sizeof kAlgorithms[0], kAlgorithms};

}  // namespace

const AlgorithmList& algorithm_list() { return kList; }

}  // namespace ashlar::coll::inter
