#pragma once
#include <mpi.h>

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "framework/datatype/datatype.h"

namespace ashlar {

/// A buffer as MPI calls give it: address, count, datatype. Borrows all three.
struct DataView {
  void* data = nullptr;
  MPI_Count count = 0;
  Datatype* type = nullptr;

  /// For senders: pack() only reads through `data`.
  static DataView of(const void* data, MPI_Count count, Datatype& type) {
    return DataView{const_cast<void*>(data), count, &type};
  }
  MPI_Count bytes() const { return count * type->size(); }
  /// One run of bytes() bytes at `data`.
  bool dense() const { return type->dense(); }
};

namespace datatype {

/// Where the first packed byte of an item at `data` lies. `data` may be MPI_BOTTOM, a null pointer, so that the sum is
/// one of integers.
inline char* first_byte(const void* data, const Datatype& type) {
  return reinterpret_cast<char*>(reinterpret_cast<std::intptr_t>(data) + static_cast<std::intptr_t>(type.origin()));
}

/// Copies packed bytes [first, first + room) of `view` to `to`; fewer at the end of the data. Returns how many.
/// `first` is an offset in the packed stream; it may lie inside a basic element. O(log n) to start anywhere.
/// The datatype is committed. Any thread. Never blocks.
std::size_t pack(const DataView& view, std::size_t first, void* to, std::size_t room);

/// The reverse: `n` packed bytes at `from` go to packed offset `first`. Returns how many fitted.
std::size_t unpack(const DataView& view, std::size_t first, const void* from, std::size_t n);

/// Lists the contiguous pieces of memory that make up the packed stream from offset `first` on, in packed order,
/// adjacent ones joined. Returns how many entries of `out` it filled; 0 at the end of the data.
std::size_t runs(const DataView& view, std::size_t first, std::size_t max_runs, iovec* out);

/// Copies `count` items from one buffer to another of the same datatype (the buffers do not overlap).
void copy_items(const void* from, void* to, MPI_Count count, const Datatype& type);

}  // namespace datatype
}  // namespace ashlar
