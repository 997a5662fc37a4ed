#include "components/coll/shm/choices.h"

namespace ashlar::coll::shm {
namespace {

/// As many as the cores that all ranks share. No limit where each rank has a core, or where they are bound to different
/// ones: then no rank that copies keeps another from its core.
std::uint32_t shared_cores(const SegmentLayout& layout) {
  const RankState& first = layout.rank(0);
  for (std::uint32_t r = 1; r < layout.ranks(); ++r) {
    if (layout.rank(r).cores != first.cores) return 0;
  }
  return first.core_count < layout.ranks() ? first.core_count : 0;
}

std::uint32_t permits(const ChoiceConfig& config, const SegmentLayout& layout, bool oversubscribed) {
  if (config.copy_permits != 0)
    return config.copy_permits < layout.ranks() ? static_cast<std::uint32_t>(config.copy_permits) : 0;
  return oversubscribed ? shared_cores(layout) : 0;
}

}  // namespace

Choices Choices::of(const ChoiceConfig& config, Member& member, bool oversubscribed) {
  member.polls_for_writer = config.poll_for_root && !member.flat;
  return Choices{.copy_permits = permits(config, member.layout, oversubscribed),
                 .prefetch_from = static_cast<MPI_Count>(config.prefetch_from),
                 .read_once = config.read_once,
                 .yield_to_root = config.yield_to_root && !member.flat};
}

}  // namespace ashlar::coll::shm
