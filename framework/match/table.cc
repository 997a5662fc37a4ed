#include "framework/match/table.h"

#include <new>

namespace ashlar::match {
namespace {

constexpr unsigned kFirstBits = 6;
constexpr unsigned kGrowthBits = 2;

}  // namespace

std::unique_ptr<Node[]> Table::make(std::size_t buckets) {
  std::unique_ptr<Node[]> made(new (std::nothrow) Node[buckets]);
  if (made) {
    for (std::size_t i = 0; i < buckets; ++i) made[i].previous = made[i].next = &made[i];
  }
  return made;
}

Table::Table() : buckets_(make(std::size_t{1} << kFirstBits)), mask_((1u << kFirstBits) - 1), shift_(64 - kFirstBits) {}

void Table::grow() {
  const std::size_t buckets = (mask_ + 1) << kGrowthBits;
  std::unique_ptr<Node[]> larger = make(buckets);
  if (!larger) return;  // no memory: the chains get longer, which is no error
  const std::unique_ptr<Node[]> old = std::move(buckets_);
  const std::size_t old_mask = mask_;
  buckets_ = std::move(larger);
  mask_ = buckets - 1;
  shift_ -= kGrowthBits;
  // Entries of one key share a bucket, so walking each bucket in order keeps their order.
  for (std::size_t i = 0; i <= old_mask; ++i) {
    for (Node* node = old[i].next; node != &old[i];) {
      Node* const following = node->next;
      append(buckets_[slot(static_cast<Entry*>(node)->key)], *node);
      node = following;
    }
  }
}

}  // namespace ashlar::match
