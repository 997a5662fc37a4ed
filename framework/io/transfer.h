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
  MPI_Offset at;  // in etypes of the view
  DataView buffer;
};

/// What every access has to fulfil: the file's mode, and whole etypes. `*etypes`: how many the buffer has.
Status check_access(const OpenFile& file, bool writes, const DataView& buffer, MPI_Offset* etypes);

/// Moves the data. `*moved`: bytes of the buffer's packed stream; fewer than all only at the end of the file. In atomic
/// mode, and where the file has no offsets, no access of another process comes in between. Checked before.
Status transfer(const Transfer& what, MPI_Count* moved);

}  // namespace ashlar::io
