#include "framework/comm/inter_exchange.h"

#include <mpi.h>

#include <algorithm>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/comm/channel.h"
#include "framework/comm/words.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"

namespace ashlar::comm {
namespace {

Status local_max(Comm& comm, std::int64_t* values, int count) {
  if (comm.size == 1) return {};
  return coll::allreduce(MPI_IN_PLACE, values, count, *resolve(MPI_INT64_T), *resolve(MPI_MAX), comm);
}

}  // namespace

Status broadcast_words(Comm& comm, Rank root, std::int64_t* words, std::size_t count) {
  if (comm.size == 1) return {};
  return coll::bcast(words, static_cast<MPI_Count>(count), *resolve(MPI_INT64_T), root, comm);
}

Status gather_words(Comm& comm, const std::int64_t* mine, int each, std::vector<std::int64_t>* all) {
  all->resize(static_cast<std::size_t>(comm.size) * static_cast<std::size_t>(each));
  std::copy(mine, mine + each, all->begin() + static_cast<std::ptrdiff_t>(comm.rank) * each);
  if (comm.size == 1) return {};
  Datatype& word = *resolve(MPI_INT64_T);
  return coll::allgather(MPI_IN_PLACE, 0, word, all->data(), each, word, comm);
}

bool Span::leads() const { return local.rank == leader; }

Status Span::trade(const std::vector<std::int64_t>& mine, std::vector<std::int64_t>* theirs) const {
  // A leader that fails still tells its group, which would wait for ever otherwise.
  std::int64_t head[2] = {static_cast<std::int64_t>(mine.size()), MPI_SUCCESS};
  Status talked;
  if (leads() && channel != nullptr) {
    talked = channel->trade(*local.lane, mine, theirs);
    head[0] = static_cast<std::int64_t>(theirs->size());
    head[1] = talked.mpi_class();
  } else if (leads()) {
    Words words(*bridge, tag);
    const std::int64_t my_size = head[0];
    talked = words.trade(remote_leader, &my_size, 1, head, 1);
    if (talked.ok()) {
      theirs->resize(static_cast<std::size_t>(head[0]));
      talked =
          words.trade(remote_leader, mine.data(), static_cast<int>(my_size), theirs->data(), static_cast<int>(head[0]));
    }
    head[1] = talked.mpi_class();
  }
  ASHLAR_TRY(broadcast_words(local, leader, head, 2));
  ASHLAR_TRY(talked);
  if (head[1] != MPI_SUCCESS) return fail(static_cast<int>(head[1]), "comm.leader_cut_off", {{"rank", leader}});
  theirs->resize(static_cast<std::size_t>(head[0]));
  return broadcast_words(local, leader, theirs->data(), theirs->size());
}

Status Span::max(std::int64_t* values, int count) const {
  ASHLAR_TRY(local_max(local, values, count));
  std::vector<std::int64_t> theirs;
  ASHLAR_TRY(trade(std::vector<std::int64_t>(values, values + count), &theirs));
  for (int i = 0; i < count; ++i) values[i] = std::max(values[i], theirs[static_cast<std::size_t>(i)]);
  return {};
}

Span span_of(Comm& inter) { return {*inter.local_comm, 0, &inter, 0, 0}; }

Status max_over_all(Comm& comm, std::int64_t* values, int count) {
  return comm.inter ? span_of(comm).max(values, count) : local_max(comm, values, count);
}

}  // namespace ashlar::comm
