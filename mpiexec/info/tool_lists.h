#pragma once
#include <string>

#include "framework/base/status.h"
#include "mpiexec/info/options.h"

namespace ashlar::info {

/// What MPI_T shows of this installation: performance variables, events or categories whose names begin with the
/// question's subject. Starts MPI in this process, as a job of its own, so that the components that a process uses have
/// made theirs known. Fails with MPI_ERR_ARG when there is nothing to show.
Status tool_list(const Options& question, std::string* out);

}  // namespace ashlar::info
