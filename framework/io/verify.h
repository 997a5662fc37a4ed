#pragma once
#include "framework/base/status.h"
#include "framework/io/transfer.h"

namespace ashlar::io {

/// Whether what is written to the file can be read again and compared: the file may be read, has offsets, and no
/// function of the program converts.
bool can_verify(const OpenFile& file);

/// Reads the file where `what` has written, and fails with MPI_ERR_IO where it has something else (io.verify). No other
/// access writes there in the meantime. Without lane lock; blocks.
Status verify(const Transfer& what);

}  // namespace ashlar::io
