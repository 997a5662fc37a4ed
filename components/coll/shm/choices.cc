#include "components/coll/shm/choices.h"

namespace ashlar::coll::shm {

Choices Choices::of(const ChoiceConfig& config, Member& member) {
  const bool share_cores = !member.flat;
  member.polls_for_writer = config.poll_for_root && share_cores;
  return Choices{.prefetch_from = static_cast<MPI_Count>(config.prefetch_from),
                 .read_once = config.read_once,
                 .yield_to_root = config.yield_to_root && share_cores};
}

}  // namespace ashlar::coll::shm
