#include "framework/object/pvars.h"

#include "framework/object/limit.h"

namespace ashlar::object {
namespace {

template <auto value>
void read(const ashlar_pvar_row*, const void*, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = value();
}

constexpr ashlar_pvar_row kRows[] = {
    plugin::computed_pvar("groups", "groups that exist, those of communicators included", ASHLAR_PVAR_LEVEL,
                          read<[] { return groups_alive().get(); }>),
    plugin::computed_pvar("infos", "info objects that exist", ASHLAR_PVAR_LEVEL,
                          read<[] { return infos_alive().get(); }>),
    plugin::computed_pvar("errhandlers", "error handlers that exist and are not predefined", ASHLAR_PVAR_LEVEL,
                          read<[] { return errhandlers_alive().get(); }>),
    plugin::computed_pvar("limit", "the most objects of each kind (object.limit)", ASHLAR_PVAR_SIZE,
                          read<[] { return std::uint64_t{limit.load(std::memory_order_relaxed)}; }>),
};

}  // namespace

const std::span<const ashlar_pvar_row> alive_rows = kRows;

}  // namespace ashlar::object
