#include "components/coll/shm/segment/member.h"

#include <new>
#include <utility>

namespace ashlar::coll::shm {

Member::~Member() {
  while (abandoned_ != nullptr) delete std::exchange(abandoned_, abandoned_->next);
}

void Member::abandon(std::uint64_t first, std::uint64_t last) {
  if (first == turn) return pass_turn(last + 1);
  auto* const entry = new (std::nothrow) Abandoned{.first = first, .last = last, .next = abandoned_};
  // Without memory the order is given up, so that later collectives do not wait for ever.
  if (entry == nullptr) return pass_turn(last + 1);
  abandoned_ = entry;
}

void Member::pass_abandoned() {
  Abandoned** link = &abandoned_;
  while (*link != nullptr) {
    if ((*link)->first != turn) {
      link = &(*link)->next;
      continue;
    }
    turn = (*link)->last + 1;
    delete std::exchange(*link, (*link)->next);
    link = &abandoned_;  // the next one may stand before it in the list
  }
}

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
