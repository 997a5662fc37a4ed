#pragma once
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "framework/base/status.h"
#include "framework/datatype/spans.h"
#include "framework/io/datarep.h"
#include "framework/object/object.h"

namespace ashlar::io {

/// What a process sees of a file (MPI-5.0, 14.3): the bytes of the filetype's items, which follow each other from
/// `disp` on, as one packed stream. Positions count etypes.
struct View {
  MPI_Offset disp = 0;
  Ref<Datatype> etype, filetype;  // as they were set
  const Datarep* rep = nullptr;
  Ref<Datatype> placed;                  // the filetype as it lies in the file
  MPI_Count etype_bytes = 1;             // of one etype, in the file
  MPI_Count etype_data = 1;              // the same in memory
  MPI_Count etype_extent = 1;            // in the file
  std::uint32_t common = 0;              // a hash of what all processes of the file must have alike
  std::optional<datatype::Tiles> tiles;  // none: the filetype has no data

  /// The byte of the packed stream at which etype `at` begins. False: too large.
  bool stream_byte(MPI_Offset at, std::uint64_t* byte) const {
    MPI_Offset bytes = 0;
    if (__builtin_mul_overflow(at, etype_bytes, &bytes)) return false;
    *byte = static_cast<std::uint64_t>(bytes);
    return true;
  }
  /// The etype behind the last one that begins below byte `size` of the file: the end of a file of that size.
  MPI_Offset end_at(std::uint64_t size) const;
  /// Whether the pieces of the packed stream up to byte `to` ascend in the file.
  bool ascends(std::uint64_t to) const { return to <= tiles->ascending(); }
  /// Refuses an access up to byte `to` of the packed stream to items of the filetype that cannot follow each other.
  Status check_items(std::uint64_t to, bool writes, const std::string& path) const;
};

/// The view of a file that was just opened: its bytes.
Status bytes_view(View* out);

/// Checks the arguments of MPI_File_set_view, and makes the view. `writable`: of the file.
Status make_view(MPI_Offset disp, Datatype& etype, Datatype& filetype, const char* datarep, bool writable, View* out);

}  // namespace ashlar::io
