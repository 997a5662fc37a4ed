// Questions about a datatype: sizes, bounds, names, how it was made.
#include <algorithm>
#include <cstring>

#include "framework/base/failure.h"
#include "framework/datatype/api.h"
#include "framework/datatype/contents.h"
#include "framework/datatype/guarded.h"
#include "framework/object/handle.h"
#include "framework/object/name.h"

namespace ashlar::datatype {
namespace {

using What = Contents::What;

Status predefined_has_no_contents(const Datatype& type) {
  return fail(MPI_ERR_TYPE, "type.no_contents", {{"argument", "datatype"}, {"value", type.described()}});
}

Status too_small(const char* what, MPI_Count room, std::size_t needed) {
  return fail(MPI_ERR_ARG, "type.contents_room", {{"room", room}, {"what", what}, {"needed", needed}});
}

Status hand_out(const Contents& c, MPI_Datatype* types) {
  for (std::size_t i = 0; i < c.types.size(); ++i) {
    Builder::give_handle(*c.types[i]);
    types[i] = to_handle<MPI_Datatype>(c.types[i].get());
  }
  return {};
}

// Calls `use(what, number)` for every number in the order of the constructor's arguments.
template <class Use>
void each_number(const Contents& c, Use&& use) {
  std::size_t at = 0;
  for (const Contents::Segment& s : c.segments)
    for (std::size_t i = 0; i < s.numbers; ++i) use(s.what, c.numbers[at++]);
}

Status needs_large(const Datatype& type) {
  return fail(MPI_ERR_TYPE, "type.large_contents", {{"argument", "datatype"}, {"value", type.described()}});
}

}  // namespace

Status type_size(Datatype& type, MPI_Count* size) {
  *size = type.size();
  return {};
}

Status get_extent(Datatype& type, MPI_Count* lb, MPI_Count* extent) {
  *lb = type.lb();
  *extent = type.extent();
  return {};
}

// The questions of MPI-1, one number each.
Status get_extent(Datatype& type, MPI_Count* extent) {
  *extent = type.extent();
  return {};
}

Status get_lb(Datatype& type, MPI_Count* lb) {
  *lb = type.lb();
  return {};
}

Status get_ub(Datatype& type, MPI_Count* ub) {
  *ub = type.ub();
  return {};
}

Status get_true_extent(Datatype& type, MPI_Count* true_lb, MPI_Count* true_extent) {
  *true_lb = type.true_lb();
  *true_extent = type.true_extent();
  return {};
}

Status set_name(Datatype& type, const char* name) {
  return guarded([&] {
    Cold& cold = Builder::cold_of(type);
    assign_name(cold.name, name);
    // A predefined datatype goes back to being a row of the table.
    if (cold.name.empty() && type.predefined != 0 && cold.attributes.entries.empty()) Builder::take_cold(type);
    return Status{};
  });
}

Status get_name(Datatype* type, char* name, int* length) {
  copy_name(type != nullptr ? type->name() : "MPI_DATATYPE_NULL", name, length);
  return {};
}

Status get_envelope(Datatype& type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* large_counts,
                    MPI_Count* types, int* combiner) {
  *integers = *addresses = *large_counts = *types = 0;
  *combiner = MPI_COMBINER_NAMED;
  const Contents* c = Builder::contents(type);
  if (!c || type.predefined != 0) return {};
  *combiner = c->combiner;
  *types = static_cast<MPI_Count>(c->types.size());
  const auto of = [&](What what) { return static_cast<MPI_Count>(c->count_of(what)); };
  if (c->large) {
    *integers = of(What::kInt);
    *large_counts = of(What::kCount) + of(What::kAddress);
  } else {
    *integers = of(What::kInt) + of(What::kCount);
    *addresses = of(What::kAddress);
  }
  return {};
}

Status get_envelope(Datatype& type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* types, int* combiner) {
  MPI_Count large_counts;
  ASHLAR_TRY(get_envelope(type, integers, addresses, &large_counts, types, combiner));
  return large_counts > 0 ? needs_large(type) : Status{};
}

Status get_contents(Datatype& type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts,
                    MPI_Count max_types, int* integers, MPI_Aint* addresses, MPI_Count* large_counts,
                    MPI_Datatype* types) {
  const Contents* c = Builder::contents(type);
  if (!c || type.predefined != 0) return predefined_has_no_contents(type);
  const std::size_t ints = c->count_of(What::kInt), counts = c->count_of(What::kCount),
                    places = c->count_of(What::kAddress);
  const auto fits = [](std::size_t n, MPI_Count room) { return static_cast<MPI_Count>(n) <= room; };
  if (const std::size_t n = ints + (c->large ? 0 : counts); !fits(n, max_integers))
    return too_small("integers", max_integers, n);
  if (!c->large && !fits(places, max_addresses)) return too_small("addresses", max_addresses, places);
  if (c->large && !fits(counts + places, max_large_counts))
    return too_small("large counts", max_large_counts, counts + places);
  if (!fits(c->types.size(), max_types)) return too_small("datatypes", max_types, c->types.size());
  each_number(*c, [&](What what, MPI_Count number) {
    if (what == What::kInt || (what == What::kCount && !c->large)) {
      *integers++ = static_cast<int>(number);
    } else if (c->large) {
      *large_counts++ = number;
    } else {
      *addresses++ = number;
    }
  });
  return hand_out(*c, types);
}

Status get_contents(Datatype& type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_types, int* integers,
                    MPI_Aint* addresses, MPI_Datatype* types) {
  const Contents* c = Builder::contents(type);
  if (c && c->large) return needs_large(type);
  return get_contents(type, max_integers, max_addresses, 0, max_types, integers, addresses, nullptr, types);
}

Status get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return {};
}

// Addresses wrap as pointers do.
MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(displacement));
}
MPI_Aint aint_diff(MPI_Aint a, MPI_Aint b) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(a) - static_cast<std::uintptr_t>(b));
}

}  // namespace ashlar::datatype
