#include "components/coll/shm/blocks.h"

#include "components/coll/shm/module.h"

namespace ashlar::coll::shm {
namespace {

constexpr MPI_Count kMostOfScatter = 8192;

}  // namespace

MPI_Count Routes::most_in_buffer(const Op& op, const Call& call) {
  const auto room = static_cast<MPI_Count>(module().piece_bytes(static_cast<std::uint32_t>(op.size())));
  const bool root_copies = call.what == Collective::kScatter || call.what == Collective::kScatterv;
  return root_copies && room > kMostOfScatter ? kMostOfScatter : room;
}

Need blocks_need(const Call& call, bool writes_buffer) {
  // With lengths that all ranks know, the rules have other algorithms where single copies do not work.
  const bool lengths_known = call.what == Collective::kGather || call.what == Collective::kScatter;
  const Need::SingleCopy single_copy = lengths_known                 ? Need::SingleCopy::kAlways
                                       : module().config.single_copy ? Need::SingleCopy::kWhereProved
                                                                     : Need::SingleCopy::kNever;
  return Need{.payloads = {.own = writes_buffer ? static_cast<MPI_Count>(kInline) + 1 : 0}, .single_copy = single_copy};
}

}  // namespace ashlar::coll::shm
