// The constructors of windows.
#include "framework/rma/create.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "framework/base/failure.h"
#include "framework/comm/context.h"
#include "framework/comm/engine.h"
#include "framework/comm/hints.h"
#include "framework/comm/make.h"
#include "framework/comm/outside.h"
#include "framework/memory/heap.h"
#include "framework/plugin/records.h"
#include "framework/progress/user_call.h"
#include "framework/rma/api.h"
#include "framework/rma/cards.h"
#include "framework/rma/check.h"
#include "framework/rma/component.h"
#include "framework/rma/engine.h"
#include "framework/rma/hints.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

constexpr std::uint64_t kPage = 4096;

/// Of this process's own arguments.
Status check(const Wanted& wanted) {
  if (wanted.size < 0)
    return fail(MPI_ERR_SIZE, "argument.value",
                {{"argument", "size"}, {"value", wanted.size}, {"wanted", "0 or more"}});
  if (wanted.flavor == MPI_WIN_FLAVOR_CREATE && wanted.base == nullptr && wanted.size > 0)
    return fail(MPI_ERR_BUFFER, "rma.no_base", {{"argument", "base"}, {"bytes", wanted.size}});
  if (wanted.disp_unit <= 0)
    return fail(MPI_ERR_DISP, "argument.value",
                {{"argument", "disp_unit"}, {"value", wanted.disp_unit}, {"wanted", "1 or more"}});
  return {};
}

/// The window's object with a communicator of its own, so that it outlives the user's.
Status begin(Comm& comm, const Wanted& wanted, RmaWindow** out) {
  Engine& engine = Engine::current();
  std::span<const Component* const> components;
  const Status loaded = engine.components(&components);
  std::uint32_t context = 0;
  ASHLAR_TRY(comm::take_id(comm, &context));
  Comm* own = nullptr;
  ASHLAR_TRY(loaded);
  ASHLAR_TRY(comm::make(comm.local_group, context, errors_return(), &comm, &own));
  RmaWindow* const window = engine.windows.take();
  if (window == nullptr) {
    release(own);
    return object::none_left("another window", engine.windows.out_level());
  }
  window->owned = Ref<Comm>::adopt(own);
  window->comm = own;
  window->group = comm.local_group;
  window->me = comm.rank;
  window->ranks = comm.size;
  window->base = wanted.base;
  window->size = wanted.size;
  window->disp_unit = wanted.disp_unit <= INT_MAX ? static_cast<int>(wanted.disp_unit) : 0;
  window->create_flavor = wanted.flavor;
  if (wanted.flavor == MPI_WIN_FLAVOR_DYNAMIC) window->regions = std::make_unique<std::vector<Region>>();
  window->components = components;
  engine.add(*window);
  *out = window;
  return window->targets.prepare(window->ranks);
}

/// Of shared memory: what every process asks for. `*begins`: where each part begins in memory that is contiguous by
/// rank, which it is unless every process does without; `*all`: how long that is.
Status agree_on_parts(Comm& comm, const Part& own, RmaWindow* window, std::vector<std::uint64_t>* begins,
                      std::uint64_t* all) {
  std::vector<Part> parts;
  ASHLAR_TRY(exchange_parts(comm, own, &parts));
  bool noncontiguous = true;
  for (const Part& part : parts) {
    if (part.failed != 0) return {};  // the cards will say so
    noncontiguous = noncontiguous && part.noncontiguous != 0;
    begins->push_back(*all);
    if (__builtin_add_overflow(*all, part.size, all) || *all > std::numeric_limits<std::int64_t>::max())
      return fail(MPI_ERR_SIZE, "rma.too_large", {{"argument", "size"}, {"ranks", comm.size}});
  }
  window->hints.noncontiguous = noncontiguous;
  if (noncontiguous) begins->clear();
  return {};
}

/// This process's part of a window that brings its memory. Contiguous shared memory belongs to rank 0.
Status allocate(Comm& comm, RmaWindow& window, bool contiguous, std::uint64_t all) {
  const bool shared = window.create_flavor == MPI_WIN_FLAVOR_SHARED;
  if (contiguous)
    return comm.rank == 0 ? take_memory(window, all, window.hints.alignment, true, &window.base) : Status();
  const std::uint64_t least = shared ? kPage : 1;
  const std::uint64_t alignment = std::max<std::uint64_t>(window.hints.alignment, least);
  return take_memory(window, static_cast<std::uint64_t>(window.size), alignment, shared, &window.base);
}

/// Fills this process's card.
Status describe(RmaWindow& window, const Wanted& wanted, Card* card) {
  card->address = reinterpret_cast<std::uintptr_t>(window.base);
  card->size = static_cast<std::uint64_t>(window.size);
  card->disp_unit = wanted.disp_unit;
  card->hints = bits_of(window.hints);
  card->granularity = window.hints.granularity;
  ASHLAR_TRY(WindowWire::listen(window));
  for (const Component* component : window.components)
    if (component->prepare != nullptr) ASHLAR_TRY(component->prepare(window, *card));
  const memory::Heap& heap = memory::Heap::own();
  card->heap = heap.handle();
  if (window.size == 0 || heap.contains(window.base, static_cast<std::size_t>(window.size)))
    card->flags |= Card::kInHeap;
  return {};
}

