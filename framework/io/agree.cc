#include "framework/io/agree.h"

#include <mpi.h>

#include <cstddef>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"
#include "framework/io/carried.h"
#include "framework/io/file.h"
#include "framework/object/comm.h"

namespace ashlar::io {
namespace {

Status differs(const Same& one, std::int64_t least, std::int64_t most, const char* path) {
  if (one.text != nullptr)
    return fail(MPI_ERR_NOT_SAME, "io.not_same_text",
                {{"argument", one.argument}, {"value", one.text}, {"path", path}});
  return fail(MPI_ERR_NOT_SAME, "io.not_same",
              {{"argument", one.argument}, {"value", one.value}, {"least", least}, {"most", most}, {"path", path}});
}

// Of all the largest counts: of the failure, the lowest rank's because it is counted from the end, with its class; of
// each value itself and its complement, which is its least. (The negative of the least number would be none.)
AgreedValues values_of(const Comm& comm, Status own, std::span<const Same> same) {
  AgreedValues mine;
  if (!own.ok()) mine.values[0] = std::int64_t{comm.size - comm.rank} << 32 | own.mpi_class();
  mine.used = 1;
  for (const Same& one : same) {
    mine.values[mine.used++] = one.value;
    mine.values[mine.used++] = ~one.value;
  }
  return mine;
}

Status outcome_of(const Comm& comm, const char* path, Status own, std::span<const Same> same,
                  const AgreedValues& most) {
  const std::int64_t failed = most.values[0];
  const int lowest = static_cast<int>(failed & 0xffff'ffff);
  if (!own.ok()) return with_class(own, lowest);
  if (failed != 0)
    return fail(lowest, "io.elsewhere", {{"peer", comm.size - static_cast<int>(failed >> 32)}, {"path", path}});
  for (std::size_t i = 0; i < same.size(); ++i) {
    const std::int64_t greatest = most.values[1 + 2 * i], least = ~most.values[2 + 2 * i];
    if (greatest != least) return differs(same[i], least, greatest, path);
  }
  return {};
}

}  // namespace

// All values there may be, and how many count: calls that differ meet here, too, and are told apart by that.
Status agree(Comm& comm, const char* path, Status own, std::span<const Same> same, std::int64_t* largest) {
  if (comm.size == 1) return own;
  AgreedValues mine = values_of(comm, own, same);
  if (largest != nullptr) mine.values[mine.used++] = *largest;
  const auto used = static_cast<std::int64_t>(mine.used);
  struct {
    AgreedValues::Values values;
    std::int64_t used, not_used;
  } const sent = {.values = mine.values, .used = used, .not_used = ~used};
  auto most = sent;
  Status met = coll::allreduce(&sent, &most, sizeof sent / sizeof(std::int64_t), datatype::predefined(MPI_INT64_T),
                               datatype::predefined_op(MPI_MAX), comm);
  if (met.ok() && most.used != ~most.not_used) met = fail(MPI_ERR_OTHER, "io.other_calls", {{"path", path}});
  if (!met.ok()) return own.ok() ? met : own;
  if (largest != nullptr) *largest = most.values[mine.used - 1];
  return outcome_of(comm, path, own, same, {.used = mine.used, .values = most.values});
}

Status agree(OpenFile& file, Status own, std::span<const Same> same, Stay stay) {
  Comm& comm = *file.comm;
  if (comm.size == 1) return own;
  Carried failure;  // the exchange may fail, too
  const AgreedValues mine = values_of(comm, own, same);
  AgreedValues most;
  if (!own.ok()) failure.take(own);
  const Status met = exchange(file, mine, stay, &most);
  if (!met.ok()) return failure.ok() ? met : failure.give();
  return outcome_of(comm, file.path.c_str(), failure.ok() ? Status() : failure.give(), same, most);
}

}  // namespace ashlar::io
