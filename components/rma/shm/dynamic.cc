// Dynamic windows: the regions of each process stand in its heap, where others read them without it.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "components/rma/shm/delegate.h"
#include "components/rma/shm/far.h"
#include "components/rma/shm/state.h"
#include "framework/base/failure.h"
#include "framework/rma/aim.h"
#include "framework/rma/apply.h"

namespace ashlar::rma::shm {
namespace {

/// As a region lies in shared memory.
struct SharedRegion {
  std::atomic<std::uint64_t> address, size;
};

constexpr std::uint64_t kFirstRoom = 16;

/// The regions that `version` stands for. False: they have changed meanwhile.
bool read_regions(const RankLine& line, const memory::MappedHeap& heap, std::uint32_t version,
                  std::vector<Region>* out) {
  const std::uint64_t count = line.region_count.load(std::memory_order_relaxed);
  const std::uint64_t address = line.regions.load(std::memory_order_relaxed);
  const std::byte* const at = count == 0 ? nullptr : heap.find(address, count * sizeof(SharedRegion));
  if (count != 0 && at == nullptr) return false;
  out->resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto& region = reinterpret_cast<const SharedRegion*>(at)[i];
    (*out)[i] = {.address = region.address.load(std::memory_order_relaxed),
                 .size = region.size.load(std::memory_order_relaxed)};
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return line.version.load(std::memory_order_relaxed) == version;
}

/// The target's regions as they are now; read again only when they have changed.
Status regions_of(RmaWindow& window, const Target& target, const std::vector<Region>** out) {
  if (target.rank == window.me) {
    *out = window.regions.get();
    return {};
  }
  State& state = state_of(window);
  KnownRegions& known = state.dynamic->known[static_cast<std::size_t>(target.rank)];
  const RankLine& line = state.sync.control().rank(target.rank);
  const std::lock_guard guard(state.dynamic->reading);
  *out = &known.regions;
  for (;;) {
    const std::uint32_t version = line.version.load(std::memory_order_acquire);
    if (version == known.version) return {};
    if (version % 2 != 0) continue;
    const memory::MappedHeap* heap = nullptr;
    ASHLAR_TRY(memory::map_heap(owner_of(target).heap, &heap));
    if (read_regions(line, *heap, version, &known.regions)) known.version = version;
  }
}

/// The bytes that the items touch, as addresses.
void touched(const Place& place, std::uint64_t* low, std::uint64_t* high) {
  const auto extent = static_cast<std::int64_t>(place.type->extent());
  const std::int64_t first = place.offset + place.type->true_lb();
  const std::int64_t last_item = (place.count - 1) * extent;
  *low = static_cast<std::uint64_t>(extent < 0 ? first + last_item : first);
  *high = static_cast<std::uint64_t>((extent < 0 ? first : first + last_item) + place.type->true_extent());
}

/// Whether all of the items lie in one region, or in regions that follow each other without a gap.
bool lies_in(const std::vector<Region>& regions, std::uint64_t low, std::uint64_t high) {
  auto next = std::ranges::upper_bound(regions, low, {}, [](const Region& r) { return r.address; });
  if (next == regions.begin()) return false;
  for (--next; next != regions.end() && next->address <= low; ++next) {
    if (high <= next->address + next->size) return true;
    low = std::max(low, next->address + next->size);
  }
  return false;
}

/// What an operation finds at its target.
struct Found {
  std::byte* window = nullptr;  // a number: where address 0 of the target would lie here
  bool mapped = false;
  Guard guard;
  std::int32_t pid = 0;
};

Status find(RmaWindow& window, const Target& target, const Place& place, Found* found) {
  const std::vector<Region>* regions = nullptr;
  ASHLAR_TRY(regions_of(window, target, &regions));
  std::uint64_t low = 0, high = 0;
  touched(place, &low, &high);
  if (!lies_in(*regions, low, high))
    return fail(MPI_ERR_RMA_RANGE, "rma.not_attached_there",
                {{"peer", target.rank},
                 {"window", window.label()},
                 {"value", reinterpret_cast<const void*>(static_cast<std::uintptr_t>(low))},
                 {"bytes", high - low}});
  const Neighbour& owner = owner_of(target);
  found->pid = owner.pid;
  found->guard = window.sync->guard(target.rank);
  const memory::MappedHeap* heap = nullptr;
  std::byte* here = nullptr;
  if (memory::map_heap(owner.heap, &heap).ok()) here = heap->find(low, high - low);
  found->guard.kind = here != nullptr ? Guard::Kind::kElements : Guard::Kind::kLocked;
  found->mapped = here != nullptr || target.rank == window.me;
  if (here != nullptr) found->window = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(here) - low);
  return {};
}

Status failed(const RmaWindow& window, const Target& target, int error) {
  if (error == 0) return {};
  return fail(MPI_ERR_OTHER, "rma.not_copied",
              {{"peer", target.rank}, {"window", window.label()}, {"lower", std::strerror(error)}});
}

bool is_empty(const Place& place) { return place.count == 0 || place.type->size() == 0; }

Status put_attached(const Access& access) {
  if (is_empty(access.place)) return {};
  Found found;
  ASHLAR_TRY(find(access.window, access.target, access.place, &found));
  if (found.mapped) {
    put(found.window, access.origin, access.place);
    return {};
  }
  return failed(access.window, access.target,
                copy_far(Direction::kPut, found.pid, 0, access.origin, access.place, delegate_put(access)));
}

Status get_attached(const Access& access) {
  if (is_empty(access.place)) return {};
  Found found;
  ASHLAR_TRY(find(access.window, access.target, access.place, &found));
  if (found.mapped) {
    get(found.window, access.origin, access.place);
    return {};
  }
  return failed(access.window, access.target,
                copy_far(Direction::kGet, found.pid, 0, access.origin, access.place, delegate_get(access)));
}

Status update_attached(const Update& update) {
  Found found;
  ASHLAR_TRY(find(update.window, update.target, update.place, &found));
  if (found.mapped) return apply(found.guard, found.window, update);
  ProcessMemory memory(found.pid, 0);
  int error = 0;
  const Status done = apply_far(found.guard, memory, update, delegate_update(update), &error);
  return error == 0 ? done : failed(update.window, update.target, error);
}

/// Room for `count` regions in this process's heap. The old one stays until the window goes: others may be reading it.
Status make_room(Dynamic& own, std::uint64_t count) {
  if (count <= own.room) return {};
  const std::uint64_t room = std::max(kFirstRoom, 2 * count);
  void* made = nullptr;
  ASHLAR_TRY(memory::Heap::own().allocate(room * sizeof(SharedRegion), kCacheLine, true, &made));
  if (own.regions != nullptr) own.outgrown.push_back(own.regions);
  own.regions = made;
  own.room = room;
  return {};
}

}  // namespace

const Way attached = {
    .name = "attached", .put = put_attached, .get = get_attached, .update = update_attached, .flush = nullptr};

Status make_room_for_regions(Dynamic& dynamic) { return make_room(dynamic, 1); }

Status publish_regions(RmaWindow& window) {
  State& state = state_of(window);
  if (!state.sync.control()) return {};
  Dynamic& own = *state.dynamic;
  ASHLAR_TRY(make_room(own, window.regions->size()));
  RankLine& line = state.sync.control().rank(window.me);
  line.version.fetch_add(1, std::memory_order_acq_rel);
  auto* const to = static_cast<SharedRegion*>(own.regions);
  for (std::size_t i = 0; i < window.regions->size(); ++i) {
    to[i].address.store((*window.regions)[i].address, std::memory_order_relaxed);
    to[i].size.store((*window.regions)[i].size, std::memory_order_relaxed);
  }
  line.regions.store(reinterpret_cast<std::uintptr_t>(own.regions), std::memory_order_relaxed);
  line.region_count.store(window.regions->size(), std::memory_order_relaxed);
  line.version.fetch_add(1, std::memory_order_release);
  return {};
}

}  // namespace ashlar::rma::shm
