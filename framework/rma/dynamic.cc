// Dynamic windows: memory is attached and detached by its process alone.
#include <mpi.h>

#include <algorithm>

#include "framework/base/failure.h"
#include "framework/progress/lane.h"
#include "framework/rma/aim.h"
#include "framework/rma/api.h"
#include "framework/rma/component.h"

namespace ashlar::rma {
namespace {

Status check_dynamic(const RmaWindow& window) {
  if (window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC) return {};
  return fail(MPI_ERR_RMA_FLAVOR, "rma.not_dynamic", {{"window", window.label()}});
}

/// Tells the components what is attached now.
Status publish(RmaWindow& window) {
  for (const Component* component : window.components)
    if (component->attached != nullptr) ASHLAR_TRY(component->attached(window));
  return {};
}

constexpr auto kAddress = [](const Region& region) { return region.address; };

}  // namespace

Status win_attach(Window& win, void* base, MPI_Aint size) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_dynamic(window));
  const Region added{.address = reinterpret_cast<std::uintptr_t>(base), .size = static_cast<std::uint64_t>(size)};
  const LaneGuard guard(window.lane().lock);
  const auto next = std::ranges::lower_bound(*window.regions, added.address, {}, kAddress);
  const bool overlaps_next =
      next != window.regions->end() && next->address < added.address + std::max<std::uint64_t>(added.size, 1);
  const bool overlaps_last = next != window.regions->begin() && (next - 1)->address + (next - 1)->size > added.address;
  if (overlaps_next || overlaps_last)
    return fail(
        MPI_ERR_RMA_ATTACH, "rma.attached_already",
        {{"argument", "base"}, {"value", static_cast<const void*>(base)}, {"bytes", size}, {"window", window.label()}});
  const auto at = window.regions->insert(next, added);
  const Status told = publish(window);
  if (!told.ok()) window.regions->erase(at);
  return told;
}

Status win_detach(Window& win, const void* base) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_dynamic(window));
  const LaneGuard guard(window.lane().lock);
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(base));
  const auto found = std::ranges::lower_bound(*window.regions, address, {}, kAddress);
  if (found == window.regions->end() || found->address != address)
    return fail(MPI_ERR_RMA_ATTACH, "rma.not_attached",
                {{"argument", "base"}, {"value", base}, {"window", window.label()}});
  window.regions->erase(found);
  return publish(window);
}

}  // namespace ashlar::rma
