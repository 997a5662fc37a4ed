#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/status.h"
#include "framework/datatype/data_view.h"
#include "framework/io/file.h"

/// Moving the data of one process: the packed stream of its view against the packed stream of its buffer.
namespace ashlar::io {

struct Transfer {
  OpenFile& file;
  bool writes;
  bool verified = false;  // what it writes is read again
  MPI_Offset at;          // in etypes of the view
  bool in_turn = false;   // behind the data of the lower ranks: `at` is found when all meet (turns.cc)
  DataView buffer;
};

/// What every access has to fulfil: the file's mode, and whole etypes. `*etypes`: how many the buffer has.
Status check_access(const OpenFile& file, bool writes, const DataView& buffer, MPI_Offset* etypes);

/// The bytes of the view's stream that the access moves, as they are counted in the file.
Status stream_bytes(const Transfer& what, std::uint64_t* at, std::uint64_t* bytes);
/// The range of the file that they lie in. False: the view's pieces have bytes in common, so that the range is all from
/// the first byte on.
bool range_of(const View& view, std::uint64_t at, std::uint64_t bytes, std::uint64_t* first, std::uint64_t* end);

/// Moves the data. `*moved`: bytes of the buffer's packed stream; fewer than all only at the end of the file. In atomic
/// mode, and where the file has no offsets, no access of another process comes in between. Checked before.
Status transfer(const Transfer& what, MPI_Count* moved);

}  // namespace ashlar::io
