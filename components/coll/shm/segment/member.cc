#include "components/coll/shm/segment/member.h"

namespace ashlar::coll::shm {

bool Member::read_done(std::uint64_t number, std::uint64_t ahead) {
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t r = 0; r < layout.ranks(); ++r) {
    const std::uint64_t done = layout.rank(r).done.load(std::memory_order_acquire);
    if (done < least) least = done;
  }
  all_done = least;
  return least + ahead >= number;
}

}  // namespace ashlar::coll::shm
