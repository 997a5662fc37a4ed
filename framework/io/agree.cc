#include "framework/io/agree.h"

#include <mpi.h>

#include <array>
#include <cstddef>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"
#include "framework/io/carried.h"
#include "framework/object/comm.h"

namespace ashlar::io {
namespace {

constexpr std::size_t kMost = 16;

Status differs(const Same& one, std::int64_t least, std::int64_t most, const char* path) {
  if (one.text != nullptr)
    return fail(MPI_ERR_NOT_SAME, "io.not_same_text",
                {{"argument", one.argument}, {"value", one.text}, {"path", path}});
  return fail(MPI_ERR_NOT_SAME, "io.not_same",
              {{"argument", one.argument}, {"value", one.value}, {"least", least}, {"most", most}, {"path", path}});
}

}  // namespace

// One reduction with MPI_MAX: of the failure, the lowest rank's because it is counted from the end, with its class; of
// each value itself and its complement, which is its least. (The negative of the least number would be none.)
Status agree(Comm& comm, const char* path, Status own, std::span<const Same> same) {
  if (comm.size == 1) return own;
  std::array<std::int64_t, 1 + 2 *kMost> mine = {}, most = {};
  if (!own.ok()) mine[0] = std::int64_t{comm.size - comm.rank} << 32 | own.mpi_class();
  std::size_t used = 1;
  for (const Same& one : same) {
    mine[used++] = one.value;
    mine[used++] = ~one.value;
  }
  const Status met = coll::allreduce(mine.data(), most.data(), static_cast<MPI_Count>(used),
                                     datatype::predefined(MPI_INT64_T), datatype::predefined_op(MPI_MAX), comm);
  if (!met.ok()) return own.ok() ? met : own;
  const int lowest = static_cast<int>(most[0] & 0xffff'ffff);
  if (!own.ok()) return with_class(own, lowest);
  if (most[0] != 0)
    return fail(lowest, "io.elsewhere", {{"peer", comm.size - static_cast<int>(most[0] >> 32)}, {"path", path}});
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (most[1 + 2 * i] == ~most[2 + 2 * i]) continue;
    return differs(same[i], ~most[2 + 2 * i], most[1 + 2 * i], path);
  }
  return {};
}

}  // namespace ashlar::io