/// The areas of all processes: in a component's block that all map, or in this process's memory.
Status keep_areas(RmaWindow& window, std::span<const Card> cards) {
  if (window.areas != nullptr) return {};
  auto* const areas = new (std::nothrow) Area[cards.size()];
  if (areas == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.ranks", {{"what", "the areas of a window"}, {"ranks", window.ranks}});
  std::ranges::transform(cards, areas, area_of);
  window.areas = areas;
  window.own_areas = true;
  return {};
}

void drop_areas(RmaWindow& window) {
  if (window.own_areas) delete[] window.areas;
  window.areas = nullptr;
  window.own_areas = false;
}

/// This process's part in the Sync of a component.
Status join(const Component& component, RmaWindow& window, std::span<const Card> cards) {
  ASHLAR_TRY(component.joins(window, cards));
  ASHLAR_TRY(component.make_sync(window, cards, &window.sync));
  return keep_areas(window, cards);
}

/// The first component whose way of waiting every process can use.
Status choose_sync(Comm& comm, RmaWindow& window, std::span<const Card> cards) {
  std::string lost;
  for (const Component* component : window.components) {
    if (component->joins == nullptr) continue;
    const Status joined = join(*component, window, cards);
    bool all = false;
    ASHLAR_TRY(all_agree(comm, joined.ok(), &all));
    if (!all) {
      lost += (lost.empty() ? "" : "; ") + std::string(component->name) + ": " +
              (joined.ok() ? "another process cannot use it" : joined.text());
      window.sync = nullptr;
      drop_areas(window);
      continue;
    }
    Engine::current().record({.topic = "rma",
                              .subject = std::string("synchronization of windows such as '") + window.label() + "'",
                              .chosen = component->name,
                              .because = "the first component that every process of the window can use",
                              .lost = lost,
                              .setting = "rma"});
    return {};
  }
  return fail(MPI_ERR_OTHER, "rma.no_sync", {{"lower", lost}});
}

/// All parts of shared memory have to be mapped, whatever component serves the window.
Status map_all(Comm& comm, RmaWindow& window) {
  Status own;
  std::byte* own_part = nullptr;
  for (Rank rank = 0; own.ok() && rank < window.ranks; ++rank) {
    std::byte* part = nullptr;
    const Status mapped = map_part(window, rank, &part);
    if (!mapped.ok())
      own = fail(MPI_ERR_RMA_SHARED, "rma.not_shared",
                 {{"peer", rank}, {"communicator", comm.name}, {"lower", mapped.text()}});
    if (rank == window.me) own_part = part;
  }
  window.base = own_part;
  bool all = false;
  ASHLAR_TRY(all_agree(comm, own.ok(), &all));
  ASHLAR_TRY(own);
  return all ? Status() : fail(MPI_ERR_RMA_SHARED, "rma.not_shared_elsewhere", {{"communicator", comm.name}});
}

/// Contiguous shared memory lies in rank 0's heap: its card says where, and the others follow from the sizes.
void place_parts(std::span<Card> cards, const std::vector<std::uint64_t>& begins) {
  for (std::size_t rank = 1; rank < begins.size(); ++rank) {
    cards[rank].flags = Card::kInFirstHeap;
    cards[rank].address = cards[0].address + begins[rank];
  }
}

/// With check.rma: operations are logged from now on.
Status start_checks(RmaWindow& window) {
  window.check.reset(new (std::nothrow) Check(window));
  if (window.check == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the checks of a window"}});
  return window.check->make();
}

Status finish(Comm& comm, RmaWindow& window, std::span<Card> cards, const std::vector<std::uint64_t>& begins) {
  agree_on(cards, &window.hints);
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    const PeerId peer = (*window.group)[static_cast<Rank>(rank)];
    Engine::current().neighbours.learn(peer, comm::Engine::current().services.node_of(peer), cards[rank]);
  }
  place_parts(cards, begins);
  ASHLAR_TRY(choose_sync(comm, window, cards));
  if (window.create_flavor == MPI_WIN_FLAVOR_SHARED) ASHLAR_TRY(map_all(comm, window));
  for (const Component* component : window.components)
    if (component->share != nullptr) ASHLAR_TRY(component->share(window, comm, cards));
  const LaneGuard guard(window.lane().lock);
  window.made = true;
  if (window.wire != nullptr) window.wire->start();
  return {};
}

/// Why the heap was not taken, for --explain.
void record_private(std::uint64_t bytes, const char* because) {
  Engine::current().record_each({.topic = "memory",
                                 .subject = "a window's part of " + std::to_string(bytes) + " bytes",
                                 .chosen = "memory of this process alone",
                                 .because = because,
                                 .lost = "the heap, which other processes of the node can map",
                                 .setting = "memory.heap_reserve, memory.heap_limit"});
}

}  // namespace

