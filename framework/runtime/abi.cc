// What the standard ABI lets a Fortran layer leave with the library (MPI-5.0, 20.4).
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "framework/base/failure.h"
#include "framework/datatype/fortran_sizes.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/runtime/api.h"
#include "framework/runtime/life.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

constexpr int kWidest = 16;

/// It may be set and read before MPI_Init and after MPI_Finalize, so it is not part of Process.
struct FortranFacts {
  std::mutex mutex;  // guards the rest
  struct Booleans {
    int size = 0;  // 0: never set
    unsigned char yes[kWidest] = {}, no[kWidest] = {};
  } booleans;
  Info* info = nullptr;
};
constinit FortranFacts fortran;

Status check_size(int size) {
  if (size == 1 || size == 2 || size == 4 || size == 8 || size == 16) return {};
  return fail(MPI_ERR_ARG, "argument.value",
              {{"argument", "logical_size"}, {"value", size}, {"wanted", "1, 2, 4, 8 or 16"}});
}

// A LOGICAL of so many bytes as a number with a sign; of the widest kind, its low half.
std::int64_t logical_value(const void* bytes, int size) {
  std::int64_t value = 0;
  const int used = std::min<int>(size, sizeof value);
  std::memcpy(&value, bytes, static_cast<std::size_t>(used));  // least significant byte first
  const int unused = 64 - 8 * used;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

// Changes `bytes` to what the info says under `key`, if anything.
Status read_size(const Info& info, const char* key, int* bytes) {
  const std::string* text = info.find(key);
  if (!text) return {};
  char* end = nullptr;
  const long number = std::strtol(text->c_str(), &end, 10);
  if (text->empty() || *end != '\0' || number < 1 || number > kWidest)
    return fail(MPI_ERR_INFO_VALUE, "fortran.size", {{"key", key}, {"value", text->c_str()}});
  *bytes = static_cast<int>(number);
  return {};
}

// The sizes of default kinds in the info become those of MPI_INTEGER and its kin.
Status take_sizes(const Info& info) {
  datatype::FortranSizes sizes = datatype::fortran_sizes();
  ASHLAR_TRY(read_size(info, "mpi_logical_size", &sizes.logical));
  ASHLAR_TRY(read_size(info, "mpi_integer_size", &sizes.integer));
  ASHLAR_TRY(read_size(info, "mpi_real_size", &sizes.real));
  ASHLAR_TRY(read_size(info, "mpi_double_precision_size", &sizes.double_precision));
  if (sizes == datatype::fortran_sizes()) return {};
  if (!datatype::possible(sizes))
    return fail(MPI_ERR_ABI, "fortran.sizes",
                {{"integer", sizes.integer},
                 {"logical", sizes.logical},
                 {"real", sizes.real},
                 {"double", sizes.double_precision}});
  const std::lock_guard guard(life.mutex);
  if (life.world() != Life::World::kBefore || Process::current())
    return fail(MPI_ERR_ABI, "fortran.sizes_late",
                {{"integer", sizes.integer},
                 {"logical", sizes.logical},
                 {"real", sizes.real},
                 {"double", sizes.double_precision}});
  datatype::set_fortran_sizes(sizes);
  return {};
}

}  // namespace

Status abi_set_fortran_booleans(int size, void* yes, void* no) {
  ASHLAR_TRY(check_size(size));
  if (!yes || !no) return fail(MPI_ERR_ARG, "argument.null", {{"argument", yes ? "logical_false" : "logical_true"}});
  const std::lock_guard guard(fortran.mutex);
  const auto n = static_cast<std::size_t>(size);
  if (fortran.booleans.size != 0) return fail(MPI_ERR_ABI, "fortran.logicals_set");
  fortran.booleans.size = size;
  std::memcpy(fortran.booleans.yes, yes, n);
  std::memcpy(fortran.booleans.no, no, n);
  datatype::set_fortran_booleans(logical_value(yes, size), logical_value(no, size));
  return {};
}

Status abi_get_fortran_booleans(int size, void* yes, void* no, int* is_set) {
  ASHLAR_TRY(check_size(size));
  const std::lock_guard guard(fortran.mutex);
  *is_set = fortran.booleans.size != 0;
  if (fortran.booleans.size == 0) return {};
  if (size != fortran.booleans.size)
    return fail(MPI_ERR_ABI, "fortran.logical_size",
                {{"argument", "logical_size"}, {"value", size}, {"size", fortran.booleans.size}});
  std::memcpy(yes, fortran.booleans.yes, static_cast<std::size_t>(size));
  std::memcpy(no, fortran.booleans.no, static_cast<std::size_t>(size));
  return {};
}

Status abi_set_fortran_info(Info* info) {
  if (!info) return fail(MPI_ERR_INFO, "info.null", {{"argument", "info"}, {"value", "MPI_INFO_NULL"}});
  const std::lock_guard guard(fortran.mutex);
  if (fortran.info) return fail(MPI_ERR_ABI, "fortran.info_set");
  ASHLAR_TRY(take_sizes(*info));
  return info::dup(info, &fortran.info);
}

Status abi_get_fortran_info(Info** info) {
  const std::lock_guard guard(fortran.mutex);
  *info = nullptr;
  return fortran.info ? info::dup(fortran.info, info) : Status{};
}

}  // namespace ashlar::runtime
