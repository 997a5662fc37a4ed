#pragma once
#include <mpi.h>

#include "framework/base/types.h"
#include "framework/coll/collective.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/reduce_op.h"
#include "framework/object/int_array.h"

namespace ashlar::coll {

/// One call of a collective, whichever: what the caller passed, with MPI_IN_PLACE resolved. Plain data; it borrows
/// buffers, types and arrays, which live until the operation is complete.
///
///                send                            recv
///   bcast        -                               the buffer, on every rank
///   reduce(all)  this rank's vector              the result (reduce: at the root)
///   gather(v)    this rank's contribution        root: block 0, count per block or recv_counts/recv_displs
///   scatter(v)   root: block 0, as above         this rank's block
///   allgather(v) this rank's contribution        block 0
///   alltoall(v)  block 0                         block 0
///
/// What is not significant on a rank is left empty (type nullptr).
struct Call {
  Collective what = Collective::kBarrier;
  Rank root = 0;
  /// This rank's contribution already lies in its place of the result: gather, allgather and scatter at the root leave
  /// it alone; alltoall takes its outgoing blocks from `recv`. Reductions need no flag: `send` is then `recv`.
  bool in_place = false;
  DataView send;
  DataView recv;
  IntArray send_counts, send_displs, recv_counts, recv_displs;  // set in the v-forms, in units of the type's extent
  ReduceOp* op = nullptr;
  /// The number that rules go by, quantity(ranks); set before anyone chooses an algorithm.
  MPI_Count bytes = 0;

  /// The piece for (or from) rank i.
  DataView send_block(Rank i) const { return block(send, send_counts, send_displs, i); }
  DataView recv_block(Rank i) const { return block(recv, recv_counts, recv_displs, i); }
  bool vector() const { return static_cast<bool>(recv_counts) || static_cast<bool>(send_counts); }
  /// See quantity_of().
  MPI_Count quantity(int ranks) const;

 private:
  static DataView block(const DataView& first, const IntArray& counts, const IntArray& displs, Rank i) {
    const auto at = static_cast<std::size_t>(i);
    const MPI_Count count = counts ? counts[at] : first.count;
    const MPI_Count items = displs ? displs[at] : i * first.count;
    return DataView{static_cast<std::byte*>(first.data) + items * first.type->extent(), count, first.type};
  }
};

}  // namespace ashlar::coll