Status take_memory(RmaWindow& window, std::uint64_t bytes, std::uint64_t alignment, bool heap_only, void** out) {
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  if (wanted >= kPage) alignment = std::max(alignment, kPage);  // long copies are faster from page to page
  const Status taken = memory::Heap::own().allocate(wanted, alignment, false, out);
  if (taken.ok()) {
    window.memory = *out;
    return {};
  }
  if (heap_only) return taken;
  if (posix_memalign(out, alignment, wanted) != 0)
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a window"}, {"bytes_wanted", bytes}});
  window.memory = *out;
  window.private_memory = true;
  record_private(bytes, taken.text());
  return {};
}

void unmake(RmaWindow* window) {
  window->check.reset();
  WindowWire::unlisten(*window);
  for (std::size_t i = 0; i < window->components.size(); ++i) window->components[i]->close(*window);
  window->sync = nullptr;
  drop_areas(*window);
  if (window->private_memory)
    std::free(window->memory);
  else if (window->memory != nullptr)
    memory::Heap::own().free(window->memory);
  Engine::current().remove(*window);
  Engine::current().windows.put(window);
}

// Every process takes part in every exchange, whatever has failed in it: others wait for it.
Status make(Comm& comm, const Wanted& wanted, RmaWindow** out) {
  if (comm.inter) return fail(MPI_ERR_COMM, "comm.inter", {{"argument", "comm"}, {"value", comm.name}});
  const progress::UserCall call(wanted.call, &comm);
  RmaWindow* window = nullptr;
  Status own = begin(comm, wanted, &window);
  if (own.ok()) own = check(wanted);
  if (own.ok()) own = read_hints(wanted.info, &window->hints);
  if (own.ok() && wanted.info != nullptr) comm::promise_memory_kinds(*window->comm, *wanted.info);
  std::vector<std::uint64_t> begins;
  std::uint64_t all = 0;
  if (wanted.flavor == MPI_WIN_FLAVOR_SHARED) {
    const Part part{.size = own.ok() ? static_cast<std::uint64_t>(wanted.size) : 0,
                    .failed = own.mpi_class(),
                    .noncontiguous = own.ok() && window->hints.noncontiguous ? 1u : 0u};
    const Status agreed = agree_on_parts(comm, part, window, &begins, &all);
    if (own.ok()) own = agreed;
  }
  const bool brings_memory = wanted.flavor == MPI_WIN_FLAVOR_ALLOCATE || wanted.flavor == MPI_WIN_FLAVOR_SHARED;
  if (own.ok() && brings_memory) own = allocate(comm, *window, !begins.empty(), all);
  Card card;
  if (own.ok()) own = describe(*window, wanted, &card);
  card.failed = own.mpi_class();
  card.node = comm::own_node_in(comm);
  std::vector<Card> cards;
  if (const Status met = exchange(comm, card, &cards); own.ok()) own = met;
  if (own.ok()) own = failed_elsewhere(comm, cards);
  const bool checks = wanted.checked && Engine::current().config.get().check;
  if (own.ok() && checks) own = compare_hints(*window, cards);
  if (own.ok()) own = finish(comm, *window, cards, begins);
  if (own.ok() && checks) own = start_checks(*window);
  if (!own.ok()) {
    if (window != nullptr) unmake(window);
    return own;
  }
  *out = window;
  return {};
}

namespace {

Status give_out(Comm& comm, const Wanted& wanted, void* baseptr, Window** win) {
  RmaWindow* window = nullptr;
  ASHLAR_TRY(make(comm, wanted, &window));
  if (baseptr != nullptr) std::memcpy(baseptr, &window->base, sizeof window->base);
  *win = window;
  return {};
}

}  // namespace

Status win_create(void* base, MPI_Aint size, MPI_Aint disp_unit, Info* info, Comm& comm, Window** win) {
  return give_out(comm,
                  {.call = "MPI_Win_create",
                   .flavor = MPI_WIN_FLAVOR_CREATE,
                   .base = base,
                   .size = size,
                   .disp_unit = disp_unit,
                   .info = info},
                  nullptr, win);
}

Status win_allocate(MPI_Aint size, MPI_Aint disp_unit, Info* info, Comm& comm, void* baseptr, Window** win) {
  return give_out(comm,
                  {.call = "MPI_Win_allocate",
                   .flavor = MPI_WIN_FLAVOR_ALLOCATE,
                   .base = nullptr,
                   .size = size,
                   .disp_unit = disp_unit,
                   .info = info},
                  baseptr, win);
}

Status win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, Info* info, Comm& comm, void* baseptr, Window** win) {
  return give_out(comm,
                  {.call = "MPI_Win_allocate_shared",
                   .flavor = MPI_WIN_FLAVOR_SHARED,
                   .base = nullptr,
                   .size = size,
                   .disp_unit = disp_unit,
                   .info = info},
                  baseptr, win);
}

Status win_create_dynamic(Info* info, Comm& comm, Window** win) {
  return give_out(comm,
                  {.call = "MPI_Win_create_dynamic",
                   .flavor = MPI_WIN_FLAVOR_DYNAMIC,
                   .base = MPI_BOTTOM,
                   .size = 0,
                   .disp_unit = 1,
                   .info = info},
                  nullptr, win);
}

}  // namespace ashlar::rma
