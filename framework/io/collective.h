#pragma once
#include <mpi.h>

#include "framework/base/status.h"
#include "framework/io/transfer.h"

namespace ashlar {
class Request;
}
namespace ashlar::io {

/// A collective access of a file whose processes share memory. `own`: what this process found wrong with its arguments;
/// it takes part nevertheless, and all processes fail.
Status run_together(const char* call, const Transfer& what, Status own, MPI_Count* moved);
/// The same behind a request, which the progress of this process and of the others completes.
Status start_together(const char* call, const Transfer& what, Status own, Request** request);

}  // namespace ashlar::io
