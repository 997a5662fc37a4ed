// What the standard ABI lets a Fortran layer leave with the library (MPI-5.0, 20.3).
#include <mpi.h>

#include <cstring>
#include <mutex>

#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/runtime/api.h"

namespace ashlar::runtime {
namespace {

constinit std::mutex mutex;
constexpr int kWidest = 16;

struct Booleans {
  int size = 0;  // 0: never set
  unsigned char yes[kWidest] = {}, no[kWidest] = {};
} booleans;
Info* fortran_info = nullptr;

Status check_size(int size) {
  if (size == 1 || size == 2 || size == 4 || size == 8 || size == 16) return {};
  return Status::fail(MPI_ERR_ARG, "argument logical_size is %d; it must be 1, 2, 4, 8 or 16", size);
}

}  // namespace

Status abi_set_fortran_booleans(int size, void* yes, void* no) {
  ASHLAR_TRY(check_size(size));
  if (!yes || !no)
    return Status::fail(MPI_ERR_ARG, "argument %s is a null pointer", yes ? "logical_false" : "logical_true");
  const std::lock_guard guard(mutex);
  const auto n = static_cast<std::size_t>(size);
  const bool same = booleans.size == size && !std::memcmp(booleans.yes, yes, n) && !std::memcmp(booleans.no, no, n);
  if (booleans.size != 0 && !same)
    return Status::fail(MPI_ERR_ABI, "the values of Fortran's logicals were set before, to others");
  booleans.size = size;
  std::memcpy(booleans.yes, yes, n);
  std::memcpy(booleans.no, no, n);
  return {};
}

Status abi_get_fortran_booleans(int size, void* yes, void* no, int* is_set) {
  ASHLAR_TRY(check_size(size));
  const std::lock_guard guard(mutex);
  *is_set = booleans.size != 0;
  if (booleans.size == 0) return {};
  if (size != booleans.size)
    return Status::fail(MPI_ERR_ABI, "argument logical_size is %d, but Fortran's logicals were set with %d bytes", size,
                        booleans.size);
  std::memcpy(yes, booleans.yes, static_cast<std::size_t>(size));
  std::memcpy(no, booleans.no, static_cast<std::size_t>(size));
  return {};
}

Status abi_set_fortran_info(Info* info) {
  if (!info) return Status::fail(MPI_ERR_INFO, "argument info is MPI_INFO_NULL, which describes nothing");
  const std::lock_guard guard(mutex);
  if (fortran_info) return Status::fail(MPI_ERR_ABI, "the description of Fortran was set before");
  return info::dup(info, &fortran_info);
}

Status abi_get_fortran_info(Info** info) {
  const std::lock_guard guard(mutex);
  *info = nullptr;
  return fortran_info ? info::dup(fortran_info, info) : Status{};
}

}  // namespace ashlar::runtime
