#include "framework/io/pvars.h"

#include "framework/io/engine.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::io {
namespace {

template <auto pool>
void read(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = (static_cast<const Engine*>(block)->*pool).out_level().get();
}

constexpr ashlar_pvar_row kRows[] = {
    plugin::computed_pvar("files", "files that are open", ASHLAR_PVAR_LEVEL, read<&Engine::files>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("requests", "requests of file accesses that are in use", ASHLAR_PVAR_LEVEL,
                          read<&Engine::requests>),
};

}  // namespace

const std::span<const ashlar_pvar_row> pool_rows = kRows;

}  // namespace ashlar::io
