#include "components/transport/common/registrations.h"

#include <new>

namespace ashlar::network {
namespace {

constexpr unsigned kLookedAtOnce = 8;

const void* at(std::uint64_t address) {
  return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr): an address of this process
}

}  // namespace

bool Registrations::lasting(std::uint64_t begin, std::uint64_t bytes, ashlar_lasting* out) const {
  return ASHLAR_HAS(&context_, lasting) && context_.lasting != nullptr &&
         context_.lasting(context_.lane_context, at(begin), bytes, out) != 0;
}

Region* Registrations::take(const void* address, std::uint64_t bytes, unsigned uses) {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  ashlar_lasting memory = {};
  Region* region = nullptr;
  if (fabric_.keeps() && config_.registered_bytes != 0 && lasting(begin, bytes, &memory) &&
      memory.length <= config_.registered_bytes)
    region = take_lasting(memory);
  if (region == nullptr) region = shared(begin, bytes, uses);
  if (region == nullptr) {
    region = make(begin, bytes, uses, 0);
    if (region == nullptr) return nullptr;
    own_.emplace(begin, region);
  }
  ++region->users;
  if (region->bytes == bytes) ++region->whole;
  return region;
}

/// nullptr: the library does not take so much; a part of it may do.
Region* Registrations::take_lasting(const ashlar_lasting& memory) {
  if (const auto known = lasting_.find(memory.serial); known != lasting_.end()) {
    Region& region = *known->second;
    if (region.users == 0) {
      List<Region>::remove(&region);
      idle_bytes_ -= region.bytes;
      --idle_count_;
    }
    counters_.registered_again.add();
    return &region;
  }
  Region* const region = make(memory.address, memory.length,
                              Fabric::kRead | Fabric::kWritten | Fabric::kPut | Fabric::kSource, memory.serial);
  if (region != nullptr) lasting_[memory.serial] = region;
  return region;
}

/// A region that operations under way have, or nullptr.
Region* Registrations::shared(std::uint64_t begin, std::uint64_t bytes, unsigned uses) {
  if (!fabric_.keeps()) return nullptr;
  const auto [first, last] = own_.equal_range(begin);
  for (auto entry = first; entry != last; ++entry) {
    Region& region = *entry->second;
    if (region.bytes < bytes || (region.uses & uses) != uses) continue;
    counters_.registered_again.add();
    return &region;
  }
  return nullptr;
}

/// What is idle gives way to it.
Region* Registrations::make(std::uint64_t begin, std::uint64_t bytes, unsigned uses, std::uint64_t serial) {
  auto* const region = new (std::nothrow) Region;
  if (region == nullptr) return nullptr;
  while (!fabric_.enlist(at(begin), bytes, uses, &region->known))
    if (!drop_idle(idle_bytes_ / 2, idle_count_ / 2)) {
      delete region;
      return nullptr;
    }
  region->begin = begin;
  region->bytes = bytes;
  region->uses = uses;
  region->serial = serial;
  counters_.regions.raise();
  counters_.registered.raise(bytes);
  counters_.registrations.add();
  return region;
}

void Registrations::give_back(Region& region, std::uint64_t bytes) {
  --region.users;
  if (region.bytes == bytes && --region.whole == 0 && region.serial == 0) {
    // Other operations may still use a part of it, but the rest may be freed from now on.
    const auto [first, last] = own_.equal_range(region.begin);
    for (auto entry = first; entry != last; ++entry) {
      if (entry->second != &region) continue;
      own_.erase(entry);
      break;
    }
  }
  if (region.users != 0) return;
  region.serial != 0 ? keep(region) : drop(region);
}

void Registrations::keep(Region& region) {
  idle_.push_back(&region);
  idle_bytes_ += region.bytes;
  ++idle_count_;
  (void)drop_idle(config_.registered_bytes, config_.registered_regions);
}

/// False: nothing was idle beyond that.
bool Registrations::drop_idle(std::uint64_t most_bytes, std::uint64_t most_regions) {
  bool any = false;
  while (!idle_.empty() && (idle_bytes_ > most_bytes || idle_count_ > most_regions)) {
    Region& region = *idle_.pop_front();
    idle_bytes_ -= region.bytes;
    --idle_count_;
    drop(region);
    any = true;
  }
  return any;
}

void Registrations::drop(Region& region) {
  if (region.serial != 0) lasting_.erase(region.serial);
  fabric_.delist(region.known);
  counters_.regions.lower();
  counters_.registered.lower(region.bytes);
  delete &region;
}

void Registrations::give_up_freed() {
  auto entry = lasting_.upper_bound(looked_at_);
  for (unsigned i = 0; i < kLookedAtOnce && entry != lasting_.end(); ++i) {
    Region& region = *entry->second;
    looked_at_ = region.serial;
    ++entry;
    ashlar_lasting now = {};
    if (region.users != 0 || (lasting(region.begin, region.bytes, &now) && now.serial == region.serial)) continue;
    List<Region>::remove(&region);
    idle_bytes_ -= region.bytes;
    --idle_count_;
    drop(region);
  }
  if (entry == lasting_.end()) looked_at_ = 0;
}

}  // namespace ashlar::network
