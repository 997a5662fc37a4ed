#pragma once
#include <mpi.h>

#include "framework/base/types.h"
#include "framework/coll/collective.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/reduce_op.h"
#include "framework/object/handle.h"
#include "framework/object/int_array.h"
#include "framework/object/topology.h"

namespace ashlar::coll {

/// One call of a collective, whichever: what the caller passed, with MPI_IN_PLACE resolved. Plain data; it borrows
/// buffers, types and arrays, which live until the operation is complete.
///
///                  send                            recv
///   bcast          -                               the buffer, on every rank
///   reduce(all)    this rank's vector              the result (reduce: at the root)
///   reduce_scatter this rank's whole vector        this rank's piece of the result; recv_counts or all alike
///   scan, exscan   this rank's vector              the result
///   gather(v)      this rank's contribution        root: block 0, count per block or recv_counts/recv_displs
///   scatter(v)     root: block 0, as above         this rank's block
///   allgather(v)   this rank's contribution        block 0
///   alltoall(v)    block 0                         block 0
///   alltoallw      the address, no type            the address, no type: send_types and recv_types
///   neighbour_*    as alltoall or allgather, the blocks in the order of the neighbours
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
  /// Set in the w-forms: a type for each block; displacements are then in bytes.
  const MPI_Datatype* send_types = nullptr;
  const MPI_Datatype* recv_types = nullptr;
  const Topology* topology = nullptr;  // of neighbourhood collectives; it lives as long as the communicator

  /// The piece for (or from) rank i; of a neighbourhood collective, neighbour i.
  DataView send_block(Rank i) const { return block(send, send_counts, send_displs, send_types, i); }
  DataView recv_block(Rank i) const { return block(recv, recv_counts, recv_displs, recv_types, i); }
  bool vector() const { return static_cast<bool>(recv_counts) || static_cast<bool>(send_counts); }
  /// Of a reduce_scatter: the items that rank i gets.
  MPI_Count piece(Rank i) const { return recv_counts ? recv_counts[static_cast<std::size_t>(i)] : recv.count; }
  /// See quantity_of().
  MPI_Count quantity(int ranks) const;
  /// Nothing moves and no rank waits: over at once, on every rank alike. `inter`: on an intercommunicator, whose groups
  /// may pass different sizes.
  bool is_nothing(int ranks, bool inter) const {
    if (inter) return root == MPI_PROC_NULL;
    switch (what) {
      case Collective::kBarrier:
        return ranks == 1;
      case Collective::kBcast:
      case Collective::kReduce:
      case Collective::kAllreduce:
      case Collective::kGather:
      case Collective::kScatter:
      case Collective::kAllgather:
      case Collective::kAllgatherv:
      case Collective::kAlltoall:
      case Collective::kReduceScatter:
      case Collective::kReduceScatterBlock:
      case Collective::kScan:
      case Collective::kExscan:
        return bytes == 0;
      default:
        return false;  // the quantity is not known everywhere
    }
  }

 private:
  /// MPI_DATATYPE_NULL is right for an empty block (the entry points check that); a block always has a type.
  static Datatype* type_of(MPI_Datatype handle) {
    Datatype* const type = resolve(handle);
    return type != nullptr ? type : resolve(MPI_BYTE);
  }
  static DataView block(const DataView& first, const IntArray& counts, const IntArray& displs,
                        const MPI_Datatype* types, Rank i) {
    const auto at = static_cast<std::size_t>(i);
    const MPI_Count count = counts ? counts[at] : first.count;
    if (types != nullptr) [[unlikely]]
      return DataView{place(first, displs[at]), count, type_of(types[at])};
    const MPI_Count items = displs ? displs[at] : i * first.count;
    return DataView{place(first, items * first.type->extent()), count, first.type};
  }
  /// The buffer may be MPI_BOTTOM, a null pointer, so that the sum is one of integers.
  static void* place(const DataView& first, MPI_Count bytes) {
    return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(first.data) + bytes);
  }
};

}  // namespace ashlar::coll
