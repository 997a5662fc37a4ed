#include "framework/match/queues.h"

namespace ashlar::match {
namespace {

constexpr unsigned kLongWalk = 32;

bool takes(const Key& wanted, const Key& message) {
  return wanted.context() == message.context() &&
         (wanted.source() == MPI_ANY_SOURCE || wanted.source() == message.source()) &&
         (wanted.tag == MPI_ANY_TAG || wanted.tag == message.tag);
}

}  // namespace

Entry* PostedQueue::take_among_wild(const Key& message, Entry* best) {
  const std::uint64_t any_source = Key::place(message.context(), MPI_ANY_SOURCE);
  const Key keys[3] = {{any_source, message.tag}, {message.where, MPI_ANY_TAG}, {any_source, MPI_ANY_TAG}};
  for (unsigned i = 0; i < 3; ++i) {
    if (wild_[i] == 0) continue;
    Entry* const found = table_.find(keys[i]);
    if (found != nullptr && (best == nullptr || found->stamp < best->stamp)) best = found;
  }
  if (best != nullptr) remove(*best);
  return best;
}

bool PostedQueue::has_rival(const Key& message) const {
  if (any_wild_ == 0) return false;
  const std::uint64_t any_source = Key::place(message.context(), MPI_ANY_SOURCE);
  return table_.find({any_source, message.tag}) != nullptr || table_.find({message.where, MPI_ANY_TAG}) != nullptr ||
         table_.find({any_source, MPI_ANY_TAG}) != nullptr;
}

Message* UnexpectedQueue::find_wild(const Key& wanted) {
  if (!indexed_) {
    unsigned walked = 0;
    for (Message& message : order_) {
      if (takes(wanted, message.key)) return &message;
      ++walked_;
      if (++walked == kLongWalk) break;
    }
    if (walked < kLongWalk) return nullptr;
    indexed_ = true;
    for (Message& message : order_) index(message);
  }
  if (indexed_) {
    Entry* const place = wild_.find(wanted);
    return place ? static_cast<WildPlaces::Place*>(place)->message : nullptr;
  }
  for (Message& message : order_) {
    if (takes(wanted, message.key)) return &message;
    ++walked_;
  }
  return nullptr;
}

void UnexpectedQueue::index(Message& message) {
  if (!indexed_) return;
  message.wild = places_.take();
  if (message.wild == nullptr) {
    // Without memory for the index the queue does without it for good, and walks the list.
    indexed_ = false;
    for (Message& other : order_)
      if (other.wild != nullptr) unindex(other);
    return;
  }
  const std::uint64_t any_source = Key::place(message.key.context(), MPI_ANY_SOURCE);
  const auto file = [&](WildPlaces::Place& place, const Key& key) {
    place.key = key;
    place.message = &message;
    wild_.insert(place);
  };
  file(message.wild->any_source, {any_source, message.key.tag});
  file(message.wild->any_tag, {message.key.where, MPI_ANY_TAG});
  file(message.wild->any, {any_source, MPI_ANY_TAG});
}

void UnexpectedQueue::unindex(Message& message) {
  wild_.remove(message.wild->any_source);
  wild_.remove(message.wild->any_tag);
  wild_.remove(message.wild->any);
  places_.put(message.wild);
  message.wild = nullptr;
}

}  // namespace ashlar::match
