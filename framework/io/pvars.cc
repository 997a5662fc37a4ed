#include "framework/io/pvars.h"

#include "framework/io/engine.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::io {
namespace {

template <auto pool>
void read(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = (static_cast<const Engine*>(block)->*pool).out_level().get();
}

template <Count Counts::*of>
void sum(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = const_cast<Engine*>(static_cast<const Engine*>(block))->total(of);
}

void read_mapped(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = static_cast<const Engine*>(block)->mapped_bytes.get();
}

constexpr ashlar_pvar_row kRows[] = {
    plugin::computed_pvar("files", "files that are open", ASHLAR_PVAR_LEVEL, read<&Engine::files>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("requests", "requests of file accesses that are in use", ASHLAR_PVAR_LEVEL,
                          read<&Engine::requests>),
    plugin::computed_pvar("collective_requests", "requests of nonblocking collective file accesses that are in use",
                          ASHLAR_PVAR_LEVEL, read<&Engine::collectives>),
    plugin::computed_pvar("bytes_read", "bytes that accesses have read, each process its own", ASHLAR_PVAR_COUNTER,
                          sum<&Counts::read>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("bytes_written", "bytes that accesses have written, each process its own",
                          ASHLAR_PVAR_COUNTER, sum<&Counts::written>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("pieces",
                          "contiguous pieces that were handed to components; neighbours go in one system call",
                          ASHLAR_PVAR_COUNTER, sum<&Counts::system_calls>),
    plugin::computed_pvar("sieved", "windows of a file that were read, changed and written back", ASHLAR_PVAR_COUNTER,
                          sum<&Counts::sieved>),
    plugin::computed_pvar("collectives", "collective accesses", ASHLAR_PVAR_COUNTER, sum<&Counts::together>,
                          ASHLAR_USER_BASIC),
    plugin::computed_pvar("combined", "those in which processes combined their data (two_phase)", ASHLAR_PVAR_COUNTER,
                          sum<&Counts::combined>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("windows", "windows of these that this process moved for all", ASHLAR_PVAR_COUNTER,
                          sum<&Counts::windows>),
    plugin::computed_pvar("mapped", "accesses of one process that went through a mapping of the file",
                          ASHLAR_PVAR_COUNTER, sum<&Counts::mapped>),
    plugin::computed_pvar("mapped_bytes", "bytes of files that are mapped", ASHLAR_PVAR_LEVEL, read_mapped),
    plugin::computed_pvar("asynchronous", "transfers that a thread of the library made", ASHLAR_PVAR_COUNTER,
                          sum<&Counts::asynchronous>),
};

}  // namespace

const std::span<const ashlar_pvar_row> pool_rows = kRows;

}  // namespace ashlar::io
